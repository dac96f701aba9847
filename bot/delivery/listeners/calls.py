"""How a call of Slack ends badly: what may be raised, whether Slack refused or may have done it, in a few words."""

from __future__ import annotations

import logging
from http.client import HTTPException
from urllib.error import HTTPError

from slack_sdk.errors import SlackApiError, SlackClientError

_log = logging.getLogger("bylaw.slack")
FAILED = (SlackClientError, OSError, HTTPException)
_SERVER_ERROR = 500  # from this status on Slack may have done what it was asked or not


def is_refused(error: Exception) -> bool:
    """Did Slack say that it did not do it? After anything else it may have."""
    status = error.response.status_code if isinstance(error, SlackApiError) else getattr(error, "code", _SERVER_ERROR)
    return isinstance(error, SlackApiError | HTTPError) and int(status) < _SERVER_ERROR


def code(error: Exception) -> str | None:
    """Slack's own word for what it refused."""
    said = error.response.get("error") if isinstance(error, SlackApiError) else None
    return said if isinstance(said, str) else None


def why(error: Exception) -> str:
    """What Slack said, without what we sent."""
    return f"{type(error).__name__}: {code(error) or error}"[:300]


def noted(error: Exception) -> None:
    """Write down that something was not shown; whoever asked may ask again."""
    _log.warning("Slack did not show what was asked for", extra={"meta": {"reason": why(error)}})
