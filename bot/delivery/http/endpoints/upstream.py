"""One HTTP exchange with one server, as its bytes come. The address is the host's: no redirect is followed, and nothing
that a client says chooses where a request goes.
"""

from __future__ import annotations

import asyncio
import ssl
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass, field
from urllib.parse import SplitResult, urlsplit

import h11

from bylaw.errors import UsageError

CONNECT_SECONDS = 10.0
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


@dataclass(frozen=True)
class Upstream:
    """The server at *url*. *seconds* is how long it may say nothing."""

    url: str
    token: str | None = field(default=None, repr=False)
    seconds: float = 300.0

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
        parts = self._parts
        is_safe = parts.scheme == "https"
        port = parts.port or (443 if is_safe else 80)
        try:
            async with asyncio.timeout(CONNECT_SECONDS):
                reader, writer = await asyncio.open_connection(
                    parts.hostname, port, ssl=ssl.create_default_context() if is_safe else None
                )
        except (OSError, TimeoutError) as error:
            raise Unreachable("the server cannot be reached") from error
        try:
            wire = h11.Connection(h11.CLIENT)
            target = (parts.path or "/") + (f"?{parts.query}" if parts.query else "")
            sent = {"Host": parts.netloc, **headers, **self._authorized()}
            sent |= {"Content-Length": str(len(body))} if body else {}
            request = h11.Request(method=method, target=target, headers=list(sent.items()))
            said = [request, *([h11.Data(data=body)] if body else []), h11.EndOfMessage()]
            writer.write(b"".join(wire.send(event) or b"" for event in said))
            await writer.drain()
            yield await self._answered(wire, reader, is_patient)
        except (OSError, TimeoutError, h11.ProtocolError) as error:
            raise Unreachable("the server did not answer") from error
        finally:
            writer.close()
            with suppress(OSError, ssl.SSLError):
                await writer.wait_closed()

    def _authorized(self) -> dict[str, str]:
        return {} if self.token is None else {"Authorization": f"Bearer {self.token}"}

    async def _answered(self, wire: h11.Connection, reader: asyncio.StreamReader, is_patient: bool) -> Answered:
        head = await self._next(wire, reader, self.seconds)
        while isinstance(head, h11.InformationalResponse):
            head = await self._next(wire, reader, self.seconds)
        if not isinstance(head, h11.Response):
            raise Unreachable("the server did not answer")
        found = {name.decode("latin-1").lower(): value.decode("latin-1") for name, value in head.headers}

        async def pieces() -> AsyncIterator[bytes]:
            seconds = None if is_patient else self.seconds
            while isinstance(event := await self._next(wire, reader, seconds), h11.Data):
                yield bytes(event.data)

        return Answered(head.status_code, found, pieces())

    async def _next(self, wire: h11.Connection, reader: asyncio.StreamReader, seconds: float | None) -> object:
        while (event := wire.next_event()) is h11.NEED_DATA:
            async with asyncio.timeout(seconds):
                wire.receive_data(await reader.read(_PIECE))
        return event
