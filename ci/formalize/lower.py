"""Conditions → formulas: which fact, which unit, which target. Every word that does not fit becomes a finding.

Lowering never guesses: a condition that has a finding has no formula (None), and its policy stays text only.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from bylaw.authored.conditions import AllOf, AmountThreshold, AnyOf, Condition, FactCheck, Not, TimeWindow
from bylaw.authored.vocabulary import Vocabulary
from bylaw.logic.formula.ir import (
    NEGATED,
    Arith,
    Atom,
    Compare,
    Const,
    Formula,
    Op,
    Ref,
    Term,
    Value,
    ValueMisfit,
    Variable,
    conj,
    disj,
    exact,
    negate,
)
from ci.findings import Finding, Place, Route
from ci.formalize.counted_months import Counted
from ci.formalize.units import Conversion, Limit, comparable, conversion
from ci.loading.schema.nearest import did_you_mean, one_right
from ci.loading.schema.values import value_help

FACTS_LIVE_IN = "facts are declared in policies/vocabulary.yaml"
NO_FIX: Mapping[str, str] = {}
OPERATORS: Mapping[str, frozenset[str]] = {
    "boolean": frozenset(("==", "!=")),
    "enum": frozenset(("==", "!=", "in")),
    "integer": frozenset(("==", "!=", "<", "<=", ">", ">=", "in", "between")),
    "decimal": frozenset(("==", "!=", "<", "<=", ">", ">=", "in", "between")),
    "date": frozenset(("==", "!=", "<", "<=", ">", ">=", "in", "between")),
}


@dataclass(frozen=True, slots=True)
class Lowered:
    """A condition and what it means: the fact it tests (None for a tree), whom it is aimed at (None: everybody)."""

    condition: Condition | FactCheck
    formula: Formula
    fact: str | None = None
    target: Formula | None = None


@dataclass
class Lowering:
    """Lowers the conditions of one file. Findings are collected; `subject` begins their messages."""

    vocabulary: Vocabulary
    variables: Mapping[str, Variable]
    domain: str
    subject: str
    path: str
    policies: tuple[str, ...] = ()
    findings: list[Finding] = field(default_factory=list)
    notes: list[Finding] = field(default_factory=list)  # what is told, and changes no meaning

    def report(
        self,
        id: str,
        message: str,
        route: Route,
        help: str | None = None,
        word: str | None = None,
        fix: Mapping[str, str] = NO_FIX,
    ) -> None:
        """Collect a finding about the value at *route*; *word* is the one that nobody declares, *fix* its right one."""
        at = Place(self.path, route)
        detail = dict(fix) if word is None else {"word": word, **fix}
        self.findings.append(
            Finding(id, f"{self.subject} {message}", at, policies=self.policies, help=help, detail=detail)
        )

    def note(
        self, id: str, message: str, route: Route, help: str, counterexample: Mapping[str, Any] | None = None
    ) -> None:
        """Collect a finding about the value at *route* that leaves its condition, action or exception in force."""
        at = Place(self.path, route)
        said = f"{self.subject} {message}"
        self.notes.append(Finding(id, said, at, policies=self.policies, help=help, counterexample=counterexample))

    def all_of(self, conditions: Sequence[Condition], route: Route, nested: bool = False) -> Formula | None:
        """Every condition holds, targets applied. None when one of them has a finding."""
        lowered = [self.condition(item, (*route, i), nested) for i, item in enumerate(conditions)]
        return None if None in lowered else targeted([item for item in lowered if item is not None])

    def condition(self, condition: Condition, route: Route, nested: bool = False) -> Lowered | None:
        """One condition, or None with a finding."""
        match condition:
            case AllOf(all_of=items):
                formula = self.all_of(items, (*route, "all_of"), nested=True)
            case AnyOf(any_of=branches):
                parts = [self._branch(branch, (*route, "any_of", i)) for i, branch in enumerate(branches)]
                formula = None if None in parts else disj([part for part in parts if part is not None])
            case Not(not_=branch):
                part = self._branch(branch, (*route, "not"))
                formula = None if part is None else negate(part)
            case FactCheck():
                return self._check(condition, route, nested)
        return None if formula is None else Lowered(condition, formula)

    def again(self, nested: Condition) -> Lowered:
        """A nested condition that was lowered before, so its findings are told; with one it stands for everything."""
        told, noted = len(self.findings), len(self.notes)
        lowered = self.condition(nested, (), nested=True)
        del self.findings[told:], self.notes[noted:]
        return lowered or Lowered(nested, EVERYWHERE)

    def _branch(self, branch: Condition | list[Condition], route: Route) -> Formula | None:
        if isinstance(branch, list):
            return self.all_of(branch, route, nested=True)
        lowered = self.condition(branch, route, nested=True)
        return None if lowered is None else lowered.formula

    def _check(self, check: FactCheck, route: Route, nested: bool) -> Lowered | None:
        variable = self._fact(check, route)
        target = self._target(check, route, nested)
        if variable is None or target is None:
            return None
        formula = self._test(check, variable, route)
        if formula is None:
            return None
        return Lowered(check, formula, variable.name, None if target is EVERYWHERE else target)

    def _fact(self, check: FactCheck, route: Route) -> Variable | None:
        kind = getattr(check, "type", "fact")
        name = check.parameter or self.vocabulary.default_fact(kind, self.domain)
        if name is None:
            self.report(
                "unknown-fact",
                f"has a `{kind}` condition that names no fact, and the vocabulary has no default for it",
                (*route, "type"),
                help="name the fact with `parameter`, or add a line under `defaults` in policies/vocabulary.yaml",
            )
            return None
        variable = self.variables.get(name)
        if variable is None:
            at = (*route, "parameter") if check.parameter else (*route, "type")
            self.unknown_fact(name, at)
        return variable

    def unknown_fact(self, name: str, route: Route) -> None:
        """Collect the finding for a fact that no vocabulary declares."""
        self.report(
            "unknown-fact",
            f"uses the fact `{name}`, which no vocabulary declares",
            route,
            help=did_you_mean(name, self.variables, FACTS_LIVE_IN),
            word=name,
            fix=one_right(name, self.variables),
        )

    def _target(self, check: FactCheck, route: Route, nested: bool) -> Formula | None:
        if check.target == "general":
            return EVERYWHERE
        at = (*route, "target")
        if nested:
            self.report("schema", f"targets `{check.target}` inside a tree, where branches carry no `target`", at)
            return None
        fact, _, value = check.target.rpartition(":")
        owners = [fact] if fact else self.vocabulary.facts_with_value(value)
        if len(owners) > 1:
            qualified = " or ".join(f"`{owner}:{value}`" for owner in owners)
            self.report("unknown-target", f"targets `{value}`, a value of several facts", at, help=f"write {qualified}")
            return None
        declared = self.variables.get(owners[0]) if owners else None
        if declared is None or value not in declared.values:
            known = {v for f in self.vocabulary.facts.values() for v in f.values}
            help = did_you_mean(value, known, "a target is `general` or a value of an enum fact")
            message = f"targets `{check.target}`, which is no value of a declared fact"
            fix = {} if fact else one_right(value, known)
            self.report("unknown-target", message, at, help, word=check.target.rpartition(":")[0], fix=fix)
            return None
        return Atom(declared.name, "==", value)

    # ---- one test -----------------------------------------------------------------------------------------------

    def _test(self, check: FactCheck, variable: Variable, route: Route) -> Formula | None:
        operator = self._operator(check, variable)
        if operator not in OPERATORS[variable.kind]:
            at = (*route, "operator") if check.operator else route
            allowed = " ".join(sorted(OPERATORS[variable.kind]))
            message = f"tests the {variable.kind} fact `{variable.name}` with `{operator}`"
            article = "an" if variable.kind[0] in "aeiou" else "a"
            self.report("type-mismatch", message, at, help=f"{article} {variable.kind} fact takes {allowed}")
            return None
        into = conversion(check.unit, variable.unit)
        if into is None:
            self.unit_mismatch(check.unit or "", variable, (*route, "unit"))
            return None
        if check.value_of is not None:
            return self._against_fact(check, variable, operator, route)
        key = "between" if check.between is not None else "value"
        given: Any = check.between if check.between is not None else check.value
        listed = given if isinstance(given, list) else [given]
        places = [(*route, key, i) if isinstance(given, list) else (*route, key) for i in range(len(listed))]
        read = [self._value(item, variable, into, at) for item, at in zip(listed, places, strict=True)]
        limits = [limit for limit in read if limit is not None]
        if len(limits) < len(read):
            return None
        if into.counts_months:
            counted = Counted(variable, operator, into, tuple(limits), check.unit or "")
            amounts = [exact(one) for one in listed]
            message, help, case = counted.told(amounts)
            self.note("calendar-unit", message, (*route, key), help, case)
        if operator == "between":
            return conj([_test(variable.name, ">=", limits[0]), _test(variable.name, "<=", limits[1])])
        if isinstance(given, list):
            return Atom(variable.name, "in", tuple(limit.value for limit in limits if not limit.is_below))
        return _test(variable.name, "==" if operator == "in" else operator, limits[0])

    def _operator(self, check: FactCheck, variable: Variable) -> str:
        if check.between is not None:
            return "between"
        if check.operator is not None:
            return "==" if check.operator == "=" else check.operator
        if isinstance(check.value, list):
            return "in"
        if isinstance(check, TimeWindow) and not variable.is_finite:
            return "<="
        return ">" if isinstance(check, AmountThreshold) and not variable.is_finite else "=="

    def unit_mismatch(self, unit: str, variable: Variable, route: Route, help: str | None = None) -> None:
        """Collect the finding for units that do not compare."""
        its = f"is measured in `{variable.unit}`" if variable.unit else "has no unit"
        self.report(
            "unit-mismatch",
            f"compares `{variable.name}` with an amount in `{unit}`, but the fact {its}",
            route,
            help=help or _unit_help(unit, variable),
            fix=one_right(unit, comparable(variable.unit)),
        )

    def _value(self, raw: Any, variable: Variable, into: Conversion, route: Route) -> Limit | None:
        try:
            if into.ratio == 1 or variable.is_finite or variable.kind == "date":
                return Limit(variable.read(raw))
            return self._converted(raw, variable, into)
        except ValueMisfit as misfit:
            id = "type-mismatch" if misfit.reason == "type" else "value-out-of-domain"
            help, fix = value_help(raw, variable, self._synonyms(variable.name))
            self.report(id, f"tests `{variable.name}`: {misfit}", route, help, fix=fix)
            return None

    def _converted(self, raw: Any, variable: Variable, into: Conversion) -> Limit:
        # 36 hours on a fact in whole days is 1.5 days: exact, never rounded, so the fact's own type is not asked for
        Variable(variable.name, "decimal").read(raw)
        limit = into.limit(exact(raw))
        Variable(variable.name, "decimal", minimum=variable.minimum, maximum=variable.maximum).read(limit.value)
        return limit

    def _synonyms(self, fact: str) -> Mapping[str, Sequence[str]]:
        return self.vocabulary.facts[fact].values if fact in self.vocabulary.facts else {}

    def _against_fact(self, check: FactCheck, variable: Variable, operator: str, route: Route) -> Formula | None:
        at = (*route, "value_of")
        assert check.value_of is not None
        other = self.variables.get(check.value_of)
        if other is None:
            self.unknown_fact(check.value_of, at)
            return None
        if _family(variable) != _family(other) or operator in ("in", "between"):
            message = f"compares the {variable.kind} fact `{variable.name}` with the {other.kind} fact `{other.name}`"
            self.report("type-mismatch", message, at)
            return None
        into = conversion(other.unit, variable.unit) if other.unit != variable.unit else conversion(None, None)
        ratio = into.ratio if into is not None else None
        if ratio is None:
            help = "declare both facts in one unit: months have no fixed number of days" if into is not None else None
            self.unit_mismatch(other.unit or "", variable, at, help)
            return None
        if variable.is_finite:
            return _same_word(variable, other, operator)
        right: Term = Ref(other.name) if ratio == 1 else Arith("*", Const(ratio), Ref(other.name))
        op = operator
        assert op in NEGATED
        return Compare(Ref(variable.name), NEGATED[NEGATED[op]], right)


_UNITS = "durations convert from minutes to years; money compares only in its own currency"
EVERYWHERE: Formula = conj([])


def _unit_help(unit: str, variable: Variable) -> str:
    return did_you_mean(unit, comparable(variable.unit), _UNITS) or _UNITS if variable.unit else "take `unit` out"


def _op(operator: str) -> Op:
    assert operator in NEGATED or operator == "in"
    return "in" if operator == "in" else NEGATED[NEGATED[operator]]


_UNDER: Mapping[str, Op] = {"<": "<", "<=": "<", ">": ">=", ">=": ">="}  # the tests of what lies just under a value


def _test(fact: str, operator: str, limit: Limit) -> Formula:
    if not limit.is_below:
        return Atom(fact, _op(operator), limit.value)
    if operator in _UNDER:
        return Atom(fact, _UNDER[operator], limit.value)
    return EVERYWHERE if operator == "!=" else disj([])


def _family(variable: Variable) -> str:
    return "number" if variable.kind in ("integer", "decimal") else variable.kind


def _same_word(a: Variable, b: Variable, operator: str) -> Formula:
    shared: Sequence[Value] = (False, True) if a.kind == "boolean" else sorted(set(a.values) & set(b.values))
    same = disj([conj([Atom(a.name, "==", value), Atom(b.name, "==", value)]) for value in shared])
    return same if operator == "==" else negate(same)


def targeted(conditions: Sequence[Lowered]) -> Formula:
    """All *conditions* hold, where per fact a case uses the conditions targeted at it, else the general ones.

    With neither a matching target nor a general condition the test is false: a targeted condition alone restricts.
    """
    parts: list[Formula] = []
    grouped: dict[str, list[Lowered]] = {}
    aimed_at = {item.fact for item in conditions if item.target is not None}
    for item in conditions:
        if item.fact is None or item.fact not in aimed_at:
            parts.append(item.formula)
        else:
            grouped.setdefault(item.fact, []).append(item)
    for group in grouped.values():
        aimed = [(item.target, item.formula) for item in group if item.target is not None]
        general = [item.formula for item in group if item.target is None]
        parts.extend(disj([negate(target), formula]) for target, formula in aimed)
        parts.append(disj([*(target for target, _ in aimed), *([conj(general)] if general else [])]))
    return conj(parts)
