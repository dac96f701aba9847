"""Conditions of a proposal: values, figures, days, moments and related rows are those of the question."""

from __future__ import annotations

from collections.abc import Sequence
from decimal import Decimal
from typing import Any

from bot.analytics.proposals.evidence import Figure, alike, stems
from bot.analytics.proposals.held import bare, bound_at, is_carried, is_day, is_equal, stem_said
from bot.analytics.proposals.held_roles import role, side
from bot.analytics.proposals.holding import Holding, Untenable, equal
from bot.analytics.reader import wording
from bot.analytics.reader.scope import Target
from bylaw.language.units import units_in
from bylaw.semantic.clauses.conditions import is_false
from bylaw.semantic.expressions import expression
from bylaw.semantic.query import (
    AnyOf,
    Apart,
    Filter,
    First,
    Part,
    Related,
    Than,
)

_AFTER = frozenset("after later behind following since".split())  # noqa: SIM905 - a table of words
_BEFORE = frozenset("before earlier prior ahead".split())  # noqa: SIM905 - a table of words
_LINKING = _AFTER | _BEFORE | {"of", "from", "as", "than"}
_AS_FILTER = ("filter", "time", "entity")
_LASTS = {words for words, is_last in wording.ENDS.items() if is_last}
_FIRSTS = {words for words, is_last in wording.ENDS.items() if not is_last}


# ---- conditions


def filter_dimension(h: Holding, part: Filter, above: Sequence[Part]) -> None:
    if is_carried(h, part, above):
        return
    places = bound_at(h, part.dimension, kinds=_AS_FILTER)
    role(h, part.dimension, places)
    if part.values or part.operator in ("is_null", "is_weekend"):
        return
    named = [
        one
        for one in h.mentions(places)
        if any(t.kind == "condition" and t.name == part.dimension for t in one.targets)
    ]
    if not named and not (
        h.supports(part.dimension, places) and (h.loose(places) or stem_said(h, part.dimension, places))
    ):
        raise Untenable(f"nothing that `{part.dimension}` is bound to speaks of it")
    others = [one for one in h.mentions(places) if any(t.kind == "condition" for t in one.targets)]
    if others and not named:
        raise Untenable(f"`{others[0].said}` is another condition than `{part.dimension}`")
    for one in named:
        h.take(one, part)


def values(h: Holding, part: Filter, above: Sequence[Part]) -> None:
    if is_carried(h, part, above):
        return
    places = h.at(part.dimension, kinds=_AS_FILTER)
    if part.operator == "is_weekend":
        if not any(h.evidence.words[i].startswith("weekend") for i in range(len(h.evidence.words))):
            raise Untenable("nobody asked for weekends")
        return
    if part.operator == "is_null":
        if not h.supports(part.dimension, places):
            raise Untenable(f"nothing that `{part.dimension}` is bound to speaks of it")
        _take_field(h, part, places)
        return
    for value in part.values:
        _value(h, part, value, places)


def _value(h: Holding, part: Filter, value: object, places: Sequence[int]) -> None:
    """One value: a figure or a day of the question, a value that the words name, or what only the model knows."""
    dimension = part.dimension
    if isinstance(value, bool):
        own = h.own(dimension)
        known = [one for one in h.mentions(places) if any(h.names_field(t, dimension) for t in one.targets)]
        meant = [one for one in h.mentions(places) if any(_says_so(h, t, dimension, value) for t in one.targets)]
        for one in meant:
            h.take(one, part)
        if meant:
            return None
        if not known and not stem_said(h, dimension, places):
            raise Untenable(f"nothing that `{dimension}` is bound to speaks of it")
        _take_field(h, part, places)
        for one in h.mentions(places):
            if stems(one.said) <= own and h.taker(one) is None:
                h.take(one, part)
        return None
    for one in h.mentions(places) or ():
        if any(t.kind == "value" and t.name == bare(dimension) and is_equal(t.value, value) for t in one.targets):
            side(h, part, one, places)
            return h.take(one, part)
    if isinstance(value, int | Decimal):
        operator = None if part.operator == "in" else part.operator
        figure = h.figure(value, operator, h.unit_of(dimension), places, part)
        if figure is not None:
            _beside(h, figure, dimension)
            _of_each_row(h, figure, dimension)
            return None
        if part.operator == "in" and any(one.span.label == str(value) for one in h.evidence.days):
            for said in h.evidence.days:
                if said.span.label == str(value):
                    h.take(said, part)
                    h.bounds.setdefault(id(said), set()).update(("start", "end"))
            return None
        raise Untenable(f"`{value}` is not what the question says")
    text = str(value)
    if is_day(text):
        if not h.days(text, part.operator, part):
            raise Untenable(f"`{text}` is no day of the question")
        return None
    if _literal(h, part, text, places):
        return None
    if part.operator == "in" and is_complement(h, part):
        for one in h.evidence.mentions:
            if any(t.kind == "value" and t.name == bare(dimension) for t in one.targets):
                h.take(one, part)
        return None
    mine = [i for i in h.loose(places) if not any(i in at for name, at in h.places.items() if name != dimension)]
    if mine and part.operator == "in" and _is_listed(h, dimension, text):
        return None
    raise Untenable(f"`{text}` is neither in the question nor what its words name")


