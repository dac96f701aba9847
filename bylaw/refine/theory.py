"""What a program says, on the ground: every variable replaced by every constant that may stand there.

Facts, axioms, rules and the query share the one encoding: a call with its real arguments is one fact of the logic. How
many statements will come out is counted before the first is made.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import product
from math import prod
from typing import Literal

from bylaw.logic.formula.ir import TRUE, And, Atom, Compare, Formula, Not, Variable, conj, names
from bylaw.logic.formula.notation import infix
from bylaw.refine.notation import Parsed, implied, renamed, spell
from bylaw.refine.program import Reading, Spoken, Unreadable

MAX_GROUNDINGS = 20_000
MAX_FACTS = 2_000  # of the logic


@dataclass(frozen=True)
class Instance:
    """One case of a rule: what it asks for, and what it then says."""

    condition: Formula
    conclusion: Formula


@dataclass(frozen=True)
class Statement:
    """A statement with all its instances."""

    name: str
    kind: Literal["fact", "axiom", "rule"]
    instances: tuple[Instance, ...]

    @property
    def formula(self) -> Formula:
        """All that it says."""
        return conj(implied(one.condition, one.conclusion) for one in self.instances)


@dataclass(frozen=True)
class Theory:
    """Statements over facts, and the goal that is asked about. `declared` are the facts that a premise may be about."""

    variables: Mapping[str, Variable]
    statements: tuple[Statement, ...]
    goal: Formula | None
    declared: frozenset[str]
    spell: Callable[[Formula], str]

    @property
    def rules(self) -> Iterator[Statement]:
        """The rules alone."""
        return (one for one in self.statements if one.kind == "rule")


def ground(reading: Reading) -> Theory:
    """The theory of a program. Raises Unreadable for one that would be too large."""
    domains = _domains(reading)
    counts = {one.name: prod(len(domains(v, one)) for v in _variables(one)) for one in reading.statements}
    total = sum(counts.values())
    if total > MAX_GROUNDINGS:
        worst = max(counts, key=lambda name: (counts[name], name))
        told = f"its statements have {total:,} instances, `{worst}` alone {counts[worst]:,}; at most {MAX_GROUNDINGS:,}"
        raise Unreadable([f"{told} are looked at"], "name the constants that a rule is about")
    empty = [
        f"`{one.name}`: no constant can stand for a variable of it"
        for one in reading.statements
        if not counts[one.name]
    ]
    if empty:
        raise Unreadable(empty)
    statements = tuple(
        Statement(one.name, one.kind, tuple(_instances(one, lambda v, one=one: domains(v, one))))  # type: ignore[misc]
        for one in reading.statements
    )
    goal = None if reading.query is None else reading.query.formula
    if reading.query is not None and reading.query.variables:
        raise Unreadable(["the query has variables: ask about constants"])
    used = {name for one in statements for name in names(one.formula)} | (names(goal) if goal else set())
    if len(used) > MAX_FACTS:
        raise Unreadable([f"it speaks of {len(used):,} facts; at most {MAX_FACTS:,} are looked at"])
    words = reading.program.predicates
    declared = frozenset(name for name in used if not words or name.partition("(")[0] in words)
    return Theory({name: Variable(name, "boolean") for name in sorted(used)}, statements, goal, declared, spell)


def speller(variables: Mapping[str, Variable]) -> Callable[[Formula], str]:
    """How literals over declared facts of any type are written: `has_receipt`, `not (days > 30)`."""

    def spelled(formula: Formula) -> str:
        match formula:
            case Atom(var, "==", bool(value)) if var in variables:
                return var if value else f"not {var}"
            case Not(Atom() as atom) if isinstance(atom.value, bool):
                return spelled(Atom(atom.var, "==", not atom.value))
            case Not(item):
                return f"not ({infix(item, variables)})"
            case _:
                return infix(formula, variables)

    return spelled


def conjuncts(condition: Formula) -> Sequence[Formula] | None:
    """The literals that *condition* asks for together; None where it is no conjunction of literals."""
    items = condition.items if isinstance(condition, And) else (condition,)
    return items if all(_is_literal(item) for item in items) else None


def _is_literal(formula: Formula) -> bool:
    return isinstance(formula.item if isinstance(formula, Not) else formula, Atom | Compare)


def _variables(spoken: Spoken) -> tuple[str, ...]:
    both = (*(spoken.condition.variables if spoken.condition else ()), *spoken.conclusion.variables)
    return tuple(dict.fromkeys(both))


def _domains(reading: Reading) -> Callable[[str, Spoken], Sequence[str]]:
    """What may stand for a variable in a statement: constants of every sort that its places ask for."""
    program = reading.program
    members: dict[str, list[str]] = defaultdict(list)
    for name, constant in sorted(program.constants.items()):
        for sort in reading.kinds.get(constant.sort or "", ()):
            members[sort].append(name)
    everything = sorted(program.constants)

    def domain(variable: str, spoken: Spoken) -> Sequence[str]:
        found: Sequence[str] = everything
        for part in (spoken.condition, spoken.conclusion):
            for call in part.calls.values() if part else ():
                declared = program.predicates.get(call.predicate)
                for arg, sort in zip(call.args, (declared.sorts if declared else None) or (), strict=False):
                    if arg == variable:
                        allowed = set(members[sort])
                        found = [one for one in found if one in allowed]
        return found

    return domain


def _instances(spoken: Spoken, domain: Callable[[str], Sequence[str]]) -> Iterator[Instance]:
    variables = _variables(spoken)
    for values in product(*map(domain, variables)):
        bound = dict(zip(variables, values, strict=True))
        condition = TRUE if spoken.condition is None else _bound(spoken.condition, bound)
        yield Instance(condition, _bound(spoken.conclusion, bound))


def _bound(parsed: Parsed, values: Mapping[str, str]) -> Formula:
    if not values:
        return parsed.formula
    return renamed(parsed.formula, {text: call.bound(values).text for text, call in parsed.calls.items()})
