"""The small logic that everything else reads: variables, atoms, formulas, effects, rules.

Values are `bool`, `str` (an enum symbol) and exact numbers (`int`, or `Fraction` where an int does not do); a date is
its proleptic ordinal, so dates are whole numbers to every reading. `Variable.read` and `Variable.show` stand at the
border: outside are JSON values in the fact's declared unit, inside are these.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from datetime import date
from decimal import Decimal
from fractions import Fraction
from typing import Any, Literal, TypeAlias

from bylaw.canonical import number_text

Number: TypeAlias = int | Fraction
Value: TypeAlias = bool | str | Number
Facts: TypeAlias = Mapping[str, Value]
Kind = Literal["boolean", "integer", "decimal", "enum", "date"]
Op = Literal["==", "!=", "<", "<=", ">", ">=", "in"]
EffectKind = Literal["outcome", "required", "prohibited", "permitted"]

NEGATED: Mapping[str, Literal["==", "!=", "<", "<=", ">", ">="]] = {
    "==": "!=",
    "!=": "==",
    "<": ">=",
    ">=": "<",
    ">": "<=",
    "<=": ">",
}
MAX_DIGITS = 40  # a longer number is a mistake or an attack
_MAX_BITS = 4 * MAX_DIGITS
_SPELLED = re.compile(
    r"-?(0|[1-9][0-9]*)(\.[0-9]+)?"
)  # the one spelling of a number as text: whoever reads it reads the same


class ValueMisfit(ValueError):
    """A value that a fact cannot take: `reason` is `type` (wrong kind of value) or `domain` (outside its bounds)."""

    def __init__(self, reason: Literal["type", "domain"], message: str) -> None:
        super().__init__(message)
        self.reason = reason


def exact(value: int | str | Decimal | Fraction) -> Number:
    """The number, as an int where it is whole. Raises ValueError for text that is no finite number."""
    if type(value) is int:
        return value
    if isinstance(value, str):
        if len(value) > MAX_DIGITS * 2:
            raise ValueError("a number of that length is not accepted")
        try:
            value = Fraction(value) if "/" in value else Decimal(value)
        except ArithmeticError:
            raise ValueError("not a number") from None
    if isinstance(value, Decimal) and (not value.is_finite() or abs(value.adjusted()) > MAX_DIGITS):
        raise ValueError("not a number of a usable size")
    number = Fraction(value)
    return number.numerator if number.denominator == 1 else number


@dataclass(frozen=True, slots=True)
class Variable:
    """A declared fact and its domain. `minimum` and `maximum` are inclusive; None is unbounded."""

    name: str
    kind: Kind
    values: tuple[str, ...] = ()
    minimum: Number | None = None
    maximum: Number | None = None
    unit: str | None = None

    @property
    def is_finite(self) -> bool:
        """Is the domain a list of values (boolean, enum) rather than a range?"""
        return self.kind in ("boolean", "enum")

    @property
    def is_whole(self) -> bool:
        """Does it take whole numbers only? Dates do, as ordinals."""
        return self.kind in ("integer", "date")

    def recall(self, shown: Any) -> Value:
        """The value that `show` made *shown* of, be it `5/72`, which nobody outside may spell. Raises ValueMisfit."""
        if isinstance(shown, str) and self.kind in ("integer", "decimal"):
            return self.read(self._number(shown))
        return self.read(shown)

    def read(self, raw: Any) -> Value:
        """A JSON or YAML value as a logic value; a number as text has one spelling. Raises ValueMisfit."""
        value = self._typed(raw)
        if self.kind == "enum" and value not in self.values:
            raise ValueMisfit("domain", f"`{_said(raw)}` is not a value of `{self.name}`")
        if not self.is_finite:
            assert isinstance(value, int | Fraction)
            if self.minimum is not None and value < self.minimum:
                low = self.show(self.minimum)
                raise ValueMisfit("domain", f"`{_said(raw)}` lies below `{low}`, the minimum of `{self.name}`")
            if self.maximum is not None and value > self.maximum:
                high = self.show(self.maximum)
                raise ValueMisfit("domain", f"`{_said(raw)}` lies above `{high}`, the maximum of `{self.name}`")
        return value

    def _typed(self, raw: Any) -> Value:
        match self.kind:
            case "boolean" if isinstance(raw, bool):
                return raw
            case "enum" if isinstance(raw, str):
                return raw
            case "integer" | "decimal" if isinstance(raw, int | Decimal | Fraction | float) and not isinstance(
                raw, bool
            ):
                number = self._number(str(raw) if isinstance(raw, float) else raw)
                if self.kind == "integer" and not isinstance(number, int):
                    raise ValueMisfit("type", f"`{_said(raw)}` is not a whole number, and `{self.name}` is one")
                return number
            case "decimal" if isinstance(raw, str):
                if _SPELLED.fullmatch(raw) is None:
                    raise ValueMisfit("type", f"`{_said(raw)}` is not a number like 12.50, and `{self.name}` is one")
                return self._number(raw)
            case "date" if isinstance(raw, date | str):
                try:
                    return (raw if isinstance(raw, date) else date.fromisoformat(raw)).toordinal()
                except ValueError:
                    raise ValueMisfit("type", f"`{_said(raw)}` is not a date like 2026-01-31") from None
        of_two = " of the two" if self.kind == "boolean" else ""
        raise ValueMisfit("type", f"`{_said(raw)}` is not {_ARTICLE[self.kind]}, and `{self.name}` is one{of_two}")

    def _number(self, raw: int | str | Decimal | Fraction) -> Number:
        if isinstance(raw, int) and raw.bit_length() > _MAX_BITS:
            raise ValueMisfit("type", f"what `{self.name}` is given is not a number of a usable size")
        try:
            return exact(raw)
        except ValueError:
            raise ValueMisfit("type", f"`{_said(raw)}` is not a number, and `{self.name}` is one") from None

    def show(self, value: Value) -> bool | int | float | str:
        """The value as JSON: dates in ISO text, decimals as numbers where a float says them exactly, else as text."""
        if isinstance(value, bool | str):
            return value
        if self.kind == "date":
            return date.fromordinal(int(value)).isoformat()
        if isinstance(value, int):
            return value
        text = number_text(value)
        return (
            float(text) if "/" not in text and len(text) <= 16 and Decimal(repr(float(text))) == Decimal(text) else text
        )


_LONGEST = 60  # of what somebody wrote, in a message


def _said(raw: Any) -> str:
    """What somebody wrote, as YAML and JSON spell it, short enough for a message."""
    try:
        text = (
            json.dumps(raw) if raw is None or isinstance(raw, bool) or _is_padded(raw) else " ".join(str(raw).split())
        )
    except ValueError:  # a whole number of thousands of digits, which Python spells for nobody
        return "a number of too many digits"
    return text if len(text) <= _LONGEST else f"{text[: _LONGEST - 1]}…"


def _is_padded(raw: Any) -> bool:
    """Is it text whose spaces nobody would see, as in `150\\n`?"""
    return isinstance(raw, str) and raw != raw.strip()


_ARTICLE: Mapping[str, str] = {
    "boolean": "true or false",
    "enum": "a word",
    "integer": "a whole number",
    "decimal": "a number",
    "date": "a date",
}


# ---- terms: what arithmetic is about ---------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Ref:
    """The value of a fact."""

    var: str


@dataclass(frozen=True, slots=True)
class Const:
    """A number."""

    value: Number


@dataclass(frozen=True, slots=True)
class Arith:
    """Two terms joined by `+`, `-` or `*`."""

    op: Literal["+", "-", "*"]
    left: Term
    right: Term


Term: TypeAlias = Ref | Const | Arith


# ---- formulas ---------------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Atom:
    """A test of one fact against a value; `in` takes a tuple of values."""

    var: str
    op: Op
    value: Value | tuple[Value, ...]


@dataclass(frozen=True, slots=True)
class Compare:
    """A comparison between terms: fact against fact, or arithmetic."""

    left: Term
    op: Literal["==", "!=", "<", "<=", ">", ">="]
    right: Term


@dataclass(frozen=True, slots=True)
class And:
    """All items hold; the empty one is true."""

    items: tuple[Formula, ...]


@dataclass(frozen=True, slots=True)
class Or:
    """Some item holds; the empty one is false."""

    items: tuple[Formula, ...]


@dataclass(frozen=True, slots=True)
class Not:
    """The item does not hold."""

    item: Formula


Formula: TypeAlias = Atom | Compare | And | Or | Not

TRUE = And(())
FALSE = Or(())


def conj(items: Iterable[Formula]) -> Formula:
    """All of *items*, flattened, duplicates dropped, in order of first mention."""
    flat: dict[Formula, None] = {}
    for item in items:
        if item == FALSE:
            return FALSE
        flat.update(dict.fromkeys(item.items if isinstance(item, And) else (item,)))
    return next(iter(flat)) if len(flat) == 1 else And(tuple(flat))


def disj(items: Iterable[Formula]) -> Formula:
    """Any of *items*, flattened, duplicates dropped, in order of first mention."""
    flat: dict[Formula, None] = {}
    for item in items:
        if item == TRUE:
            return TRUE
        flat.update(dict.fromkeys(item.items if isinstance(item, Or) else (item,)))
    return next(iter(flat)) if len(flat) == 1 else Or(tuple(flat))


def negate(item: Formula) -> Formula:
    """The negation, without double negations."""
    if isinstance(item, Not):
        return item.item
    if item == TRUE:
        return FALSE
    return TRUE if item == FALSE else Not(item)


def names(formula: Formula | Term) -> set[str]:
    """Every fact that *formula* speaks of."""
    match formula:
        case Atom(var=var) | Ref(var=var):
            return {var}
        case And(items=items) | Or(items=items):
            return set().union(*map(names, items))
        case Not(item=item):
            return names(item)
        case Compare(left=left, right=right) | Arith(left=left, right=right):
            return names(left) | names(right)
        case Const():
            return set()


def atoms(formula: Formula) -> Iterator[Atom]:
    """Every test of a single fact in *formula*."""
    match formula:
        case Atom():
            yield formula
        case And(items) | Or(items):
            for item in items:
                yield from atoms(item)
        case Not(item):
            yield from atoms(item)


def compares(formula: Formula) -> bool:
    """Does *formula* compare terms somewhere?"""
    match formula:
        case And(items) | Or(items):
            return any(map(compares, items))
        case Not(item):
            return compares(item)
        case _:
            return isinstance(formula, Compare)


# ---- rules --------------------------------------------------------------------------------------------------------


_SHOWN_AS: Mapping[EffectKind, str] = {"prohibited": "not:", "permitted": "may:"}


@dataclass(frozen=True, slots=True)
class Effect:
    """What a firing rule does to one action. `outcome` is set exactly when `kind` is "outcome".

    `implied` are the actions that this one brings with it (transitively, canonical names); `implied_takes` are those
    of them that answer an outcome, as (outcome, action).
    """

    kind: EffectKind
    action: str
    outcome: str | None = None
    implied: tuple[str, ...] = ()
    implied_takes: tuple[tuple[str, str], ...] = ()

    @property
    def text(self) -> str:
        """The effect as a terminal names it: `full_refund`, `not:disclose_pii`, `may:waive_fee`."""
        return _SHOWN_AS.get(self.kind, "") + self.action

    @property
    def demands(self) -> tuple[str, ...]:
        """Every action that must happen when the effect stands: itself and what it implies; none unless it demands."""
        return (self.action, *self.implied) if self.kind in ("outcome", "required") else ()

    @property
    def takes(self) -> tuple[tuple[str, str], ...]:
        """The outcomes it answers, as (outcome, action)."""
        own = ((self.outcome, self.action),) if self.outcome is not None else ()
        return (*own, *self.implied_takes) if self.kind in ("outcome", "required") else ()


@dataclass(frozen=True, slots=True)
class Source:
    """Where a rule was written: path relative to the root, line from 1, the quoted sentence."""

    path: str
    line: int = 1
    text: str | None = None


@dataclass(frozen=True, slots=True)
class ConditionalRule:
    """Guard → effect. `level` is 1 (regulatory, strongest) to 5; `start` and `end` are inclusive ordinals or None."""

    rule_id: str
    policy_id: str
    domain: str
    effect: Effect
    guard: Formula
    level: int
    source: Source
    start: int | None = None
    end: int | None = None
    origin: Literal["action", "exception", "formal"] = "action"
    audience: tuple[str, ...] = ()

    def holds_on(self, day: int) -> bool:
        """Is the rule in force on that day (an ordinal)?"""
        return (self.start is None or self.start <= day) and (self.end is None or day <= self.end)


@dataclass(frozen=True, slots=True)
class Constraint:
    """An invariant: cases that break it do not exist while its policy is in force."""

    constraint_id: str
    policy_id: str
    formula: Formula
    text: str
    source: Source
    start: int | None = None
    end: int | None = None

    @property
    def said(self) -> str:
        """What it says to people: its author's sentence, where there is one."""
        return self.source.text or self.text