def is_complement(h: Holding, part: Filter) -> bool:
    """Does it keep all values of a closed list but those that the question names?"""
    record = h.record(part.dimension)
    known = {str(value) for value in getattr(record, "sample_values", ())}
    kept = {str(value) for value in part.values}
    named = [t for one in h.evidence.mentions for t in one.targets if t.kind == "value"]
    said = {str(target.value) for target in named if target.name == bare(part.dimension)}
    is_closed = bool(getattr(record, "is_enum", False)) and part.operator == "in" and not part.negated
    return is_closed and bool(kept) and bool(said) and not kept & said and known - kept == said


def _says_so(h: Holding, target: Target, dimension: str, value: bool) -> bool:
    """Is it a named condition on just this column, which rules the other value out?"""
    if target.kind != "condition" or target.owner != bare(dimension).partition(".")[0]:
        return False
    column = expression(getattr(h.record(dimension), "sql", ""), target.owner)
    tree = expression(getattr(h.record(target.name), "sql", ""), target.owner)
    return is_false(tree, column, not value) and not is_false(tree, column, value)


def _literal(h: Holding, part: Filter, text: str, places: Sequence[int]) -> bool:
    """Does the text itself stand in the question? The pieces that it is made of are taken."""
    e = h.evidence
    for one in e.mentions:
        if one.said.strip("`\"'“”‘’ ").casefold() == text.casefold() and (
            not places or set(range(one.first, one.last + 1)) & set(places)
        ):
            if one.targets and not any(_may_hold(t, part.dimension) for t in one.targets):
                continue
            side(h, part, one, places)
            h.take(one, part)
            return True
    said = e.text.casefold()
    at = said.find(text.casefold())
    while at >= 0:
        end = at + len(text)
        whole = not (said[at - 1 : at].isalnum() or said[end : end + 1].isalnum())
        inside = e.within([(at, end)])
        if whole and set(inside) & set(places):
            h.literals.append((inside[0], part))
            for one in e.mentions:
                if one.first in inside and one.last in inside and h.taker(one) is None:
                    h.take(one, part)
            return True
        at = said.find(text.casefold(), at + 1)
    return False


def _may_hold(target: Target, dimension: str) -> bool:
    """A word that the catalogue knows as another value is no text of its own."""
    return (
        target.kind != "value"
        or target.name == bare(dimension)
        or target.name.partition(".")[2] == dimension.partition(".")[2]
    )


def _is_listed(h: Holding, dimension: str, text: str) -> bool:
    return text in {str(value) for value in getattr(h.record(dimension), "sample_values", ())}


def _take_field(h: Holding, part: Part, places: Sequence[int]) -> None:
    name = part.dimension  # type: ignore[attr-defined]  # a filter
    for one in h.mentions(places):
        if any(h.names_field(target, name) for target in one.targets) and h.taker(one) is None:
            h.take(one, part)


def _beside(h: Holding, figure: Any, name: str) -> None:
    """The column named right before the comparison, or the rows named right behind the number, are what is compared."""
    e = h.evidence
    if figure.operator is None:
        return
    before = [one for one in e.mentions if one.last < figure.first]
    if before:
        last = max(before, key=lambda one: one.last)
        between = e.words[last.last + 1 : figure.first]
        is_close = all(word in wording.FILLERS or word in ("a", "an", "the") for word in between) and len(between) <= 2
        is_row = any(t.kind == "entity" for t in last.targets)
        targets = [t for t in last.targets if t.kind in ("dimension", "fact") and not is_row]
        own = stems(last.said) <= h.own(name)
        if is_close and targets and not any(h.names_field(t, name) for t in targets) and not own:
            raise Untenable(f"`{last.said}` is compared with that number, not `{name}`")


def _of_each_row(h: Holding, figure: Figure, name: str) -> None:
    """ "More than 500 in total" is no condition on each row: the words behind the figure add rows up."""
    e = h.evidence
    ends = [one.first for one in (*e.mentions, *e.figures) if one.first > figure.last]
    behind = range(figure.last + 1, min([*ends, figure.last + 4, len(e.words)]))
    added = [e.words[i] for i in behind if e.words[i] in wording.AGGREGATES]
    if added and not stems(added[0]) & h.own(name):
        raise Untenable(f"`{added[0]}` is of several rows together, `{name}` of each")


