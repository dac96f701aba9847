"""What a column holds: its kind and domain as its source says, or else as its cells do."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import date
from decimal import Decimal
from typing import Final

from ci.importers.tables.feel import Reading, clip, spelled
from ci.importers.tables.model import (
    Anything,
    Column,
    Comparison,
    Domain,
    Except,
    Interval,
    Kind,
    Named,
    OneOf,
    Operand,
    Refusal,
    Test,
    Unsayable,
    is_ordered,
    operands,
)

KINDS: Final[Mapping[str, Kind]] = {"number": "number", "string": "text", "boolean": "boolean", "date": "date"}
UNKNOWN: Final = ("", "any")  # what the model leaves to the cells
_AS: Final[Mapping[Kind, str]] = {"number": "numbers", "text": "text", "boolean": "true and false", "date": "dates"}


@dataclass(frozen=True, slots=True)
class Typed:
    """What a declaration says: a kind, None where it leaves it open, and a domain."""

    kind: Kind | None
    domain: Domain


def kind_of(name: str) -> Kind | None:
    """The kind that a type of FEEL is. Raises Unsayable for one that no fact has."""
    plain = name.casefold()
    if plain in UNKNOWN:
        return None
    if plain in KINDS:
        return KINDS[plain]
    if plain in ("integer", "long", "double", "decimal"):  # of modelers that write other names for numbers
        return "number"
    if plain in ("datetime", "date and time", "time", "duration") or "duration" in plain:
        raise Unsayable(f"its type is `{clip(name)}`, which no fact has", "use a date, or a number with a unit")
    return None


def typed_domain(text: str, as_text: bool = False) -> Domain:
    """The domain that a list of allowed values says: words, or an interval of numbers or dates. Raises Unsayable.

    What it says of numbers in another way bounds nothing here; *as_text* takes every value as it is spelled.
    """
    if not text or text == "-":
        return Domain()
    test = Reading(lambda name: None).test(text)
    tests = test.tests if isinstance(test, OneOf) else (test,)
    equal = [one.operand for one in tests if isinstance(one, Comparison) and one.op == "=="]
    if len(equal) == len(tests) and (as_text or all(isinstance(value, str) for value in equal)):
        return Domain(values=tuple(dict.fromkeys(map(spelled, equal))))
    if len(tests) != 1:
        return Domain()
    (one,) = tests
    ends = one.ends if isinstance(one, Interval) else (one,) if isinstance(one, Comparison) else ()
    low = next((end.operand for end in ends if end.op in (">", ">=")), None)
    high = next((end.operand for end in ends if end.op in ("<", "<=")), None)
    return Domain(minimum=_bound(low), maximum=_bound(high))


def _bound(operand: Operand | None) -> Decimal | date | None:
    return operand if isinstance(operand, Decimal | date) else None


def kind_of_value(operand: Operand) -> Kind | None:
    """The kind of one value; None of another input."""
    match operand:
        case bool():
            return "boolean"
        case Decimal():
            return "number"
        case date():
            return "date"
        case str():
            return "text"
        case Named():
            return None


@dataclass(frozen=True, slots=True)
class Untyped:
    """An input as its source declares it, before its cells are looked at."""

    name: str
    at: str
    kind: Kind | None
    domain: Domain
    label: str
    is_decided: bool = False
    fact: str = ""
    unit: str = ""
    is_whole: bool = False

    def typed(self, tests: Sequence[tuple[str, Test]]) -> tuple[Column, list[Refusal]]:
        """The column, and the cells that do not fit what it holds. *tests* come with their places."""
        kind = self.kind or self._kind(tests)
        column = Column(
            self.name, self.at, kind, self.domain, self.label, self.fact, self.unit, self.is_whole, self.is_decided
        )
        return column, [problem for where, test in tests for problem in _misfits(column, where, test, tests)]

    def _kind(self, tests: Sequence[tuple[str, Test]]) -> Kind:
        counts: dict[Kind, int] = {}
        for _, test in tests:
            for operand in operands(test):
                if (kind := kind_of_value(operand)) is not None:
                    counts[kind] = counts.get(kind, 0) + 1
        if self.domain.values:
            return "text"
        return max(counts, key=lambda kind: counts[kind]) if counts else "text"


def _misfits(column: Column, where: str, test: Test, tests: Sequence[tuple[str, Test]]) -> Iterator[Refusal]:
    for operand in operands(test):
        kind = kind_of_value(operand)
        if kind is not None and kind != column.kind and not column.is_decided:
            other = next((f" ({place})" for place, one in tests if _speaks(one, column.kind)), "")
            why = f"`{clip(spelled(operand))}` is {_AS[kind]} in a column of {_AS[column.kind]}{other}"
            yield Refusal(where, why, "write all its cells alike, or split the column")
            return
        if (beyond := _beyond(column.domain, operand)) is not None:
            yield Refusal(where, beyond, "correct the cell, or what the column allows")
            return
    if is_ordered(test) and column.kind in ("text", "boolean"):
        yield Refusal(where, f"it compares {_AS[column.kind]} by order", "list the values that are meant")
    elif any(isinstance(operand, Named) for operand in operands(test)) and column.is_decided:
        yield Refusal(where, "it compares a decision with another input", "list the answers that are meant")


def _speaks(test: Test, kind: Kind) -> bool:
    return any(kind_of_value(operand) == kind for operand in operands(test))


def _beyond(domain: Domain, operand: Operand) -> str | None:
    """Why a value lies outside of what its column allows."""
    if isinstance(operand, str) and domain.values and operand not in domain.values:
        return f"`{clip(operand)}` is not among the values that the column allows"
    if isinstance(operand, bool | str | Named):
        return None
    low, high = domain.minimum, domain.maximum
    if low is not None and type(low) is type(operand) and operand < low:  # type: ignore[operator]
        return f"`{spelled(operand)}` lies below {spelled(low)}, the least that the column allows"
    if high is not None and type(high) is type(operand) and operand > high:  # type: ignore[operator]
        return f"`{spelled(operand)}` lies above {spelled(high)}, the most that the column allows"
    return None


def compared(tables_inputs: Sequence[Column], test: Test) -> Iterator[str]:
    """The names of the inputs that a test compares with."""
    yield from (operand.name for operand in operands(test) if isinstance(operand, Named))


def flat(test: Test) -> Test:
    """*test* without what says nothing: a list that holds `-` tests nothing."""
    match test:
        case OneOf(tests):
            parts = [flat(one) for one in tests]
            return Anything() if any(isinstance(one, Anything) for one in parts) else OneOf(tuple(parts))
        case Except(inner):
            return replace(test, test=flat(inner))
        case _:
            return test
