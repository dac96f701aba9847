"""What the organisation knows about its data: entities, metrics, gotchas, glossary, guides, calendar, verified queries.

Object names follow Snowflake Cortex and Apache Ossie, metric kinds follow MetricFlow. One record a file; `Context`
is all of them together, as the bundle carries it. SQL in here is text: `bylaw.semantic` and the lints read it.
"""

import re
from typing import Annotated, Literal, Self

from pydantic import Field, StrictBool, StrictInt, StringConstraints, model_validator

from bylaw.authored.calendar import Calendar, TimeZone
from bylaw.authored.record import Authored, AuthoredFile, Day, Grain, Name, Slug, Text, Value, Word, misfit
from bylaw.authored.tools import Lookup

Expression = Annotated[str, StringConstraints(min_length=1, max_length=4_000)]
Aggregation = Literal["sum", "count", "count_distinct", "avg", "min", "max", "median"]
RelationshipType = Literal["many_to_one", "one_to_one", "one_to_many", "many_to_many"]


def _check_one_unit(name: str, unit: str | None, column: str | None) -> None:
    if unit is not None and column is not None:
        raise misfit(
            f"`{name}` is in `{unit}`, and `unit_column` says that each row has a unit of its own",
            "unit_column",
            help="take one of them away",
        )


_ABSOLUTE = re.compile(r"timestamp_?(tz|ltz)|with (local )?time ?zone", re.IGNORECASE)


class BaseTable(Authored):
    """The physical table behind an entity. `schema` is what roles are granted."""

    schema_name: Name = Field(alias="schema")
    table: Name

    @property
    def qualified(self) -> str:
        return f"{self.schema_name}.{self.table}"


class Columns(Authored):
    """A list of columns, as in a key."""

    columns: Annotated[list[Name], Field(min_length=1)]


class Expressed(Authored):
    """Something with a name and the SQL that computes it; left out, `expr` is the name."""

    name: Name
    expr: Expression | None = None
    description: Text | None = None
    data_type: Word | None = None
    synonyms: list[Word] = Field(default_factory=list)

    @property
    def sql(self) -> str:
        return self.expr or self.name


class Dimension(Expressed):
    """What an answer can be grouped or filtered by. `sample_values` of an enum are words people may use.

    `match` says when a value that somebody typed is meant: equal, equal but for upper and lower case, or contained.
    """

    is_enum: StrictBool = False
    unique: StrictBool = False
    match: Literal["exact", "ignore_case", "contains"] = "exact"
    sample_values: list[Value] = Field(default_factory=list)
    value_synonyms: dict[Word, list[Word]] = Field(default_factory=dict)

    @model_validator(mode="after")
    def _synonyms_belong_to_values(self) -> Self:
        known = {str(value) for value in self.sample_values}
        for value in self.value_synonyms:
            if value not in known:
                raise ValueError(f"`value_synonyms` speaks of `{value}`, which `sample_values` does not list")
        return self


class TimeDimension(Expressed):
    """A date or timestamp. The `default` one is meant when a question names none.

    `time_zone` is that of timestamps which do not carry one themselves; left out, they are taken for those that the
    organisation's own clocks showed. Answers show all moments as `calendar.yaml` says.
    """

    time_granularity: Grain = "day"
    time_zone: TimeZone | None = None
    default: StrictBool = False

    @property
    def is_absolute(self) -> bool:
        """Do its values carry a time zone, as far as anybody says?"""
        return bool(_ABSOLUTE.search(self.data_type or ""))

    @model_validator(mode="after")
    def _has_a_zone_where_one_is_missing(self) -> Self:
        if self.time_zone is not None and self.is_absolute:
            raise misfit(f"`{self.name}` is a {self.data_type}, whose values carry their time zone", "time_zone")
        if self.time_zone is not None and (self.data_type or "").lower() == "date":
            raise misfit(f"`{self.name}` is a date, and a day has no time zone", "time_zone")
        return self


class Fact(Expressed):
    """A number on one row, in its `unit`, or in the one that the dimension `unit_column` has in that row.

    Declaring facts closes the entity's list of columns: others are then unknown.
    """

    default_aggregation: Aggregation | None = None
    unit: Word | None = None
    unit_column: Name | None = Field(None, exclude_if=lambda value: value is None)

    @model_validator(mode="after")
    def _says_its_unit_once(self) -> Self:
        _check_one_unit(self.name, self.unit, self.unit_column)
        return self


class EntityFilter(Expressed):
    """A named condition. `apply: always` narrows every question that touches the entity."""

    apply: Literal["always", "on_request"] = "on_request"


class ColumnPair(Authored):
    left_column: Name
    right_column: Name


