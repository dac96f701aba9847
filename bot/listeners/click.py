"""A click on a button or in a menu, as a value. The rights of who clicked are looked up, whatever the button says."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True)
class Click:
    """Who clicked, where, and what the element had for a value. `team` is the workspace the person belongs to."""

    user: str
    team: str
    channel: str
    message: str
    thread: str
    value: str


def read(body: Mapping[str, Any]) -> Click | None:
    """The click in an interaction payload; None for one that names no person, place or value."""
    container, user = _part(body, "container"), _part(body, "user")
    said = _part(body, "message")
    first = next(iter(body.get("actions") or ()), None)
    action = first if isinstance(first, Mapping) else {}
    value = action.get("value") or _part(action, "selected_option").get("value")
    stamp = container.get("message_ts")
    found = Click(
        user=str(user.get("id") or ""),
        team=str(user.get("team_id") or _part(body, "team").get("id") or ""),
        channel=str(container.get("channel_id") or _part(body, "channel").get("id") or ""),
        message=str(stamp or ""),
        thread=str(container.get("thread_ts") or said.get("thread_ts") or stamp or ""),
        value=str(value or ""),
    )
    return found if found.user and found.channel and found.message and found.value else None


def _part(body: Mapping[str, Any], name: str) -> Mapping[str, Any]:
    found = body.get(name)
    return found if isinstance(found, Mapping) else {}
