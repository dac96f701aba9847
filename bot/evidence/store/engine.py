"""Opens the store: one engine, and the two ways to use it, reading and writing.

On SQLite every write transaction begins IMMEDIATE (it takes the write lock before it reads), so that what it read is
still true when it writes; WAL lets readers go on meanwhile. A reply is given out when its transaction is on the disk. A
claim does not wait for that: where a power failure undoes it, the question is asked anew.
"""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any
from urllib.parse import quote

from sqlalchemy import Connection, Engine, create_engine, event, select, text
from sqlalchemy.engine import URL, make_url
from sqlalchemy.exc import (
    ArgumentError,
    DBAPIError,
    InterfaceError,
    NoSuchModuleError,
    OperationalError,
    ProgrammingError,
)
from sqlalchemy.exc import TimeoutError as PoolTimeout

from bot.evidence.store.columns import command, first_row
from bot.evidence.store.disk import Disk
from bot.evidence.store.turns import TooMany, Turns
from bylaw.canonical import canonical_json, fingerprint
from bylaw.errors import BylawError, UsageError

BUSY_SECONDS = 30  # how long a writer waits for another process before it gives up
_LOOK_SECONDS = 0.002  # between two looks whether the other writer has ended
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
_HELP: Mapping[str, str] = {
    "SQLITE_BUSY": "another process has been writing for long: ask again",
    "SQLITE_CORRUPT": "its file is damaged: put a backup in its place, then `bylaw audit verify --checkpoint FILE`",
    "SQLITE_ERROR": "its tables are not those of a store: see BYLAW_STORE_URL, or put a backup in its place",
    "SQLITE_FULL": "make room on its disk, then ask again",
    "SQLITE_NOTADB": "its file is damaged, or no store: see BYLAW_STORE_URL",
    "SQLITE_READONLY": "its file or folder may only be read here: see the rights of both, and BYLAW_STORE_URL",
}
_SETTLE = text("PRAGMA wal_checkpoint(TRUNCATE)")  # its first column: was it kept from doing so?
_Start = Callable[[Connection], None]  # how a transaction begins


class StoreError(BylawError):
    """The store cannot be reached, or is not one this version can use."""


@dataclass
class _Place:
    """Where SQLite's file lies, so that nothing is written to one that was moved away or deleted while it is open."""

    path: Path | None = None
    _known: tuple[int, int] | None = None

    def check(self) -> None:
        """Raise StoreError where another file, or none, is there than at first."""
        if self.path is None:
            return
        try:
            found = self.path.stat()
            here = found.st_dev, found.st_ino
        except OSError:
            here = None
        self._known = self._known or here
        if here is None or here != self._known:
            raise StoreError(
                "the file of the store was moved, replaced or deleted while it was in use",
                "stop whatever uses it, put the file back, and start again",
            )


