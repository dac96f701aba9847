"""Runs what answers a request in the thread pool, and tells it when the client has gone.

The trip blocks (solver, warehouse, store); when it takes long, the connection is listened to.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable
from contextlib import suppress
from threading import Event

from starlette.concurrency import run_in_threadpool
from starlette.requests import Request
from starlette.responses import Response

from bylaw.warehouses.attended import NobodyWaits

LISTEN_AFTER_SECONDS = 0.05  # most answers are there before anybody could leave
GONE = 499  # the status that nginx writes down for a client that closed its connection

_log = logging.getLogger("bylaw.http")


async def attended(request: Request, answer: Callable[[Event], Response]) -> Response:
    """What *answer* gives; the event it takes is set when the client goes before that."""
    gone = Event()
    listening: list[asyncio.Task[None]] = []

    def listen() -> None:
        listening.append(asyncio.create_task(_listen(request, gone)))

    later = asyncio.get_running_loop().call_later(LISTEN_AFTER_SECONDS, listen)
    try:
        return await run_in_threadpool(answer, gone)
    except NobodyWaits:
        _log.info("a client left before the answer", extra={"request_id": request.state.request_id})
        return Response(status_code=GONE)
    finally:
        later.cancel()
        for task in listening:
            task.cancel()
            with suppress(asyncio.CancelledError):
                await task


async def _listen(request: Request, gone: Event) -> None:
    """The body is read: the next message is the end of the connection."""
    message = await request.receive()
    if message["type"] == "http.disconnect":
        gone.set()
