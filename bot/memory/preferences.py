"""How a person likes their answers: a few declared choices, theirs alone, until they change or forget them."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime
from typing import Any

from bot.evidence.store.connection import Connection
from bot.evidence.store.tables import memories
from bot.evidence.store.tables.memories import Memory
from bot.index import BundleIndex
from bylaw.errors import UsageError

GRAIN, CARE = "grain", "care"  # how figures over time are given; which of the preferences of rules/autonomy.yaml stands
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
    """Remember what somebody prefers, in the place of what they preferred before."""
    name, value = preference
    memories.retain(connection, Memory(actor_id, "preference", name, {"value": value}, request_id, now))


def applied(index: BundleIndex, actor_id: str, liked: Mapping[str, str]) -> BundleIndex:
    """*index* as it answers this person: their grain where nobody says another, their care as a standing one."""
    bundle, rules = index.bundle, index.rules
    changed: dict[str, Any] = {}
    if (grain := liked.get(GRAIN)) in _GRAINS:
        metrics = {
            name: one if one.time_granularity or one.snapshot else one.model_copy(update={"time_granularity": grain})
            for name, one in bundle.context.metrics.items()
        }
        changed["context"] = bundle.context.model_copy(update={"metrics": metrics})
    if (care := liked.get(CARE)) in rules.autonomy.preferences:
        own = [*rules.autonomy.standing.get(actor_id, ()), care]
        autonomy = rules.autonomy.model_copy(update={"standing": {**rules.autonomy.standing, actor_id: own}})
        changed["rules"] = rules.model_copy(update={"autonomy": autonomy})
    return BundleIndex(bundle.model_copy(update=changed)) if changed else index


def in_words(name: str, value: str) -> str:
    """`figures over time by week`."""
    return f"figures over time by {value}" if name == GRAIN else value.replace("_", " ")
