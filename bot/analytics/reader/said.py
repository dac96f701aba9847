"""What a question says, word by word, before it is decided which records of the catalogue are meant."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Literal

from bot.analytics.reader.scope import Kind, Target
from bylaw.authored.context import Aggregation
from bylaw.authored.record import Grain
from bylaw.language import dates
from bylaw.language.units import Unit
from bylaw.semantic.query import Comparison, Operator, Over, Value

Change = Literal["change", "growth", "both"]


@dataclass(frozen=True, slots=True)
class Ref:
    """Words that name something. `near` are the entities that the words around say it belongs to."""

    words: str
    targets: tuple[Target, ...]
    near: tuple[str, ...] = ()
    is_plural: bool = False
    is_owned: bool = False  # `near` stands behind an "of"
    role: Ref | None = None  # the words before it that say which of several relationships leads to it: "to Chicago"

    def of(self, *kinds: Kind) -> tuple[Target, ...]:
        """The readings of these kinds."""
        return tuple(target for target in self.targets if target.kind in kinds)

    @property
    def entities(self) -> tuple[str, ...]:
        """The entities it names itself."""
        return tuple(dict.fromkeys(target.name for target in self.of("entity")))

    @property
    def owners(self) -> tuple[str, ...]:
        """The entities that own what it names, those it names itself among them."""
        return tuple(dict.fromkeys(target.owner for target in self.targets if target.kind not in ("metric", "stakes")))


@dataclass(slots=True)
class Narrowing:
    """A condition. `ref` is an attribute, a value, a named filter, or an entity told by its label."""

    ref: Ref
    operator: Operator = "in"
    values: tuple[Value, ...] = ()
    negated: bool = False
    alternative: bool = False  # to the condition before it
    near: tuple[str, ...] = ()
    clause: int = 0  # the number of the relation that it stands in
    role: Ref | None = None  # the words before it that say which of several relationships leads to it
    is_none: bool = False  # "but no …": denied of all related rows, not of one
    is_of_kind: bool = False  # "cities with no Mexican restaurant": denied before its rows are named, so of all of them
    is_joined: bool = False  # its values stand on both sides of "and"
    is_labelled: bool = False  # its dimension is named beside it
    verb: Ref | None = None  # that stands before it
    begins: int = -1  # the place of its first word, and the one behind it
    ends: int = -1
    done: Ref | None = None  # its date, where the value says what was done: "which agent solved the most tickets"
    unit: Unit | None = None  # what its values are told in


@dataclass(slots=True)
class NumberSaid:
    """A number. Without `agg` the ref is a metric as it is, or a fact by its own way of adding up."""

    ref: Ref
    agg: Aggregation | None = None
    distinct: bool = False
    over: Over = "value"
    conditions: list[Narrowing] = field(default_factory=list)
    related: list[RelatedSaid] = field(default_factory=list)
    times: list[TimeSaid] = field(default_factory=list)
    is_total: bool = False  # "total sales", without a word that counts; "average total amount"
    is_extreme: bool = False  # "the highest …": a maximum, or what the rows are ranked by
    is_rank: bool = False  # "who has the most …": what the rows are ranked by
    begins: int = -1  # the place of its first word
    kind: str = ""  # the words right before it that narrow it alone: "online"


@dataclass(slots=True)
class RelatedSaid:
    """Rows of the head by how many rows of another entity belong to each."""

    head: Ref
    entity: Ref
    comparison: Comparison = ">="
    value: Value = 1
    unit: Unit | None = None  # what that value is told in
    verb: Ref | None = None  # that connects them
    alternative: bool = False  # to the relation before it
    clause: int = 0  # its number among the relations of the question
    number: NumberSaid | None = None  # what is compared, where rows are not counted
    metric: str | None = None  # the name of that number


@dataclass(slots=True)
class TimeSaid:
    """A span of time, with the date it is said of, where one is named, and the entity it stands beside."""

    span: dates.Span
    ref: Ref | None = None
    near: tuple[str, ...] = ()
    beside: tuple[str, ...] = ()  # owners of the value right before it: "Fall 2020"
    clause: int = 0  # the number of the relation that it stands in


@dataclass(slots=True)
class RatioSaid:
    """One number divided by another. With `agg` the quotient is that of each row, and these are aggregated."""

    numerator: NumberSaid
    denominator: NumberSaid
    in_percent: bool = False
    is_part: bool = False  # the numerator counts some of the rows of the denominator
    is_ranked: bool = False


@dataclass(frozen=True, slots=True)
class UnitSaid:
    """A unit that an answer is wanted in, and what was named right before it."""

    unit: Unit
    words: str
    of: Ref | None = None


@dataclass(slots=True)
class DoneSaid:
    """A date told by its verb, said of rows of another entity: "cars that were sold"."""

    head: Ref
    date: Ref
    negated: bool = False
    clause: int = 0
    verb: Ref | None = None  # the relationships that it may name too: "sent"


@dataclass(slots=True)
class OrderSaid:
    """What the rows are sorted by."""

    by: Ref | NumberSaid | Grain
    descending: bool | None = None


@dataclass(frozen=True, slots=True)
class Pointed:
    """ "This customer", "in that venue": what is pointed at, and whether the question named it, as one of many."""

    ref: Ref
    begins: int
    is_known: bool
    is_any: bool


@dataclass(frozen=True, slots=True)
class Definition:
    """What the question says that a word, or a metric, is made of. `is_sum`: these parts and no others, added up."""

    words: str
    names: tuple[Target, ...]
    parts: tuple[Ref, ...]
    is_sum: bool


@dataclass(slots=True)
class Said:
    """Everything one question says."""

    numbers: list[NumberSaid] = field(default_factory=list)
    ratio: RatioSaid | None = None
    outputs: list[Ref] = field(default_factory=list)
    idle: list[Ref] = field(default_factory=list)  # entities in a clause about a number, which may narrow or group it
    strays: list[Ref] = field(default_factory=list)  # outputs that nothing asks for
    groups: list[Ref] = field(default_factory=list)
    per: list[Ref] = field(default_factory=list)  # those of the groups that "per" stands before
    each: list[Ref] = field(default_factory=list)  # those that "each" does
    ranked: Ref | None = None
    subject: Ref | None = None
    heads: list[Ref] = field(default_factory=list)
    is_headed: bool = False  # the question begins with the first of them: "the product with the highest …"
    conditions: list[Narrowing] = field(default_factory=list)
    related: list[RelatedSaid] = field(default_factory=list)
    times: list[TimeSaid] = field(default_factory=list)
    pointed: list[Pointed] = field(default_factory=list)
    grain: Grain | None = None
    orders: list[OrderSaid] = field(default_factory=list)
    descending: bool | None = None
    spelled: bool = False  # sorted as words are, and by no number
    limit: int | None = None
    is_ranking: bool = False
    with_empty: bool = False
    is_whole: bool = False  # numbers without a fraction are asked for
    counts: bool = False
    is_amount: bool = False  # "how much did …", where a count is no answer
    units: list[UnitSaid] = field(default_factory=list)
    beside: list[Ref] = field(default_factory=list)  # what a list shows beside the rows: "and the agent", "their date"
    roles: list[Ref] = field(default_factory=list)  # with nothing behind them that has the role: "do they fly to"
    verbs: list[Ref] = field(default_factory=list)  # with nothing behind them that they could be said of
    definitions: list[Definition] = field(default_factory=list)
    stakes: list[str] = field(default_factory=list)
    done: list[DoneSaid] = field(default_factory=list)
    doubts: list[str] = field(default_factory=list)  # verbs that are values too: "have completed orders"
    unknown: list[str] = field(default_factory=list)
    personal: str | None = None
