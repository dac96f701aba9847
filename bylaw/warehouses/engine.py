"""DuckDB in a process of its own, locked down, answering one statement at a time until nobody asks any more.

Runs in the child that `bylaw.warehouses.process` starts. It may be killed at any moment: it holds nothing.
"""

from __future__ import annotations

import contextlib
import json
import os
import pickle
import sys
import threading
from multiprocessing.connection import Connection
from typing import Any

import duckdb

from bylaw.warehouses.limits import collected
from bylaw.warehouses.port import Rows, WarehouseError

_COLUMNS = (
    "SELECT column_name FROM information_schema.columns WHERE table_schema = ? AND table_name = ? "
    "ORDER BY ordinal_position"
)
_NAME = "warehouse_"
# what a statement failed by, in words that hold nothing of its data
_KINDS = {
    duckdb.OutOfMemoryException: "memory",
    duckdb.CatalogException: "missing",
    duckdb.BinderException: "missing",
    duckdb.ParserException: "syntax",
    duckdb.PermissionException: "rights",
}


def serve(descriptor: int, path: str, backstop_ms: str) -> None:
    """Open the database at *path* and answer on *descriptor*. Ends at once, whatever runs, when the parent is gone."""
    pipe = Connection(descriptor)
    threading.Thread(target=_end_with_parent, daemon=True).start()
    try:
        connection = _opened(path, backstop_ms)
    except duckdb.Error as error:
        pipe.send_bytes(pickle.dumps(("error", "open", str(error))))
        return
    pipe.send_bytes(pickle.dumps(("ready", None)))
    with contextlib.suppress(EOFError, OSError):
        while True:
            asked = pickle.loads(pipe.recv_bytes())
            pipe.send_bytes(pickle.dumps(_answer(connection, *asked), pickle.HIGHEST_PROTOCOL))


def _opened(path: str, backstop_ms: str) -> duckdb.DuckDBPyConnection:
    """The database at *path* and nothing else, under a name that no schema has.

    Opened as itself it is called as its file: in `shop.duckdb` the schema `shop` could then not be named.
    """
    connection = duckdb.connect(config=_locked(backstop_ms))
    spelled = path.replace("'", "''")
    connection.execute(f"ATTACH '{spelled}' AS {_NAME} (READ_ONLY)")
    connection.execute(f"USE {_NAME}")
    connection.execute("DETACH memory")
    connection.execute("SET enable_external_access = false")
    connection.execute("SET lock_configuration = true")
    return connection


def _end_with_parent() -> None:
    sys.stdin.buffer.read()  # nobody writes: it ends when the parent does
    os._exit(1)


def _answer(connection: duckdb.DuckDBPyConnection, what: str, *arguments: Any) -> tuple[Any, ...]:
    try:
        match what:
            case "run":
                sql, limit, result_bytes = arguments
                cursor = connection.execute(sql)
                columns = tuple(str(column[0]) for column in cursor.description or ())
                rows, is_cut = collected(cursor.fetchmany, limit, result_bytes)
                return "done", Rows(columns, rows, truncated=is_cut)
            case "explain":
                found = connection.execute(f"EXPLAIN (FORMAT json) {arguments[0]}").fetchall()
                return "done", json.loads(found[-1][-1]) if found else []
            case _:
                return "done", tuple(str(name) for (name,) in connection.execute(_COLUMNS, list(arguments)).fetchall())
    except WarehouseError as error:
        return "limit", error.message
    except MemoryError:
        return "error", "memory", "out of memory"
    except duckdb.Error as error:
        return "error", next((kind for cls, kind in _KINDS.items() if isinstance(error, cls)), "value"), str(error)


def _locked(backstop_ms: str) -> dict[str, str | bool | int | float | list[str]]:
    return {
        "autoinstall_known_extensions": "false",
        "autoload_known_extensions": "false",
        "allow_community_extensions": "false",
        "python_enable_replacements": "false",
        "memory_limit": "1GB",
        "max_temp_directory_size": "0GB",
        "threads": "2",
        "max_execution_time": backstop_ms,
    }
