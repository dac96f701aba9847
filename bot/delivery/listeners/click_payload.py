"""A click on a button or in a menu, as a value. The rights of who clicked are looked up, whatever the button says."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

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
    container, (user, team) = _part(body, "container"), clicker(body)
    acted = body.get("actions")
    first = acted[0] if isinstance(acted, list) and acted else {}
    action = first if isinstance(first, Mapping) else {}
    message = _word(container, "message_ts")
    found = Click(
        user=user,
        team=team,
        channel=_word(container, "channel_id") or _word(_part(body, "channel"), "id"),
        message=message,
        value=_word(action, "value") or _word(_part(action, "selected_option"), "value"),
    )
    return found if found.user and found.channel and found.value and is_stamp(message) else None


def clicker(body: Mapping[str, Any]) -> tuple[str, str]:
    """Who did something in Slack, and the workspace they belong to; empty where the payload names nobody."""
    user = _part(body, "user")
    return _word(user, "id"), _word(user, "team_id") or _word(_part(body, "team"), "id")


def _word(values: Mapping[str, Any], name: str) -> str:
    found = values.get(name)
    return found if isinstance(found, str) else ""


def _part(body: Mapping[str, Any], name: str) -> Mapping[str, Any]:
    found = body.get(name)
    return found if isinstance(found, Mapping) else {}
