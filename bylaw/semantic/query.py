"""A question in the words of the context: numbers, groups, conditions, a span of time. No SQL, no joins.

Dimensions, time dimensions, facts and named filters are written `entity.name`. The time between two moments is a fact
of the entity that leads to both, `lines.days(orders.placed_at, lines.packed_at)`; one of them may be a day. What comes
again of a moment is a dimension beside it, `orders.weekday(placed_at)`: so are its hour, day and month. A number
is a metric of the catalogue, a measure of the query, or an aggregate written out: `count(orders)`,
`sum(orders.amount)`, `count_distinct(orders.channel)`, or of the quotient or the difference of two facts of each
row: `avg(orders.amount / orders.items)`. Without a number the query is a list. A query is JSON, so that a session can
carry it to the next turn and a model can propose one.
"""

from __future__ import annotations

from datetime import date
from decimal import Decimal
from typing import Annotated, Literal

from pydantic import BaseModel, BeforeValidator, ConfigDict, Field, PlainSerializer, model_validator

from bylaw.authored.record import Grain
from bylaw.errors import BylawError


class Unanswerable(BylawError):
    """The catalogue cannot answer this. The message is for the person who asked; `help` says what would work."""

    exit_code = 1


class Withheld(Unanswerable):
    """The rights of the person who asks stand in the way: nothing that is asked otherwise would help."""


class SeveralUnits(Unanswerable):
    """The rows are in several units: grouped by them, or of one, the same number is computed.

    `by` is the dimension that tells them apart, where a group by it answers.
    """

    def __init__(self, message: str, help: str, by: str | None = None) -> None:
        super().__init__(message, help)
        self.by = by


class UnknownName(Unanswerable):
    """A record names another that is not there: the catalogue is broken, not the question."""


class Part(BaseModel):
    """A value of the question."""

    model_config = ConfigDict(frozen=True, extra="forbid", defer_build=True)


def _exact(value: object) -> object:
    """A float as the decimal that it was written as: what a person typed is compared as typed."""
    return Decimal(str(value)) if isinstance(value, float) else value


def _plain(value: object) -> object:
    return float(value) if isinstance(value, Decimal) else value


Value = Annotated[bool | int | Decimal | str, BeforeValidator(_exact), PlainSerializer(_plain, when_used="json")]
MOST_NESTED = 5  # relations inside one another: no question of a person has more
PLACES = ("first", "second", "third", "fourth", "fifth", "sixth", "seventh", "eighth", "ninth", "tenth")
Over = Literal["value", "change", "growth", "running", "moving", "share", "total", "rank"]
Comparison = Literal["=", "!=", "<", "<=", ">", ">="]
Operator = Literal["in", "<", "<=", ">", ">=", "contains", "starts_with", "ends_with", "is_null", "is_weekend"]
_NO_VALUES = ("is_null", "is_weekend")


class Filter(Part):
    """One dimension, time dimension or fact narrowed, or a named filter of an entity (no values) asked for.

    `in`: equal to one of the values, compared as the dimension's `match` says. A comparison takes one value; dates
    are ISO days. `negated` keeps everything else, rows without a value among it.
    """

    dimension: str
    values: tuple[Value, ...] = ()
    operator: Operator = "in"
    negated: bool = False

    @model_validator(mode="after")
    def _has_what_it_compares_with(self) -> Filter:
        if self.operator in _NO_VALUES and self.values:
            raise ValueError(f"`{self.operator}` takes no values")
        if self.operator in ("<", "<=", ">", ">=") and len(self.values) != 1:
            raise ValueError(f"`{self.operator}` takes one value")
        return self


class Than(Part):
    """Another number over rows that belong to the same row, with conditions on these."""

    metric: str
    filters: tuple[Filter | AnyOf | Apart | First, ...] = ()


