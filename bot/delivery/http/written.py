"""`POST /v2/enforce` while the answer is still being written: JSON lines in, verdict lines out.

The first line says what was asked, each that follows brings a piece of the answer. A sentence leaves as soon as it was
checked; nothing is kept of the request but the answer so far. Also an answer that breaks off is recorded.
"""

from __future__ import annotations

import asyncio
import logging
import time
from collections.abc import AsyncIterator, Callable, Iterator
from functools import partial
from typing import Annotated, Any, TypeVar

from pydantic import BaseModel, ConfigDict, Field, ValidationError
from starlette.concurrency import run_in_threadpool
from starlette.requests import ClientDisconnect, Request
from starlette.responses import StreamingResponse
from starlette.routing import Match, Route
from starlette.types import Receive, Scope, Send

from bot.conversation import sayable, sayable_text, told_json
from bot.enforcement.enforce import MAX_RESPONSE, Passed, Watch
from bot.enforcement.judged.verdict import ComplianceDecision
from bot.enforcement.writing.sentences import Splitter
from bylaw.canonical import is_text
from bylaw.errors import BylawError, UsageError

PATH = "/v2/enforce"
LINES = "application/x-ndjson"
IDLE_SECONDS = 60.0  # how long a writer may pause
WHOLE_SECONDS = 900.0  # how long one may write

M = TypeVar("M", bound=BaseModel)

_log = logging.getLogger("bylaw.http")


class Piece(BaseModel):
    """A piece of the answer, cut wherever the writer likes."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    text: Annotated[str, Field(max_length=MAX_RESPONSE)]


class TooLong(UsageError):
    """More was sent than is read."""


class LinesRoute(Route):
    """A route for requests whose body is JSON lines; others find the next one at the same path."""

    def matches(self, scope: Scope) -> tuple[Match, Scope]:
        """Is this request for us?"""
        return super().matches(scope) if is_lines(scope) else (Match.NONE, {})


def is_lines(scope: Scope) -> bool:
    """Is an answer sent here line by line?"""
    if scope["type"] != "http" or (scope["method"], scope["path"]) != ("POST", PATH):
        return False
    given = next((value for name, value in scope["headers"] if name == b"content-type"), b"")
    return bool(given.partition(b";")[0].strip().lower() == LINES.encode())


class Written(StreamingResponse):
    """A response that begins while the request still comes: it must not read the request to see who left."""

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        await self.stream_response(send)


async def lines(request: Request, most: int) -> AsyncIterator[bytes]:
    """The lines of the body as they come. Raises TooLong beyond *most* bytes, UsageError when nothing comes."""
    held, size = b"", 0
    body, until = request.stream(), time.monotonic() + WHOLE_SECONDS
    while True:
        try:
            chunk = await asyncio.wait_for(anext(body), max(0.0, min(IDLE_SECONDS, until - time.monotonic())))
        except StopAsyncIteration:
            break
        except TimeoutError:
            limits = f"nothing came for {IDLE_SECONDS:.0f} seconds, or not the end in {WHOLE_SECONDS:.0f}"
            raise UsageError(limits) from None
        size += len(chunk)
        if size > most:
            raise TooLong(f"the body may have {most} bytes")
        *whole, held = (held + chunk).split(b"\n")
        for line in whole:
            if line.strip():
                yield line
    if held.strip():
        yield held


def read(model: type[M], line: bytes, what: str) -> M:
    """The JSON of a line. Raises UsageError that repeats nothing of it."""
    try:
        return model.model_validate_json(line)
    except ValidationError as error:
        first = error.errors(include_input=False, include_url=False)[0]
        where = ".".join(str(step) for step in first["loc"])
        how = 'a line is one JSON document: the question first, then pieces such as {"text": "You get"}'
        raise UsageError(f"{what} does not fit: {where + ': ' if where else ''}{first['msg']}", how) from None


async def answer(
    pieces: AsyncIterator[bytes],
    watch: Watch,
    kept: Callable[[ComplianceDecision], None],
    told: Callable[[str, Any], str],
    request_id: str,
) -> AsyncIterator[str]:
    """What is sent back: a line for each sentence that may leave, then the decision, which was *kept* before."""
    splitter, length, is_kept = Splitter(), 0, False

    def step(work: Callable[[], Iterator[Passed | ComplianceDecision]]) -> list[str]:
        nonlocal is_kept
        out = []
        for part in work():
            if isinstance(part, ComplianceDecision):
                kept(part)
                is_kept = True
            out.append(told(*as_part(part)))
        return out

    def heard(sentences: list[str]) -> Iterator[Passed | ComplianceDecision]:
        for sentence in sentences:
            yield from watch.hear(sentence)
            if watch.is_over:
                return

    try:
        async for line in pieces:
            text = read(Piece, line, "a line of the answer").text
            length += len(text)
            if length > MAX_RESPONSE:
                raise TooLong(f"the response is longer than {MAX_RESPONSE} characters")
            if not is_text(text):
                raise UsageError("the response holds characters that are not text")
            for out in await run_in_threadpool(step, partial(heard, splitter.feed(text))):
                yield out
            if watch.is_over:
                return
        for out in await run_in_threadpool(step, partial(heard, splitter.rest())):
            yield out
        if not watch.is_over:
            for out in await run_in_threadpool(step, watch.end):
                yield out
    except BylawError as error:
        await run_in_threadpool(step, lambda: iter([watch.cut()]))
        help_ = {} if error.help is None else {"help": sayable_text(error.help)}
        yield told("error", {"message": sayable_text(error.message), **help_, "request_id": request_id})
    except ClientDisconnect:
        _log.info("a writer left before the end", extra={"request_id": request_id})
    finally:
        if not is_kept:
            kept(watch.cut())  # what has left is in the chain, whatever came between


def as_part(part: Passed | ComplianceDecision) -> tuple[str, Any]:
    """What a part of an answer's verdict is called, and its JSON."""
    return ("sentence", {"text": part.text}) if isinstance(part, Passed) else ("decision", sayable(part))


def as_line(kind: str, value: Any) -> str:
    """One JSON line that says what it is."""
    return told_json({kind: value}) + "\n"


def as_event(kind: str, value: Any) -> str:
    """One server-sent event."""
    return f"event: {kind}\ndata: {told_json(value)}\n\n"
