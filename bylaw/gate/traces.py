"""What could have happened for history facts to have these values: a few events, replayed before anybody sees them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from fractions import Fraction
from typing import Any

from bylaw.gate.events import Event, Ledger
from bylaw.gate.history import HistoryFact, PendingCall, value_of
from bylaw.language.units import convert
from bylaw.logic.formula.ir import Facts, Value

MOST_EVENTS = 50
_HERE, _OTHER, _NOW = "case", "somebody else", 2**52
_HOUR = 3_600_000_000
_UNITS = (("day", 24 * _HOUR), ("hour", _HOUR), ("minute", 60_000_000), ("second", 1_000_000))


@dataclass
class Past:
    """Something that happened so many microseconds ago."""

    action: str
    ago: int
    is_others: bool = False
    facts: dict[str, Value] = field(default_factory=dict)

    @property
    def words(self) -> str:
        """`2 hours`."""
        for name, size in _UNITS:
            if self.ago % size == 0:
                count = self.ago // size
                return f"{count} {name}{'' if count == 1 else 's'}"
        return f"{float(self.ago / 1_000_000):g} seconds"


def trace_of(facts: Facts, history: Mapping[str, HistoryFact]) -> list[Past] | None:
    """Events, the oldest first, that give every history fact of *facts* its value; None where none were found."""
    wanted = {name: facts[name] for name in history if name in facts}
    events: list[Past] = []
    for name in sorted(wanted, key=lambda name: (_ORDER[history[name].kind], name)):
        _add(events, history[name], wanted[name])
        if len(events) > MOST_EVENTS:
            return None
    for name, value in wanted.items():
        if history[name].kind == "sum":
            _share(events, history[name], value)
    events.sort(key=lambda event: -event.ago)
    return events if _replayed(events, history, wanted) else None


_ORDER = {"since": 0, "happened": 1, "count": 2, "sum": 3, "previous": 4}


def _add(events: list[Past], fact: HistoryFact, value: Value) -> None:
    """Let more happen, as far as *fact* does not have that value yet."""
    action = min(fact.actions)
    reach = _HOUR if fact.window is None else min(_HOUR, fact.window)
    mine = [event for event in events if event.action in fact.actions and event.ago <= (fact.window or event.ago)]
    mine = [event for event in mine if event.is_others or not fact.by_others]
    match fact.kind:
        case "since" if isinstance(value, int | Fraction) and value != fact.maximum and fact.unit is not None:
            seconds = convert(Fraction(value), fact.unit, "seconds") or Fraction(0)
            events.append(Past(action, int(seconds * 1_000_000), fact.by_others))
        case "happened" | "previous" if value is True and not mine:
            events.append(Past(action, reach if fact.kind == "happened" else min(reach, 60_000_000), fact.by_others))
        case "count" if isinstance(value, int):
            missing = min(value - len(mine), MOST_EVENTS + 1)
            events += [Past(action, reach - n * (reach // (missing + 1)), fact.by_others) for n in range(missing)]
        case "sum" if value and not mine:
            events.append(Past(action, reach, fact.by_others))


def _share(events: list[Past], fact: HistoryFact, value: Value) -> None:
    """Let the first of the events have the whole sum."""
    left: Value = value
    for event in events:
        if event.action in fact.actions and fact.summed is not None:
            event.facts[fact.summed] = left
            left = 0


def _replayed(events: list[Past], history: Mapping[str, HistoryFact], wanted: Mapping[str, Value]) -> bool:
    """Do these events give the values? Never told otherwise."""
    keys = {key: _HERE for fact in history.values() for key in fact.same}
    ledger = Ledger()
    for n, past in enumerate(events):
        actor = _OTHER if past.is_others else _HERE
        ledger.reserve(Event(str(n), _HERE, actor, past.action, keys, past.facts, _NOW - past.ago))
        ledger.end(str(n), True)
    asked = PendingCall(_NOW, _HERE, _HERE, keys)
    return all(value_of(history[name], asked, ledger.line) == value for name, value in wanted.items())


def as_json(past: Past, shown: Any) -> dict[str, Any]:
    """The event as `history:` of a case spells it; *shown* turns a fact's value into JSON."""
    told = {name: shown(name, value) for name, value in sorted(past.facts.items())}
    who = {"actor": _OTHER} if past.is_others else {}
    return {"action": past.action, "ago": past.words, **who, **told}