class Related(Part):
    """Rows of `entity` by a number over the rows of others that belong to each: "with at least 5 orders".

    No rows are `count(orders) = 0`, some are `>= 1`. `filters` narrow the rows that are counted. `entity` may be a
    dimension: the regions with at least 100 orders. `against` compares with the average, or the median, of all of them
    that have any rows, instead of with `value`; `than` with another number of the same row, 0 where it has none: "more
    refunds than reviews".
    """

    entity: str
    metric: str
    comparison: Comparison = ">="
    value: Value = 1
    against: Literal["avg", "median"] | None = None
    than: Than | None = None
    filters: tuple[Filter | AnyOf | Apart | First | Related, ...] = ()

    @property
    def inside(self) -> tuple[Condition, ...]:
        """Every condition on rows that are counted."""
        return (*self.filters, *(self.than.filters if self.than is not None else ()))

    @model_validator(mode="after")
    def _compares_once(self) -> Related:
        if self.than is not None and (self.against is not None or self.comparison not in ("<", ">")):
            raise ValueError("`than` is more (`>`) or fewer (`<`), and nothing else is compared")
        return self

    @model_validator(mode="after")
    def _is_not_too_deep(self) -> Related:
        if depth(self) > MOST_NESTED:
            raise ValueError(f"rows related to related rows are at most {MOST_NESTED} deep")
        return self


class Apart(Part):
    """Two moments of a row, and how far `moment` lies behind `since`: "within 10 days after the order".

    From `least` to `most` units behind it, below zero before it. `is_open` leaves the ends out, of two ends not the
    moment `since` itself: "less than 3 days after" begins with it. `same` asks for one and the same day, week or month
    instead. `negated` keeps everything else, rows without one of them among it.
    """

    moment: str
    since: str
    least: int | None = None
    most: int | None = None
    unit: Grain = "day"
    is_open: bool = False
    same: Grain | None = None
    negated: bool = False

    def leaves_out(self, end: int) -> bool:
        """Is the end itself out of reach?"""
        return self.is_open and (end != 0 or None in (self.least, self.most))

    @model_validator(mode="after")
    def _compares(self) -> Apart:
        if (self.same is None) == (self.least is None and self.most is None):
            raise ValueError("either `same`, or `least` or `most`")
        return self


class First(Part):
    """The first rows by `by`, the last ones where `is_last`, of those that belong to one row of each of `per`.

    Rows at the same moment are all the first. `filters` narrow the rows that are looked at.
    """

    by: str
    per: tuple[str, ...] = ()
    is_last: bool = False
    filters: tuple[Filter | AnyOf | Apart, ...] = ()


class AnyOf(Part):
    """At least one of these holds."""

    any_of: Annotated[tuple[Filter | Related | Apart | First, ...], Field(min_length=1)]


Condition = Filter | AnyOf | Apart | First | Related


def depth(condition: Condition) -> int:
    """How many relations lie inside one another in *condition*."""
    match condition:
        case AnyOf():
            return max(map(depth, condition.any_of))
        case First() | Related():
            return isinstance(condition, Related) + max(map(depth, condition.filters), default=0)
    return 0


class Window(Part):
    """Days from `start` up to, not including, `end`."""

    start: date
    end: date
    label: str


class Order(Part):
    """What the rows are sorted by: a metric, a dimension or the grain of time (`time`)."""

    by: str
    descending: bool = False


class Measure(Part):
    """A number that only this query knows, under a name of its own.

    `filters` narrow the rows that count for it ("of these, on weekends"), `window` is its own span of time instead of
    the query's ("last year" beside "this year"). `over` is computed on the groups of the answer: the change or the
    growth (a share) against the period before, the running total over time, the average of the last `periods`
    (`moving`), the share of the whole, the whole itself
    (`total`, the same in every group), the rank from the highest (ties share one, none is skipped). `scale` (times,
    divided by) tells it in another `unit`.
    """

    name: str
    metric: str
    filters: tuple[Condition, ...] = ()
    window: Window | None = None
    over: Over = "value"
    periods: Annotated[int, Field(ge=1, le=1_000)] = 1
    scale: tuple[int, int] = (1, 1)
    unit: str | None = None


class Ratio(Part):
    """One number of this query divided by another, times 100 where it is asked for `in_percent`."""

    name: str
    numerator: str
    denominator: str
    in_percent: bool = False


class Difference(Part):
    """How far the number `after` lies above the number `before`; as a share of `before` where it is a growth."""

    name: str
    before: str
    after: str
    is_growth: bool = False


