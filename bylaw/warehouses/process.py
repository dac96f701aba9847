"""A database engine in processes that may be killed: the only stop that works inside one long function.

An engine looks at its limits between rows and blocks; inside one call of one function it looks at nothing, and may take
several times the memory it was given. Who waits holds the limits from outside, and starts another when one was killed.
"""

from __future__ import annotations

import contextlib
import os
import pickle
import socket
import subprocess
import sys
import time
import weakref
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from multiprocessing.connection import Connection
from pathlib import Path
from threading import Condition, Event
from typing import Any

from bylaw.warehouses.limits import Watch
from bylaw.warehouses.port import WarehouseError

START_SECONDS = 30.0  # a loaded machine may take long to start a process
MOST_BYTES = 1_400_000_000  # of memory that is really held: the engine's own limit, and what it needs beside its data
_LOOKS_SECONDS = 0.02
_CODE = (
    "import sys; sys.path[:] = sys.argv[4:]; "
    "from bylaw.warehouses.engine import serve; serve(int(sys.argv[1]), *sys.argv[2:4])"
)
_PAGE = os.sysconf("SC_PAGE_SIZE") if hasattr(os, "sysconf") else 4096


class Running:
    """One process and our end of its pipe. Gone when closed, when nobody holds it, and when this process ends."""

    def __init__(self, arguments: Sequence[str]) -> None:
        ours, theirs = socket.socketpair()
        paths = [os.path.abspath(path) for path in sys.path]  # noqa: PTH100 - a zip file on the path is no folder
        with theirs:
            self.process = subprocess.Popen(
                [sys.executable, "-I", "-c", _CODE, str(theirs.fileno()), *arguments, *paths],
                stdin=subprocess.PIPE,
                stdout=subprocess.DEVNULL,
                stderr=subprocess.DEVNULL,
                pass_fds=(theirs.fileno(),),
                start_new_session=True,  # an interrupt from the keyboard is ours to handle
            )
        self.owner = os.getpid()
        self.pipe = Connection(ours.detach())
        self.close = weakref.finalize(self, _end, self.process, self.pipe)

    def ask(self, question: tuple[Any, ...], seconds: float, stops: Sequence[Event]) -> tuple[Any, ...]:
        """What the process says. Raises WarehouseError, and ends the process, where a limit from outside is hit."""
        deadline = time.monotonic() + seconds
        try:
            self.pipe.send_bytes(pickle.dumps(question))
            while not self.pipe.poll(_LOOKS_SECONDS):
                if any(stop.is_set() for stop in stops):
                    raise Watch("stop").error(seconds)
                if time.monotonic() >= deadline:
                    raise Watch("time").error(seconds)
                if self._held() > MOST_BYTES:
                    raise too_much_memory()
            said: tuple[Any, ...] = pickle.loads(self.pipe.recv_bytes())
            return said
        except (EOFError, OSError) as error:
            self.close()
            raise WarehouseError("the warehouse ended while it ran the statement") from error
        except BaseException:
            self.close()
            raise

    def _held(self) -> int:
        """The memory that the process really holds; 0 where this machine does not tell."""
        try:
            return int(Path(f"/proc/{self.process.pid}/statm").read_text().split()[1]) * _PAGE
        except (OSError, ValueError, IndexError):
            return 0


class Pool:
    """A few processes of one engine. One is kept warm; others start when several statements run at once."""

    def __init__(self, arguments: Sequence[str], most: int) -> None:
        self._arguments = arguments
        self._most = most
        self._turn = Condition()
        self._idle: list[Running] = []
        self._count = 0
        self.closing = Event()

    def start(self) -> tuple[Any, ...] | None:
        """Have one process ready; what it says where it cannot serve."""
        with self._turn:
            self._count += 1
        running, said = self._started()
        with self._turn:
            if said is None:
                self._idle.append(running)
            else:
                self._count -= 1
        return said

    def ask(self, question: tuple[Any, ...], seconds: float, stop: Event | None = None) -> tuple[Any, ...]:
        """What a process says to *question*. Raises WarehouseError."""
        stops = (self.closing,) if stop is None else (self.closing, stop)
        with self._borrowed(stops, seconds) as running:
            return running.ask(question, seconds, stops)

    def close(self, seconds: float) -> None:
        """End them all, whatever they run."""
        self.closing.set()
        with self._turn:
            self._turn.notify_all()
            self._turn.wait_for(lambda: self._count == len(self._idle), seconds)
            while self._idle:
                self._idle.pop().close()
                self._count -= 1

    @contextmanager
    def _borrowed(self, stops: Sequence[Event], seconds: float) -> Iterator[Running]:
        running = self._taken(stops, seconds)
        try:
            yield running
        finally:
            with self._turn:
                if running.close.alive and not self.closing.is_set():
                    self._idle.append(running)
                else:
                    running.close()
                    self._count -= 1
                self._turn.notify_all()

    def _taken(self, stops: Sequence[Event], seconds: float) -> Running:
        deadline = time.monotonic() + seconds
        with self._turn:
            while True:
                if self.closing.is_set():
                    raise WarehouseError("the warehouse is closed")
                if any(stop.is_set() for stop in stops):
                    raise Watch("stop").error(seconds)
                while self._idle:
                    running = self._idle.pop()
                    if running.owner != os.getpid():
                        running.close.detach()  # a fork's copy of what is its parent's
                    elif running.process.poll() is None:
                        return running
                    else:
                        running.close()
                    self._count -= 1
                if self._count < self._most:
                    self._count += 1
                    break
                if time.monotonic() >= deadline:
                    raise WarehouseError(f"no place to run the statement was free for {seconds:g} seconds")
                self._turn.wait(_LOOKS_SECONDS)
        try:
            running, said = self._started()
        except BaseException:
            self._given_up()
            raise
        if said is not None:
            self._given_up()
            raise WarehouseError("the warehouse cannot be opened any more")
        return running

    def _given_up(self) -> None:
        with self._turn:
            self._count -= 1
            self._turn.notify_all()

    def _started(self) -> tuple[Running, tuple[Any, ...] | None]:
        try:
            running = Running(self._arguments)
        except OSError as error:
            raise WarehouseError("no process could be started to run statements in") from error
        said: tuple[Any, ...] = ("error", "open", "it did not start")
        with contextlib.suppress(EOFError, OSError):
            if running.pipe.poll(START_SECONDS):
                said = pickle.loads(running.pipe.recv_bytes())
        if said[0] == "ready":
            return running, None
        running.close()
        return running, said


def too_much_memory() -> WarehouseError:
    """What to tell who asked for more than there is."""
    return WarehouseError("the statement needs more memory than it may take")


def _end(process: subprocess.Popen[bytes], pipe: Connection) -> None:
    pipe.close()
    process.kill()
    if process.stdin is not None:
        process.stdin.close()
    process.wait()
