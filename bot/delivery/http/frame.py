"""What every request passes before the application sees it: an id, who asks and how often, the body, a place to wait.

Pure ASGI, outermost: a refused request is never parsed, and even an internal error answers with its request id.
"""

from __future__ import annotations

import asyncio
import logging
import time
from collections.abc import Callable, Mapping
from contextlib import nullcontext
from dataclasses import dataclass
from typing import Any

from starlette.datastructures import Headers, MutableHeaders
from starlette.requests import Request
from starlette.responses import Response
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from bot.delivery.http.errors import Code, envelope
from bot.delivery.http.identity.identity import LOOPBACK, Identity, Known, Stranger
from bot.delivery.http.rates import Rates
from bot.delivery.http.written import is_lines
from bot.evidence.store.columns import ID_LENGTH
from bot.request.capacity import Full, Slots
from bot.settings import USUAL_RATE, Settings

OPEN_PATHS = frozenset({"/healthz", "/readyz"})
AGAIN_SECONDS = 1  # when to ask again where there was no room
_CLOSE = {"Connection": "close"}

_log = logging.getLogger("bylaw.http")


@dataclass(frozen=True)
class Frame:
    """The application inside its limits. `scope["state"]["request_id"]` names the request from here on."""

    app: ASGIApp
    settings: Settings
    new_id: Callable[[], str]
    identity: Identity
    rates: Rates
    room: Slots
    streams: Slots  # of answers that are judged while they are written

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """One request; anything but HTTP goes straight through."""
        if scope["type"] != "http":
            await self.app(scope, receive, send)
            return
        started = time.perf_counter()
        headers = Headers(scope=scope)
        state = scope.setdefault("state", {})
        state["request_id"], state["user"] = _given_id(headers) or self.new_id(), None

        async def named(message: Message) -> None:
            if message["type"] == "http.response.start":
                MutableHeaders(scope=message)["X-Request-Id"] = _as_header(state["request_id"])
                _log.info(
                    "request",
                    extra={
                        "request_id": state["request_id"],
                        "stage": "render",
                        "latency_ms": int((time.perf_counter() - started) * 1000),
                        "meta": {"method": scope["method"], "path": scope["path"], "status": message["status"]},
                    },
                )
            await send(message)

        try:
            await self._admitted(scope, headers)
            if is_lines(scope) and not _is_declared_beyond(self.settings.max_body_bytes, headers):
                with self.streams.place():  # read as it comes, and no further than as much
                    await self.app(scope, receive, named)
                return
            body = await self._body(receive, headers)
            with nullcontext() if scope["path"] in OPEN_PATHS else self.room.place():
                await self.app(scope, _replayed(body, receive), named)
        except _Refused as refused:
            await refused.said(state["request_id"])(scope, receive, named)
        except Full:
            await _full().said(state["request_id"])(scope, receive, named)

    async def _body(self, receive: Receive, headers: Headers) -> bytes:
        try:
            async with asyncio.timeout(self.settings.limits.body_seconds):
                return await _read(receive, self.settings.max_body_bytes, headers)
        except TimeoutError:
            raise _Refused(408, "TIMEOUT", "the body did not come in time", _CLOSE) from None

    async def _admitted(self, scope: Scope, headers: Headers) -> None:
        """Note who asks. Raises _Refused for who may not come in."""
        if "transfer-encoding" in headers and "content-length" in headers:
            # a proxy before us may have believed the other length, and taken for the body what we would for a request
            message = "a body has one length: `Content-Length` or `Transfer-Encoding`, not both"
            raise _Refused(400, "BAD_REQUEST", message, _CLOSE)
        if len(headers.getlist("host")) > 1:
            raise _Refused(400, "BAD_REQUEST", "a request names one host", _CLOSE)
        if not self.settings.is_identity_asked and _host_name(headers.get("host", "")) not in LOOPBACK | {
            self.settings.host
        }:
            # Where nobody says who they are everybody on this machine is trusted. A web page is not: a name that some
            # site made resolve to this address must not reach us through a browser.
            raise _Refused(403, "HOST_NOT_ALLOWED", "this host name is not served here")
        is_trusted_unasked = not self.settings.is_identity_asked or self.settings.proxy_header is not None
        if is_trusted_unasked and is_foreign(headers, scope["method"], self.settings.proxy_header is not None):
            raise _Refused(403, "ORIGIN_NOT_ALLOWED", "a page of another site asks: only pages from here may")
        if scope["path"] in OPEN_PATHS:
            return
        address = str((scope.get("client") or ("",))[0])
        match await self.identity.of(headers, address):
            case Known(user):
                scope["state"]["user"] = user
                self._keep_pace(address if user is None else f"user {user}")
            case Stranger(why):
                self._keep_pace(address)
                raise _Refused(401, "UNAUTHORIZED", why, {"WWW-Authenticate": "Bearer"})

    def _keep_pace(self, caller: str) -> None:
        """Raise _Refused for a caller who asks faster than one may."""
        rate = self.settings.limits.rate
        if rate is None:
            rate = 0 if caller in LOOPBACK else USUAL_RATE
        if rate and (seconds := self.rates.wait(caller, rate)):
            raise _Refused(429, "TOO_MANY", f"one caller may ask {rate} times a second", {"Retry-After": str(seconds)})