@dataclass(frozen=True)
class Store:
    """The bot's memory. Both contexts commit when they end well and roll back when they do not."""

    engine: Engine
    _place: _Place = field(default_factory=_Place, repr=False, compare=False)
    _turns: Turns = field(default_factory=Turns, repr=False, compare=False)
    _disk: Disk | None = field(default=None, repr=False, compare=False)  # of a SQLite file

    @contextmanager
    def reading(self) -> Iterator[Connection]:
        """A consistent view; nothing may be written in it."""
        with self._connected(_read) as connection:
            yield connection

    @contextmanager
    def writing(self, is_durable: bool = True) -> Iterator[Connection]:
        """A transaction that may write; on SQLite it is the only one of its kind until it ends.

        Unless *is_durable*, a power failure may undo it; the next durable one makes it last.
        """
        if self._disk is None:
            with self._connected(_write if is_durable else _write_hastily) as connection:
                yield connection
            return

        def begin(rested: Connection | None) -> Connection:
            return _begun(rested or self.engine.connect(), _write, self._place)

        try:
            with _named(), self._turns.turn(begin, BUSY_SECONDS) as connection:
                yield connection
                is_logged = connection.info[_LOG]
        except TooMany:
            raise StoreError("the store is busy: too many write at once", "ask again") from None
        if is_durable and is_logged:
            self.last()

    @contextmanager
    def writing_ahead(self) -> Iterator[Connection]:
        """A transaction that lasts once `last` has returned; another one may begin and end before that."""
        with self.writing(is_durable=self._disk is None) as connection:  # a server's commit waits for its disk
            yield connection

    def last(self) -> None:
        """Return once all that was committed before, by whomever, survives a power failure."""
        if self._disk is None:
            return  # a server's commit has waited for it
        try:
            self._disk.wait()
            self._place.check()
        except OSError as error:
            raise StoreError(f"the store's file cannot be synced to the disk: {error}", "see the disk") from error

    def is_reachable(self) -> bool:
        """Does the store answer at all?"""
        try:
            with self.reading() as connection:
                self._place.check()
                return connection.execute(select(1)).scalar() == 1
        except StoreError:
            return False

    def settle(self) -> bool:
        """Leave nothing of what was overwritten or deleted in the files. False: somebody reads what was there before.

        A server's files are its own: its vacuum decides when they let go. Raises StoreError, as on a full disk.
        """
        if self._disk is None:
            return True
        with _named(), self.engine.connect() as connection:
            found = first_row(connection, _SETTLE)
        return found is not None and not found[0]

    def close(self) -> None:
        """Let go of every connection."""
        self._turns.close()
        self.engine.dispose()

    @contextmanager
    def _connected(self, start: _Start) -> Iterator[Connection]:
        with _named(), self.engine.connect() as connection, connection.begin():
            start(connection)
            yield connection


@contextmanager
def _named() -> Iterator[None]:
    """Say what the database refuses in our own words."""
    try:
        yield
    except DBAPIError as error:
        raise StoreError(f"the store does not answer: {error.orig}", _help(error)) from error
    except PoolTimeout as error:
        raise StoreError("the store is busy: no connection became free", "ask again") from error


def _help(error: DBAPIError) -> str:
    """What to do about it, by SQLite's own word, or by what a server's driver calls it."""
    code = "_".join(getattr(error.orig, "sqlite_errorname", "").split("_")[:2])  # SQLITE_READONLY_DBMOVED
    if not code and isinstance(error, OperationalError | InterfaceError):
        return "is its server running, and does BYLAW_STORE_URL lead there? then ask again"
    if not code and isinstance(error, ProgrammingError):  # as a table that is missing
        code = "SQLITE_ERROR"
    return _HELP.get(code, "see BYLAW_STORE_URL")


def _begun(connection: Connection, start: _Start, place: _Place) -> Connection:
    """*connection* with a transaction under way; closed where none can begin."""
    try:
        connection.begin()
        start(connection)
        place.check()
    except BaseException:
        connection.close()
        raise
    return connection


def _read(connection: Connection) -> None:
    if connection.dialect.name == "sqlite":
        command(connection, "BEGIN")


def _write(connection: Connection) -> None:
    if connection.dialect.name == "sqlite":
        _take_lock(connection)


def _write_hastily(connection: Connection) -> None:
    command(connection, "SET LOCAL synchronous_commit TO OFF")


def _take_lock(connection: Connection) -> None:
    """Begin as the only writer, as soon as the one before has ended: SQLite itself would sleep longer from look to
    look, with nobody at work meanwhile.
    """
    until = time.monotonic() + BUSY_SECONDS
    command(connection, f"PRAGMA {_AT_ONCE}")
    try:
        while not _has_lock(connection, is_last=time.monotonic() > until):
            time.sleep(_LOOK_SECONDS)
    finally:
        command(connection, f"PRAGMA {_PATIENT}")


def _has_lock(connection: Connection, is_last: bool) -> bool:
    try:
        command(connection, "BEGIN IMMEDIATE")
    except DBAPIError as error:
        if is_last or not getattr(error.orig, "sqlite_errorname", "").startswith("SQLITE_BUSY"):
            raise
        return False
    return True


