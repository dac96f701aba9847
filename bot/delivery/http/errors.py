"""The error envelope (seed 002, F2): what was wrong with a request, the same shape everywhere. Answers are Replies."""

from __future__ import annotations

import logging
from collections.abc import Callable, Mapping, Sequence
from typing import Any, Literal

from fastapi import FastAPI, Request
from fastapi.exceptions import RequestValidationError
from fastapi.responses import JSONResponse
from starlette.exceptions import HTTPException

from bot.conversation import sayable_text
from bot.delivery.http.written import TooLong
from bot.evidence.store.engine import StoreError
from bot.evidence.store.tables.requests import RequestConflict
from bylaw.errors import BylawError, UsageError
from bylaw.gate.decision_point import NothingOpen, NotTheirs

_log = logging.getLogger("bylaw.http")

Code = Literal[
    "BAD_REQUEST",
    "FORBIDDEN",
    "HOST_NOT_ALLOWED",
    "INTERNAL",
    "METHOD_NOT_ALLOWED",
    "NOT_FOUND",
    "NOT_READY",
    "ORIGIN_NOT_ALLOWED",
    "OVERLOADED",
    "REQUEST_CONFLICT",
    "TIMEOUT",
    "TOO_LARGE",
    "TOO_MANY",
    "UNAUTHORIZED",
    "UNSUPPORTED_MEDIA_TYPE",
    "VALIDATION_FAILED",
]

INTERNAL = 500

_CODES: Mapping[int, Code] = {
    400: "BAD_REQUEST",
    401: "UNAUTHORIZED",
    403: "FORBIDDEN",
    404: "NOT_FOUND",
    405: "METHOD_NOT_ALLOWED",
    413: "TOO_LARGE",
    415: "UNSUPPORTED_MEDIA_TYPE",
    422: "VALIDATION_FAILED",
    503: "NOT_READY",
}

_HELP: Mapping[int, str] = {
    404: "ask with `POST /v2/query`; `GET /openapi.json` lists what else there is",
    405: "`GET /openapi.json` says which methods each path takes",
}


def envelope(
    status: int,
    code: Code,
    message: str,
    request_id: str,
    details: Mapping[str, Any] | None = None,
    headers: Mapping[str, str] | None = None,
    meta: Mapping[str, Any] | None = None,
) -> JSONResponse:
    """The response that says what was wrong."""
    told = sayable_text(message)
    error = {"code": code, "message": told, "details": dict(details or {}), "request_id": request_id}
    return JSONResponse({"error": error} if meta is None else {"error": error, "meta": meta}, status, headers=headers)


def install(app: FastAPI) -> None:
    """Give every way a request can fail its envelope."""
    for kind, tell in _TELLING:
        app.add_exception_handler(kind, tell)


def told(request: Request, error: Exception) -> JSONResponse:
    """The envelope of *error*."""
    return next(tell(request, error) for kind, tell in _TELLING if isinstance(error, kind))


def _request_id(request: Request) -> str:
    return str(request.state.request_id)


def _invalid(request: Request, error: Exception) -> JSONResponse:
    """What does not fit is a 422; the values themselves are not repeated."""
    assert isinstance(error, RequestValidationError)
    reasons = [
        (
            ".".join(str(part) for part in one["loc"] if part != "body") or "body",
            one["msg"].removeprefix("Value error, "),
        )
        for one in error.errors()
    ]
    shown = [sayable_text(f"{where}: {what}") for where, what in reasons]
    return envelope(422, "VALIDATION_FAILED", "the body does not fit", _request_id(request), {"reasons": shown})


def _refused(request: Request, error: Exception) -> JSONResponse:
    assert isinstance(error, HTTPException)
    code = _CODES.get(error.status_code, "BAD_REQUEST")
    help_ = {"help": _HELP[error.status_code]} if error.status_code in _HELP else {}
    return envelope(error.status_code, code, str(error.detail), _request_id(request), help_, error.headers)


def _named(request: Request, error: Exception) -> JSONResponse:
    assert isinstance(error, BylawError)
    details = {} if error.help is None else {"help": sayable_text(error.help)}
    match error:
        case RequestConflict() | NothingOpen():
            return envelope(409, "REQUEST_CONFLICT", error.message, _request_id(request), details)
        case NotTheirs():
            return envelope(403, "FORBIDDEN", error.message, _request_id(request), details)
        case TooLong():
            return envelope(413, "TOO_LARGE", error.message, _request_id(request), headers={"Connection": "close"})
        case UsageError():
            return envelope(422, "VALIDATION_FAILED", error.message, _request_id(request), details)
        case StoreError():
            # what a database says may name hosts and files: it is logged, not told
            _log.error(error.message, extra={"request_id": _request_id(request)})
            help_ = {"help": "ask again later; the log of the server says what its store lacks"}
            return envelope(503, "NOT_READY", "the store does not answer", _request_id(request), help_)
    return envelope(INTERNAL, "INTERNAL", error.message, _request_id(request), details)


def _unnamed(request: Request, error: Exception) -> JSONResponse:
    message = "this is our fault; it was recorded with the request"
    return envelope(INTERNAL, "INTERNAL", message, _request_id(request), {"kind": type(error).__name__})


_TELLING: Sequence[tuple[type[Exception], Callable[[Request, Exception], JSONResponse]]] = (
    (RequestValidationError, _invalid),
    (HTTPException, _refused),
    (BylawError, _named),
    (Exception, _unnamed),
)