class Summary(Part):
    """An aggregate over what each of something has: "the average number of orders per customer".

    `metric` is computed for each row of `per`, each value of `dimensions` and each period of `grain`, within each
    group of the answer, and `agg` of these. What has no rows is left out, or counts too where it is asked for
    `with_empty`.
    """

    name: str
    agg: Literal["avg", "median", "min", "max"]
    metric: str
    per: tuple[str, ...] = ()
    dimensions: tuple[str, ...] = ()
    grain: Grain | None = None
    with_empty: bool = False

    @model_validator(mode="after")
    def _is_of_something(self) -> Summary:
        if not (self.per or self.dimensions or self.grain):
            raise ValueError("a summary says of each of what: `per`, `dimensions` or `grain`")
        return self


class SemanticQuery(Part):
    """What is asked.

    `metrics` are the numbers in the order of the answer's columns: names of the catalogue, of `measures`, of
    `ratios`, of `differences`, of `summaries`, or aggregates written out. Summaries stand alone, and are of the
    same. `per` names entities each of whose rows has a row of the answer, whether or not the dimensions that are
    shown tell them apart: two customers of one name are two. Rows that belong to none of them have a group without a
    value, so that the groups add up to the whole; with `only_members` they are left out, as they are from a list and
    from the places of an order. `window` narrows and `grain` groups by the time
    dimension of the metrics, or by `time_dimension`. `with_empty` keeps groups and periods that no row belongs to.
    `limit` takes the first rows, with `limit_by` the first of each group of those dimensions, `with_ties` those that
    rank equal with the last of them too. `order` empty means the natural one: time upwards, else the first metric
    downwards. `place` keeps what stands there in the order, where equal ones share a place: the second highest.
    `hidden` metrics have no column: rows are only ranked by them.
    """

    metrics: tuple[str, ...] = ()
    measures: tuple[Measure, ...] = ()
    ratios: tuple[Ratio, ...] = ()
    differences: tuple[Difference, ...] = ()
    summaries: tuple[Summary, ...] = ()
    dimensions: tuple[str, ...] = ()
    per: tuple[str, ...] = ()
    only_members: bool = False
    filters: tuple[Condition, ...] = ()
    window: Window | None = None
    time_dimension: str | None = None
    grain: Grain | None = None
    with_empty: bool = False
    order: tuple[Order, ...] = ()
    limit: Annotated[int, Field(ge=1)] | None = None
    limit_by: tuple[str, ...] = ()
    place: Annotated[int, Field(ge=1, le=len(PLACES))] | None = None
    with_ties: bool = False
    hidden: tuple[str, ...] = ()

    @model_validator(mode="after")
    def _has_places_in_an_order(self) -> SemanticQuery:
        if self.place is not None and (not self.order or self.limit is not None):
            raise ValueError("a place is one in an `order`, without a `limit`")
        return self

    @model_validator(mode="after")
    def _asks_for_something(self) -> SemanticQuery:
        if not self.metrics and not self.dimensions:
            raise ValueError("a query names a number or a dimension")
        if not self.shown and not self.dimensions:
            raise ValueError("a query shows a number or a dimension")
        return self

    @property
    def shown(self) -> tuple[str, ...]:
        """The numbers that have a column."""
        return tuple(name for name in self.metrics if name not in self.hidden)

    @property
    def named(self) -> tuple[str, ...]:
        """The numbers by name, and those that its measures and summaries are made of."""
        measures, summaries = ((part.metric for part in parts) for parts in (self.measures, self.summaries))
        return (*self.metrics, *measures, *summaries)

    @property
    def windows(self) -> tuple[Window, ...]:
        """Every span of time that rows are counted in: the query's, or those of the measures that have their own."""
        own = [measure.window for measure in self.measures if measure.window is not None]
        return tuple(dict.fromkeys(own)) or ((self.window,) if self.window else ())

    @property
    def leaves_out(self) -> bool:
        """Are rows left out that belong to none of `per`?"""
        return self.only_members or self.is_list or self.limit is not None or self.place is not None

    @property
    def is_ranked(self) -> bool:
        """Are groups cut off by their place?"""
        return not self.is_list and (self.limit is not None or self.place is not None)

    @property
    def is_list(self) -> bool:
        """Are rows asked for instead of numbers?"""
        return not self.metrics
