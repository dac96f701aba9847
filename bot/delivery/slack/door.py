"""The way in over HTTP: `POST /slack/events`, beside the application, with Slack's signature in place of a token."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Annotated, Any

from pydantic import BaseModel, Field, ValidationError
from slack_bolt import App, BoltRequest
from slack_sdk.signature import SignatureVerifier
from starlette.concurrency import run_in_threadpool
from starlette.requests import ClientDisconnect, Request
from starlette.responses import PlainTextResponse, Response
from starlette.types import ASGIApp, Receive, Scope, Send

from bot.request.capacity import Full, Slots
from bot.settings import Limits

PATH = "/slack/events"
MAX_BODY_BYTES = 1024 * 1024  # a click carries the whole message that it is on
_CLOSE = {"Connection": "close"}

_Named = str | dict[str, Any] | None


class Event(BaseModel):
    """What happened."""

    type: str | None = None
    subtype: str | None = None


class Action(BaseModel):
    """What was clicked on."""

    action_id: str = ""
    block_id: str = ""
    type: str = ""


class Envelope(BaseModel):
    """What Slack sends, as far as Bolt goes into it by name. The signature says who sent it, not that it is whole."""

    type: str | None = None
    api_app_id: str | None = None
    authorizations: list[dict[str, Any]] | None = None
    event: Event | None = None
    team: _Named = None
    team_id: str | None = None
    enterprise: _Named = None
    enterprise_id: str | None = None
    user: _Named = None
    user_id: str | None = None
    channel: _Named = None
    channel_id: str | None = None
    message: dict[str, Any] | None = None
    previous_message: dict[str, Any] | None = None
    container: dict[str, Any] | None = None
    view: dict[str, Any] | None = None
    actions: Annotated[list[Action], Field(min_length=1)] | None = None
    response_url: str | None = None


@dataclass(frozen=True)
class Door:
    """*inner*, with a door for Slack. What it did not sign is not read; what it did shares *room* with the rest."""

    inner: ASGIApp
    bolt: App
    signature: SignatureVerifier
    room: Slots
    seconds: float = Limits().body_seconds

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
        if "transfer-encoding" in request.headers and "content-length" in request.headers:
            return PlainTextResponse("two lengths", 400, _CLOSE)
        try:
            async with asyncio.timeout(self.seconds):
                body = await _read(request)
        except TimeoutError:
            return PlainTextResponse("too slow", 408, _CLOSE)
        except ClientDisconnect:
            return PlainTextResponse("gone", 400, _CLOSE)
        if body is None:
            return PlainTextResponse("too large", 413, _CLOSE)
        try:
            text = body.decode("utf-8")
        except UnicodeDecodeError:
            return PlainTextResponse("not UTF-8", 400)
        if not _is_signed(self.signature, text, request):
            return PlainTextResponse("not signed by Slack", 401)
        asked = _understood(text, request)
        if asked is None:
            return PlainTextResponse("nothing that Slack sends", 400)
        try:
            with self.room.place():
                # Bolt keeps what came before it acknowledges, and the store blocks
                done = await run_in_threadpool(self.bolt.dispatch, asked)
        except Full:
            return PlainTextResponse("too much at once", 503, {"Retry-After": "1"})
        return Response(done.body, done.status, {name: values[0] for name, values in done.headers.items() if values})


async def _read(request: Request) -> bytes | None:
    """The body, None where it is longer than one may be."""
    parts, size = [], 0
    async for part in request.stream():
        parts.append(part)
        size += len(part)
        if size > MAX_BODY_BYTES:
            return None
    return b"".join(parts)


def _is_signed(signature: SignatureVerifier, text: str, request: Request) -> bool:
    try:
        return signature.is_valid_request(text, dict(request.headers))
    except ValueError:  # a time that is none
        return False


def _understood(text: str, request: Request) -> BoltRequest | None:
    """What was sent, for Bolt; None for what has another shape than anything Slack sends."""
    headers: dict[str, str | Sequence[str]] = {name: [value] for name, value in request.headers.items()}
    try:
        asked = BoltRequest(body=text, headers=headers)
        Envelope.model_validate(asked.body)
    except (ValidationError, ValueError, TypeError, AttributeError, LookupError, RecursionError):
        return None  # Bolt looks into it while it makes its request
    return asked
