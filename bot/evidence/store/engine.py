"""Opens the store, and the two ways to use it: reading and writing.

A reply is given out when its transaction is on the disk. A claim does not wait for that: where a power failure undoes
it, the question is asked anew. A store in a file (`sqlite_file`) never loads SQLAlchemy before it is asked for more
than plain SQL; one on a server is SQLAlchemy's.
"""

from __future__ import annotations

import sqlite3
import sys
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any
from urllib.parse import parse_qs

from bot.evidence.store import sqlite_file
from bot.evidence.store.connection import Connection, Served
from bot.evidence.store.sqlite_file import Moved, SqliteFile
from bot.evidence.store.turns import TooMany
from bylaw.canonical import canonical_json, fingerprint
from bylaw.errors import BylawError, UsageError

if TYPE_CHECKING:
    from sqlalchemy import Engine
    from sqlalchemy.engine import URL

_FILE = "sqlite:///"
_HELP: Mapping[str, str] = {
    "SQLITE_BUSY": "another process has been writing for long: ask again",
    "SQLITE_CORRUPT": "its file is damaged: put a backup in its place, then `bylaw audit verify --checkpoint FILE`",
    "SQLITE_ERROR": "its tables are not those of a store: see BYLAW_STORE_URL, or put a backup in its place",
    "SQLITE_FULL": "make room on its disk, then ask again",
    "SQLITE_NOTADB": "its file is damaged, or no store: see BYLAW_STORE_URL",
    "SQLITE_READONLY": "its file or folder may only be read here: see the rights of both, and BYLAW_STORE_URL",
}


class StoreError(BylawError):
    """The store cannot be reached, or is not one this version can use."""


@dataclass(frozen=True)
class Store:
    """The bot's memory, in a `file` or on a `server`. Both contexts commit when they end well, else roll back."""

    file: SqliteFile | None = None
    server: Engine | None = None

    @property
    def dialect(self) -> str:
        """Which database keeps it: `sqlite` or `postgresql`."""
        return "sqlite" if self.server is None else self.server.dialect.name

    @contextmanager
    def reading(self) -> Iterator[Connection]:
        """A consistent view; nothing may be written in it."""
        with _named():
            if self.file is not None:
                with self.file.reading() as connection:
                    yield connection
            else:
                with self._served() as served:
                    yield served

    @contextmanager
    def writing(self, is_durable: bool = True) -> Iterator[Connection]:
        """A transaction that may write; on SQLite it is the only one of its kind until it ends.

        Unless *is_durable*, a power failure may undo it; the next durable one makes it last.
        """
        if self.file is None:
            with _named(), self._served() as served:
                if not is_durable:
                    served.run("SET LOCAL synchronous_commit TO OFF")
                yield served
            return
        try:
            with _named(), self.file.turns.turn(self.file.begun, sqlite_file.BUSY_SECONDS) as connection:
                yield connection
        except TooMany:
            raise StoreError("the store is busy: too many write at once", "ask again") from None
        if is_durable and connection.is_logged:
            self.last()

    @contextmanager
    def writing_ahead(self) -> Iterator[Connection]:
        """A transaction that lasts once `last` has returned; another one may begin and end before that."""
        with self.writing(is_durable=self.file is None) as connection:  # a server's commit waits for its disk
            yield connection

    def last(self) -> None:
        """Return once all that was committed before, by whomever, survives a power failure."""
        if self.file is None:
            return  # a server's commit has waited for it
        try:
            with _named():
                self.file.disk.wait()
                self.file.place.check()
        except OSError as error:
            raise StoreError(f"the store's file cannot be synced to the disk: {error}", "see the disk") from error

    def is_reachable(self) -> bool:
        """Does the store answer at all?"""
        try:
            with self.reading() as connection:
                if self.file is not None:
                    self.file.place.check()
                found = connection.first("SELECT 1")
        except StoreError:
            return False
        return found is not None and found[0] == 1

    def settle(self) -> bool:
        """Leave nothing of what was overwritten or deleted in the files. False: somebody reads what was there before.

        A server's files are its own: its vacuum decides when they let go. Raises StoreError, as on a full disk.
        """
        if self.file is None:
            return True
        with _named(), self.file.apart() as connection:
            found = connection.first("PRAGMA wal_checkpoint(TRUNCATE)")  # its first column: was it kept from doing so?
        return found is not None and not found[0]

    def close(self) -> None:
        """Let go of every connection."""
        if self.file is not None:
            self.file.close()
        if self.server is not None:
            self.server.dispose()

    @contextmanager
    def _served(self) -> Iterator[Served]:
        assert self.server is not None
        with self.server.connect() as connection, connection.begin():
            yield Served(connection)


