"""A few words back on a click, through the address that came with it: a courtesy, what counts was kept before."""

from __future__ import annotations

import logging

from slack_bolt import Respond

from bot.delivery.blocks import kit
from bot.delivery.listeners import calls

_log = logging.getLogger("bylaw.slack")


def privately(respond: Respond, text: str) -> None:
    """Tell only the person who clicked."""
    _send(respond, text=kit.escape(text), response_type="ephemeral", replace_original=False)


def instead(respond: Respond, message: kit.Message) -> None:
    """Put *message* in the place of the one that was clicked on."""
    _send(respond, text=message.text, blocks=list(message.blocks), replace_original=True)


def _send(respond: Respond, **said: object) -> None:
    try:
        answered = respond(**said)  # type: ignore[arg-type]  # the same names as the parameters
    except calls.FAILED as error:
        _log.warning("a click was not answered in words", extra={"meta": {"reason": type(error).__name__}})
        return
    if answered.status_code != 200:
        _log.warning("a click was not answered in words", extra={"meta": {"reason": answered.status_code}})