class _Refused(Exception):
    """Why a request does not come in."""

    def __init__(
        self,
        status: int,
        code: Code,
        message: str,
        headers: Mapping[str, str] | None = None,
        meta: Mapping[str, Any] | None = None,
    ) -> None:
        super().__init__(message)
        self.status, self.code, self.message, self.headers, self.meta = status, code, message, headers, meta

    def said(self, request_id: str) -> Response:
        """The response that says it."""
        return envelope(self.status, self.code, self.message, request_id, headers=self.headers, meta=self.meta)


def _full() -> _Refused:
    again = {"Retry-After": str(AGAIN_SECONDS)}
    return _Refused(503, "OVERLOADED", "more is asked than can be answered now", again, {"load_shed": True})


def asker(request: Request, named: str | None) -> str | None:
    """Who asks: whom the frame knows, whatever the request says; else whom it *named*."""
    known: str | None = request.state.user
    return named if known is None else known


def named(request: Request, given: str | None) -> str:
    """The id of *request*: the one *given* in its body, else the one it has; from here on everything is said of it."""
    if given is not None:
        request.state.request_id = given
    return str(request.state.request_id)


def is_foreign(headers: Headers, method: str, is_behind_proxy: bool = False) -> bool:
    """Did a browser send it for a page of another origin? It needs no answer to have done something.

    Browsers say it by `Sec-Fetch-Site`, and by an `Origin` that is not the host asked; a proxy may have renamed the
    host. Whoever follows a link from elsewhere only reads.
    """
    site, mode = headers.get("sec-fetch-site", "none"), headers.get("sec-fetch-mode")
    if site not in ("none", "same-origin"):
        return not (method in ("GET", "HEAD") and mode == "navigate")
    host = headers.get("host", "").lower()
    return not is_behind_proxy and any(
        origin.lower().partition("://")[2] != host for origin in headers.getlist("origin")
    )


def _given_id(headers: Headers) -> str | None:
    """The id the caller gave the request, when it can be one."""
    given = headers.get("x-request-id", "").strip()
    return given if given and len(given) <= ID_LENGTH and given.isascii() and given.isprintable() else None


def _as_header(name: str) -> str:
    """The name as a header can say it: a body may name a request in any letters."""
    if name.isascii() and name.isprintable():
        return name
    return "".join(char if " " <= char <= "~" else "?" for char in name)


def _host_name(host: str) -> str:
    """`localhost` of `localhost:8080`, `::1` of `[::1]:8080`."""
    if host.startswith("["):
        return host[1:].partition("]")[0]
    return host.partition(":")[0].lower()


async def _read(receive: Receive, limit: int, headers: Headers) -> bytes:
    """The whole body. Raises _Refused when it is longer than *limit*, whether it says so beforehand or not."""
    too_large = _Refused(413, "TOO_LARGE", f"the body may have {limit} bytes", _CLOSE)
    if _is_declared_beyond(limit, headers):
        raise too_large
    parts: list[bytes] = []
    size, is_more = 0, True
    while is_more:
        message = await receive()
        if message["type"] != "http.request":
            break  # the client is gone; the application will notice
        parts.append(message.get("body", b""))
        size += len(parts[-1])
        if size > limit:
            raise too_large
        is_more = message.get("more_body", False)
    return b"".join(parts)


def _is_declared_beyond(limit: int, headers: Headers) -> bool:
    declared = headers.get("content-length", "")
    return declared.isdigit() and (len(declared) > 12 or int(declared) > limit)


def _replayed(body: bytes, receive: Receive) -> Receive:
    """*body* as one message, then whatever else *receive* has to say."""
    messages: list[Message] = [{"type": "http.request", "body": body, "more_body": False}]

    async def next_message() -> Message:
        return messages.pop() if messages else await receive()

    return next_message
