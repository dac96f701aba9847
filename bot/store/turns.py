"""Taking turns at writing: the threads of a process share a transaction, so that several wait for the disk once.

Who finds others waiting when his part is done leaves the transaction open to the next; the last one commits it, and
nobody goes on before. A part that fails is undone alone.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from threading import Event, Lock

from sqlalchemy import Connection
from sqlalchemy.exc import DBAPIError

from bot.store.columns import command

MOST = 64  # parts of one transaction: whoever came first has waited long enough
_LOOK_SECONDS = 0.05

Begin = Callable[[Connection | None], Connection]  # given the one that rests since the last of its kind


class TooMany(Exception):
    """A turn did not come in time."""


@dataclass(eq=False)
class _Shared:
    """A transaction that is under way. `over` is set when it is committed, or failed with `error`."""

    connection: Connection
    is_durable: bool
    parts: int = 0
    over: Event = field(default_factory=Event)
    error: BaseException | None = None


class Turns:
    """The turns of one process at the one writer that SQLite has."""

    def __init__(self) -> None:
        self._turn, self._count, self._waiting = Lock(), Lock(), 0
        self._shared: _Shared | None = None
        self._rested: dict[bool, Connection] = {}  # for each kind: to open one takes as long as to write

    @contextmanager
    def part(self, begin: Begin, is_durable: bool, patience: float) -> Iterator[Connection]:
        """A part of the transaction under way, or of one that *begin* opens. Raises TooMany after *patience* seconds.

        One that waits for the disk is no part of one that does not.
        """
        self._take(patience)
        try:
            shared = self._joined(begin, is_durable)
            yield from self._undone_alone(shared)
        finally:
            if self._shared is not None and (not self._waiting or self._shared.parts >= MOST):
                self._commit(self._shared)
            self._turn.release()
        while not shared.over.wait(_LOOK_SECONDS):
            if self._turn.acquire(blocking=False):  # who was waiting has given up: nobody is left to commit
                try:
                    if self._shared is shared:
                        self._commit(shared)
                finally:
                    self._turn.release()
        if shared.error is not None:
            raise shared.error

    def close(self) -> None:
        """Let go of the connections that rest."""
        while self._rested:
            self._rested.popitem()[1].close()

    def _take(self, patience: float) -> None:
        with self._count:
            self._waiting += 1
        is_ours = self._turn.acquire(timeout=patience)
        with self._count:
            self._waiting -= 1
        if not is_ours:
            raise TooMany

    def _joined(self, begin: Begin, is_durable: bool) -> _Shared:
        """The transaction under way, when it promises as much; else a new one."""
        if self._shared is not None and is_durable and not self._shared.is_durable:
            self._commit(self._shared)
        if self._shared is None:
            self._shared = _Shared(begin(self._rested.pop(is_durable, None)), is_durable)
        return self._shared

    def _undone_alone(self, shared: _Shared) -> Iterator[Connection]:
        connection, is_first = shared.connection, shared.parts == 0
        if not is_first:
            command(connection, "SAVEPOINT part")
        shared.parts += 1
        try:
            yield connection
            if not is_first:
                command(connection, "RELEASE part")
        except BaseException as error:
            try:
                if is_first:
                    connection.rollback()
                    self._end(shared, None)
                else:
                    command(connection, "ROLLBACK TO part")
                    command(connection, "RELEASE part")
            except DBAPIError:  # what failed took the whole transaction with it
                self._end(shared, error)
            raise

    def _commit(self, shared: _Shared) -> None:
        try:
            shared.connection.commit()
        except BaseException as error:  # everybody whose part it was raises it
            self._end(shared, error)
        else:
            self._end(shared, None)

    def _end(self, shared: _Shared, error: BaseException | None) -> None:
        self._shared, shared.error = None, error
        try:
            if error is None:
                self._rested[shared.is_durable] = shared.connection
                return
            shared.connection.invalidate()  # a commit that failed may leave its transaction open
            shared.connection.close()
        finally:
            shared.over.set()
