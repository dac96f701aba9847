"""`patience` as the HTTP library wants it: urllib3 asks this object after each answer. Imported only to connect."""

from __future__ import annotations

import json
from types import TracebackType
from typing import Any, Self

from github import GithubRetry
from github.Requester import Requester
from urllib3 import BaseHTTPResponse, HTTPResponse, Retry
from urllib3.connectionpool import ConnectionPool
from urllib3.exceptions import (
    ConnectTimeoutError,
    MaxRetryError,
    NewConnectionError,
    ProtocolError,
    ReadTimeoutError,
)
from urllib3.util.retry import RequestHistory

from bylaw.github.patience import Outcome, Patience, is_limited, wait_for


class PatientRetry(Retry):
    """One request's tries so far."""

    def __init__(self, patience: Patience, seconds: float = 0.0, **others: Any) -> None:
        self.patience = patience
        self.seconds = seconds
        super().__init__(**{**others, "total": patience.attempts, "raise_on_status": False, "redirect": 0})

    def new(self, **changes: Any) -> Self:
        return super().new(**{"patience": self.patience, "seconds": self.seconds, **changes})

    def is_retry(self, method: str, status_code: int, has_retry_after: bool = False) -> bool:
        """Is the answer worth a closer look? `increment` decides."""
        return status_code in (403, 429) or status_code >= 500

    def increment(
        self,
        method: str | None = None,
        url: str | None = None,
        response: BaseHTTPResponse | None = None,
        error: Exception | None = None,
        _pool: ConnectionPool | None = None,
        _stacktrace: TracebackType | None = None,
    ) -> Self:
        """The next try. Raises MaxRetryError when there is none: the answer, or the error, is then the caller's."""
        outcome = _outcome(method or "", url or "", response, error)
        seconds = wait_for(outcome, len(self.history), self.patience)
        if seconds is None:
            if error is not None:
                # In the forms in which requests knows them.
                if isinstance(error, ProtocolError | ReadTimeoutError) or _pool is None:
                    raise error
                raise MaxRetryError(_pool, url or "", error) from error
            raise self._final(url or "", response, outcome, _pool)
        following = self.new(total=self.patience.attempts, history=(*self.history, self._entry(outcome, error)))
        following.seconds = seconds
        return following

    def sleep(self, response: BaseHTTPResponse | None = None) -> None:
        self.patience.sleep(self.seconds)

    def _entry(self, outcome: Outcome, error: Exception | None) -> RequestHistory:
        return RequestHistory(outcome.method, outcome.path, error, outcome.status, None)

    def _final(
        self, url: str, response: BaseHTTPResponse | None, outcome: Outcome, pool: ConnectionPool | None
    ) -> Exception:
        assert response is not None
        if outcome.status == 403 and not is_limited(Outcome("", "", 403, outcome.headers)):
            # The body was read to see what kind of 403 this is; whoever comes later would find it empty.
            body = {"message": outcome.message, **_errors_of(response)}
            return Requester.createException(response.status, dict(response.headers), body)
        assert pool is not None
        return MaxRetryError(pool, url, None)


def _outcome(method: str, url: str, response: BaseHTTPResponse | None, error: Exception | None) -> Outcome:
    if response is None:
        # Nothing was sent: as harmless as a request that only reads.
        never_sent = isinstance(error, ConnectTimeoutError | NewConnectionError)
        return Outcome("GET" if never_sent else method, url, 0)
    headers = {name: response.headers[name] for name in _HEADERS if name in response.headers}
    first = Outcome(method, url, response.status, headers)
    if response.status == 403 and not is_limited(first):
        assert isinstance(response, HTTPResponse)
        return Outcome(method, url, 403, headers, str(_read(response, url).get("message", "")))
    return first


_HEADERS = ("Retry-After", "X-RateLimit-Remaining", "X-RateLimit-Reset")
_BODY = "_bylaw_body"


def _read(response: HTTPResponse, url: str) -> dict[str, Any]:
    try:
        body = json.loads(GithubRetry.get_content(response, url) or b"{}")
    except ValueError:
        body = {}
    found = body if isinstance(body, dict) else {}
    setattr(response, _BODY, found)
    return found


def _errors_of(response: BaseHTTPResponse) -> dict[str, Any]:
    body = getattr(response, _BODY, {})
    return {key: body[key] for key in ("errors", "documentation_url") if key in body}
