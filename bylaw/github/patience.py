"""How long GitHub is waited for: which answers are worth another try, and when.

What is sent twice must be harmless twice. A request that GitHub declared not carried out (a rate limit) may always be
sent again; after a broken connection or a 5xx only one whose repetition changes nothing. What creates something anew
each time is left to `Hub.once`, which looks first.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime

SAFE_METHODS = ("GET", "HEAD", "PUT", "PATCH", "DELETE")
# Posts that may be repeated: named by their content, or a state that is set once more.
_SAFE_POSTS = re.compile(
    r"/git/(blobs|trees|commits)$|/access_tokens$|/statuses/[0-9a-f]+$|/graphql$"
    r"|/issues/\d+/labels$|/requested_reviewers$|/reactions$"
)
# A check run's annotations are added each time.
_UNSAFE_EDITS = re.compile(r"/check-runs/\d+$")
_LIMIT = re.compile(r"rate limit|please wait a few minutes|retry your request again later", re.IGNORECASE)


@dataclass(frozen=True)
class Patience:
    """The clock, and how often and how long to wait. What GitHub asks for counts more than the doubling seconds."""

    clock: Callable[[], datetime]
    sleep: Callable[[float], None]
    attempts: int = 6  # our choice: with doubling, about half a minute
    first_seconds: float = 1.0
    longest_seconds: float = 60.0  # GitHub's advice for a limit that names no time
    longest_limit_seconds: float = 900.0  # our choice: a job that waits longer is better run again later

    def backoff(self, attempt: int) -> float:
        """Seconds before try number *attempt* + 1, counted from 0."""
        return min(self.first_seconds * 2.0**attempt, self.longest_seconds)


@dataclass(frozen=True)
class Outcome:
    """How one request ended. Status 0: no answer."""

    method: str
    path: str
    status: int
    headers: Mapping[str, str] = field(default_factory=dict)
    message: str = ""


def is_repeatable(method: str, path: str) -> bool:
    """Does sending this twice leave the same behind as sending it once?"""
    place = path.split("?")[0]
    if method.upper() in SAFE_METHODS:
        return method.upper() != "PATCH" or not _UNSAFE_EDITS.search(place)
    return bool(_SAFE_POSTS.search(place))


def is_limited(outcome: Outcome) -> bool:
    """Did GitHub refuse for the number of requests, not for what was asked?"""
    if outcome.status not in (403, 429):
        return False
    spent = outcome.headers.get("X-RateLimit-Remaining") == "0"
    return outcome.status == 429 or spent or "Retry-After" in outcome.headers or bool(_LIMIT.search(outcome.message))


def wait_for(outcome: Outcome, attempt: int, patience: Patience) -> float | None:
    """Seconds to wait before the next try; None: there is none. *attempt* counts from 0."""
    if attempt + 1 >= patience.attempts:
        return None
    if is_limited(outcome):
        asked = _asked(outcome, patience)
        return None if asked > patience.longest_limit_seconds else max(asked, patience.backoff(attempt))
    worth = outcome.status == 0 or outcome.status >= 500
    return patience.backoff(attempt) if worth and is_repeatable(outcome.method, outcome.path) else None


def _asked(outcome: Outcome, patience: Patience) -> float:
    """The seconds that GitHub names: in Retry-After, or as the time when the limit is reset."""
    headers = outcome.headers
    if (after := headers.get("Retry-After", "")).isdigit():
        return float(after)
    if headers.get("X-RateLimit-Remaining") == "0" and (reset := headers.get("X-RateLimit-Reset", "")).isdigit():
        # One more: the second in which the limit is reset may not have begun.
        left = datetime.fromtimestamp(int(reset), UTC) - patience.clock()
        return max(0.0, left.total_seconds()) + 1
    return patience.longest_seconds
