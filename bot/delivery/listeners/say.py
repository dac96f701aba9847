"""What goes back on a click, a few words or a form: a courtesy, what counts was kept before.

Slack lets a form be opened within three seconds of the click; after that the person is told so.
"""

from __future__ import annotations

import logging
from collections.abc import Mapping
from typing import Any

from slack_bolt import Respond

from bot.delivery.blocks import kit
from bot.delivery.listeners import calls
from bot.delivery.listeners.threads import Threads

LATE = "That took too long for Slack. Press the button again."

_log = logging.getLogger("bylaw.slack")


def privately(respond: Respond, text: str) -> None:
    """Tell only the person who clicked."""
    _send(respond, text=kit.escape(text), response_type="ephemeral", replace_original=False)


def instead(respond: Respond, message: kit.Message) -> None:
    """Put *message* in the place of the one that was clicked on."""
    _send(respond, text=message.text, blocks=list(message.blocks), replace_original=True)


def open_view(body: Mapping[str, Any], view: Mapping[str, Any], respond: Respond, threads: Threads) -> None:
    """Put *view* in front of whoever clicked."""
    try:
        threads.client.views_open(trigger_id=str(body.get("trigger_id")), view=dict(view))
    except calls.FAILED as error:
        calls.noted(error)
        threads.start(lambda: privately(respond, LATE))


def _send(respond: Respond, **said: object) -> None:
    try:
        answered = respond(**said)  # type: ignore[arg-type]  # the same names as the parameters
    except calls.FAILED as error:
        _log.warning("a click was not answered in words", extra={"meta": {"reason": type(error).__name__}})
        return
    if answered.status_code != 200:
        _log.warning("a click was not answered in words", extra={"meta": {"reason": answered.status_code}})
