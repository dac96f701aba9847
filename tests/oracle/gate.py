"""May one action be taken? Read a second time, by trying every completion, over the reference reading of policies."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import date
from typing import Any

from tests.oracle.meaning import Effect
from tests.oracle.reference import Reference


def gives(effect: Effect, action: str) -> bool:
    """It takes, requires or permits the action."""
    return action in effect.demands or (effect.kind == "permitted" and effect.action == action)


def bans(effect: Effect, action: str) -> bool:
    return effect.kind == "prohibited" and effect.action == action


def about(asked: Reference, a: Effect, b: Effect, action: str) -> bool:
    """Do the two contradict each other about this very action?"""
    for one, two in ((a, b), (b, a)):
        if gives(one, action) and bans(two, action):
            return True
        for outcome, taken in one.takes.items():
            if taken == action and two.takes.get(outcome, action) != action:
                return True
        if action in one.demands and any(asked.words.excludes(action, other) for other in two.demands):
            return True
    return False


def permission(asked: Reference, action: str, case: Mapping[str, Any], day: date, persons: frozenset[str]) -> str:
    """What holds in one completion."""
    standing = asked.standing(asked.fires(case, day))
    clashes = asked.clashes(standing)
    if any(about(asked, a, b, action) for a, b in clashes):
        return "escalate"
    if any(bans(effect, action) for effect in standing):
        return "deny"
    torn = [effect for pair in clashes for effect in pair]
    if any(gives(effect, action) and not any(effect is one for one in torn) for effect in standing):
        return "escalate" if action in persons else "allow"
    # what comes along with something disputed is disputed with it
    return "escalate" if any(gives(effect, action) for effect in standing) else "deny"


def ruling(
    asked: Reference, action: str, case: Mapping[str, Any], day: date, persons: frozenset[str] = frozenset()
) -> tuple[str, set[str]]:
    """What all completions that exist say, and the facts whose value alone changes that somewhere."""
    ends = [
        (full, permission(asked, action, full, day, persons)) for full in asked.cases(case) if asked.exists(full, day)
    ]
    said = {end for _, end in ends}
    if not said:
        return "deny", set()  # no such case exists, so nothing covers it
    if len(said) == 1:
        return said.pop(), set()
    turning = set()
    unknown = [fact for fact in asked.grid if fact not in case]
    for fact in unknown:
        seen: dict[Any, str] = {}
        for full, end in ends:
            rest = tuple(value for name, value in full.items() if name != fact)
            if seen.setdefault(rest, end) != end:
                turning.add(fact)
                break
    return "ask", turning
