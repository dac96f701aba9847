"""Runs the application under uvicorn until SIGTERM or SIGINT, letting requests in flight end first."""

from __future__ import annotations

import signal
import socket
import sys
from collections.abc import Callable
from contextlib import suppress
from types import FrameType

import uvicorn
from starlette.types import ASGIApp

from bot.http.frame import LOOPBACK
from bot.settings import Settings
from bylaw.errors import BylawError, UsageError

GRACE_SECONDS = 20
TURN_SECONDS = 0.001  # how long one thread computes while others wait: what is only taken in waits behind each answer


def serve(app: ASGIApp, settings: Settings, announce: Callable[[str], None]) -> None:
    """Serve until told to stop; *announce* gets the address once it is bound. Raises UsageError before that."""
    allowed(settings)
    with _bound(settings) as listening:
        host = f"[{settings.host}]" if ":" in settings.host else settings.host
        announce(f"http://{host}:{listening.getsockname()[1]}")
        config = uvicorn.Config(
            app, log_config=None, access_log=False, server_header=False, timeout_graceful_shutdown=GRACE_SECONDS
        )
        # uvicorn raises the signal again once it has shut down: to be told to stop is not to be killed
        sys.setswitchinterval(TURN_SECONDS)
        before = signal.signal(signal.SIGTERM, _stop)
        try:
            with suppress(KeyboardInterrupt, _Stopped):
                uvicorn.Server(config).run(sockets=[listening])
        finally:
            signal.signal(signal.SIGTERM, before)


def allowed(settings: Settings) -> None:
    """Raises UsageError where others could reach a server that believes whatever they say of themselves."""
    if settings.token is None and settings.host not in LOOPBACK:
        raise UsageError(
            f"`{settings.host}` can be reached by others, and without a token anybody could ask as anybody",
            "set BYLAW_TOKEN, or serve on 127.0.0.1",
        )


class _Stopped(BaseException):
    """SIGTERM came."""


def _stop(_signal: int, _frame: FrameType | None) -> None:
    raise _Stopped


def _bound(settings: Settings) -> socket.socket:
    family = socket.AF_INET6 if ":" in settings.host else socket.AF_INET
    try:
        return socket.create_server((settings.host, settings.port), family=family)
    except OSError as error:
        raise BylawError(
            f"cannot listen on {settings.host}:{settings.port}: {error.strerror or error}", "choose another --port"
        ) from error