@contextmanager
def _named() -> Iterator[None]:
    """Say what the database refuses in our own words."""
    try:
        yield
    except Moved:
        raise StoreError(
            "the file of the store was moved, replaced or deleted while it was in use",
            "stop whatever uses it, put the file back, and start again",
        ) from None
    except sqlite3.Error as error:
        raise StoreError(f"the store does not answer: {error}", _help(error)) from error
    except _by_sqlalchemy("DBAPIError") as error:
        refused = getattr(error, "orig", None)
        raise StoreError(f"the store does not answer: {refused}", _help(refused)) from error
    except _by_sqlalchemy("TimeoutError") as error:
        raise StoreError("the store is busy: no connection became free", "ask again") from error


def _by_sqlalchemy(name: str) -> tuple[type[Exception], ...]:
    """That error of SQLAlchemy; what was never loaded raises none."""
    loaded = sys.modules.get("sqlalchemy.exc")
    return () if loaded is None else (getattr(loaded, name),)


def _help(error: Any) -> str:
    """What to do about it, by SQLite's own word, or by what a server's driver calls it."""
    code = "_".join(getattr(error, "sqlite_errorname", "").split("_")[:2])  # SQLITE_READONLY_DBMOVED
    kind = {one.__name__ for one in type(error).__mro__}  # as every driver names them: PEP 249
    if not code and kind & {"OperationalError", "InterfaceError"}:
        return "is its server running, and does BYLAW_STORE_URL lead there? then ask again"
    if not code and "ProgrammingError" in kind:  # as a table that is missing
        code = "SQLITE_ERROR"
    return _HELP.get(code, "see BYLAW_STORE_URL")


def connect(url: str, root: Path) -> Store:
    """The store at *url*; a SQLite file is relative to *root* and its folder is made. No table is touched yet."""
    path = file_of(url, root)
    if path is not None:
        try:
            path.parent.mkdir(parents=True, exist_ok=True)
        except OSError as error:
            raise StoreError(f"the folder of the store cannot be made: {error}", "see BYLAW_STORE_URL") from error
        return Store(file=SqliteFile(path))
    return Store(server=_server(url))


def file_of(url: str, root: Path) -> Path | None:
    """The file of a store at *url*, None of one on a server. Raises UsageError for a store in memory."""
    if not url.startswith("sqlite:"):
        return None
    name, _, options = url.removeprefix(_FILE).partition("?")
    if not url.startswith(_FILE) or name in ("", ":memory:") or parse_qs(options).get("mode") == ["memory"]:
        raise UsageError("a store in memory would forget everything", "name a file: sqlite:///.bylaw/store.db")
    if options:
        raise UsageError(f"the store's address has options: `{options}`", "name a file: sqlite:///.bylaw/store.db")
    return (root / name).absolute()


def _server(url: str) -> Engine:
    from sqlalchemy import create_engine
    from sqlalchemy.exc import ArgumentError, NoSuchModuleError

    try:
        where = _address(url)
        backend = where.get_backend_name()
        if backend == "postgresql":
            return create_engine(where, json_serializer=canonical_json, pool_pre_ping=True, max_overflow=35)
    except (ArgumentError, NoSuchModuleError, ModuleNotFoundError) as error:
        raise UsageError(f"the store's address cannot be used: {error}", "see BYLAW_STORE_URL") from error
    raise UsageError(f"a store in `{backend}` is not supported", "use sqlite:///FILE or postgresql+psycopg://…")


def _address(url: str) -> URL:
    from sqlalchemy.engine import make_url

    return make_url(url)


def beside(url: str, root: Path, ending: str) -> Path:
    """A file beside the store at *url*; of a store on a server, in the folder where one would lie by default."""
    path = file_of(url, root)
    if path is not None:
        return path.with_name(f"{path.name}.{ending}")
    where = _address(url)
    name = fingerprint([where.host, where.port, where.database])[:12]
    return root / ".bylaw" / f"{where.get_backend_name()}-{name}.{ending}"


def is_there(url: str, root: Path) -> bool:
    """Was a store at *url* made before? One on a server is asked when it is used; an empty file is none."""
    path = file_of(url, root)
    return path is None or (path.is_file() and path.stat().st_size > 0)