def operator(h: Holding, part: Filter, above: Sequence[Part]) -> None:
    if is_carried(h, part, above):
        return
    if part.operator in ("starts_with", "ends_with"):
        said = {operator for phrase, operator in wording.COMPARISONS.items() if _says(h, phrase)}
        if part.operator not in said:
            raise Untenable(f"no word asks for `{part.operator}`")


def _says(h: Holding, phrase: tuple[str, ...]) -> bool:
    words = h.evidence.words
    return any(words[i : i + len(phrase)] == phrase for i in range(len(words)))


def negated(h: Holding, part: Filter | Apart, above: Sequence[Part]) -> None:
    """What is denied is denied in words: `pairs` holds the words against the parts."""


def any_of(h: Holding, part: AnyOf, above: Sequence[Part]) -> None:
    if not is_carried(h, part, above) and not h.evidence.has(frozenset(("or", "either", "any"))):
        raise Untenable("no word says that one of several is enough")


def two_moments(h: Holding, part: Apart, above: Sequence[Part]) -> None:
    if is_carried(h, part, above):
        return
    e = h.evidence
    places = bound_at(h, part.moment, part.since)
    first = places[0]
    words = [e.words[i] for i in range(first, len(e.words)) if e.tokens[i].sentence == e.tokens[first].sentence]
    if part.same is not None:
        if "same" not in words or part.same not in {wording.GRAINS.get(word) for word in words}:
            raise Untenable(f"no word asks for the same {part.same}")
    else:
        _how_far(h, part, places, words)
    linked = next((i for i in range(first, len(e.words)) if e.words[i] in _LINKING and i not in e.remarks), None)
    behind = range(linked + 1, len(e.words)) if linked is not None else places
    said = {stem for i in behind if e.tokens[i].sentence == e.tokens[first].sentence for stem in stems(e.words[i])}
    others = [*_siblings(h, part.since), *([part.moment] if part.moment != part.since else [])]
    mine = _told_apart(h, part.since, others)
    rivals = [one for one in others if _heard(_told_apart(h, one, [part.since]), said)]
    if rivals and not _heard(mine, said):
        raise Untenable(f"the time is counted from `{rivals[0]}`, not from `{part.since}`")
    for one in h.mentions(range(first, len(e.words))):
        if any(h.names_field(t, name) for t in one.targets for name in (part.moment, part.since)):
            h.take(one, part)


def _moment_stems(h: Holding, name: str) -> frozenset[str]:
    record = h.record(name)
    said = [name.partition(".")[2], *getattr(record, "synonyms", ())]
    return frozenset(stem for one in said for stem in stems(one)) - stems("date time day on at")


def _told_apart(h: Holding, name: str, others: Sequence[str]) -> frozenset[str]:
    """The words of a date that none of the other dates has."""
    return _moment_stems(h, name).difference(*(_moment_stems(h, one) for one in others))


def _heard(own: frozenset[str], said: set[str]) -> bool:
    return any(alike(one, other) for one in own for other in said)


def _siblings(h: Holding, name: str) -> list[str]:
    entity = name.partition(".")[0]
    found = h.context.entities.get(entity.partition("@")[0])
    return [
        f"{entity}.{one.name}" for one in (found.time_dimensions if found else ()) if f"{entity}.{one.name}" != name
    ]


def _how_far(h: Holding, part: Apart, places: Sequence[int], words: Sequence[str]) -> None:
    unit = units_in(f"{part.unit}s")[0]
    ends = [(name, value) for name, value in (("least", part.least), ("most", part.most)) if value]
    for name, value in ends:
        figure = next((one for one in h.figures(places) or h.evidence.figures if equal(one, abs(value), unit)), None)
        if figure is None or (figure.unit is not None and figure.unit.into(unit) is None):
            raise Untenable(f"{abs(value)} {part.unit}s is not what the question says")
        h.take(figure, part)
        far = (name == "least") == (value > 0)  # from so far on, or up to so far
        is_both = part.least == part.most
        wanted = {">": far and part.is_open, ">=": far and not part.is_open, "<": not far and part.is_open,
                  "<=": not far and not part.is_open}.get(figure.operator or "", is_both or not far)  # fmt: skip
        if not wanted:
            raise Untenable(f"`{figure.said}` compares otherwise")
    signs = {value > 0 for _, value in ends}
    says_before = not _BEFORE.isdisjoint(words) and _AFTER.isdisjoint(words)
    if (False in signs) != says_before and ends:
        raise Untenable("the two moments stand the other way round")
    if not ends and (part.least == 0) == says_before:
        raise Untenable("the two moments stand the other way round")


