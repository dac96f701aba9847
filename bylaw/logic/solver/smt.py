"""Formulas in Z3: one solver, asked again and again. The only module that knows Z3.

The road is formula → term → solver → model → witness, and every witness is replayed by the plain reading before it
leaves. Effort is limited by Z3's own resource count, which is the same on every machine; the clock is a safety net.
Z3 itself is imported when the first question is asked.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from fractions import Fraction
from functools import cached_property
from typing import Any

from bylaw.errors import WitnessMismatch
from bylaw.logic.boxes.truth import truth
from bylaw.logic.formula.ir import (
    And,
    Arith,
    Atom,
    Compare,
    Const,
    Formula,
    Not,
    Or,
    Ref,
    Term,
    Value,
    Variable,
)
from bylaw.logic.formula.notation import bounds, mentioned, script, smtlib
from bylaw.logic.solver.solver import RLIMIT, WALL_MS, Solver, SolverAnswer

__all__ = ["Reasoner", "SolverAnswer", "script", "smtlib"]


@dataclass
class Reasoner(Solver):
    """Questions about formulas over *variables*, within their domains.

    *rlimit* bounds every single check in Z3's resource units (about five million a second); *wall_ms* is the net
    below it. A reasoner has a Z3 context of its own: use it from one thread at a time, one for each process.
    """

    variables: Mapping[str, Variable]
    rlimit: int = RLIMIT
    wall_ms: int = WALL_MS
    checks: int = field(default=0, init=False)

    @cached_property
    def _terms(self) -> _Terms:
        return _Terms(self.variables)

    @cached_property
    def _solver(self) -> Any:
        solver = self._terms.z3.SimpleSolver(ctx=self._terms.ctx)
        solver.set("rlimit", self.rlimit)
        solver.set("timeout", self.wall_ms)
        solver.set("random_seed", 0)
        return solver

    def check(self, formulas: Sequence[Formula]) -> SolverAnswer:
        """Unsat iff no case of the domains satisfies all *formulas*. A model speaks of the facts they mention."""
        facts = mentioned(tuple(formulas))
        self._solver.push()
        try:
            self._assert_domains(facts)
            for formula in formulas:
                self._solver.add(self._terms.formula(formula))
            status = self._ask()
            if status == "unknown":
                return SolverAnswer("unknown", reason=self._reason())
            if status == "unsat":
                return SolverAnswer("unsat")
            try:
                model = self._terms.witness(self._solver.model(), facts)
            except ValueError:  # Python reads no number of more than 4,300 digits
                return SolverAnswer("unknown", reason="the only case found needs a number of thousands of digits")
        finally:
            self._solver.pop()
        return self._replayed(model, formulas)

    def core(self, named: Mapping[str, Formula]) -> tuple[str, ...]:
        """Names of formulas that already exclude each other, none of them spare; empty when not shown to be unsat.

        Unsat iff no case satisfies the named formulas together. From the first removal on that the solver cannot judge
        within the limit none is made, so a core may then be larger than needed, never smaller. The first that is
        spare in the order of *named* goes first: how they are called makes no difference.
        """
        terms = self._terms
        self._solver.push()
        try:
            self._assert_domains(mentioned(tuple(named.values())))
            marks = {name: terms.z3.Bool(f"core!{i}", terms.ctx) for i, name in enumerate(named)}
            for name, mark in marks.items():
                self._solver.add(terms.z3.Implies(mark, terms.formula(named[name])))
            if self._ask(*marks.values()) != "unsat":
                return ()
            found = {str(mark) for mark in self._solver.unsat_core()}
            kept = [name for name, mark in marks.items() if str(mark) in found]
            for name in list(kept):
                rest = [other for other in kept if other != name]
                status = self._ask(*(marks[other] for other in rest))
                if status == "unknown":
                    break  # one question that runs into its limit does so once
                kept = rest if status == "unsat" else kept
            return tuple(kept)
        finally:
            self._solver.pop()

    @contextmanager
    def session(self, named: Mapping[str, Formula]) -> Iterator[Session]:
        """Many questions about the same *named* formulas, each of which is said once."""
        self._solver.push()
        try:
            facts = mentioned(tuple(named.values()))
            self._assert_domains(facts)
            session = Session(self, facts)
            for name, formula in named.items():
                session.add(name, formula)
            yield session
        finally:
            self._solver.pop()

    def simplest(
        self, formulas: Sequence[Formula], prefer: Mapping[str, Sequence[Value]] | None = None
    ) -> SolverAnswer:
        """Like `check`, with a model that does not depend on what was asked before.

        Fact by fact, in order of name, the first value that some model still allows is taken: from *prefer*, then
        the values that the formulas name and their neighbours, then the ends of the domain and zero.
        """
        answer = self.check(formulas)
        if answer.model is None:
            return answer
        fixed: list[Formula] = []
        for name in sorted(answer.model):
            for value in dict.fromkeys([*(prefer or {}).get(name, ()), *self._telling(name, formulas)]):
                pinned = [*formulas, *fixed, Atom(name, "==", value)]
                better = answer if answer.model[name] == value else self.check(pinned)
                if better.status == "unknown":
                    return answer
                if better.model is not None:
                    answer = better
                    break
            assert answer.model is not None
            fixed.append(Atom(name, "==", answer.model[name]))
        return answer

    def extended(self, more: Mapping[str, Variable]) -> Reasoner:
        """A reasoner that knows *more* variables as well, with a context of its own."""
        return Reasoner({**self.variables, **more}, self.rlimit, self.wall_ms)

    @property
    def failure(self) -> type[Exception]:
        """What Z3 raises when it cannot go on."""
        return self._terms.z3.Z3Exception  # type: ignore[no-any-return]  # ships no types

    def _telling(self, name: str, formulas: Sequence[Formula]) -> Iterator[Value]:
        variable = self.variables[name]
        if variable.is_finite:
            yield from (False, True) if variable.kind == "boolean" else variable.values
            return
        named = sorted({value for formula in formulas for value in _constants(formula, name)})
        if not variable.is_whole:
            yield from named
        for value in named:
            whole = value if isinstance(value, int) else value.__floor__()
            yield from (whole, whole + 1, whole - 1)
        for end in (variable.minimum, 0, variable.maximum):
            if end is not None and not (variable.is_whole and isinstance(end, Fraction)):
                yield end

    def _assert_domains(self, facts: Sequence[str]) -> None:
        for name in facts:
            for test in bounds(self.variables[name]):
                self._solver.add(self._terms.formula(test))

    def _ask(self, *assumptions: Any) -> str:
        self.checks += 1
        return str(self._solver.check(*assumptions))

    def _reason(self) -> str:
        said = str(self._solver.reason_unknown())
        if said in ("canceled", "timeout", "max. resource limit exceeded", "interrupted from keyboard"):
            return f"the limit of {self.rlimit} steps or {self.wall_ms} ms was reached"
        return "no method decides arithmetic like this" if said.startswith("(incomplete") else said

    def _replayed(self, model: dict[str, Value] | None, formulas: Sequence[Formula]) -> SolverAnswer:
        if model is None:
            return SolverAnswer("unknown", reason="the only case found needs a number that is not a fraction")
        for formula in formulas:
            if truth(formula, model) is not True:
                raise WitnessMismatch(f"the solver's case {model} does not satisfy {smtlib(formula, self.variables)}")
        return SolverAnswer("sat", model)


@dataclass
class Session:
    """Formulas by name in one solver, of which any may be asked together. Facts are those that were there at first."""

    reasoner: Reasoner
    facts: Sequence[str]
    named: dict[str, Formula] = field(default_factory=dict)
    reason: str = ""
    _marks: dict[str, Any] = field(default_factory=dict)

    def add(self, name: str, formula: Formula) -> str:
        """Take *formula* in under *name*, which is given back. A name that is known keeps its formula."""
        if name not in self._marks:
            terms = self.reasoner._terms
            mark = self._marks[name] = terms.z3.Bool(f"said!{len(self._marks)}", terms.ctx)
            self.reasoner._solver.add(terms.z3.Implies(mark, terms.formula(formula)))
            self.named[name] = formula
        return name

    def ask(self, names: Sequence[str]) -> tuple[str, frozenset[str], Mapping[str, Value]]:
        """Sat with a case in which all *names* hold, unsat with those that already exclude each other, or unknown."""
        reasoner = self.reasoner
        status = reasoner._ask(*(self._marks[name] for name in names))
        if status == "unsat":
            excluding = {mark.get_id() for mark in reasoner._solver.unsat_core()}
            return status, frozenset(name for name in names if self._marks[name].get_id() in excluding), {}
        if status == "unknown":
            self.reason = reasoner._reason()
            return status, frozenset(), {}
        case = reasoner._terms.witness(reasoner._solver.model(), self.facts)
        answer = reasoner._replayed(case, [self.named[name] for name in names])
        self.reason = answer.reason or ""
        return answer.status, frozenset(), answer.model or {}


def _constants(formula: Formula, name: str) -> Iterator[int | Fraction]:
    """The numbers that *formula* tests the fact against."""
    match formula:
        case Atom(var, _, value):
            if var == name:
                for one in value if isinstance(value, tuple) else (value,):
                    assert isinstance(one, int | Fraction)
                    yield one
        case And(items) | Or(items):
            for item in items:
                yield from _constants(item, name)
        case Not(item):
            yield from _constants(item, name)
        case Compare():
            return


class _Terms:
    """Formulas as Z3 terms, each translated once.

    Enum values are whole numbers: one code a word, so that facts which share a word can be compared, and the words of
    one fact lie side by side where they can. (A Z3 enumeration may be declared only once under its name.)
    """

    def __init__(self, variables: Mapping[str, Variable]) -> None:
        import z3  # type: ignore[import-untyped]  # ships no types

        self.z3: Any = z3
        self.ctx: Any = z3.Context()
        self.variables = variables
        self.words: list[str] = list(dict.fromkeys(v for name in sorted(variables) for v in variables[name].values))
        self.codes = {word: code for code, word in enumerate(self.words)}
        self._constants: dict[str, Any] = {}
        self._formulas: dict[Formula, Any] = {}

    def constant(self, name: str) -> Any:
        """The fact as a Z3 constant."""
        if name not in self._constants:
            z3, kind = self.z3, self.variables[name].kind
            make = z3.Bool if kind == "boolean" else z3.Real if kind == "decimal" else z3.Int
            self._constants[name] = make(name, self.ctx)
        return self._constants[name]

    def formula(self, formula: Formula) -> Any:
        """The formula as a Z3 Boolean term."""
        if formula not in self._formulas:
            self._formulas[formula] = self._translated(formula)
        return self._formulas[formula]

    def _translated(self, formula: Formula) -> Any:
        z3 = self.z3
        match formula:
            case Atom():
                return self._atom(formula)
            case Compare(left, op, right):
                return _compared(op, self.term(left), self.term(right))
            case And(items):
                return z3.And([z3.BoolVal(True, self.ctx), *map(self.formula, items)])
            case Or(items):
                return z3.Or([z3.BoolVal(False, self.ctx), *map(self.formula, items)])
            case Not(item):
                return z3.Not(self.formula(item))

    def _atom(self, atom: Atom) -> Any:
        z3, fact, value = self.z3, self.constant(atom.var), atom.value
        if isinstance(value, tuple):
            if self.variables[atom.var].kind == "enum":
                return self._among(fact, sorted(self.codes[str(word)] for word in value))
            return z3.Or([z3.BoolVal(False, self.ctx), *(self._atom(Atom(atom.var, "==", v)) for v in value)])
        if isinstance(value, bool):
            return fact if value == (atom.op == "==") else z3.Not(fact)
        if isinstance(value, str):
            return _compared(atom.op, fact, z3.IntVal(self.codes[value], self.ctx))
        if self.variables[atom.var].is_whole and isinstance(value, Fraction) and value.denominator != 1:
            return self._between_wholes(fact, atom.op, value)
        return _compared(atom.op, fact, self.number(value))

    def _among(self, fact: Any, codes: list[int]) -> Any:
        """Membership as runs of neighbouring codes: a whole domain is one interval."""
        z3, runs = self.z3, list[list[int]]()
        for code in codes:
            if runs and runs[-1][1] == code - 1:
                runs[-1][1] = code
            else:
                runs.append([code, code])
        spans = [fact == low if low == high else z3.And(fact >= low, fact <= high) for low, high in runs]
        return z3.Or([z3.BoolVal(False, self.ctx), *spans])

    def _between_wholes(self, fact: Any, op: str, value: Fraction) -> Any:
        """A whole number against one that is not: 36 hours on a fact in days is `<= 1`."""
        if op in ("==", "!="):
            return self.z3.BoolVal(op == "!=", self.ctx)
        floor = self.z3.IntVal(value.__floor__(), self.ctx)
        return fact <= floor if op in ("<", "<=") else fact > floor

    def term(self, term: Term) -> Any:
        """The arithmetic term in Z3; whole numbers widen to reals where they meet one."""
        match term:
            case Ref(var):
                return self.constant(var)
            case Const(value):
                return self.number(value)
            case Arith(op, left, right):
                one, two = self.term(left), self.term(right)
                return one + two if op == "+" else one - two if op == "-" else one * two

    def number(self, value: int | Fraction) -> Any:
        """A number exactly: never by way of a float."""
        if isinstance(value, int):
            return self.z3.IntVal(value, self.ctx)
        return self.z3.Q(value.numerator, value.denominator, self.ctx)

    def witness(self, model: Any, facts: Sequence[str]) -> dict[str, Value] | None:
        """The model's values of *facts*; None when one of them is no rational number."""
        case: dict[str, Value] = {}
        for name in facts:
            value = model.eval(self.constant(name), model_completion=True)
            match self.variables[name].kind:
                case "boolean":
                    case[name] = self.z3.is_true(value)
                case "enum":
                    case[name] = self.words[value.as_long()]
                case "decimal":
                    if not self.z3.is_rational_value(value):
                        return None
                    number = Fraction(value.numerator_as_long(), value.denominator_as_long())
                    case[name] = number.numerator if number.denominator == 1 else number
                case _:
                    case[name] = value.as_long()
        return case


def _compared(op: str, left: Any, right: Any) -> Any:
    match op:
        case "==":
            return left == right
        case "!=":
            return left != right
        case "<":
            return left < right
        case "<=":
            return left <= right
        case ">":
            return left > right
        case _:
            return left >= right