def connect(url: str, root: Path) -> Store:
    """The store at *url*; a SQLite file is relative to *root* and its folder is made. No table is touched yet."""
    try:
        where = make_url(url)
        backend = where.get_backend_name()
        if backend == "sqlite":
            engine, path = _sqlite(where, root)
            return Store(engine, _Place(path), _disk=Disk(path.with_name(f"{path.name}-wal")))
        if backend == "postgresql":
            return Store(create_engine(where, json_serializer=canonical_json, pool_pre_ping=True, max_overflow=35))
    except (ArgumentError, NoSuchModuleError, ModuleNotFoundError) as error:
        raise UsageError(f"the store's address cannot be used: {error}", "see BYLAW_STORE_URL") from error
    raise UsageError(f"a store in `{backend}` is not supported", "use sqlite:///FILE or postgresql+psycopg://…")


def beside(url: str, root: Path, ending: str) -> Path:
    """A file beside the store at *url*; of a store on a server, in the folder where one would lie by default."""
    where = make_url(url)
    if where.get_backend_name() == "sqlite":
        path = root / (where.database or "")
        return path.with_name(f"{path.name}.{ending}")
    name = fingerprint([where.host, where.port, where.database])[:12]
    return root / ".bylaw" / f"{where.get_backend_name()}-{name}.{ending}"


def is_there(url: str, root: Path) -> bool:
    """Was a store at *url* made before? One on a server is asked when it is used; an empty file is none."""
    try:
        where = make_url(url)
    except ArgumentError:
        return True  # `connect` says what is wrong with it
    if where.get_backend_name() != "sqlite":
        return True
    path = root / (where.database or "")
    return path.is_file() and path.stat().st_size > 0


def _sqlite(where: URL, root: Path) -> tuple[Engine, Path]:
    if not where.database or where.database == ":memory:" or where.query.get("mode") == "memory":
        raise UsageError("a store in memory would forget everything", "name a file: sqlite:///.bylaw/store.db")
    path = (root / where.database).absolute()
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise StoreError(f"the folder of the store cannot be made: {error}", "see BYLAW_STORE_URL") from error
    sealed = _is_sealed(path)
    engine = create_engine(
        where.set(**_for_reading(path)) if sealed else where.set(database=str(path)),
        json_serializer=canonical_json,
        max_overflow=-1,  # as many as there are threads; SQLite itself lets writers take turns
        connect_args={"timeout": BUSY_SECONDS, "isolation_level": None},  # we say BEGIN, the driver must not
    )
    event.listen(engine, "connect", _prepared(SEALED if sealed else PRAGMAS))
    return engine, path


def _is_sealed(path: Path) -> bool:
    """Is there a file that may only be read, as where a backup is looked at?"""
    return path.is_file() and not (os.access(path, os.W_OK) and os.access(path.parent, os.W_OK))


def _for_reading(path: Path) -> dict[str, Any]:
    """Where SQLite finds the file at *path* without writing beside it."""
    is_settled = not path.with_name(f"{path.name}-wal").exists()  # else what was written last stands there
    query = {"uri": "true", "mode": "ro", **({"immutable": "1"} if is_settled else {})}
    return {"database": f"file:{quote(str(path))}", "query": query}


def _prepared(pragmas: Sequence[str]) -> Callable[[Any, Any], None]:
    """What readies a connection. The busy timeout comes first: the change to WAL itself may have to wait.

    Where there is a log, it is synced after a commit; where a file system allows none, SQLite syncs within.
    """

    def prepare(connection: Any, record: Any) -> None:
        told = {pragma: connection.execute(f"PRAGMA {pragma}").fetchone() for pragma in pragmas}
        record.info[_LOG] = told.get(_LOG) == ("wal",)
        connection.execute(f"PRAGMA synchronous={'NORMAL' if record.info[_LOG] else 'FULL'}")

    return prepare
