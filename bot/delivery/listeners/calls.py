"""How a call of Slack ends badly: what may be raised, whether Slack refused or may have done it, and what follows."""

from __future__ import annotations

import logging
import re
from dataclasses import dataclass
from datetime import timedelta
from http.client import HTTPException
from urllib.error import HTTPError

from slack_sdk.errors import SlackApiError, SlackClientError

from bot.evidence.store.tables.deliveries import Cause
from bot.request.refusals import refusal

_log = logging.getLogger("bylaw.slack")
FAILED = (SlackClientError, OSError, HTTPException)
_SERVER_ERROR = 500  # from this status on Slack may have done what it was asked or not
_TOO_MANY = 429
_USUAL_REST = timedelta(seconds=30)  # where Slack does not say how long
_WORD = re.compile(r"[a-z0-9_]{1,80}")
_LONGEST_REST = timedelta(hours=4)


@dataclass(frozen=True)
class Failure:
    """One failed call. `rest` is how long Slack wants to be left alone; not `is_certain`: it may have done it."""

    cause: Cause
    word: str
    is_certain: bool
    rest: timedelta | None = None


def read_failure(error: Exception) -> Failure:
    """What *error* means for what was to be sent."""
    if _status(error) == _TOO_MANY:
        return Failure("limit", "ratelimited", True, _rest(error))
    if not is_refused(error):
        return Failure("outage", code(error) or why(error), False)
    word = code(error)
    if word is None:  # a page of somebody in between, which says nothing of what Slack did
        return Failure("outage", why(error), False)
    cause = refusal(word).cause
    # Slack's own breakdown may come after the deed, in an answer that looks like a refusal
    return Failure(cause, word, cause != "outage", _USUAL_REST if cause == "limit" else None)


def is_refused(error: Exception) -> bool:
    """Did Slack say that it did not do it? After anything else it may have."""
    return isinstance(error, SlackApiError | HTTPError) and _status(error) < _SERVER_ERROR


def code(error: Exception) -> str | None:
    """Slack's own word for what it refused; None where the answer is not one of Slack's."""
    said = error.response.get("error") if isinstance(error, SlackApiError) else None
    return said if isinstance(said, str) and _WORD.fullmatch(said) else None


def missing_scope(error: Exception) -> str:
    """The scope that Slack says is missing."""
    said = error.response.get("needed") if isinstance(error, SlackApiError) else None
    return said if isinstance(said, str) and said else "for that"


def why(error: Exception) -> str:
    """What Slack said, without what we sent."""
    return f"{type(error).__name__}: {code(error) or error}"[:300]


def noted(error: Exception) -> None:
    """Write down that something was not shown; whoever asked may ask again."""
    _log.warning("Slack did not show what was asked for", extra={"meta": {"reason": why(error)}})


def _status(error: Exception) -> int:
    found = error.response.status_code if isinstance(error, SlackApiError) else getattr(error, "code", _SERVER_ERROR)
    return int(found) if isinstance(found, int) else _SERVER_ERROR


def _rest(error: Exception) -> timedelta:
    """How long Slack wants to be left alone, as its header says; within reason."""
    headers = error.response.headers if isinstance(error, SlackApiError) else getattr(error, "headers", None)
    said = {str(name).lower(): value for name, value in dict(headers or {}).items()}.get("retry-after")
    text = str(said[0] if isinstance(said, list) and said else said)
    return min(timedelta(seconds=int(text[:6])), _LONGEST_REST) if text.isdigit() else _USUAL_REST
