"""What every request passes before the application sees it: an id, the host, the token, the size of the body.

Pure ASGI, outermost: a refused request is never parsed, and even an internal error answers with its request id.
"""

from __future__ import annotations

import hmac
import logging
import time
from collections.abc import Callable
from dataclasses import dataclass

from starlette.datastructures import Headers, MutableHeaders
from starlette.requests import Request
from starlette.responses import Response
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from bot.http.errors import envelope
from bot.http.written import is_lines
from bot.settings import Settings
from bot.store.columns import ID_LENGTH

OPEN_PATHS = frozenset({"/healthz", "/readyz"})
LOOPBACK = frozenset({"127.0.0.1", "localhost", "::1"})

_log = logging.getLogger("bylaw.http")


@dataclass(frozen=True)
class Frame:
    """The application inside its limits. `scope["state"]["request_id"]` names the request from here on."""

    app: ASGIApp
    settings: Settings
    new_id: Callable[[], str]

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """One request; anything but HTTP goes straight through."""
        if scope["type"] != "http":
            await self.app(scope, receive, send)
            return
        started = time.perf_counter()
        headers = Headers(scope=scope)
        state = scope.setdefault("state", {})
        state["request_id"] = _given_id(headers) or self.new_id()

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

        refused = self._refused(headers, scope["path"], state["request_id"])
        if refused is None and is_lines(scope) and not _is_declared_beyond(self.settings.max_body_bytes, headers):
            await self.app(scope, receive, named)  # read as it comes, and no further than as much
            return
        body = None if refused else await _read(receive, self.settings.max_body_bytes, headers)
        if body is None and refused is None:
            message = f"the body may have {self.settings.max_body_bytes} bytes"
            refused = envelope(413, "TOO_LARGE", message, state["request_id"], headers={"Connection": "close"})
        if refused is not None:
            await refused(scope, receive, named)
            return
        await self.app(scope, _replayed(body or b"", receive), named)

    def _refused(self, headers: Headers, path: str, request_id: str) -> Response | None:
        """The answer to who may not come in, None for who may."""
        token = self.settings.token
        if token is None:
            # Without a token everybody on this machine is trusted. A web page is not: a name that some site made
            # resolve to this address must not reach us through a browser.
            if _host_name(headers.get("host", "")) not in LOOPBACK | {self.settings.host}:
                return envelope(403, "HOST_NOT_ALLOWED", "this host name is not served here", request_id)
            return None
        if path in OPEN_PATHS:
            return None
        scheme, _, given = headers.get("authorization", "").partition(" ")
        if scheme.lower() == "bearer" and hmac.compare_digest(given.strip().encode("latin-1"), token.encode()):
            return None
        challenge = {"WWW-Authenticate": "Bearer"}
        return envelope(401, "UNAUTHORIZED", "a bearer token is needed", request_id, headers=challenge)


def named(request: Request, given: str | None) -> str:
    """The id of *request*: the one *given* in its body, else the one it has; from here on everything is said of it."""
    if given is not None:
        request.state.request_id = given
    return str(request.state.request_id)


def _given_id(headers: Headers) -> str | None:
    """The id the caller gave the request, when it can be one."""
    given = headers.get("x-request-id", "").strip()
    return given if given and len(given) <= ID_LENGTH and given.isascii() and given.isprintable() else None


def _as_header(name: str) -> str:
    """The name as a header can say it: a body may name a request in any letters."""
    return "".join(char if " " <= char <= "~" else "?" for char in name)


def _host_name(host: str) -> str:
    """`localhost` of `localhost:8080`, `::1` of `[::1]:8080`."""
    if host.startswith("["):
        return host[1:].partition("]")[0]
    return host.partition(":")[0].lower()


async def _read(receive: Receive, limit: int, headers: Headers) -> bytes | None:
    """The whole body, None when it is longer than *limit*, whether it says so beforehand or not."""
    if _is_declared_beyond(limit, headers):
        return None
    parts: list[bytes] = []
    size, is_more = 0, True
    while is_more:
        message = await receive()
        if message["type"] != "http.request":
            break  # the client is gone; the application will notice
        parts.append(message.get("body", b""))
        size += len(parts[-1])
        if size > limit:
            return None
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
