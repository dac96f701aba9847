"""What a language model makes of a question, held against the question: nothing dropped, nothing added, nothing turned.

Every word that carries meaning is bound to a part of the query, every part of the query to words, a denial to what it
denies. Days come from the grammar of time and never from a model.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from decimal import Decimal
from typing import Annotated, Literal

from pydantic import BaseModel, ConfigDict, Field

from bot.analytics.grammar import wording
from bot.analytics.grammar.tokens import Token
from bylaw.authored.context import Context
from bylaw.semantic.query import AnyOf, Condition, Filter, Related, SemanticQuery, Window

MOST_BYTES = 8_000  # of a proposed query; what people ask for has some hundred
_FILLERS = wording.FILLERS | wording.ASKING | wording.BY | wording.ARTICLES
_DENIALS = wording.NOT
_NAME = r"^[A-Za-z][\w ,()%.-]{0,60}$"  # of a number that only this query knows: people read it over a column

Kind = Literal["metric", "dimension", "filter", "time", "grain", "order", "limit", "entity"]
Words = Annotated[str, Field(min_length=1, max_length=200)]


class Bind(BaseModel):
    """Words of the question, and the part of the query that they stand for."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    words: Words
    kind: Kind
    name: Annotated[str, Field(max_length=200)]


class Proposal(BaseModel):
    """A query, which words were bound to what of it, and the words that the catalogue has no meaning for."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    query: SemanticQuery
    bindings: Annotated[tuple[Bind, ...], Field(max_length=60)]
    unknown: Annotated[tuple[Words, ...], Field(max_length=60)] = ()


class Untenable(Exception):
    """The proposal does not hold; the message says why."""


@dataclass(frozen=True)
class Asked:
    """The question that a proposal is held against. `heard` are words that say how much depends on the answer.

    `previous` is the query that the question goes on from, None where it stands alone.
    """

    text: str
    tokens: Sequence[Token]
    context: Context
    heard: Sequence[str] = ()
    previous: SemanticQuery | None = None


def held(proposal: Proposal, asked: Asked) -> SemanticQuery:
    """The query of *proposal*, with the days that the question speaks of. Raises Untenable."""
    query = proposal.query
    if len(query.model_dump_json()) > MOST_BYTES:
        raise Untenable("the query is too large")
    if query.with_empty or query.hidden:
        raise Untenable("the query shows or hides rows that nobody spoke of")
    if proposal.unknown:
        raise Untenable(f"the catalogue has no meaning for {_listed(proposal.unknown)}")
    bound = _places(proposal, asked)
    _hold_words(bound, asked)
    _hold_parts(proposal, asked)
    _hold_denials(proposal, asked)
    _hold_comparisons(proposal, asked)
    _hold_values(query, asked)
    return query.model_copy(update={"window": _window(proposal, asked)})


# ---- words


def _places(proposal: Proposal, asked: Asked) -> list[bool]:
    """Which characters of the question are bound. Raises Untenable for words that do not stand in it."""
    text = asked.text.lower()
    covered = [False] * len(text)
    for words in (*(bind.words for bind in proposal.bindings), *asked.heard):
        spans = list(_found(words.lower().strip(), text))
        if not spans:
            raise Untenable(f"`{words}` does not stand in the question")
        start, end = next((span for span in spans if not all(covered[span[0] : span[1]])), spans[0])
        covered[start:end] = [True] * (end - start)
    return covered


def _found(words: str, text: str) -> Iterator[tuple[int, int]]:
    """Where *words* stand in *text* as whole words."""
    at = text.find(words) if words else -1
    while at >= 0:
        end = at + len(words)
        before, after = text[at - 1 : at], text[end : end + 1]
        if not (before.isalnum() and words[0].isalnum()) and not (after.isalnum() and words[-1].isalnum()):
            yield at, end
        at = text.find(words, at + 1)


def _hold_words(covered: Sequence[bool], asked: Asked) -> None:
    """Every word that carries meaning is bound."""
    loose = [
        token.raw
        for token in asked.tokens
        if token.kind != "mark" and not all(covered[token.start : token.end]) and not _is_filler(token)
    ]
    if loose:
        raise Untenable(f"nothing is bound to {_listed(loose)}")


def _is_filler(token: Token) -> bool:
    return token.kind == "word" and token.text in _FILLERS


def _hold_denials(proposal: Proposal, asked: Asked) -> None:
    """What is denied in words is denied in the query, and nothing else is."""
    denying = _DENIALS & {token.text for token in asked.tokens if token.kind == "word"}
    said = {bind.name for bind in proposal.bindings if not _DENIALS.isdisjoint(_words_of(bind.words, asked))}
    negated = set(_negated(proposal.query.filters))
    if asked.previous is not None:
        negated -= set(_negated(asked.previous.filters))
    if denying and not said:
        raise Untenable(f"{_listed(sorted(denying))} denies nothing in the query")
    if said != negated:
        raise Untenable(f"what is denied is not what the words deny: {_listed(sorted(said ^ negated))}")


def _hold_comparisons(proposal: Proposal, asked: Asked) -> None:
    """ "More than" is no "less than", an average no sum."""
    said = dict(_compared(proposal.query.filters))
    for bind in proposal.bindings:
        words = _words_of(bind.words, asked)
        meant = {
            operator
            for phrase, operator in wording.COMPARISONS.items()
            if operator in ("<", "<=", ">", ">=") and _holds(words, phrase)
        }
        if bind.kind == "filter" and meant and bind.name in said and said[bind.name] not in meant:
            raise Untenable(f"`{bind.words}` compares the other way")
        aggregated = {wording.AGGREGATES[word] for word in words if word in wording.AGGREGATES}
        if bind.kind == "metric" and aggregated and "(" in bind.name and bind.name.split("(")[0] not in aggregated:
            raise Untenable(f"`{bind.words}` is not `{bind.name}`")


def _compared(conditions: Iterable[Condition]) -> Iterator[tuple[str, str]]:
    for one in conditions:
        match one:
            case AnyOf():
                yield from _compared(one.any_of)
            case Filter():
                yield one.dimension, one.operator
            case Related():
                yield one.entity, one.comparison


def _words_of(words: str, asked: Asked) -> tuple[str, ...]:
    """The words of a binding in their normal form."""
    start, end = next(iter(_found(words.lower().strip(), asked.text.lower())), (0, 0))
    return tuple(token.text for token in asked.tokens if start <= token.start < end)


def _holds(words: Sequence[str], phrase: Sequence[str]) -> bool:
    return any(tuple(words[at : at + len(phrase)]) == tuple(phrase) for at in range(len(words)))


def _negated(conditions: Iterable[Condition]) -> Iterator[str]:
    for one in conditions:
        match one:
            case AnyOf():
                yield from _negated(one.any_of)
            case Filter():
                if one.negated:
                    yield one.dimension
            case Related():
                if one.value == 0 and one.comparison in ("=", "<="):
                    yield one.entity
                yield from _negated(one.inside)


# ---- parts


def _hold_parts(proposal: Proposal, asked: Asked) -> None:
    """Every part is bound to words, or stood in the query before; every binding names a part."""
    parts = _parts(proposal.query)
    before = _parts(asked.previous) if asked.previous is not None else {}
    named: dict[str, set[str]] = {}
    for bind in proposal.bindings:
        if bind.kind != "time" or bind.name:
            named.setdefault(bind.kind, set()).add(bind.name)
    entities = {name.partition(".")[0] for names in parts.values() for name in names} | _counted(proposal.query)
    for kind, names in named.items():
        known = entities if kind == "entity" else parts.get(kind, set())
        if strange := sorted(names - known):
            raise Untenable(f"{_listed(strange)} is bound and not in the query")
    for kind, names in parts.items():
        said = named.get(kind, set()) | before.get(kind, set()) | _implied(kind, named)
        if added := sorted(names - said):
            raise Untenable(f"nobody asked for {_listed(added)}")
    query = proposal.query
    own = [part.name for parts in (query.measures, query.ratios, query.summaries) for part in parts]
    for name in own:
        _hold_name(name)


def _parts(query: SemanticQuery) -> Mapping[str, set[str]]:
    """The parts of *query* that words stand for, by the kind of their binding."""
    made = {part.name for parts in (query.measures, query.ratios, query.summaries) for part in parts}
    metrics = set(query.named)
    metrics |= {half for ratio in query.ratios for half in (ratio.numerator, ratio.denominator)}
    filters = set(_narrowed(query.filters)) | {name for one in query.measures for name in _narrowed(one.filters)}
    grouped = {*query.dimensions, *query.per}
    grouped |= {name for one in query.summaries for name in (*one.dimensions, *one.per)}
    grains: set[str] = {grain for grain in (query.grain, *(one.grain for one in query.summaries)) if grain}
    return {
        "metric": metrics - made,
        "dimension": grouped,
        "filter": filters,
        "grain": grains,
        "order": {order.by for order in query.order},
        "limit": {str(query.limit)} if query.limit else set(),
        "time": {query.time_dimension} if query.time_dimension else set(),
    }


def _implied(kind: str, named: Mapping[str, set[str]]) -> set[str]:
    """A ranking sorts by the number that is asked for; whoever groups by something may sort by it."""
    if kind != "order" or "limit" not in named:
        return set()
    return named.get("metric", set()) | named.get("dimension", set()) | {"time"}


def _narrowed(conditions: Iterable[Condition]) -> Iterator[str]:
    for one in conditions:
        match one:
            case AnyOf():
                yield from _narrowed(one.any_of)
            case Filter():
                yield one.dimension
            case Related():
                yield one.entity
                yield from _narrowed(one.inside)


def _counted(query: SemanticQuery) -> set[str]:
    """The entities inside aggregates that are written out."""
    return {name.partition("(")[2].rstrip(")").partition(".")[0] for name in _parts(query)["metric"] if "(" in name}


def _hold_name(name: str) -> None:
    if re.match(_NAME, name) is None:
        raise Untenable("a number of the query has no name that can be shown")


# ---- values and days


def _hold_values(query: SemanticQuery, asked: Asked) -> None:
    """Values are those of the catalogue, or words and numbers of the question."""
    conditions = [*query.filters, *(one for measure in query.measures for one in measure.filters)]
    numbers = {token.number for token in asked.tokens if token.number is not None}
    numbers |= {wording.NUMBERS[token.text] for token in asked.tokens if token.text in wording.NUMBERS}
    before = set(_values(asked.previous.filters)) if asked.previous is not None else set()
    for dimension, value in _values(conditions):
        if (dimension, value) in before or isinstance(value, bool):
            continue
        is_said = value in numbers if isinstance(value, int | Decimal) else value.lower() in asked.text.lower()
        if not is_said and str(value) not in _known_values(asked.context, dimension):
            raise Untenable(f"`{value}` is neither in the question nor in the catalogue")


def _values(conditions: Iterable[Condition]) -> Iterator[tuple[str, bool | int | Decimal | str]]:
    for one in conditions:
        match one:
            case AnyOf():
                yield from _values(one.any_of)
            case Filter():
                yield from ((one.dimension, value) for value in one.values)
            case Related():
                if one.value not in (0, 1):  # none, or some
                    yield one.entity, one.value
                yield from _values(one.inside)


def _known_values(context: Context, name: str) -> set[str]:
    owner, _, short = name.partition(".")
    entity = context.entities.get(owner.partition("@")[0])
    parts = entity.dimensions if entity is not None else []
    return {str(value) for part in parts if part.name == short for value in part.sample_values}


def _window(proposal: Proposal, asked: Asked) -> Window | None:
    """The days of the question's words of time."""
    spans = [token.span for token in asked.tokens if token.span is not None]
    bound = [bind.words for bind in proposal.bindings if bind.kind == "time" and not bind.name]
    text = asked.text.lower()
    read = [text[span.begins : span.ends] for span in spans]
    for words in bound:
        if not any(words.lower().strip() in one or one in words.lower() for one in read):
            raise Untenable(f"`{words}` is no span of time that can be read")
    if len(spans) > 1:
        raise Untenable("there is more than one span of time")
    if not spans:
        return asked.previous.window if asked.previous is not None else None
    if not bound:
        raise Untenable(f"nothing is bound to `{read[0]}`")
    (span,) = spans
    return None if span.start is None or span.end is None else Window(start=span.start, end=span.end, label=span.label)


def _listed(words: Iterable[str]) -> str:
    return ", ".join(f"`{word}`" for word in dict.fromkeys(words))
