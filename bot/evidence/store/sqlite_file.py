"""A store in a file of SQLite: its connections, and how a transaction on them begins.

Every write transaction begins IMMEDIATE (it takes the write lock before it reads), so that what it read is still true
when it writes; WAL lets readers go on meanwhile.
"""

from __future__ import annotations

import os
import sqlite3
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from threading import Lock
from typing import TYPE_CHECKING, Any
from urllib.parse import quote

from bot.evidence.store.connection import Local, Shared
from bot.evidence.store.disk import Disk
from bot.evidence.store.turns import Turns
from bylaw.canonical import canonical_json

if TYPE_CHECKING:
    import sqlalchemy

BUSY_SECONDS = 30  # how long a writer waits for another process before it gives up
_LOOK_SECONDS = 0.002  # between two looks whether the other writer has ended
_MOST_RESTING = 8  # readers kept open
_PATIENT, _AT_ONCE = f"busy_timeout={BUSY_SECONDS * 1000}", "busy_timeout=0"
_LOG = "journal_mode=WAL"
# secure_delete: what is redacted is overwritten, not only forgotten
PRAGMAS = (
    _PATIENT,
    _LOG,
    "foreign_keys=ON",
    "secure_delete=ON",
)
SEALED = (_PATIENT, "query_only=ON")  # a file that may only be read


class Moved(Exception):
    """The file was moved, replaced or deleted while it was in use."""


class Place:
    """Where the file lies, so that nothing is written to one that was moved away or deleted while it is open."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self._known: tuple[int, int] | None = None

    @property
    def is_known(self) -> bool:
        """Was it looked at before?"""
        return self._known is not None

    def check(self) -> None:
        """Raise Moved where another file, or none, is there than at first."""
        try:
            found = self.path.stat()
            here = found.st_dev, found.st_ino
        except OSError:
            here = None
        self._known = self._known or here
        if here is None or here != self._known:
            raise Moved


class SqliteFile:
    """The connections to one file. `is_sealed`: it may only be read, as where a backup is looked at."""

    def __init__(self, path: Path) -> None:
        self.place = Place(path)
        self.turns = Turns()
        self.disk = Disk(path.with_name(f"{path.name}-wal"))
        self.is_sealed = path.is_file() and not (os.access(path, os.W_OK) and os.access(path.parent, os.W_OK))
        self._address = _address_for_reading(path) if self.is_sealed else str(path)
        self._resting: list[Local] = []
        self._opening = Lock()
        self._lent: Shared | None = None
        self._engine: sqlalchemy.Engine | None = None

    @contextmanager
    def reading(self) -> Iterator[Local]:
        """A transaction that reads, on a connection that rested where there is one."""
        with self.apart() as connection:
            connection.driver.execute("BEGIN")
            yield connection
            connection.commit()

    @contextmanager
    def apart(self) -> Iterator[Local]:
        """A connection without a transaction."""
        try:
            connection = self._resting.pop()
        except IndexError:
            connection = self.opened()
        try:
            yield connection
        except BaseException:
            connection.end()
            raise
        if len(self._resting) < _MOST_RESTING:
            self._resting.append(connection)
        else:
            connection.end()

    def begun(self, rested: Local | None) -> Local:
        """*rested*, or a new connection, on which the only transaction that writes is under way."""
        connection = rested or self.opened()
        try:
            _take_lock(connection.driver)
            self.place.check()
        except BaseException:
            connection.end()
            raise
        return connection

    def opened(self) -> Local:
        """A new connection. SQLite would make a new file where the one that is in use was moved away."""
        if self.place.is_known:
            self.place.check()
        driver = sqlite3.connect(
            self._address,
            timeout=BUSY_SECONDS,
            isolation_level=None,  # we say BEGIN, the driver must not
            check_same_thread=False,  # one thread at a time has it
            factory=Shared,
            uri=self.is_sealed,
        )
        try:
            return Local(driver, _prepare(driver, SEALED if self.is_sealed else PRAGMAS), self._guest)
        except BaseException:
            sqlite3.Connection.close(driver)
            raise

    def close(self) -> None:
        """Let go of every connection."""
        self.turns.close()
        while self._resting:
            self._resting.pop().end()

    def _guest(self, driver: Shared) -> sqlalchemy.Connection:
        """SQLAlchemy on the connection that is there."""
        from sqlalchemy import create_engine
        from sqlalchemy.pool import NullPool

        with self._opening:
            self._lent = driver
            if self._engine is None:
                given: Mapping[str, Any] = {"poolclass": NullPool, "json_serializer": canonical_json}
                self._engine = create_engine("sqlite://", creator=lambda: self._lent, **given)
            return self._engine.connect()


def _address_for_reading(path: Path) -> str:
    """How SQLite reads the file at *path* without writing beside it."""
    is_settled = not path.with_name(f"{path.name}-wal").exists()  # else what was written last stands there
    return f"file:{quote(str(path))}?mode=ro{'&immutable=1' if is_settled else ''}"


def _prepare(driver: sqlite3.Connection, pragmas: Sequence[str]) -> bool:
    """Ready a connection: does it write to a log? The busy timeout comes first: the change to WAL may have to wait.

    Where there is a log, it is synced after a commit; where a file system allows none, SQLite syncs within.
    """
    told = {pragma: driver.execute(f"PRAGMA {pragma}").fetchone() for pragma in pragmas}
    is_logged = told.get(_LOG) == ("wal",)
    driver.execute(f"PRAGMA synchronous={'NORMAL' if is_logged else 'FULL'}")
    return is_logged


def _take_lock(driver: sqlite3.Connection) -> None:
    """Begin as the only writer, as soon as the one before has ended: SQLite itself would sleep longer from look to
    look, with nobody at work meanwhile.
    """
    until = time.monotonic() + BUSY_SECONDS
    driver.execute(f"PRAGMA {_AT_ONCE}")
    try:
        while not _has_lock(driver, is_last=time.monotonic() > until):
            time.sleep(_LOOK_SECONDS)
    finally:
        driver.execute(f"PRAGMA {_PATIENT}")


def _has_lock(driver: sqlite3.Connection, is_last: bool) -> bool:
    try:
        driver.execute("BEGIN IMMEDIATE")
    except sqlite3.Error as error:
        if is_last or not getattr(error, "sqlite_errorname", "").startswith("SQLITE_BUSY"):
            raise
        return False
    return True
