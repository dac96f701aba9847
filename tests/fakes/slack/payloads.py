"""What Slack sends, as its documentation shows it, and how it signs that."""

from __future__ import annotations

import hashlib
import hmac
import time
from collections.abc import Iterable
from itertools import count
from typing import Any

TEAM = "T0ACME"
BOT = "UBYLAW"
BOT_ID = "BBYLAW"
APP = "A0BYLAW"

_numbers = count(1)
_STATEFUL = ("plain_text_input", "static_select", "multi_static_select")


def signed(body: str, secret: str, at: float | None = None) -> dict[str, str]:
    """The headers that prove who sent *body*, and when."""
    stamp = str(int(time.time() if at is None else at))
    digest = hmac.new(secret.encode(), f"v0:{stamp}:{body}".encode(), hashlib.sha256).hexdigest()
    return {"X-Slack-Signature": f"v0={digest}", "X-Slack-Request-Timestamp": stamp}


def envelope(event: dict[str, Any]) -> dict[str, Any]:
    """An event in its outer payload, under an id of its own."""
    number = next(_numbers)
    return {
        "token": "verification",
        "team_id": TEAM,
        "api_app_id": APP,
        "event": event,
        "type": "event_callback",
        "event_id": f"Ev{number:08d}",
        "event_time": 1_795_000_000 + number,
        "authorizations": [
            {"enterprise_id": None, "team_id": TEAM, "user_id": BOT, "is_bot": True, "is_enterprise_install": False}
        ],
        "is_ext_shared_channel": False,
        "event_context": f"4-{number}",
    }


def mention(text: str, user: str, channel: str, ts: str, **others: Any) -> dict[str, Any]:
    """Somebody names the bot in a channel."""
    said = {"user": user, "text": f"<@{BOT}> {text}", "ts": ts, "channel": channel, "event_ts": ts, "team": TEAM}
    return envelope({"type": "app_mention", **said, **others})


def message(text: str, user: str, channel: str, ts: str, **others: Any) -> dict[str, Any]:
    """Somebody says something, in a channel or to the bot alone."""
    kind = {"D": "im", "G": "group"}.get(channel[0], "channel")
    said = {"user": user, "text": text, "ts": ts, "channel": channel, "event_ts": ts, "team": TEAM}
    return envelope({"type": "message", "channel_type": kind, **said, **others})


def standing(blocks: Iterable[dict[str, Any]]) -> dict[str, Any]:
    """What every field of a message or a form stands at before anybody changes it, as `state.values` tells it."""
    fields = [(block, element) for block in blocks for element in _fields(block)]
    found: dict[str, Any] = {}
    for n, (block, element) in enumerate(fields):
        told = found.setdefault(block.get("block_id", f"b{n}"), {})
        told[element["action_id"]] = {"type": element["type"], **_begun(element)}
    return found


def _fields(block: dict[str, Any]) -> list[dict[str, Any]]:
    given = [*block.get("elements", ()), block.get("accessory"), block.get("element")]
    return [one for one in given if isinstance(one, dict) and one.get("type") in _STATEFUL]


def _begun(element: dict[str, Any]) -> dict[str, Any]:
    match element["type"]:
        case "static_select":
            return {"selected_option": element.get("initial_option")}
        case "multi_static_select":
            return {"selected_options": element.get("initial_options", [])}
    return {"value": element.get("initial_value")}


def click(element: dict[str, Any], user: str, posted: dict[str, Any], answer_at: str, **others: Any) -> dict[str, Any]:
    """Somebody clicks on *element* of the message *posted*; one that only they see is not repeated in the payload."""
    container = {"type": "message", "message_ts": posted["ts"], "channel_id": posted["channel"]}
    container["is_ephemeral"] = posted["to"] is not None
    shown = {} if posted["to"] else {"message": {key: posted[key] for key in ("ts", "text", "blocks", "thread_ts")}}
    if posted.get("thread_ts"):
        container["thread_ts"] = posted["thread_ts"]
    value = {"value": element["value"]} if element["type"] == "button" else {"selected_option": element["options"][-1]}
    return {
        "type": "block_actions",
        "user": {"id": user, "username": user.lower(), "name": user.lower(), "team_id": TEAM},
        "api_app_id": APP,
        "token": "verification",
        "container": container,
        "trigger_id": f"1.2.{next(_numbers)}",
        "team": {"id": TEAM, "domain": "acme"},
        "enterprise": None,
        "is_enterprise_install": False,
        "channel": {"id": posted["channel"], "name": "directmessage" if posted["channel"][0] == "D" else "returns"},
        **shown,
        "state": {"values": posted.get("state") or standing(posted["blocks"])},
        "response_url": answer_at,
        "actions": [
            {"action_id": element["action_id"], "block_id": "b", "type": element["type"], "action_ts": "1.1", **value}
        ],
        **others,
    }


def in_view(kind: str, view: dict[str, Any], user: str, **others: Any) -> dict[str, Any]:
    """Somebody chose something in a form (`block_actions`), or sent it (`view_submission`)."""
    return {
        "type": kind,
        "user": {"id": user, "username": user.lower(), "name": user.lower(), "team_id": TEAM},
        "api_app_id": APP,
        "token": "verification",
        "trigger_id": f"1.2.{next(_numbers)}",
        "team": {"id": TEAM, "domain": "acme"},
        "enterprise": None,
        "is_enterprise_install": False,
        "view": view,
        **others,
    }
