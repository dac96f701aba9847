"""How long, and among how many, a connection may stay: who does not end a head, or takes no answer, is let go.

Mixed into uvicorn's readers, which wait for ever. The body has its own limits, once it is known who asks:
`bot.delivery.http.frame`. The faster reader is `bot.delivery.http.serving.wire`.
"""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING, Any

from uvicorn.protocols.http.h11_impl import H11Protocol

READ_SECONDS = 60.0  # a client that takes nothing of its answer for so long has gone
_SPARE = 256  # file descriptors that the store, the warehouse and the log need

_TOO_LATE = b"HTTP/1.1 408 Request Timeout\r\nconnection: close\r\ncontent-length: 0\r\n\r\n"
_NO_ROOM = (
    b"HTTP/1.1 503 Service Unavailable\r\nconnection: close\r\nretry-after: 1\r\ncontent-type: application/json\r\n"
    b'content-length: 28\r\n\r\n{"meta": {"load_shed":true}}'
)

if TYPE_CHECKING:
    _Reader = H11Protocol
else:
    _Reader = object


def most_connections(wanted: int) -> int:
    """How many of *wanted* connections a process may have open, so that descriptors are left for its own files."""
    try:
        from resource import RLIM_INFINITY, RLIMIT_NOFILE, getrlimit
    except ModuleNotFoundError:  # Windows has no such limit
        return wanted
    allowed, _ = getrlimit(RLIMIT_NOFILE)
    return wanted if allowed == RLIM_INFINITY else max(1, min(wanted, max(allowed - _SPARE, allowed // 4)))


class Patience(_Reader):
    """How long, and among how many, a connection may stay. Mixed into one of uvicorn's readers.

    Where *most* are open, the one that has waited longest for its client gives its place to the newest; where all of
    them are being answered, the newest is turned away.
    """

    def __init__(self, *given: Any, most: int, head_seconds: float, **named: Any) -> None:
        super().__init__(*given, **named)
        self._most, self._head_seconds = most, head_seconds
        self._late: asyncio.TimerHandle | None = None
        self._stuck: asyncio.TimerHandle | None = None
        self._has_sent = False
        self.waiting_since = self.loop.time()

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]  # as uvicorn narrows it
        """Take the connection, unless there is no place."""
        super().connection_made(transport)
        if len(self.connections) > self._most and not self._gains_a_place():
            transport.write(_NO_ROOM)
            transport.close()
            return
        self._expect_head()

    def data_received(self, data: bytes) -> None:
        """Read on. While a request is answered, no head is waited for."""
        self._has_sent = True
        super().data_received(data)
        if self.is_answering:
            self._expect_nothing()
        elif self._late is None and not self.transport.is_closing():
            self._expect_head()

    def connection_lost(self, exc: Exception | None) -> None:
        """Wait for nothing any more."""
        self._expect_nothing()
        self._is_read()
        super().connection_lost(exc)

    def pause_writing(self) -> None:
        """The client does not take what is written."""
        super().pause_writing()
        self._stuck = self.loop.call_later(READ_SECONDS, self.transport.abort)

    def resume_writing(self) -> None:
        """It does again."""
        self._is_read()
        super().resume_writing()

    @property
    def is_answering(self) -> bool:
        """Is a request under way, its body included?"""
        return self.cycle is not None and not self.cycle.response_complete

    def _gains_a_place(self) -> bool:
        others = [one for one in self.connections if isinstance(one, Patience) and one is not self]
        waiting = [one for one in others if not one.is_answering]
        if not waiting:
            return False
        longest = min(waiting, key=lambda one: one.waiting_since)
        self.connections.discard(longest)  # its end is told only later
        longest.transport.abort()
        return True

    def _expect_head(self) -> None:
        self.waiting_since = self.loop.time()
        self._late = self.loop.call_later(self._head_seconds, self._give_up)

    def _expect_nothing(self) -> None:
        if self._late is not None:
            self._late.cancel()
            self._late = None

    def _is_read(self) -> None:
        if self._stuck is not None:
            self._stuck.cancel()
            self._stuck = None

    def _give_up(self) -> None:
        self._late = None
        if self._has_sent:
            self.transport.write(_TOO_LATE)
        self.transport.close()


class PlainWire(Patience, H11Protocol):
    """One connection, read by h11."""