class Relationship(Authored):
    """How rows of this entity find rows of another.

    `synonyms` are the words that speak of it ("sold by", "sender"): where two relationships lead to one entity, they
    decide which is meant; without such a word the `default` one is. `condition` is SQL over the columns of this entity:
    only the rows that meet it find a partner ("sender_type = 'user'", where a sender may be of several kinds). Grouped
    by what it leads to, rows without a partner have a group of their own; of an `inner` join they are left out.
    """

    name: Name
    right_entity: Name
    relationship_columns: Annotated[list[ColumnPair], Field(min_length=1)]
    relationship_type: RelationshipType
    join_type: Literal["left_outer", "inner"] = "left_outer"
    condition: Word | None = None
    synonyms: list[Word] = Field(default_factory=list)
    default: StrictBool = False


class Freshness(Authored):
    """How old the data may be, measured on one column."""

    as_of_column: Name
    max_age: Word


class Entity(AuthoredFile):
    """One kind of row. `label` are the dimensions by which people tell its rows apart: a customer's name."""

    name: Name
    description: Text | None = None
    domain: Word | None = None
    owner: Word | None = None
    tags: list[Word] = Field(default_factory=list)
    base_table: BaseTable
    primary_key: Columns | None = None
    label: list[Name] = Field(default_factory=list)
    synonyms: list[Word] = Field(default_factory=list)
    dimensions: list[Dimension] = Field(default_factory=list)
    time_dimensions: list[TimeDimension] = Field(default_factory=list)
    facts: list[Fact] = Field(default_factory=list)
    filters: list[EntityFilter] = Field(default_factory=list)
    pii: list[Name] = Field(default_factory=list)
    relationships: list[Relationship] = Field(default_factory=list)
    freshness: Freshness | None = None

    @model_validator(mode="after")
    def _names_one_default_time(self) -> Self:
        defaults = [dimension.name for dimension in self.time_dimensions if dimension.default]
        if len(defaults) > 1:
            raise ValueError(f"only one time dimension can be the default, these say so: {', '.join(defaults)}")
        names = [part.name for part in (*self.dimensions, *self.time_dimensions, *self.facts)]
        for name in names:
            if names.count(name) > 1:
                raise ValueError(f"`{name}` is declared twice")
        for name in self.label:
            if self.dimension(name) is None:
                raise ValueError(f"the label `{name}` is no dimension")
        return self

    def dimension(self, name: str) -> Dimension | None:
        return next((dimension for dimension in self.dimensions if dimension.name == name), None)

    def dimension_of(self, column: str) -> Dimension | None:
        """The dimension that is called *column*, else the one that shows that column."""
        return self.dimension(column) or next((one for one in self.dimensions if one.sql == column), None)

    def default_time(self) -> TimeDimension | None:
        """The time dimension that is meant when nobody says which: the declared default, or the only one."""
        declared = [dimension for dimension in self.time_dimensions if dimension.default]
        if declared or len(self.time_dimensions) != 1:
            return declared[0] if declared else None
        return self.time_dimensions[0]


class NonAdditive(Authored):
    """A balance: over time its first or last value counts, one for each of `window_groupings` (MetricFlow)."""

    name: Name  # the time dimension
    window_choice: Literal["min", "max"] = "max"
    window_groupings: list[Name] = Field(default_factory=list)  # dimensions of the entity


class MetricInput(Authored):
    """A metric inside a derived one, under another name (`alias`) or as it was before (`offset_window: 1 month`)."""

    name: Name
    alias: Name | None = None
    offset_window: Word | None = None
    filter: Expression | None = None


class Metric(AuthoredFile):
    """A number the organisation agrees on.

    `time_dimension` is a time dimension of the entity, or `entity.name` of one it joins; `snapshot` says that the
    metric counts what is true now, so a span of time does not apply to it. `time_granularity` is the grain it is
    given by where nobody says another ("sales per month"), `fill_nulls_with` what a period without rows has. The
    `expr` of a derived metric computes with the names or aliases of its `metrics`. Each row of a simple metric may
    have a unit of its own, that of the dimension `unit_column`.
    """

    name: Name
    description: Text | None = None
    type: Literal["simple", "ratio", "derived", "cumulative"] = "simple"
    entity: Name | None = None
    agg: Aggregation | None = None
    expr: Expression | None = None
    filter: Expression | None = None
    numerator: Name | None = None
    denominator: Name | None = None
    metrics: list[Name | MetricInput] = Field(default_factory=list)
    metric: Name | None = None
    window: Word | None = None
    grain_to_date: Grain | None = None
    time_dimension: Expression | None = None
    time_granularity: Grain | None = None
    fill_nulls_with: StrictInt | None = None
    non_additive_dimension: NonAdditive | None = None
    snapshot: StrictBool = False
    synonyms: list[Word] = Field(default_factory=list)
    format: Literal["number", "integer", "currency", "percent"] = "number"
    unit: Word | None = None
    unit_column: Name | None = Field(None, exclude_if=lambda value: value is None)
    decision: Word | None = Field(None, exclude_if=lambda value: value is None)
    owner: Word | None = None
    tags: list[Word] = Field(default_factory=list)

    @property
    def inputs(self) -> tuple[MetricInput, ...]:
        """The metrics that a derived one computes with."""
        return tuple(MetricInput(name=part) if isinstance(part, str) else part for part in self.metrics)

    @property
    def dated_by(self) -> str | None:
        """`entity.name` of the time dimension that it names, if it names one."""
        named = self.time_dimension
        return named if named is None or "." in named else f"{self.entity}.{named}"

    @model_validator(mode="after")
    def _has_the_parts_of_its_type(self) -> Self:
        needed = {
            "simple": ("entity", "agg"),
            "ratio": ("numerator", "denominator"),
            "derived": ("expr", "metrics"),
            "cumulative": ("metric",),
        }[self.type]
        for key in needed:
            if not getattr(self, key):
                raise ValueError(f"a {self.type} metric needs `{key}`")
        if self.type == "simple" and self.agg != "count" and self.expr is None:
            raise ValueError(f"the aggregation `{self.agg}` needs `expr`")
        return self

    @model_validator(mode="after")
    def _says_its_unit_once(self) -> Self:
        _check_one_unit(self.name, self.unit, self.unit_column)
        if self.unit_column is not None and self.type != "simple":
            raise misfit(
                f"only a simple metric reads rows, and `{self.name}` is {self.type}",
                "unit_column",
                help="say `unit_column` of the simple metrics that it is made of",
            )
        return self


