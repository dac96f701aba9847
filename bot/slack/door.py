"""The way in over HTTP: `POST /slack/events`, beside the application, with Slack's signature in place of a token."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from slack_bolt import App, BoltRequest
from starlette.concurrency import run_in_threadpool
from starlette.requests import Request
from starlette.responses import PlainTextResponse, Response
from starlette.types import ASGIApp, Receive, Scope, Send

PATH = "/slack/events"
MAX_BODY_BYTES = 1024 * 1024  # a click carries the whole message that it is on


@dataclass(frozen=True)
class Door:
    """*inner*, with a door for Slack. Bolt checks the signature before it reads anything."""

    inner: ASGIApp
    bolt: App

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """One request; what is not for Slack goes on to the application."""
        if scope["type"] != "http" or scope["path"] != PATH:
            await self.inner(scope, receive, send)
            return
        response = await self._answered(Request(scope, receive))
        await response(scope, receive, send)

    async def _answered(self, request: Request) -> Response:
        if request.method != "POST":
            return PlainTextResponse("only POST", 405, {"Allow": "POST"})
        body = b""
        async for part in request.stream():
            body += part
            if len(body) > MAX_BODY_BYTES:
                return PlainTextResponse("too large", 413, {"Connection": "close"})
        try:
            text = body.decode("utf-8")
        except UnicodeDecodeError:
            return PlainTextResponse("not UTF-8", 400)
        headers: dict[str, str | Sequence[str]] = {name: [value] for name, value in request.headers.items()}
        # Bolt keeps what came before it acknowledges, and the store blocks
        done = await run_in_threadpool(self.bolt.dispatch, BoltRequest(body=text, headers=headers))
        return Response(done.body, done.status, {name: values[0] for name, values in done.headers.items() if values})
