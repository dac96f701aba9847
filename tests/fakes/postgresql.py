"""A real PostgreSQL for the time of the tests: a throw-away cluster on loopback, started by its own programs."""

from __future__ import annotations

import importlib.util
import os
import pwd
import shutil
import socket
import subprocess
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from sqlalchemy import Engine, create_engine


def missing() -> str | None:
    """What is not installed here, None where a cluster can be started."""
    if importlib.util.find_spec("psycopg") is None:
        return "psycopg is not installed"
    if os.geteuid() == 0 and not any(entry.pw_name == "postgres" for entry in pwd.getpwall()):
        return "PostgreSQL refuses to run as root, and there is no user postgres"
    return None if _programs() else "initdb is not installed"


@contextmanager
def cluster() -> Iterator[str]:
    """The address of an empty cluster, up to the name of a database; its superuser is `bylaw`, without a password."""
    programs = _programs()
    assert programs is not None
    folder = Path(tempfile.mkdtemp(prefix="bylaw-pg-"))
    as_user = {"user": "postgres"} if os.geteuid() == 0 else {}  # PostgreSQL refuses to run as root
    if as_user:
        shutil.chown(folder, "postgres")
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]
    data, quiet = folder / "data", {"check": True, "stdout": subprocess.DEVNULL, "cwd": folder, **as_user}
    options = f"-p {port} -k {folder} -c listen_addresses=127.0.0.1 -c fsync=off"
    subprocess.run([programs / "initdb", "-D", data, "-A", "trust", "-U", "bylaw", "-E", "UTF8", "--no-sync"], **quiet)
    subprocess.run([programs / "pg_ctl", "-D", data, "-o", options, "-l", folder / "log", "-w", "start"], **quiet)
    try:
        yield f"postgresql+psycopg://bylaw@127.0.0.1:{port}/"
    finally:
        subprocess.run([programs / "pg_ctl", "-D", data, "-m", "immediate", "stop"], **quiet)
        shutil.rmtree(folder, ignore_errors=True)


def new_database(server: str, name: str) -> Engine:
    """An engine on an empty database *name* of the cluster at *server*; what it executes is committed at once."""
    options = {"isolation_level": "AUTOCOMMIT", "execution_options": {"no_parameters": True}}
    admin = create_engine(f"{server}postgres", **options)
    with admin.connect() as connection:
        connection.exec_driver_sql(f"DROP DATABASE IF EXISTS {name} WITH (FORCE)")  # a fixture may be set up again
        connection.exec_driver_sql(f"CREATE DATABASE {name}")
    admin.dispose()
    return create_engine(f"{server}{name}", **options)


def emptied(server: str, name: str) -> None:
    """Have an empty database *name* at *server*: made once, and cleared of what the test before left in it."""
    admin = create_engine(f"{server}postgres", isolation_level="AUTOCOMMIT")
    with admin.connect() as connection:
        known = connection.exec_driver_sql("SELECT 1 FROM pg_database WHERE datname = %s", (name,)).first()
        if known is None:
            connection.exec_driver_sql(f"CREATE DATABASE {name}")
    admin.dispose()
    ended(server, name)
    inside = create_engine(f"{server}{name}", isolation_level="AUTOCOMMIT")
    with inside.connect() as connection:
        connection.exec_driver_sql("DROP SCHEMA public CASCADE")
        connection.exec_driver_sql("CREATE SCHEMA public")
    inside.dispose()


def ended(server: str, name: str) -> None:
    """End every connection to the database *name*, as a server that stops at once does."""
    admin = create_engine(f"{server}postgres", isolation_level="AUTOCOMMIT")
    with admin.connect() as connection:
        left = "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = %s"
        connection.exec_driver_sql(left, (name,))
    admin.dispose()


def _programs() -> Path | None:
    found = [Path(path).parent for path in [shutil.which("initdb")] if path]
    found += sorted(Path("/usr/lib/postgresql").glob("*/bin"))
    return found[0] if found else None
