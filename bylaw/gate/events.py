"""What agents did: events in their order, found by session or by key. Kept in memory; whoever keeps them for longer
fills a ledger from there (`Ledger.take`).

An allowed call is *reserved* until it is said how it ended, for 60 seconds at most, or for as long as a task that it
became is kept. Moments are whole microseconds.
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from typing import TypeAlias

from bylaw.logic.formula.ir import Number, Value

RESERVED = 60_000_000  # microseconds that an allowed call is reserved for
_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
_MICROSECOND = timedelta(microseconds=1)

Scope: TypeAlias = tuple[str, str]  # ("", session), or a key and its value


def micros(moment: datetime) -> int:
    """*moment* as microseconds since 1970."""
    return (moment - _EPOCH) // _MICROSECOND


def moment_of(at: int) -> datetime:
    """The moment that so many microseconds are."""
    return _EPOCH + timedelta(microseconds=at)


@dataclass(slots=True, eq=False)
class Event:
    """One allowed call. `ok` is None until it is said how it ended; `order` is that of the record."""

    decision_id: str
    session: str | None
    actor: str | None
    action: str
    keys: Mapping[str, str]
    facts: Mapping[str, Value]
    at: int
    order: int = 0
    ok: bool | None = None
    tool: str | None = None
    until: int = 0  # when its reservation ends, where that is later than after a minute

    def is_reserved(self, at: int) -> bool:
        """Is it open at that moment how it ended, and is it still waited for?"""
        return self.ok is None and (at - self.at < RESERVED or at < self.until)

    @property
    def scopes(self) -> Iterator[Scope]:
        """Where it is found."""
        if self.session is not None:
            yield "", self.session
        yield from self.keys.items()


Place: TypeAlias = tuple[int, int]  # a moment, and the order of record within it
Total: TypeAlias = tuple[Number, int]  # a sum, and how many events were without the summed fact


class Line:
    """Events that ended well, in their order, with running totals of the facts that were asked for."""

    __slots__ = ("_totals", "events", "places")

    def __init__(self) -> None:
        self.events: list[Event] = []
        self.places: list[Place] = []
        self._totals: dict[str, list[Total]] = {}

    def add(self, event: Event) -> None:
        """Put *event* in its place."""
        place = event.at, event.order
        n = bisect_right(self.places, place)
        self.places.insert(n, place)
        self.events.insert(n, event)
        if n < len(self.events) - 1:
            self._totals.clear()

    def span(self, low: Place, high: Place) -> tuple[int, int]:
        """The numbers of the events behind *low* up to *high*, the first included and the last not."""
        return bisect_right(self.places, low), bisect_right(self.places, high)

    def total(self, fact: str, first: int, end: int) -> Total:
        """The sum of *fact* over the events from number *first* to before *end*."""
        totals = self._totals.setdefault(fact, [(0, 0)])
        for event in self.events[len(totals) - 1 :]:
            total, missing = totals[-1]
            value = event.facts.get(fact)
            is_number = value is not None and not isinstance(value, bool | str)
            totals.append((total + value, missing) if is_number else (total, missing + 1))  # type: ignore[operator]
        return totals[end][0] - totals[first][0], totals[end][1] - totals[first][1]


NO_LINE = Line()


class Timeline:
    """Events in their order: by time, and at one time by order of record."""

    __slots__ = ("_times", "by_action", "events", "good", "good_by_action", "open")

    def __init__(self) -> None:
        self.events: list[Event] = []
        self.by_action: dict[str, Timeline] = {}
        self.open: dict[str, Event] = {}
        self.good, self.good_by_action = Line(), dict[str, Line]()
        self._times: list[tuple[int, int]] = []

    def add(self, event: Event, is_whole: bool = True) -> None:
        """Put *event* in its place."""
        place = event.at, event.order
        if not self._times or self._times[-1] <= place:
            self._times.append(place)
            self.events.append(event)
        else:
            n = bisect_right(self._times, place)
            self._times.insert(n, place)
            self.events.insert(n, event)
        if is_whole:
            self.by_action.setdefault(event.action, Timeline()).add(event, False)
            if event.ok is None:
                self.open[event.decision_id] = event
            elif event.ok:
                self.good.add(event)
                self.good_by_action.setdefault(event.action, Line()).add(event)

    def remove(self, event: Event, is_whole: bool = True) -> None:
        """Take *event*, of which it is not said yet how it ended, away from where it lies."""
        n = bisect_left(self._times, (event.at, event.order))
        while self.events[n] is not event:
            n += 1
        del self._times[n], self.events[n]
        if is_whole:
            self.by_action[event.action].remove(event, False)
            self.open.pop(event.decision_id, None)

    def between(self, low: int | None, high: int) -> Sequence[Event]:
        """The events from *low* (None: ever) to *high*, both included."""
        end = bisect_right(self._times, (high, _LAST))
        if low is None:
            return self.events[:end] if end < len(self.events) else self.events
        return self.events[bisect_left(self._times, (low, -1)) : end]


_LAST = 2**62
NO_EVENTS = Timeline()


@dataclass
class Ledger:
    """Events in memory, by session and key. Not safe for several threads at once: whoever shares it takes turns.

    *holds*: the scopes whose events it knows all of; None for every scope there is.
    """

    holds: set[Scope] | None = None
    _lines: dict[Scope, Timeline] = field(default_factory=dict)
    _events: dict[str, Event] = field(default_factory=dict)
    _last: dict[str, int] = field(default_factory=dict)
    _order: int = 0

    def line(self, scope: Scope) -> Timeline:
        """The events of one session, or with one value of a key."""
        return self._lines.get(scope, NO_EVENTS)

    def last_at(self, session: str) -> int | None:
        """When the session's last decision was."""
        return self._last.get(session)

    def decided(self, session: str | None, at: int) -> None:
        """Know that a decision was made in *session*."""
        if session is not None:
            self._last[session] = max(at, self._last.get(session, at))

    def reserve(self, event: Event) -> None:
        """Keep an allowed call until it is said how it ended."""
        self._order += 1
        event.order = self._order
        self.take(event)

    def take(self, event: Event) -> None:
        """Know of *event* as it is, as far as one of its scopes is held."""
        self._order = max(self._order, event.order)
        if self.holds is None:
            self._events[event.decision_id] = event
        for scope in self._held(event):
            self._events[event.decision_id] = event
            self._lines.setdefault(scope, Timeline()).add(event)

    def hold(self, scope: Scope, events: Iterable[Event]) -> None:
        """Hold *scope* from now on; these are all its events so far."""
        assert self.holds is not None
        self.holds.add(scope)
        line = self._lines[scope] = Timeline()
        for event in events:
            line.add(self._events.setdefault(event.decision_id, event))

    def clear(self) -> None:
        """Know of nothing."""
        self._lines.clear()
        self._events.clear()
        self._last.clear()
        if self.holds is not None:
            self.holds.clear()

    def _held(self, event: Event) -> list[Scope]:
        return [scope for scope in event.scopes if self.holds is None or scope in self.holds]

    def event(self, decision_id: str) -> Event | None:
        """The allowed call of that decision."""
        return self._events.get(decision_id)

    def end(self, decision_id: str, ok: bool, order: int | None = None) -> bool:
        """Record how an allowed call ended. False: there is none that waits for it, and nothing was recorded."""
        event = self._events.get(decision_id)
        if event is None or event.ok is not None:
            return False
        lines = [self._lines[scope] for scope in self._held(event)]
        for line in lines:
            line.remove(event)
        self._order = self._order + 1 if order is None else max(order, self._order)
        event.order, event.ok = self._order if order is None else order, ok
        for line in lines:
            line.add(event)
        return True