@dataclass(frozen=True, slots=True)
class Unproven:
    """A rule, or a whole file of them, that could not be read: nobody knows what it changes, so it is never absent.

    `actions` (canonical names) and `outcomes` are what it speaks of, `is_everything` where that is not known either.
    `reach` are those actions and all others that answer one of the outcomes, `beside` actions that it may speak of
    since no rule does that can be read. `finding` and `reason` say what is wrong.
    """

    path: str
    line: int
    actions: tuple[str, ...]
    outcomes: tuple[str, ...]
    finding: str
    reason: str
    policy_id: str | None = None
    owner: str = ""
    domain: str | None = None
    start: int | None = None
    end: int | None = None
    audience: tuple[str, ...] = ()
    is_everything: bool = False
    reach: frozenset[str] = frozenset()
    beside: tuple[str, ...] = ()

    def holds_on(self, day: int) -> bool:
        """Would it be in force on that day (an ordinal), as far as it can be read?"""
        return (self.start is None or self.start <= day) and (self.end is None or day <= self.end)


@dataclass(frozen=True, slots=True)
class Ruleset:
    """Everything a question about policies needs: the words, the rules in force, and how they relate.

    Rules are sorted by rule id. `overrides` maps a policy to those it declares an exception to;
    `excludes` holds both orders of every pair of actions that are never required together. `unproven` are the rules
    that could not be read; the questions of a check are asked without them. `steps` are the facts of a policy's
    procedure, in the order in which it asks for them.
    """

    variables: Mapping[str, Variable]
    rules: tuple[ConditionalRule, ...]
    constraints: tuple[Constraint, ...] = ()
    overrides: Mapping[str, frozenset[str]] = field(default_factory=dict)
    excludes: frozenset[tuple[str, str]] = frozenset()
    complete: tuple[str, ...] = ()
    outcomes: tuple[str, ...] = ()
    unproven: tuple[Unproven, ...] = ()
    steps: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
