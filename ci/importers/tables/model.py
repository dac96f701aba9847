"""A decision table as a value: its columns, its rows with the place of every cell, and what a cell tests.

It knows nothing of files. What cannot be said in a policy is a `Refusal`, which names the cell.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import date
from decimal import Decimal
from typing import Literal, TypeAlias

HitPolicy = Literal["UNIQUE", "ANY", "FIRST", "PRIORITY"]
Operator = Literal["==", "!=", "<", "<=", ">", ">="]
Kind = Literal["number", "date", "boolean", "text"]


@dataclass(frozen=True, slots=True)
class Refusal:
    """Something of a source that no policy says: its place there, why, and what to do next."""

    where: str
    why: str
    help: str = ""

    def __str__(self) -> str:
        return f"{self.where}: {self.why}" + (f"; {self.help}" if self.help else "")


class Unsayable(Exception):
    """A cell or an expression that no policy says."""

    def __init__(self, why: str, help: str = "") -> None:
        super().__init__(why)
        self.why, self.help = why, help

    def at(self, where: str) -> Refusal:
        """The same with its place."""
        return Refusal(where, self.why, self.help)


class TablesRefused(Exception):
    """A source of which nothing is taken."""

    def __init__(self, *refusals: Refusal) -> None:
        super().__init__("; ".join(map(str, refusals)))
        self.refusals = refusals


# ---- what a cell tests ----------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Named:
    """Another input that a test compares with."""

    name: str


Operand: TypeAlias = Decimal | date | bool | str | Named


@dataclass(frozen=True, slots=True)
class Anything:
    """`-`: the cell tests nothing."""


@dataclass(frozen=True, slots=True)
class Comparison:
    """`<= 30`; a bare value is `==`."""

    op: Operator
    operand: Operand


@dataclass(frozen=True, slots=True)
class Interval:
    """`[1..5)`: from one operand to another, each end with or without itself."""

    low: Operand
    high: Operand
    has_low: bool = True
    has_high: bool = True

    @property
    def ends(self) -> tuple[Comparison, Comparison]:
        """The two comparisons that it is."""
        return (
            Comparison(">=" if self.has_low else ">", self.low),
            Comparison("<=" if self.has_high else "<", self.high),
        )


@dataclass(frozen=True, slots=True)
class OneOf:
    """`a, b`: at least one of the tests holds."""

    tests: tuple[Test, ...]


@dataclass(frozen=True, slots=True)
class Except:
    """`not(…)`: the test does not hold."""

    test: Test


Test: TypeAlias = Anything | Comparison | Interval | OneOf | Except
ANYTHING = Anything()


def operands(test: Test) -> list[Operand]:
    """What a test compares with, in the order it is written."""
    match test:
        case Comparison():
            return [test.operand]
        case Interval():
            return [test.low, test.high]
        case OneOf():
            return [operand for one in test.tests for operand in operands(one)]
        case Except():
            return operands(test.test)
        case Anything():
            return []


def is_ordered(test: Test) -> bool:
    """Does the test ask for more or less, which words and flags have not?"""
    match test:
        case Comparison():
            return test.op not in ("==", "!=")
        case Interval():
            return True
        case OneOf():
            return any(map(is_ordered, test.tests))
        case Except():
            return is_ordered(test.test)
        case Anything():
            return False


# ---- the table ------------------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Domain:
    """What a column may hold, as its source says: its values, or its least and greatest one. Empty: it says nothing."""

    values: tuple[str, ...] = ()
    minimum: Decimal | date | None = None
    maximum: Decimal | date | None = None


@dataclass(frozen=True, slots=True)
class Column:
    """An input. `name` is how tests and other tables call it; `is_decided` where another table of the source does.

    `fact` and `unit` are said in a mapping; `is_whole` there too.
    """

    name: str
    at: str
    kind: Kind
    domain: Domain = Domain()
    label: str = ""
    fact: str = ""
    unit: str = ""
    is_whole: bool = False
    is_decided: bool = False


@dataclass(frozen=True, slots=True)
class Output:
    """A column that says what follows. `values` are those it may say, the first with the highest priority."""

    name: str
    at: str
    values: tuple[str, ...] = ()
    default: str | None = None
    label: str = ""
    outcome: str = ""


@dataclass(frozen=True, slots=True)
class Row:
    """One rule: a test for each input, a text for each output, and where each stands. `at` is the whole of it."""

    number: int
    at: str
    tests: tuple[Test, ...]
    says: tuple[str, ...]
    cells: tuple[str, ...] = ()  # the place of each input, then of each output


@dataclass(frozen=True, slots=True)
class Table:
    """A decision table that can be said in policies."""

    name: str
    at: str
    hit_policy: HitPolicy
    inputs: tuple[Column, ...]
    outputs: tuple[Output, ...]
    rows: tuple[Row, ...]
    compared: tuple[Column, ...] = ()  # inputs that only stand in the cells of others

    @property
    def is_ordered(self) -> bool:
        """Does the first row that holds win?"""
        return self.hit_policy in ("FIRST", "PRIORITY")

    @property
    def ranked(self) -> tuple[Row, ...]:
        """The rows, those first that win: by the priority of what they say, or as they stand."""
        if self.hit_policy != "PRIORITY":
            return self.rows
        ranks = [{value: i for i, value in enumerate(output.values)} for output in self.outputs]
        return tuple(
            sorted(self.rows, key=lambda row: [rank[said] for rank, said in zip(ranks, row.says, strict=True)])
        )


@dataclass(frozen=True, slots=True)
class Source:
    """What was read of one file: the tables that can be said, those that cannot, and what else a person should know."""

    name: str
    format: str
    tables: tuple[Table, ...]
    refused: tuple[Refusal, ...] = ()
    notices: tuple[str, ...] = ()
    row_counts: Mapping[str, int] = field(default_factory=dict)  # of the refused tables too


def row_range(cells: Sequence[str]) -> str:
    """Two ends of a row of cells, as one place."""
    return f"{cells[0]}:{cells[-1]}" if len(cells) > 1 else cells[0]
