"""`bylaw guard --mcp -- COMMAND`: an MCP server behind the gate, over standard input and output, a message a line."""

from __future__ import annotations

import subprocess
from collections.abc import Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from threading import Lock, Thread
from typing import IO, Any

from bot.gate.passage import INVALID, Passage, Turn, error, read, spelled


@dataclass
class Proxy:
    """Stands between the pipes of one client and one server."""

    passage: Passage
    to_client: IO[str]
    to_server: IO[str]
    _saying: Lock = field(default_factory=Lock)  # one for each direction: a full pipe holds nobody else up
    _asking: Lock = field(default_factory=Lock)

    def from_client(self, lines: Iterable[str]) -> None:
        """Take what the client says, until it ends."""
        for line in lines:
            message = read(line)
            if message is None:
                self._say(error(None, "one message a line", INVALID))
                continue
            try:
                turn = self.passage.asked(message)
            except RecursionError:
                turn = Turn(back=error(None, "the message is nested too deeply", INVALID))
            if turn.back is not None:
                self._say(turn.back)
            if turn.onward is not None:
                with suppress(BrokenPipeError, ValueError):  # the server is gone: the other thread tells its end
                    _write(self.to_server, turn.onward, self._asking)

    def from_server(self, lines: Iterable[str]) -> None:
        """Take what the server says, until it ends; what was still open then has failed."""
        for line in lines:
            message = read(line)
            if message is not None:
                self._say(self.passage.answered(message))
        for left in self.passage.over("the server ended before it answered"):
            self._say(left)

    def _say(self, message: Mapping[str, Any]) -> None:
        with suppress(BrokenPipeError):  # the client is gone: what the server does is recorded all the same
            _write(self.to_client, message, self._saying)


def run(command: Sequence[str], passage: Passage, ours: tuple[IO[str], IO[str]]) -> int:
    """Start *command* and stand between it and the client at *ours* (its input and output); the server's exit code."""
    server = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, encoding="utf-8")
    assert server.stdin is not None and server.stdout is not None
    proxy = Proxy(passage, ours[1], server.stdin)

    def listen() -> None:
        proxy.from_client(ours[0])
        with suppress(OSError):
            proxy.to_server.close()

    Thread(target=listen, name="client", daemon=True).start()
    try:
        proxy.from_server(server.stdout)
    finally:
        with suppress(OSError):
            server.stdin.close()
        server.terminate()
    return server.wait()


def _write(place: IO[str], message: Mapping[str, Any], turn: Lock) -> None:
    with turn:
        place.write(spelled(message) + "\n")
        place.flush()
