"""A new policy repository as `bylaw init` writes it, compiled once; and stores that are new at once."""

from __future__ import annotations

import functools
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest
from sqlalchemy import Connection

from bot.evidence.store import migrate
from bylaw.cli import bundle_for_root
from ci.scaffold import init


@dataclass(frozen=True)
class Repository:
    """Where it is, and its bundle. Tests read it; who writes copies it first."""

    root: Path
    bundle: Path


@pytest.fixture(scope="session")
def repository(tmp_path_factory: pytest.TempPathFactory) -> Repository:
    """The scaffold's repository."""
    root = tmp_path_factory.mktemp("scaffold") / "repository"
    init(root)
    return Repository(root, bundle_for_root(root))


@pytest.fixture(scope="session", autouse=True)
def _stores_begin_as_the_first_one() -> Iterator[None]:
    """Alembic makes the first SQLite store; each new one is made of what was in that, in a tenth of the time."""
    first: list[str] = []
    run = migrate._run

    @functools.wraps(run)
    def copied(connection: Connection) -> None:
        file = connection.connection.driver_connection
        if connection.dialect.name != "sqlite" or list(file.execute("SELECT 1 FROM sqlite_master")):
            run(connection)
        elif first:
            for statement in first:
                file.execute(statement)
        else:
            run(connection)
            first.extend(line for line in file.iterdump() if line not in ("BEGIN TRANSACTION;", "COMMIT;"))

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(migrate, "_run", copied)
        yield
