"""How a person likes their answers: a few declared choices, theirs alone, until they change or forget them.

A grain takes the place of the one before. Every wish for more care stands beside the others: the strictest counts.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from datetime import datetime
from typing import Any

from bot.evidence.store.connection import Connection
from bot.evidence.store.tables import memories
from bot.evidence.store.tables.memories import Memory
from bot.index import BundleIndex
from bylaw.canonical import fingerprint
from bylaw.errors import UsageError

GRAIN, CARE = "grain", "care"  # how figures over time are given; which of the preferences of rules/autonomy.yaml stand
_BESIDE = ":"  # in the name under which a care is kept beside others: earlier versions kept one, as `care`
_LONGEST = 100  # letters of a value within a name of the store
_GRAINS = ("day", "week", "month", "quarter", "year")


def known(rules: Any) -> Mapping[str, tuple[str, ...]]:
    """The preferences there are, each with its values."""
    return {GRAIN: _GRAINS, CARE: tuple(sorted(rules.autonomy.preferences))}


def checked(name: str, value: str, rules: Any) -> tuple[str, str]:
    """The preference in its one spelling. Raises UsageError for one that is none."""
    name, value, choices = name.strip().casefold(), value.strip().casefold(), known(rules)
    if name not in choices:
        raise UsageError(f"`{name}` is no preference", f"use one of {', '.join(choices)}")
    if value not in choices[name]:
        raise UsageError(f"`{value}` is no value of `{name}`", f"use one of {', '.join(choices[name])}")
    return name, value


def retain(connection: Connection, actor_id: str, preference: tuple[str, str], request_id: str, now: datetime) -> None:
    """Remember what somebody prefers: a grain in the place of the one before, more care beside what stands."""
    name, value = preference
    memory = Memory(actor_id, "preference", _kept_as(name, value), {"value": value}, request_id, now)
    memories.retain(connection, memory)


def of(connection: Connection, actor_id: str) -> dict[str, str]:
    """What this person prefers, by the name it is kept under."""
    found = memories.of(connection, actor_id)
    return {one.name: str(one.content["value"]) for one in found if one.memory_type == "preference"}


def laid_over(liked: Mapping[str, str], preference: tuple[str, str]) -> dict[str, str]:
    """What is remembered once *preference* is, too."""
    return {**liked, _kept_as(*preference): preference[1]}


def forget(connection: Connection, actor_id: str, named: str) -> bool:
    """Forget a preference by its name, `care` for all of that kind, or by its value. False: there was none."""
    liked = of(connection, actor_id).items()
    gone = [name for name, value in liked if named in (name, name.partition(_BESIDE)[0], value)]
    return sum(memories.forget(connection, actor_id, "preference", name) for name in gone) > 0


def cares(liked: Mapping[str, str]) -> tuple[str, ...]:
    """Of what is remembered, the wishes for more care."""
    return tuple(sorted({value for name, value in liked.items() if name.partition(_BESIDE)[0] == CARE}))


def applied(index: BundleIndex, actor_id: str, liked: Mapping[str, str]) -> BundleIndex:
    """*index* as it answers this person, with every care of theirs as a standing one."""
    rules = index.rules
    care = [one for one in cares(liked) if one in rules.autonomy.preferences]
    if not care:
        return index
    standing = {**rules.autonomy.standing, actor_id: [*rules.autonomy.standing.get(actor_id, ()), *care]}
    autonomy = rules.autonomy.model_copy(update={"standing": standing})
    changed = {"rules": rules.model_copy(update={"autonomy": autonomy})}
    return BundleIndex(index.bundle.model_copy(update=changed))


def grouped(liked: Mapping[str, str]) -> dict[str, Any]:
    """What is remembered as JSON: the grain, and the list of cares."""
    grain = {GRAIN: liked[GRAIN]} if GRAIN in liked else {}
    care = list(cares(liked))
    return {**grain, **({CARE: care} if care else {})}


def in_words(name: str, value: str) -> str:
    """`figures over time by week`."""
    return f"figures over time by {value}" if name == GRAIN else value.replace("_", " ")


def in_force(liked: Mapping[str, str], rules: Any) -> Iterable[str]:
    """Each preference in words, a care with the level that it allows."""
    if GRAIN in liked:
        yield in_words(GRAIN, liked[GRAIN])
    for care in cares(liked):
        known = rules.autonomy.preferences.get(care)
        level = "the rules know it no more" if known is None else f"level {known.at_most} at most"
        yield f"{in_words(CARE, care)} ({level})"


def _kept_as(name: str, value: str) -> str:
    return f"{name}{_BESIDE}{value if len(value) <= _LONGEST else fingerprint(value)}" if name == CARE else name


def over_time(text: str, liked: Mapping[str, str], rules: Any) -> str | None:
    """*text* with the preferred grain where it asks for figures over time and says none; None where it asks for none.

    A preference says how figures over time are told, never that a total becomes many figures.
    """
    if (grain := liked.get(GRAIN)) not in _GRAINS:
        return None
    for phrase in sorted(rules.autonomy.over_time.phrases, key=lambda one: (-len(one), one)):
        words = r"\s+".join(map(re.escape, phrase.split()))
        said, count = re.subn(rf"(?<!\w){words}(?!\w)", f"by {grain}", text, count=1, flags=re.IGNORECASE)
        if count:
            return said
    return None
