"""The store on each database it supports: SQLite always, PostgreSQL where its programs and a driver are installed."""

from __future__ import annotations

import importlib.util
import os
import shutil
import socket
import subprocess
import tempfile
from collections.abc import Iterator
from itertools import count
from pathlib import Path

import pytest
from sqlalchemy import text

from bot.store.engine import Store, connect
from bot.store.migrate import upgrade


@pytest.fixture(scope="session")
def postgresql() -> Iterator[str]:
    """The address of a throw-away cluster."""
    if importlib.util.find_spec("psycopg") is None:
        pytest.skip("psycopg is not installed")
    programs = [Path(found).parent for found in [shutil.which("initdb")] if found]
    programs += sorted(Path("/usr/lib/postgresql").glob("*/bin"))
    if not programs:
        pytest.skip("initdb is not installed")
    folder = Path(tempfile.mkdtemp(prefix="bylaw-pg-"))
    as_user = {"user": "postgres"} if os.geteuid() == 0 else {}  # PostgreSQL refuses to run as root
    if as_user:
        shutil.chown(folder, "postgres")
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]
    data, quiet = folder / "data", {"check": True, "stdout": subprocess.DEVNULL, "cwd": folder, **as_user}
    options = f"-p {port} -k {folder} -c listen_addresses=127.0.0.1 -c fsync=off"
    subprocess.run(
        [programs[0] / "initdb", "-D", data, "-A", "trust", "-U", "bylaw", "-E", "UTF8", "--no-sync"], **quiet
    )
    subprocess.run([programs[0] / "pg_ctl", "-D", data, "-o", options, "-l", folder / "log", "-w", "start"], **quiet)
    yield f"postgresql+psycopg://bylaw@127.0.0.1:{port}/"
    subprocess.run([programs[0] / "pg_ctl", "-D", data, "-m", "immediate", "stop"], **quiet)
    shutil.rmtree(folder, ignore_errors=True)


_NUMBERS = count(1)


@pytest.fixture(params=["sqlite", "postgresql"])
def store_url(request: pytest.FixtureRequest) -> str:
    """An empty database of each kind."""
    if request.param == "sqlite":
        return "sqlite:///store.db"
    server = request.getfixturevalue("postgresql")
    name = f"bylaw_{next(_NUMBERS)}"
    admin = connect(server + "postgres", Path())
    with admin.engine.connect().execution_options(isolation_level="AUTOCOMMIT") as connection:
        connection.execute(text(f"CREATE DATABASE {name}"))
    admin.close()
    return server + name


@pytest.fixture
def store(store_url: str, tmp_path: Path) -> Iterator[Store]:
    """A store with all its tables."""
    opened = connect(store_url, tmp_path)
    upgrade(opened)
    yield opened
    opened.close()
