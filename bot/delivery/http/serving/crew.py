"""Several processes that answer at one address: forked from one that binds it, answers nothing and watches them.

Each opens the bundle, the store and the warehouse itself. One that dies is replaced, also while it starts; all of them
end when the one that watches is told to, and also when it dies.
"""

from __future__ import annotations

import logging
import os
import select
import signal
import threading
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from socket import socket

from bot.delivery.http.serving.turn import Board, Listening, Seat
from bylaw.errors import BylawError, UsageError

MOST = 4  # by default: each holds the bundle in memory once more
STOP_SECONDS = 30.0  # what is being answered may take so long; then it is ended
_PAUSES = (0.5, 1.0, 2.0, 5.0, 15.0)  # seconds before one that died is replaced, the more died without being ready
_HEARD = (signal.SIGTERM, signal.SIGINT, signal.SIGCHLD)
_LOOK_SECONDS = 0.1  # how often it is looked whether one is ready, or due

Ready = Callable[[], None]
Work = Callable[[socket, Ready], None]

_log = logging.getLogger("bylaw.http")


def usual_count() -> int:
    """As many as there are processors this process may use, a few at most; one where processes cannot be forked."""
    return min(MOST, len(os.sched_getaffinity(0))) if hasattr(os, "sched_getaffinity") and hasattr(os, "fork") else 1


def run(count: int, listening: socket, work: Work, announce: Ready) -> None:
    """Run *work* in *count* processes until told to stop; *announce* once all of them are ready.

    *work* is given where to listen and what to call when it is ready; it ends when its process is told to (SIGTERM). A
    single one runs here. What the first says keeps it from being ready ends the whole, with its exit code; one that is
    killed before it is ready, and any later one, is replaced, a few times.
    """
    if count == 1:
        work(listening, announce)
        return
    if not hasattr(os, "fork"):
        raise UsageError("this system cannot fork processes", "serve with `--workers 1`")
    _Crew(count, listening, work).watch(announce)


@dataclass
class _Crew:
    """Who answers: process ids, and their places on the board. `_unready` have not said that they are ready, and where
    they will.
    """

    count: int
    listening: socket
    work: Work
    _alive: dict[int, int] = field(default_factory=dict)
    _unready: dict[int, int] = field(default_factory=dict)
    _due: list[float] = field(default_factory=list)
    _failures: int = 0

    def watch(self, announce: Ready) -> None:
        """Start them, replace those who die, stop them all. Only the forked processes leave this before that."""
        heard, lifeline = signal.pthread_sigmask(signal.SIG_BLOCK, _HEARD), os.pipe()
        self._heard, self._lifeline, self._board = heard, lifeline, Board(self.count)
        try:
            if self._started(1) and self._started(self.count):
                announce()
                while not self._told():
                    self._replace()
            self._stop()
        finally:
            signal.pthread_sigmask(signal.SIG_SETMASK, heard)

    def _started(self, count: int) -> bool:
        """Have that many at work. False: it was told to stop meanwhile."""
        while len(self._alive) < count:
            self._fork()
        while self._unready or self._due:
            if self._told():
                return False
            has_said_why = count == 1 and self._due and self._code >= 0
            if has_said_why or self._failures >= len(_PAUSES):
                self._stop()
                raise _unready(self._code)
            self._replace()
        return True

    def _told(self) -> bool:
        """Wait for news and take it down: is it to stop?"""
        if self._unready or self._due:
            news = signal.sigtimedwait(_HEARD, _LOOK_SECONDS)
        else:
            news = signal.sigwaitinfo(_HEARD)
        self._reap()
        for pid, place in list(self._unready.items()):
            if select.select([place], [], [], 0)[0] and os.read(place, 1):
                self._forget(pid)
                self._failures = 0
        return news is not None and news.si_signo != signal.SIGCHLD

    def _reap(self) -> None:
        while self._alive:
            pid, status = os.waitpid(-1, os.WNOHANG)
            if not pid:
                return
            self._code = os.waitstatus_to_exitcode(status)
            self._board.clear(self._alive.pop(pid))
            pause = _PAUSES[min(self._failures, len(_PAUSES) - 1)]
            self._failures += pid in self._unready
            self._forget(pid)
            self._due.append(time.monotonic() + pause)
            _log.warning("a process that answers has ended", extra={"meta": {"pid": pid, "code": self._code}})

    def _forget(self, pid: int) -> None:
        place = self._unready.pop(pid, None)
        if place is not None:
            os.close(place)

    def _replace(self) -> None:
        late = [at for at in self._due if at <= time.monotonic()]
        for at in late:
            self._due.remove(at)
            self._fork()

    def _stop(self) -> None:
        """Tell all of them to end, and end those who do not."""
        self.listening.close()  # they close theirs: who comes now is told so at once
        until = time.monotonic() + STOP_SECONDS
        for pid in sorted(self._alive):
            os.kill(pid, signal.SIGTERM)
        while self._alive and time.monotonic() < until:
            signal.sigtimedwait((signal.SIGCHLD,), _LOOK_SECONDS)
            self._reap()
        for pid in sorted(self._alive):
            os.kill(pid, signal.SIGKILL)
            os.waitpid(pid, 0)
        while signal.sigtimedwait(_HEARD, 0):
            pass  # told again meanwhile

    # ---- the process that answers -----------------------------------------------------------------------------------

    def _fork(self) -> None:
        told, ready = os.pipe()
        place = min(set(range(self.count)) - set(self._alive.values()))
        pid = os.fork()
        if pid:
            os.close(ready)
            self._alive[pid] = place
            self._unready[pid] = told
            return
        self._answer(self._board.seat(place), ready)

    def _answer(self, seat: Seat, ready: int) -> None:
        """Work, in the forked process; the command ends with it, and says what it raised."""
        os.close(self._lifeline[1])
        signal.pthread_sigmask(signal.SIG_SETMASK, self._heard)
        threading.Thread(target=_end_with, args=(self._lifeline[0],), name="lifeline", daemon=True).start()
        self.work(Listening.taking(self.listening, seat), lambda: _begin(seat, ready))
        raise SystemExit(0)


def _unready(code: int) -> BaseException:
    """What ends the command with the first process: that one has said why, unless it was killed."""
    return SystemExit(code) if code >= 0 else BylawError(f"a process that should answer was ended by signal {-code}")


def _begin(seat: Seat, place: int) -> None:
    seat.take()
    os.write(place, b"!")
    os.close(place)


def _end_with(lifeline: int) -> None:
    """Nobody ever writes there: the end of it is the end of who watches."""
    os.read(lifeline, 1)
    os.kill(os.getpid(), signal.SIGTERM)
