"""A click on a button or in a menu, as a value. The rights of who clicked are looked up, whatever the button says."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from bot.conversation import Actor
from bot.delivery.listeners.heard import is_stamp


@dataclass(frozen=True)
class Click:
    """Who clicked, where, and what the element had for a value. `team` is the workspace the person belongs to."""

    user: str
    team: str
    channel: str
    message: str
    value: str


def read(body: Mapping[str, Any]) -> Click | None:
    """The click in an interaction payload; None for one that names no person, place or value."""
    container, (user, team) = part(body, "container"), clicker(body)
    message = _word(container, "message_ts")
    found = Click(
        user=user,
        team=team,
        channel=_word(container, "channel_id") or _word(part(body, "channel"), "id"),
        message=message,
        value=value_of(body),
    )
    return found if found.user and found.channel and found.value and is_stamp(message) else None


def clicker(body: Mapping[str, Any]) -> tuple[str, str]:
    """Who did something in Slack, and the workspace they belong to; empty where the payload names nobody."""
    user = part(body, "user")
    return _word(user, "id"), _word(user, "team_id") or _word(part(body, "team"), "id")


def _word(values: Mapping[str, Any], name: str) -> str:
    found = values.get(name)
    return found if isinstance(found, str) else ""


def actor_of(body: Mapping[str, Any]) -> Actor:
    """Who did it, as who asks."""
    user, _ = clicker(body)
    return Actor(id=user) if user else Actor()


def value_of(body: Mapping[str, Any]) -> str:
    """The value of what was clicked on or chosen; empty where it has none."""
    acted = body.get("actions")
    action = acted[0] if isinstance(acted, list) and acted and isinstance(acted[0], Mapping) else {}
    return _word(action, "value") or _word(part(action, "selected_option"), "value")


def part(body: Mapping[str, Any], name: str) -> Mapping[str, Any]:
    """The object under *name* in a payload; an empty one where there is none."""
    found = body.get(name)
    return found if isinstance(found, Mapping) else {}
