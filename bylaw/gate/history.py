"""History facts: what a `history:` declaration makes of recorded events, for one call at one moment.

A fact whose key, session or summed value is missing is unknown, never zero. While calls are reserved the facts have
several possible values: one for every way in which these calls may end.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import combinations
from math import floor

from bylaw.authored.history import HistoryKind
from bylaw.authored.vocabulary import Vocabulary
from bylaw.gate.events import NO_LINE, Event, Scope, Timeline
from bylaw.language.months import IN_MONTHS, months_passed
from bylaw.language.units import seconds_in, unit_named
from bylaw.logic.formula.ir import Number, Value, Variable

MOST_RESERVED = 6  # calls that are tried in every combination; of more, nobody can say what they come to

Find = Callable[[Scope], Timeline]
Counts = Callable[[Event], bool]


@dataclass(frozen=True, slots=True)
class HistoryFact:
    """One declared history fact, its actions canonical and its window in microseconds."""

    name: str
    kind: HistoryKind
    actions: frozenset[str]
    summed: str | None
    window: int | None
    same: tuple[str, ...]
    by_others: bool
    not_after: frozenset[str]
    including_failed: bool
    unit: str | None  # of time
    maximum: Number | None
    is_whole: bool


@dataclass(frozen=True, slots=True)
class PendingCall:
    """The call that history is asked for. It is itself no part of it."""

    at: int
    session: str | None
    actor: str | None
    keys: Mapping[str, str]


def history_facts(vocabulary: Vocabulary, variables: Mapping[str, Variable]) -> dict[str, HistoryFact]:
    """Every declared history fact, by name."""
    found = {}
    for name, fact in sorted(vocabulary.facts.items()):
        history = fact.history
        if history is None:
            continue
        window = history.window
        found[name] = HistoryFact(
            name=name,
            kind=history.kind,
            actions=frozenset(map(vocabulary.canonical, history.actions)),
            summed=history.sum,
            window=None if window is None else floor(window * 1_000_000),
            same=tuple(history.same or ()),
            by_others=bool(history.other),
            not_after=frozenset(map(vocabulary.canonical, history.not_after)),
            including_failed=history.including_failed,
            unit=fact.unit if seconds_in(fact.unit) else None,
            maximum=variables[name].maximum,
            is_whole=fact.type == "integer",
        )
    return found


def values(facts: Collection[HistoryFact], asked: PendingCall, find: Find) -> Iterator[dict[str, Value]]:
    """The values of *facts*, once for every way in which reserved calls may end; unknown ones are left out.

    The first says how it is if none of them does anything. Ends early (after that one and the one in which all end
    well) where more than MOST_RESERVED are reserved: `reserved` says how many they are.
    """
    pending = reserved(facts, asked, find)
    seen = set[tuple[tuple[str, Value], ...]]()
    for chosen in _choices(pending):
        found = {fact.name: value for fact in facts if (value := value_of(fact, asked, find, chosen)) is not None}
        key = tuple(found.items())
        if key not in seen:
            seen.add(key)
            yield found


def _choices(pending: Sequence[Event]) -> Iterator[frozenset[str]]:
    names = [event.decision_id for event in pending]
    counts = range(len(names) + 1) if len(names) <= MOST_RESERVED else (0, len(names))
    for count in counts:
        yield from map(frozenset, combinations(names, count))


def reserved(facts: Collection[HistoryFact], asked: PendingCall, find: Find) -> list[Event]:
    """The reserved calls that could count for one of *facts*."""
    found: dict[str, Event] = {}
    for fact in facts:
        line = _line(fact, asked, find)
        if line is None or not line.open:
            continue
        for event in line.open.values():
            is_named = fact.kind == "previous" or event.action in fact.actions or event.action in fact.not_after
            if is_named and event.is_reserved(asked.at) and event.at <= asked.at:
                found[event.decision_id] = event
    return [found[name] for name in sorted(found)]


def value_of(fact: HistoryFact, asked: PendingCall, find: Find, chosen: frozenset[str] = frozenset()) -> Value | None:
    """The value of one fact where, of the reserved calls, those *chosen* end well; None when it is unknown."""
    line = _line(fact, asked, find)
    if line is None or (fact.by_others and asked.actor is None):
        return None
    if not fact.by_others and not fact.including_failed and len(fact.same) < 2:
        return _looked_up(fact, asked, line, [line.open[name] for name in chosen if name in line.open])

    def ended_well(event: Event) -> bool:
        return event.ok is True or (event.ok is None and event.decision_id in chosen)

    def concerns(event: Event) -> bool:
        if not (ended_well(event) or (fact.including_failed and event.ok is False)):
            return False
        return not fact.by_others or (event.actor is not None and event.actor != asked.actor)

    low = None if fact.window is None else asked.at - fact.window
    if fact.kind == "previous":
        last = _last(line, asked, fact, concerns)
        return last is not None and last.action in fact.actions and (low is None or last.at >= low)
    cut = _cut(line, asked, fact, ended_well)
    found = [
        event
        for action in fact.actions
        if action in line.by_action
        for event in line.by_action[action].between(low, asked.at)
        if _same(event, fact, asked) and concerns(event) and (cut is None or (event.at, event.order) > cut)
    ]
    match fact.kind:
        case "count":
            return len(found)
        case "happened":
            return bool(found)
        case "sum":
            assert fact.summed is not None
            return _sum(found, fact.summed)
        case "since":
            return _since(found, fact, asked)


def _looked_up(fact: HistoryFact, asked: PendingCall, line: Timeline, chosen: Sequence[Event]) -> Value | None:
    """The same where every event of *line* that ended well concerns the fact: looked up, none of them looked at."""
    high = asked.at, _LAST
    chosen = [event for event in chosen if event.at <= asked.at]
    low = _BEFORE if fact.window is None else (asked.at - fact.window, -1)
    if fact.kind == "previous":
        last = [(event.at, event.order, event.action) for event in chosen]
        end = line.good.span(_BEFORE, high)[1]
        if end:
            event = line.good.events[end - 1]
            last.append((event.at, event.order, event.action))
        at, order, action = max(last, default=(0, 0, ""))
        return bool(last) and action in fact.actions and (at, order) > low
    for action in fact.not_after:
        cuts = line.good_by_action.get(action, NO_LINE)
        end = cuts.span(_BEFORE, high)[1]
        low = max(low, cuts.places[end - 1]) if end else low
        low = max([low, *((event.at, event.order) for event in chosen if event.action == action)])
    found = [event for event in chosen if event.action in fact.actions and (event.at, event.order) > low]
    spans = [(its, *its.span(low, high)) for name in fact.actions if (its := line.good_by_action.get(name)) is not None]
    count = len(found) + sum(end - first for _, first, end in spans)
    match fact.kind:
        case "count":
            return count
        case "happened":
            return count > 0
        case "sum":
            assert fact.summed is not None
            totals = [its.total(fact.summed, first, end) for its, first, end in spans]
            rest = _sum(found, fact.summed)
            if rest is None or any(missing for _, missing in totals):
                return None
            total: Number = rest + sum(part for part, _ in totals)
            return total.numerator if isinstance(total, Fraction) and total.denominator == 1 else total
        case "since":
            return _since([*found, *(its.events[end - 1] for its, first, end in spans if end > first)], fact, asked)


_LAST = 2**62
_BEFORE = (-(2**62), -1)


def _line(fact: HistoryFact, asked: PendingCall, find: Find) -> Timeline | None:
    """The events among which those of *fact* are; None where a key or the session is missing."""
    if not fact.same:
        return None if asked.session is None else find(("", asked.session))
    if any(key not in asked.keys for key in fact.same):
        return None
    return find((fact.same[0], asked.keys[fact.same[0]]))


def _same(event: Event, fact: HistoryFact, asked: PendingCall) -> bool:
    return all(event.keys.get(key) == asked.keys[key] for key in fact.same)


def _last(line: Timeline, asked: PendingCall, fact: HistoryFact, concerns: Counts) -> Event | None:
    for event in reversed(line.between(None, asked.at)):
        if _same(event, fact, asked) and concerns(event):
            return event
    return None


def _cut(line: Timeline, asked: PendingCall, fact: HistoryFact, ended_well: Counts) -> tuple[int, int] | None:
    """Where what is not to come before lies: nothing up to there counts."""
    found: tuple[int, int] | None = None
    for action in fact.not_after:
        if action in line.by_action:
            for event in reversed(line.by_action[action].between(None, asked.at)):
                if ended_well(event) and _same(event, fact, asked):
                    found = max(found or (event.at, event.order), (event.at, event.order))
                    break
    return found


def _sum(events: Sequence[Event], fact: str) -> Number | None:
    total: Number = 0
    for event in events:
        value = event.facts.get(fact)
        if value is None or isinstance(value, bool | str):
            return None
        total += value
    return total.numerator if isinstance(total, Fraction) and total.denominator == 1 else total


def _in_unit(seconds: Fraction, unit: str) -> Fraction:
    """How many of a unit of time have passed."""
    named = unit_named(unit) or unit
    if named in IN_MONTHS:
        return months_passed(seconds / 86_400) / IN_MONTHS[named]
    return seconds / (seconds_in(unit) or 1)


def _since(events: Sequence[Event], fact: HistoryFact, asked: PendingCall) -> Number:
    assert fact.maximum is not None and fact.unit is not None
    if not events:
        return fact.maximum
    passed = _in_unit(Fraction(asked.at - max(event.at for event in events), 1_000_000), fact.unit)
    value: Number = floor(passed) if fact.is_whole else passed
    if isinstance(value, Fraction) and value.denominator == 1:
        value = value.numerator
    return min(value, fact.maximum)
