"""History, read a second time from the contract alone: plain lists, every subset of what is open, nothing indexed."""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

SECOND = 1
UNIT = {"minutes": 60, "hours": 3600, "days": 86400}
UNKNOWN = object()


@dataclass
class Happened:
    """An allowed call: when it was decided, and in which order it was recorded how it ended."""

    action: str
    at: Fraction
    session: str | None
    actor: str | None
    keys: Mapping[str, str]
    facts: Mapping[str, Any]
    ok: bool | None = None
    recorded: int = 0


def window(text: str | None) -> Fraction | None:
    if text is None:
        return None
    count, unit = text.split()
    return Fraction(count) * {"second": 1, "minute": 60, "hour": 3600, "day": 86400}[unit.rstrip("s")]


def subsets(log: list[Happened], now: Fraction) -> Iterator[set[int]]:
    """ "While an event is reserved, history is evaluated with it and without it"; reserved "until 60 seconds"."""
    pending = [n for n, event in enumerate(log) if event.ok is None and now - event.at < 60]
    for count in range(len(pending) + 1):
        yield from map(set, itertools.combinations(pending, count))


def value(
    history: Mapping[str, Any], fact: Mapping[str, Any], log: list[Happened], chosen: set[int], call: Mapping[str, Any]
) -> Any:
    """The value of one history fact for *call*; UNKNOWN where something that it needs is missing."""
    same, now = history.get("same"), call["at"]
    if same is None:
        if call["session"] is None:
            return UNKNOWN
    elif any(key not in call["keys"] for key in same):
        return UNKNOWN
    if history.get("other") and call["actor"] is None:
        return UNKNOWN

    def correlated(event: Happened) -> bool:
        if event.at > now:
            return False
        if same is None:
            return event.session == call["session"]
        return all(event.keys.get(key) == call["keys"][key] for key in same)

    def ended_well(n: int) -> bool:
        return log[n].ok is True or n in chosen

    def counts(n: int) -> bool:
        event = log[n]
        if not (ended_well(n) or (history.get("including_failed") and event.ok is False)):
            return False
        return not history.get("other") or (event.actor is not None and event.actor != call["actor"])

    def place(n: int) -> tuple[Fraction, int]:
        return log[n].at, log[n].recorded

    mine = sorted((n for n, event in enumerate(log) if correlated(event)), key=place)
    length = window(history.get("within"))
    within = [n for n in mine if length is None or now - log[n].at <= length]
    if "previous" in history:
        last = [n for n in mine if counts(n)][-1:]
        return bool(last) and last[0] in within and log[last[0]].action == history["previous"]
    cuts = [place(n) for n in mine if log[n].action in history.get("not_after", ()) and ended_well(n)]
    actions = history.get("count") or history.get("of") or [history.get("happened") or history.get("since")]
    found = [n for n in within if log[n].action in actions and counts(n) and (not cuts or place(n) > max(cuts))]
    if "count" in history:
        return len(found)
    if "happened" in history:
        return bool(found)
    if "sum" in history:
        values = [log[n].facts.get(history["sum"]) for n in found]
        return UNKNOWN if None in values else sum(values, Fraction(0))
    if not found:
        return Fraction(fact["maximum"])
    return min(Fraction(fact["maximum"]), (now - max(log[n].at for n in found)) / UNIT[fact["unit"]])


STRICTEST = ("deny", "escalate", "ask", "allow")


def strictest(said: set[str]) -> str:
    """ "allow needs both, otherwise the strictest holds (deny, escalate, ask)"."""
    return next(one for one in STRICTEST if one in said)
