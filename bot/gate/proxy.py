"""`bylaw guard --mcp -- COMMAND`: an MCP server behind the gate, over standard input and output, a message a line."""

from __future__ import annotations

import subprocess
from collections.abc import Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from threading import Event, Lock, Thread
from time import monotonic
from typing import IO, Any

from bot.gate.messages import INVALID, error, read, spelled
from bot.gate.passage import Passage, Turn
from bot.gate.tasks import Following

LINGER_SECONDS = 60.0  # how long calls that are under way are waited for when the client ends
ANSWER_SECONDS = 30.0  # after which the server is asked about a task once more


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
            told = None if message is None else self.passage.answered(message)
            if told is not None:
                self._say(told)
        for left in self.passage.over("the server ended before it answered"):
            self._say(left)

    def follow(self, task: Following) -> None:
        """Ask the server about *task*, in a thread of its own, until it has ended."""
        woken = Event()
        task.wake = woken.set
        Thread(target=self._following, args=(task, woken), name="task", daemon=True).start()

    def _following(self, task: Following, woken: Event) -> None:
        until = monotonic() + task.seconds
        while monotonic() < until and not task.is_over:
            woken.wait(task.wait)
            woken.clear()
            question = self.passage.next_of(task)
            if question is None:
                return
            try:
                _write(self.to_server, question, self._asking)
            except (BrokenPipeError, ValueError):
                break
            woken.wait(ANSWER_SECONDS)
            woken.clear()
        self.passage.forget(task)

    def _say(self, message: Mapping[str, Any]) -> None:
        with suppress(BrokenPipeError):  # the client is gone: what the server does is recorded all the same
            _write(self.to_client, message, self._saying)


def run(command: Sequence[str], passage: Passage, ours: tuple[IO[str], IO[str]]) -> int:
    """Start *command* and stand between it and the client at *ours* (its input and output); the server's exit code."""
    server = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, encoding="utf-8")
    assert server.stdin is not None and server.stdout is not None
    proxy = Proxy(passage, ours[1], server.stdin)
    passage.follow = proxy.follow

    def listen() -> None:
        proxy.from_client(ours[0])
        passage.requests.wait_for_calls(LINGER_SECONDS)
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
