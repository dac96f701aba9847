"""Runs the application under uvicorn until SIGTERM or SIGINT, letting requests in flight end first."""

from __future__ import annotations

import asyncio
import gc
import logging
import signal
import socket
import sys
from collections.abc import Callable
from contextlib import suppress
from functools import partial
from importlib.util import find_spec
from types import FrameType
from typing import cast

import uvicorn
from starlette.types import ASGIApp

from bot.delivery.http.identity.identity import LOOPBACK
from bot.delivery.http.serving.patience import Patience, PlainWire, most_connections
from bot.settings import Limits, Settings
from bylaw.errors import BylawError, UsageError

_log = logging.getLogger("bylaw.http")

GRACE_SECONDS = 20
WAITING = 2048  # connections that nobody has accepted yet
GARBAGE = 10_000  # objects made before the young ones are searched: an answer makes a few thousand and leaves none
TURN_SECONDS = 0.001  # how long one thread computes while others wait: what is only taken in waits behind each answer


def serve(app: ASGIApp, listening: socket.socket, ready: Callable[[], None], limits: Limits) -> None:
    """Serve what comes to *listening* until told to stop; says when it is *ready*."""
    most, seconds = most_connections(limits.connections), limits.head_seconds
    config = uvicorn.Config(
        app,
        http=cast(type[asyncio.Protocol], partial(_reader(), most=most, head_seconds=seconds)),
        ws="none",
        proxy_headers=False,  # who is at the other end is not for a header to say
        log_config=None,
        access_log=False,
        server_header=False,
        timeout_graceful_shutdown=GRACE_SECONDS,
        backlog=1,  # accepted at once: where several processes listen, the one that is free takes the next
    )
    # uvicorn raises the signal again once it has shut down: to be told to stop is not to be killed
    sys.setswitchinterval(TURN_SECONDS)
    gc.set_threshold(GARBAGE)
    before = signal.signal(signal.SIGTERM, _stop)
    try:
        with suppress(KeyboardInterrupt, _Stopped):
            _Server(config, listening, ready).run(sockets=[listening])
    finally:
        signal.signal(signal.SIGTERM, before)


def _reader() -> type[Patience]:
    """What reads requests off a connection: faster with `bylaw-policies[fast]`. Both limit a head alike."""
    if find_spec("httptools") is None:
        return PlainWire
    from bot.delivery.http.serving.wire import Wire

    return Wire


class _Server(uvicorn.Server):
    """A server that says when it is ready, and lets as many wait in line as the system allows."""

    def __init__(self, config: uvicorn.Config, listening: socket.socket, ready: Callable[[], None]) -> None:
        super().__init__(config)
        self._listening, self._ready = listening, ready

    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        await super().startup(sockets)
        self._listening.listen(WAITING)
        self._ready()


def allowed(settings: Settings) -> None:
    """Raises UsageError where others could reach a server that believes whatever they say of themselves."""
    if not settings.is_identity_asked and settings.host not in LOOPBACK:
        raise UsageError(
            f"`{settings.host}` can be reached by others, and without a token anybody could ask as anybody",
            "set BYLAW_TOKEN or BYLAW_JWT_ISSUER, or serve on 127.0.0.1",
        )


def warn_of_trust() -> None:
    """Say that nobody is asked who they are."""
    _log.warning("whoever is on this machine may ask as anybody: set BYLAW_TOKEN or BYLAW_JWT_ISSUER to know who asks")


def address(listening: socket.socket) -> str:
    """Where it is reached."""
    host, port = listening.getsockname()[:2]
    return f"http://[{host}]:{port}" if ":" in host else f"http://{host}:{port}"


class _Stopped(BaseException):
    """SIGTERM came."""


def _stop(_signal: int, _frame: FrameType | None) -> None:
    raise _Stopped


def bound(settings: Settings) -> socket.socket:
    """The address of *settings*, bound. Raises UsageError for one that others reach without a token."""
    allowed(settings)
    family = socket.AF_INET6 if ":" in settings.host else socket.AF_INET
    try:
        listening = socket.create_server((settings.host, settings.port), family=family)
    except OSError as error:
        raise BylawError(
            f"cannot listen on {settings.host}:{settings.port}: {error.strerror or error}", "choose another --port"
        ) from error
    # Each connection inherits it; asyncio sets it only where a socket names its protocol. Without it the body of an
    # answer waits 40 ms for the client's system to acknowledge the head.
    listening.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
    return listening