class Gotcha(AuthoredFile):
    """A trap that gives a plausible wrong number.

    `required_filter` is added to every question about what it applies to (entities or metrics); its columns belong
    to that entity, or are written `entity.column`. `check` names a test that the answer itself goes through.
    """

    id: Slug
    trap: Text
    applies_to: Annotated[list[Name], Field(min_length=1)]
    required_filter: Expression | None = None
    check: Literal["partial_period"] | None = None
    caveat: Text | None = None
    severity: Literal["high", "medium", "low"] = "medium"
    owner: Word | None = None


class GlossaryTerm(AuthoredFile):
    """A word of the house. `refers_to` binds it to a metric, an entity or `entity.dimension`.

    `over` says what is computed with the metric on the groups of an answer: its rank from the highest, its share of the
    whole.
    """

    term: Word
    synonyms: list[Word] = Field(default_factory=list)
    means: Text
    refers_to: Expression | None = None
    over: Literal["rank", "share"] | None = None


class Guide(AuthoredFile):
    """How one domain's numbers are read: conventions for people, and for a model that helps them."""

    domain: Slug
    description: Text | None = None
    conventions: list[Text] = Field(default_factory=list)
    entities: list[Name] = Field(default_factory=list)
    owner: Word | None = None


class SemanticSpec(Authored):
    """A verified question written in the words of this context instead of SQL."""

    metrics: Annotated[list[Name], Field(min_length=1)]
    dimensions: list[Expression] = Field(default_factory=list)
    filters: dict[Word, list[Value]] = Field(default_factory=dict)
    time: Word | None = None
    grain: Grain | None = None
    limit: Annotated[StrictInt, Field(ge=1)] | None = None


class VerifiedQuery(AuthoredFile):
    """A question with an answer that a person has checked; `{names}` in the question are parameters."""

    name: Slug
    question: Word
    sql: Annotated[str, StringConstraints(min_length=1, max_length=20_000)] | None = None
    query: SemanticSpec | None = None
    parameters: dict[Name, Value] = Field(default_factory=dict)
    verified_by: Word
    verified_at: Day
    use_as_onboarding_question: StrictBool = False
    description: Text | None = None

    @model_validator(mode="after")
    def _says_how_it_is_answered(self) -> Self:
        if (self.sql is None) == (self.query is None):
            raise ValueError("a verified query takes exactly one of `sql` and `query`")
        return self


class Context(Authored):
    """Everything under `context/` except decisions, by name. `paths` says which file a record was read from.

    Keys of `paths` are `entities/orders`, `metrics/net_revenue`, `gotchas/test-accounts` …
    """

    entities: dict[str, Entity] = Field(default_factory=dict)
    metrics: dict[str, Metric] = Field(default_factory=dict)
    gotchas: dict[str, Gotcha] = Field(default_factory=dict)
    glossary: dict[str, GlossaryTerm] = Field(default_factory=dict)
    guides: dict[str, Guide] = Field(default_factory=dict)
    verified_queries: dict[str, VerifiedQuery] = Field(default_factory=dict)
    lookups: dict[str, Lookup] = Field(default_factory=dict, exclude_if=lambda value: not value)
    calendar: Calendar = Calendar()
    paths: dict[str, str] = Field(default_factory=dict)

    def default_time(self, entity: str) -> str | None:
        """`entity.name` of the date that rows are told by where nobody says which, None where they have none.

        It is the entity's own, else the one of another entity that all metrics of these rows which name a date share:
        the lines of an order are told by the day of the order.
        """
        own = self.entities[entity].default_time()
        if own is not None:
            return f"{entity}.{own.name}"
        if self.entities[entity].time_dimensions:
            return None
        metrics = [metric for metric in self.metrics.values() if metric.type == "simple" and metric.entity == entity]
        named = {metric.dated_by for metric in metrics} - {None}
        return named.pop() if len(named) == 1 else None