def first_rows(h: Holding, part: First, above: Sequence[Part]) -> None:
    if is_carried(h, part, above):
        return
    places = bound_at(h, part.by)
    e = h.evidence
    wanted = _LASTS if part.is_last else _FIRSTS
    named = {i for one in e.mentions for i in range(one.first, one.last + 1)}
    at = [i for i in range(len(e.words)) for phrase in wanted if e.words[i : i + len(phrase)] == phrase]
    at = [i for i in at if i not in named and i not in e.remarks]
    if not at:
        raise Untenable(f"no word asks for the {'last' if part.is_last else 'first'} of them")
    if not h.supports(part.by, places) and not any(i in at for i in places):
        raise Untenable(f"nothing that `{part.by}` is bound to speaks of it")
    for one in e.extremes:
        if one.first in at:
            h.take(one, part)


# ---- rows by related rows


def related_entity(h: Holding, part: Related, above: Sequence[Part]) -> None:
    if is_carried(h, part, above):
        return
    bound_at(h, part.entity, part.metric)
    role(h, part.entity, h.at(part.entity))


def related_metric(h: Holding, part: Related | Than, above: Sequence[Part]) -> None:
    if is_carried(h, part, above):
        return
    names = [part.metric, *(one.entity for one in (*above, part) if isinstance(one, Related))]
    places = h.at(*names)
    inside = [name for one in part.filters if isinstance(one, Filter) for name in [one.dimension]]
    atoms = h.atoms(part.metric)
    if not h.supports(part.metric, places, is_number=True):
        owners = {one.entity for one in atoms if one.agg == "count"}
        every = [t for one in h.mentions(h.at(*names, *inside)) for t in one.targets]
        if not owners & {t.owner for t in every} and not owners & {
            one.entity for one in atoms if _links(h, one.entity, places)
        }:
            raise Untenable(f"nothing speaks of `{part.metric}`")
    for one in h.mentions(places):
        if any(h.names_number(t, part.metric) for t in one.targets) and h.taker(one) is None:
            h.take(one, part)


def _links(h: Holding, entity: str, places: Sequence[int]) -> bool:
    """Do words there name the connection with these rows: "never booked", "have taken"?"""
    own = h.own(entity)
    return any(alike(stem, other) for i in places for stem in stems(h.evidence.words[i]) for other in own)


def compared_rows(h: Holding, part: Related, above: Sequence[Part]) -> None:
    """How many, or how much: as some, none, or a figure of the question says it."""
    if is_carried(h, part, above):
        return
    e, places = h.evidence, h.at(part.entity, part.metric)
    if part.than is not None:
        words = {"more", "greater", "higher"} if part.comparison == ">" else {"fewer", "less", "lower"}
        if not e.has(frozenset(words)) or not e.has(frozenset(("than",))):
            raise Untenable("no word compares the two")
        return
    if part.against is not None:
        wanted = wording.AVERAGES if part.against == "avg" else frozenset(("median",))
        if not e.has(wanted, places):
            raise Untenable("no word compares with the average")
        said = {op for phrase, op in wording.COMPARISONS.items() if _says(h, phrase)}
        if part.comparison[0] not in {op[0] for op in said}:
            raise Untenable("the comparison goes the other way")
        return
    if is_some(part) or is_none(part):
        return
    if isinstance(part.value, bool) or not isinstance(part.value, int | Decimal):
        raise Untenable(f"`{part.value}` is no number")
    operator = None if part.comparison == "=" else part.comparison
    figure = h.figure(part.value, operator, h.unit_of(part.metric), places, part)
    if figure is None or (operator is None and figure.operator not in (None, "in", "=")):
        raise Untenable(f"{part.comparison} {part.value} is not what the question says")
    behind = e.behind(figure.last + 1, e.mentions, 3)
    kinds = [t for t in behind.targets if t.kind in ("metric", "fact", "entity")] if behind is not None else []
    if kinds and not any(h.names_number(t, part.metric) for t in kinds):
        own = behind is not None and stems(behind.said) <= h.own(part.metric)
        if not own or all(t.kind == "entity" for t in kinds):
            raise Untenable(f"`{behind.said if behind else ''}` is what is counted, not `{part.metric}`")


def is_some(part: Related) -> bool:
    """Does it ask only whether there are such rows?"""
    plain = part.than is None and part.against is None
    return plain and (part.comparison, part.value) in ((">=", 1), (">", 0), ("!=", 0))


def is_none(part: Related) -> bool:
    """Does it ask that there are no such rows?"""
    plain = part.than is None and part.against is None
    return plain and (part.comparison, part.value) in (("=", 0), ("<", 1), ("<=", 0))
