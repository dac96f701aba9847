"""HTTP exchanges with one server, as their bytes come. The address is the host's: no redirect is followed, and nothing
that a client says chooses where a request goes.

A connection whose answer was read to its end rests for the next exchange, for a moment: no server closes it as soon,
and one that says anything meanwhile, or ends, is not used again. No request is ever sent twice.
"""

from __future__ import annotations

import asyncio
import ssl
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass, field
from functools import cached_property
from urllib.parse import SplitResult, urlsplit

import h11

from bylaw.errors import UsageError

CONNECT_SECONDS = 10.0
REST_SECONDS = 1.0  # how long a connection waits for the next exchange; servers close theirs after five, or more
END_SECONDS = 0.05  # how long the end of an answer is waited for, once nobody reads on
MOST_RESTING = 32
_PIECE = 64 * 1024


class Unreachable(Exception):
    """The server does not answer, or says what nobody understands."""


@dataclass
class Answered:
    """The head of an answer; `pieces` are its body."""

    status: int
    headers: Mapping[str, str]
    pieces: AsyncIterator[bytes]

    @property
    def kind(self) -> str:
        """The type of what it holds."""
        return self.headers.get("content-type", "").partition(";")[0].strip().lower()


@dataclass
class _Line:
    """A connection to the server. While it rests, it is listened to."""

    reader: asyncio.StreamReader
    writer: asyncio.StreamWriter
    wire: h11.Connection = field(default_factory=lambda: h11.Connection(h11.CLIENT))
    _resting: asyncio.Task[bytes] | None = None
    _until: float = 0.0

    async def next(self, seconds: float | None) -> object:
        """The next event of an answer."""
        while (event := self.wire.next_event()) is h11.NEED_DATA:
            async with asyncio.timeout(seconds):
                self.wire.receive_data(await self.reader.read(_PIECE))
        return event

    async def ends(self) -> bool:
        """Is the answer over, so that there may be another one?"""
        try:
            async with asyncio.timeout(END_SECONDS):
                while self.wire.their_state is h11.SEND_BODY:
                    await self.next(None)
        except (OSError, TimeoutError, h11.ProtocolError):
            return False
        is_done = self.wire.our_state is h11.DONE and self.wire.their_state is h11.DONE
        return is_done and not self.wire.trailing_data[0]  # what stands behind it would be taken for the next answer

    def rest(self) -> None:
        """Wait for the next exchange."""
        self.wire.start_next_cycle()
        self._until = asyncio.get_running_loop().time() + REST_SECONDS
        self._resting = asyncio.create_task(self.reader.read(1))

    async def wakes(self) -> bool:
        """Go on with the next exchange, unless it rested for too long or anything came meanwhile."""
        assert self._resting is not None
        self._resting.cancel()
        await asyncio.wait({self._resting})
        return self._resting.cancelled() and asyncio.get_running_loop().time() < self._until

    async def close(self) -> None:
        """Use it no more."""
        self.writer.close()
        with suppress(OSError, ssl.SSLError):
            await self.writer.wait_closed()


@dataclass(frozen=True)
class Upstream:
    """The server at *url*. *seconds* is how long it may say nothing."""

    url: str
    token: str | None = field(default=None, repr=False)
    seconds: float = 300.0
    _resting: list[_Line] = field(default_factory=list, init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        found = self._parts
        if found.scheme not in ("http", "https") or not found.hostname or found.username or found.fragment:
            raise UsageError(f"`{self.url[:80]}` is no address of a server", "write it like http://127.0.0.1:8000/mcp")

    @property
    def _parts(self) -> SplitResult:
        return urlsplit(self.url)

    @asynccontextmanager
    async def exchange(
        self, method: str, headers: Mapping[str, str], body: bytes = b"", is_patient: bool = False
    ) -> AsyncIterator[Answered]:
        """Send a request and read the head of the answer. Where one *is_patient*, its body may pause for ever.

        Raises Unreachable, also while the pieces are read.
        """
        parts, line, is_over = self._parts, await self._line(), False
        try:
            target = (parts.path or "/") + (f"?{parts.query}" if parts.query else "")
            sent = {"Host": parts.netloc, **headers, **self._authorized()}
            sent |= {"Content-Length": str(len(body))} if body else {}
            request = h11.Request(method=method, target=target, headers=list(sent.items()))
            said = [request, *([h11.Data(data=body)] if body else []), h11.EndOfMessage()]
            line.writer.write(b"".join(line.wire.send(event) or b"" for event in said))
            await line.writer.drain()
            yield await self._answered(line, is_patient)
            is_over = await line.ends()
        except (OSError, TimeoutError, h11.ProtocolError) as error:
            raise Unreachable("the server did not answer") from error
        finally:
            if is_over and len(self._resting) < MOST_RESTING:
                line.rest()
                self._resting.append(line)
            else:
                await line.close()

    async def _line(self) -> _Line:
        """A connection: one that rests, the last first, or another."""
        while self._resting:
            line = self._resting.pop()
            if await line.wakes():
                return line
            await line.close()
        parts = self._parts
        port = parts.port or (80 if self._trusted is None else 443)
        try:
            async with asyncio.timeout(CONNECT_SECONDS):
                return _Line(*await asyncio.open_connection(parts.hostname, port, ssl=self._trusted))
        except (OSError, TimeoutError) as error:
            raise Unreachable("the server cannot be reached") from error

    @cached_property
    def _trusted(self) -> ssl.SSLContext | None:
        """Whose word counts for who the server is; None where it is not asked."""
        return ssl.create_default_context() if self._parts.scheme == "https" else None

    def _authorized(self) -> dict[str, str]:
        return {} if self.token is None else {"Authorization": f"Bearer {self.token}"}

    async def _answered(self, line: _Line, is_patient: bool) -> Answered:
        head = await line.next(self.seconds)
        while isinstance(head, h11.InformationalResponse):
            head = await line.next(self.seconds)
        if not isinstance(head, h11.Response):
            raise Unreachable("the server did not answer")
        found = {name.decode("latin-1").lower(): value.decode("latin-1") for name, value in head.headers}

        async def pieces() -> AsyncIterator[bytes]:
            seconds = None if is_patient else self.seconds
            while isinstance(event := await line.next(seconds), h11.Data):
                yield bytes(event.data)

        return Answered(head.status_code, found, pieces())
