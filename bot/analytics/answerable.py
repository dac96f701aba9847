"""Which questions a context can answer without a model: each is written from its own names, and read back.

The verified queries as they are, and templates over every metric with a dimension, a value and a span of time that it
has. What a template means is a query that is made without reading a word; a question is right where what is read in it
compiles to the same statement. Nothing runs.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Container, Iterator, Sequence
from dataclasses import dataclass
from datetime import date
from itertools import cycle, islice
from typing import Literal

from bot.analytics.matched import Desk
from bot.analytics.reading import Bound, Meant, NotUnderstood, Unclear
from bot.ask.ground import calendar_rules
from bylaw.authored.context import Context, Dimension, VerifiedQuery
from bylaw.authored.record import Grain
from bylaw.hold.hold import Ground
from bylaw.hold.values import Clock
from bylaw.hold.words import Index
from bylaw.language import dates
from bylaw.language.text import words_of
from bylaw.language.words import read_words
from bylaw.semantic.clauses.measures import Numbers
from bylaw.semantic.compiler import Compiler
from bylaw.semantic.query import Condition, Filter, Order, SemanticQuery, Unanswerable, Window
from bylaw.semantic.words import index_context

Verdict = Literal["right", "asked back", "something else"]
VERDICTS: tuple[Verdict, ...] = ("right", "asked back", "something else")
MOST = 1_000  # questions of templates; where there are many metrics, each gets other templates in turn
_FEWEST = 6  # questions about one metric
_MOST_VALUES = 40  # of a longer list nobody says the values one by one
_WIDEST = 60  # characters of a value that people type
_MOST_DIMENSIONS = 4  # that the templates of one metric go through in turn


@dataclass(frozen=True, slots=True)
class Asked:
    """A question and what it means. `about` is the record that its words are of: `metrics/revenue`."""

    text: str
    about: str
    template: str
    query: SemanticQuery


@dataclass(frozen=True, slots=True)
class Row:
    """One question that was read back. `said` is what came instead of the right reading, `help` what works."""

    asked: Asked
    verdict: Verdict
    said: str = ""
    help: str | None = None


@dataclass(frozen=True, slots=True)
class Clash:
    """A phrase that names several things of one kind. `meant` are their names."""

    phrase: str
    kind: str
    meant: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Answerable:
    """What came of every question, and which names are said of more than one thing."""

    rows: tuple[Row, ...]
    clashes: tuple[Clash, ...]

    def count(self, verdict: Verdict) -> int:
        return sum(1 for row in self.rows if row.verdict == verdict)


@dataclass(frozen=True, slots=True)
class Template:
    """A question and what it asks: `{m}` is a metric, `{d}` and `{e}` are dimensions, `{v}` and `{w}` values of `{d}`.

    `by` are the dimensions grouped by, `span` words of time, `values` how many narrow `{d}`, all others where
    `negated`. Without `shows` rows are only ranked by the metric.
    """

    text: str
    by: str = ""
    grain: Grain | None = None
    span: str = ""
    values: int = 0
    negated: bool = False
    limit: int | None = None
    descending: bool | None = None
    shows: bool = True


_PLAIN = (
    Template("{m}"),
    Template("what is the {m}?"),
    Template("show me the {m}"),
)
_GROUPED = (
    Template("{m} by {d}", by="d"),
    Template("{m} per {d}", by="d"),
    Template("{m} for each {d}", by="d"),
    Template("what is the {m} of each {d}?", by="d"),
    Template("show the {m} grouped by {d}", by="d"),
    Template("{m} by {d} and {e}", by="de"),
    Template("{m} by {d}, highest first", by="d", descending=True),
    Template("{m} by {d}, lowest first", by="d", descending=False),
    Template("top 3 {d} by {m}", by="d", descending=True, limit=3),
    Template("bottom 3 {d} by {m}", by="d", descending=False, limit=3),
    Template("which {d} has the highest {m}?", by="d", descending=True, limit=1, shows=False),
    Template("which {d} has the lowest {m}?", by="d", descending=False, limit=1, shows=False),
)
_VALUED = (
    Template("{m} for {v}", values=1),
    Template("{m} where {d} is {v}", values=1),
    Template("{m} with {d} {v}", values=1),
    Template("what is the {m} for {v}?", values=1),
    Template("{m} excluding {v}", values=1, negated=True),
    Template("{m} where {d} is not {v}", values=1, negated=True),
    Template("{m} for {v} or {w}", values=2),
)
_TIMED = (
    Template("{m} by month", grain="month"),
    Template("monthly {m}", grain="month"),
    Template("{m} by year", grain="year"),
    Template("{m} by quarter", grain="quarter"),
    Template("{m} by week", grain="week"),
    Template("{m} per day", grain="day"),
    Template("{m} in 2024", span="2024"),
    Template("what was the {m} in 2024?", span="2024"),
    Template("{m} last year", span="last year"),
    Template("{m} last month", span="last month"),
    Template("{m} this quarter", span="this quarter"),
    Template("{m} in the last 30 days", span="last 30 days"),
    Template("{m} in March 2024", span="March 2024"),
    Template("{m} between 2024-01-01 and 2024-03-31", span="between 2024-01-01 and 2024-03-31"),
    Template("{m} by month in 2024", grain="month", span="2024"),
)
_TIMED_GROUPED = (
    Template("{m} by {d} in 2024", by="d", span="2024"),
    Template("{m} by {d} and month", by="d", grain="month"),
    Template("top 3 {d} by {m} last year", by="d", span="last year", descending=True, limit=3),
)
_TIMED_VALUED = (Template("{m} for {v} last year", span="last year", values=1),)


def answerable(context: Context, today: date) -> Answerable:
    """Every question of *context*, read back on *today*."""
    compiler = Compiler(context)
    clock = Clock(today, calendar_rules(context.calendar))
    desk = Desk(Ground("data", index_context(context), clock), compiler)
    rows = tuple(_read_back(one, desk) for one in questions(desk))
    return Answerable(rows, tuple(clashes(desk.ground.index)))


def _read_back(asked: Asked, desk: Desk) -> Row:
    compile_ = desk.compiler.compile
    match desk.read(asked.text).reading:
        case Bound() as bound:
            is_right = any(compile_(one).sql == compile_(asked.query).sql for one in _same(bound.query))
            return Row(asked, "right") if is_right else Row(asked, "something else", _told(bound.query))
        case Unclear() as unclear:
            return Row(asked, "asked back", f"`{unclear.words}` can mean more than one thing", _meant(unclear.meant))
        case NotUnderstood() as stopped:
            return Row(asked, "asked back", stopped.message, stopped.help)


def _same(query: SemanticQuery) -> Iterator[SemanticQuery]:
    """*query*, and what says no other thing: without the keys beside a label, and with the group that has no value."""
    owners = {name.partition(".")[0] for name in query.dimensions}
    wider = tuple(one for one in query.filters if not _leaves_out_none(one, owners))
    yield query
    yield query.model_copy(update={"per": ()})
    yield query.model_copy(update={"filters": wider})


def _leaves_out_none(condition: Condition, owners: Container[str]) -> bool:
    is_there = isinstance(condition, Filter) and condition.operator == "is_null" and condition.negated
    return is_there and condition.dimension.partition(".")[0] in owners  # type: ignore[union-attr]  # a filter then


def _told(query: SemanticQuery) -> str:
    """A query in one line: what it counts, by what, which rows."""
    groups = [*query.dimensions, *([query.grain] if query.grain else [])]
    parts = [", ".join(query.shown) or "rows", f"by {', '.join(groups)}" if groups else ""]
    parts += [f"where {_narrowed(one)}" for one in query.filters]
    parts += [query.window.label] if query.window else []
    return " ".join(part for part in parts if part)


def _narrowed(condition: Condition) -> str:
    if isinstance(condition, Filter):
        sign = "not " if condition.negated else ""
        return f"{condition.dimension} {sign}{', '.join(map(str, condition.values)) or condition.operator}"
    return type(condition).__name__.lower()


def _meant(meant: Sequence[Meant]) -> str:
    return "it may be: " + ", ".join(one.label for one in meant)


# ---- the questions


def questions(desk: Desk) -> Iterator[Asked]:
    """The verified queries that say what they mean, then the templates over every metric."""
    compiler = desk.compiler
    context = compiler.context
    for name, verified in sorted(context.verified_queries.items()):
        if (query := _of_verified(verified, desk.ground.clock)) is not None:
            yield Asked(verified.question, f"verified_queries/{name}", "verified", query)
    made = _Made(compiler)
    share = max(_FEWEST, MOST // max(1, len(context.metrics)))
    for place, (name, metric) in enumerate(sorted(context.metrics.items())):
        phrases = _said_of_numbers([name.replace("_", " "), *metric.synonyms], desk.ground.index)
        found = _dimensions(compiler, name, place)
        spans = made.has_time(name)
        templates = [*_PLAIN, *(_GROUPED + _VALUED if found else ()), *(_TIMED if spans else ())]
        templates += [*(_TIMED_GROUPED + _TIMED_VALUED if spans and found else ())]
        turned = [templates[(i + place * share) % len(templates)] for i in range(len(templates))]
        written = (
            one
            for template, phrase, pair in zip(turned, cycle(phrases), cycle(_pairs(found)), strict=False)
            for one in _filled(template, name, phrase, pair, desk.ground.clock, made)
        )
        yield from islice(written, share)


class _Made:
    """Which queries the compiler can make a statement of: a template that has none asks for nothing."""

    def __init__(self, compiler: Compiler) -> None:
        self.compiler = compiler

    def is_possible(self, query: SemanticQuery) -> bool:
        try:
            self.compiler.compile(query)
        except Unanswerable:
            return False
        return True

    def grain_of(self, metric: str) -> Grain | None:
        """The periods that a metric is always told by."""
        return self.compiler.context.metrics[metric].time_granularity

    def has_time(self, metric: str) -> bool:
        return self.is_possible(SemanticQuery(metrics=(metric,), grain="month"))


def _said_of_numbers(phrases: Sequence[str], index: Index) -> Sequence[str]:
    """Those that name no rows too, where there are such: "leads" may ask for a list."""
    entities = {words_of(text) for one in index.names.values() if one.kind == "entity" for text in one.texts}
    plain = [phrase for phrase in phrases if words_of(phrase) not in entities]
    return plain or phrases


def _dimensions(compiler: Compiler, metric: str, place: int) -> list[tuple[str, Dimension]]:
    """What a metric can be grouped by in one way, another few for each metric so that all come up."""
    made, context = _Made(compiler), compiler.context
    owner = Numbers(compiler.names, SemanticQuery(metrics=(metric,))).number(metric).atoms[0].entity
    reachable = compiler.joins.reachable(owner)
    found = [
        (f"{name}.{one.name}", one)
        for name in (owner, *sorted(set(reachable) - {owner}))
        for one in context.entities[name].dimensions
        if one.is_enum and not (one.data_type or "").lower().startswith("bool")
        if one.name not in context.entities[name].label and not one.unique
    ]
    turned = [found[(i + place) % len(found)] for i in range(len(found))]
    possible = (pair for pair in turned if made.is_possible(SemanticQuery(metrics=(metric,), dimensions=(pair[0],))))
    return list(islice(possible, _MOST_DIMENSIONS))


Pair = tuple[tuple[str, Dimension], tuple[str, Dimension]] | None


def _pairs(found: Sequence[tuple[str, Dimension]]) -> Sequence[Pair]:
    """Each dimension with the next one beside it."""
    return [(one, found[(i + 1) % len(found)]) for i, one in enumerate(found)] or [None]


def _filled(template: Template, metric: str, phrase: str, pair: Pair, clock: Clock, made: _Made) -> Iterator[Asked]:
    """The question of one template, where the metric and the dimensions can fill it."""
    words = {"m": phrase}
    names: tuple[str, ...] = ()
    values: tuple[str | int | bool, ...] = ()
    if pair is not None:
        (name, dimension), (other, _) = pair
        words |= {"d": _spoken(name), "e": _spoken(other)}
        names = tuple({"d": name, "e": other}[part] for part in template.by)
        said = [v for v in dimension.sample_values[:_MOST_VALUES] if not isinstance(v, bool) and len(str(v)) < _WIDEST]
        if len(said) < max(template.values, 1) and template.values:
            return
        values = tuple(said[: template.values])
        words |= dict(zip("vw", map(str, said), strict=False))
        filters = (Filter(dimension=name, values=values, negated=template.negated),) if values else ()
        if "{e}" in template.text and name == other:
            return
    else:
        filters = ()
    window = _window(template.span, clock)
    if template.span and window is None:
        return
    query = SemanticQuery(
        metrics=(metric,),
        dimensions=names,
        filters=filters,
        window=window,
        grain=template.grain or made.grain_of(metric),
        order=(Order(by=metric, descending=template.descending),) if template.descending is not None else (),
        limit=template.limit,
        hidden=() if template.shows else (metric,),
    )
    if made.is_possible(query):
        yield Asked(template.text.format(**words), f"metrics/{metric}", template.text, query)


def _spoken(name: str) -> str:
    """A dimension as people say it, with its rows: `customers.region` is "customer region"."""
    owner, _, short = name.partition(".")
    one = " ".join(word.text for word in read_words(owner.replace("_", " ")))
    said = short.replace("_", " ")
    return said if said.startswith(one) else f"{one} {said}"


def _window(span: str, clock: Clock) -> Window | None:
    if not span:
        return None
    found = dates.find(span, clock.today, clock.calendar)
    if len(found) != 1 or found[0].start is None or found[0].end is None:
        return None
    return Window(start=found[0].start, end=found[0].end, label=found[0].label)


def _of_verified(verified: VerifiedQuery, clock: Clock) -> SemanticQuery | None:
    """What a verified query says that it means; None where it is a statement, or has gaps to fill."""
    spec = verified.query
    if spec is None or verified.parameters:
        return None
    window = _window(spec.time or "", clock)
    if spec.time and window is None:
        return None
    filters = tuple(Filter(dimension=name, values=tuple(values)) for name, values in sorted(spec.filters.items()))
    return SemanticQuery(
        metrics=tuple(spec.metrics),
        dimensions=tuple(spec.dimensions),
        filters=filters,
        window=window,
        grain=spec.grain,
        limit=spec.limit,
    )


# ---- names


def clashes(index: Index) -> Iterator[Clash]:
    """Phrases that name several metrics, or several values, columns or rows where nothing beside them decides.

    A phrase that two columns of different entities share is decided by what is counted; two of the same are not.
    """
    said: dict[tuple[str, str], set[tuple[str, str | None]]] = {}
    for name in index.names.values():
        for text in name.texts if "@" not in name.name else ():
            said.setdefault((" ".join(words_of(text)), name.kind), set()).add((name.name, name.owner))
        for value, texts in name.values.items() if name.type == "enum" else ():
            for text in texts:
                said.setdefault((" ".join(words_of(text)), "value"), set()).add((f"{name.name} {value}", name.owner))
    for (phrase, kind), meant in sorted(said.items()):
        owners = Counter(owner for _, owner in meant)
        if len(meant) > 1 and (kind in ("metric", "entity") or max(owners.values()) > 1):
            yield Clash(phrase, kind, tuple(sorted(name for name, _ in meant)))
