"""What the question says and no part of a proposal answers for: the other half of holding it.

Names that the catalogue knows, figures, spans, denials, ends of an order, groups, averages, shares, alternatives: each
piece is in the query in one of its meanings, or is a part of what words are bound to, or the proposal does not hold.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from bot.analytics.proposals.evidence import ABSENCE, Mention, Piece, alike, averages, stems
from bot.analytics.proposals.held import bare, base_of, parts
from bot.analytics.proposals.held_conditions import is_complement, is_none
from bot.analytics.proposals.held_query import fields_in, is_before, is_inside, numbers_in
from bot.analytics.proposals.held_roles import relationship, side_of
from bot.analytics.proposals.holding import Holding, Untenable
from bot.analytics.proposals.unanswered_shape import (
    hold_alternatives,
    hold_grains,
    hold_groups,
    hold_ordinals,
    hold_ratios,
    hold_turns,
    hold_units,
)
from bot.analytics.reader import wording
from bot.analytics.reader.scope import Target
from bylaw.language.units import unit_at, units_in
from bylaw.semantic.query import Apart, Filter, First, Part, Related


def hold_rest(h: Holding) -> None:
    """Raises Untenable for the first piece that nothing answers for."""
    for check in _CHECKS:
        check(h)


# ---- names


def _names(h: Holding) -> None:
    for one in h.evidence.mentions:
        if h.taker(one) is None and not one.is_weak and not _is_met(h, one):
            raise Untenable(f"`{one.said}` is in the question and not in the query")


def _is_met(h: Holding, one: Mention) -> bool:
    if one.is_role or (one.targets and all(target.kind == "relation" for target in one.targets)):
        return _is_walked(h, one)
    if not one.targets:
        return _is_spoken_for(h, one)
    unit = unit_at(h.evidence.words, one.first)
    if unit is not None and any(units_in(part.unit or "")[:1] == (unit[1],) for part in h.query.measures):
        return True
    if one.is_moment:
        return _is_dated(h, one) or _is_spoken_for(h, one)
    if h.evidence.words[max(0, one.first - 1) : one.first] == ("all",) and all(t.kind == "entity" for t in one.targets):
        return True  # all of them: narrows nothing
    return any(_is_used(h, target) for target in one.targets) or _is_spoken_for(h, one) or _is_apposition(h, one)


def _is_walked(h: Holding, one: Mention) -> bool:
    """Is the relationship that the words name walked, where both of its ends are in the query?"""
    touched = set(h.compiled.entities)
    relevant = []
    for target in one.targets:
        owner, meant = relationship(h, target.name.partition(".")[2])
        if meant is not None and {owner, meant.right_entity} <= touched:
            relevant.append(target.name)
    if not relevant or set(relevant) & set(h.compiled.walked):
        return True
    names = [part.dimension for part, _ in parts(h.query) if isinstance(part, Filter)]
    sides = {side_of(h, name) for name in (*names, *h.query.dimensions)}
    if one.said.lower() in ("from", "to"):
        behind = h.evidence.behind(one.last + 1, h.evidence.mentions, 2)
        return one.said.lower() in sides or behind is None or not behind.targets or behind.is_role
    return False


def _is_dated(h: Holding, one: Mention) -> bool:
    """Right before a span of time it says which date is meant; else it only says that such rows are there."""
    behind = h.evidence.behind(one.last + 1, h.evidence.days, 4)
    words = h.evidence.words[one.last + 1 : behind.first] if behind is not None else ()
    is_close = behind is not None and all(word in wording.FILLERS for word in words)
    if not is_close:
        return any(t.owner in h.compiled.entities for t in one.targets) or not _is_open(h, one)
    dates = (h.compiled.time_column or "").split(" and ")
    used = {*dates, *fields_in(h)}
    return any(t.name in used for t in one.targets) or all(t.owner not in h.compiled.entities for t in one.targets)


def _is_open(h: Holding, one: Mention) -> bool:
    """Does it speak of the rows of this query at all?"""
    return any(t.owner in h.compiled.entities for t in one.targets)


def _is_used(h: Holding, target: Target) -> bool:
    used = fields_in(h)
    match target.kind:
        case "entity":
            return target.name in h.compiled.entities or target.name in h.compiled.asked
        case "metric":
            metric = h.context.metrics.get(target.name)
            halves = metric and (metric.numerator, metric.denominator)
            is_made = any((one.numerator, one.denominator) == halves for one in h.query.ratios)
            is_made |= metric is not None and any(
                one.over == "running" and one.metric == metric.metric for one in h.query.measures
            )
            return is_made or any(h.names_number(target, name) for name in numbers_in(h))
        case "value":
            return any(_holds_value(part, target) for part, _ in parts(h.query))
        case "condition":
            return target.name in used
        case "relation":
            return target.name in h.compiled.walked
        case "personal" | "stakes":
            return target.kind == "stakes"
        case _:
            inside = f"({target.name.partition('.')[2]})"
            is_inside = any(name.partition(".")[0] == target.owner and inside in name for name in used)
            dates = (h.compiled.time_column or "").split(" and ")
            is_dated = target.kind == "time" and any(_is_same_date(h, target.name, name) for name in dates if name)
            in_number = any(h.names_number(target, name) for name in numbers_in(h))
            return (
                target.name in used
                or is_inside
                or is_dated
                or in_number
                or any(target.name in n for n in used if "(" in n)
            )


def _is_same_date(h: Holding, name: str, used: str) -> bool:
    """Is it the date that is used, or does that one tell the same event?"""
    if name == used:
        return True
    said, own = stems(name.partition(".")[2]), h.own(used)
    events = said - stems("date time day month year term moment")
    return name.partition(".")[0] == used.partition(".")[0] and any(
        alike(one, other) for one in events for other in own
    )


def _holds_value(part: Part, target: Target) -> bool:
    if not isinstance(part, Filter) or bare(part.dimension) != target.name:
        return False
    return any(str(value).casefold() == str(target.value).casefold() for value in part.values)


def _is_spoken_for(h: Holding, one: Mention) -> bool:
    """Are its words among those of the record that the words around it are bound to?"""
    own_words = stems(one.said)
    places = set(range(one.first, one.last + 1))
    for name, at in h.places.items():
        if places <= set(at) and name and (own_words <= h.own(base_of(h, name)) or _is_role_of(h, own_words, name)):
            return True
    return False


def _is_role_of(h: Holding, words: frozenset[str], name: str) -> bool:
    """Do the words name the relationship by which the query reaches *name*?"""
    entity = name.partition(".")[0].partition("@")[0]
    for walked in h.compiled.walked:
        _, meant = relationship(h, walked.partition(".")[2])
        if meant is not None and meant.right_entity == entity:
            own = {stem for said in (meant.name, *meant.synonyms) for stem in stems(said)}
            if all(any(alike(word, other) for other in own) for word in words):
                return True
    return False


def _is_apposition(h: Holding, one: Mention) -> bool:
    """ "Chicago (ORD)": two names of one thing, one of which a condition takes."""
    e = h.evidence
    beside = [other for other in e.mentions if other.first - one.last == 2 and e.words[one.last + 1] == "("]
    beside += [other for other in e.mentions if one.first - other.last == 2 and e.words[other.last + 1] == "("]
    return any(h.taker(other) is not None for other in beside)


# ---- figures, days, ends


def _figures(h: Holding) -> None:
    for one in h.evidence.figures:
        if h.taker(one) is not None:
            continue
        text = str(one.value.normalize()) if one.value % 1 else str(int(one.value))
        over = [base_of(h, name) for name, at in h.places.items() if one.last in at]
        if any(text in word for name in over for word in _digits(name, h)):
            continue
        raise Untenable(f"`{one.said}` is in the question and not in the query")


def _digits(name: str, h: Holding) -> list[str]:
    record = h.record(name)
    return [name, *getattr(record, "synonyms", ()), getattr(record, "description", None) or ""]


def _denials(h: Holding) -> None:
    """What is denied in words is denied in the query, and nothing else is."""
    e = h.evidence
    answered: list[object] = []
    for denial in e.denials:
        heard = [one for one in e.mentions if not one.is_role]
        behind = e.behind(denial.last + 1, heard)
        part = h.taker(behind) if behind is not None else None
        negative = [one for one in _negatives(h) if one is part or _is_of(h, one, behind, denial)]
        if not negative:
            raise Untenable(f"`{denial.word}` denies nothing in the query")
        counted = _denied_rows(h, behind)
        if counted is not None and not any(isinstance(one, Related) for one in negative):
            raise Untenable(f"`{denial.word}` denies that there are {counted}")
        answered += negative
    for one in _negatives(h):
        if any(one is other for other in answered) or is_before(h, one):
            continue
        if isinstance(one, Filter) and _is_false(one) and is_absent(h, one):
            continue
        if isinstance(one, Filter) and one.operator == "is_null" and is_absent(h, one):
            continue
        raise Untenable("what is denied is not what the words deny")


def _denied_rows(h: Holding, behind: Mention | None) -> str | None:
    """The rows that a denial says there are none of: "no night permits" denies permits, not that one is by night."""
    if behind is None or not any(target.kind == "value" for target in behind.targets):
        return None
    beside = next((one for one in h.evidence.mentions if one.first == behind.last + 1), None)
    rows = [t.name for t in beside.targets if t.kind == "entity"] if beside is not None else []
    related = [part for part, _ in parts(h.query) if isinstance(part, Related)]
    counted = {atom.entity for part in related for atom in h.atoms(part.metric)}
    return next((name for name in rows if name in counted), None)


def is_absent(h: Holding, part: Filter) -> bool:
    """Do the words that it is bound to, or those right before them, say that something is not so?"""
    e, places = h.evidence, h.at(part.dimension)
    near = sorted({k for i in places for k in (i - 2, i - 1, i) if k >= 0})
    own = h.own(part.dimension)
    is_prefixed = any(
        e.words[i].startswith(("un", "non", "in"))
        and stems(e.words[i].removeprefix("un").removeprefix("non").removeprefix("in")) & own
        for i in places
    )
    return e.has(ABSENCE, near) or is_prefixed


def _negatives(h: Holding) -> list[Part]:
    """The parts that keep what is not so."""
    found: list[Part] = []
    for part, _ in parts(h.query):
        match part:
            case Related():
                found += [part] if is_none(part) else []
            case Apart():
                found += [part] if part.negated else []
            case Filter():
                is_absence = part.operator == "is_null" and not part.negated
                is_false = _is_false(part)
                is_denied = part.negated and part.operator != "is_null"
                found += [part] if is_absence or is_false or is_denied or is_complement(h, part) else []
    return found


def _is_false(part: Filter) -> bool:
    return len(part.values) == 1 and part.values[0] is False


def _is_of(h: Holding, part: Part, behind: Mention | None, denial: Piece) -> bool:
    """Does the part deny what stands behind the denial?"""
    if isinstance(part, Related):
        entities = {atom.entity for atom in h.atoms(part.metric)} | {part.entity.partition("@")[0]}
        places = h.at(part.entity, part.metric)
        if behind is None:
            return denial.first in places
        named = {t.owner for t in behind.targets} | {t.name for t in behind.targets if t.kind == "entity"}
        return denial.first in places and (
            bool(entities & named)
            or any(h.taker(behind) is one for one in part.filters)
            or not behind.targets
            or behind.first not in places
        )
    if isinstance(part, Filter):
        places = h.at(part.dimension)
        if behind is None:
            return denial.first in places
        is_named = any(
            h.names_field(t, part.dimension) or (t.kind == "value" and t.name == bare(part.dimension))
            for t in behind.targets
        )
        is_stem = bool(stems(behind.said) & stems(part.dimension.partition(".")[2]))
        return is_named or is_stem or (denial.first in places and behind.first not in places)
    return isinstance(part, Apart) and denial.first in h.at(part.moment, part.since)


def _extremes(h: Holding) -> None:
    """ "The highest" is an order, a maximum, the last of them, or a word of the name that it stands in."""
    query, e = h.query, h.evidence
    is_ranked = bool(query.order) and (query.limit is not None or query.place is not None)
    aggs = {name.partition("(")[0] for name in numbers_in(h) if "(" in name} | {one.agg for one in query.summaries}
    atoms = {atom.agg for name in numbers_in(h) for atom in h.atoms(name)}
    for one in e.extremes:
        if h.taker(one) is not None or one.first in e.remarks:
            continue
        if one.is_direction:
            if query.order or query.limit:
                continue
            raise Untenable(f"`{one.said}` asks for an order")
        says_agg = one.sense is not None and one.sense in (aggs | atoms)
        if is_ranked or says_agg or is_inside(h, one) or any(x.is_direction for x in e.extremes):
            continue
        if bool(query.order) and not one.is_one:
            continue
        if any(isinstance(part, First | Related) for part, _ in parts(query)) and not one.is_one:
            continue
        if one.sense is None:
            continue
        raise Untenable(f"`{one.said}` asks for one end of an order")


def _averages(h: Holding) -> None:
    e = h.evidence
    for i in averages(e):
        wanted = wording.AGGREGATES[e.words[i]]
        numbers = numbers_in(h)
        atoms = {atom.agg for name in numbers for atom in h.atoms(name)}
        is_agg = wanted in atoms or any(one.agg == wanted for one in h.query.summaries) or "avg" in atoms
        is_named = any({"averag", "mean", "median", "avg"} & h.own(name) for name in numbers)
        is_divided = bool(h.query.ratios) or any(m.type == "ratio" for n in numbers if (m := h.context.metrics.get(n)))
        is_moving = any(one.over == "moving" for one in h.query.measures)
        is_against = any(isinstance(part, Related) and part.against for part, _ in parts(h.query))
        if not (is_agg or is_named or is_divided or is_moving or is_against):
            raise Untenable(f"`{e.words[i]}` is in the question and not in the query")


_CHECKS: tuple[Callable[[Any], None], ...] = (
    _names, _figures, _denials, hold_alternatives, _extremes, _averages, hold_groups, hold_grains, hold_turns,
    hold_units, hold_ordinals, hold_ratios,
)  # fmt: skip
