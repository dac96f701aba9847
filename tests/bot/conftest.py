"""A new policy repository as `bylaw init` writes it, compiled once; and stores that are new at once."""

from __future__ import annotations

import functools
import shutil
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
from sqlalchemy import event, inspect

from bot.evidence.store import migrate
from bot.evidence.store.connection import Connection, Local
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


def write_orders(path: Path) -> None:
    """Twenty orders of two regions, one on each of twenty days."""
    import duckdb

    with duckdb.connect(path) as warehouse:
        warehouse.execute("CREATE SCHEMA shop")
        columns = "order_id INTEGER, region VARCHAR, is_test BOOLEAN, ordered_at DATE, amount DECIMAL(9, 2)"
        warehouse.execute(f"CREATE TABLE shop.orders ({columns})")
        rows = [(n, ("north", "south")[n % 2], False, f"2026-10-{n + 1:02}", f"{n}.10") for n in range(20)]
        warehouse.executemany("INSERT INTO shop.orders VALUES (?, ?, ?, ?, ?)", rows)


@pytest.fixture(scope="session")
def repository_with_data(repository, tmp_path_factory):
    """The scaffold's repository and twenty orders."""
    root = shutil.copytree(repository.root, tmp_path_factory.mktemp("plans") / "repository")
    write_orders(root / "data.duckdb")
    for name, agg in (("largest_order", "max"), ("smallest_order", "min")):
        text = f"{{name: {name}, entity: orders, agg: {agg}, expr: amount, unit: USD, synonyms: [takings]}}"
        (root / "context" / "metrics" / f"{name}.yaml").write_text(text, encoding="utf-8")
    bundle_for_root(root)
    return root


@pytest.fixture(scope="session", autouse=True)
def _stores_begin_as_the_first_one() -> Iterator[None]:
    """Alembic makes the first store of a kind; each new one is made of what that took, in a tenth of the time."""
    made: dict[str, list[tuple[str, Any]]] = {}
    run = migrate._run

    @functools.wraps(run)
    def copied(connection: Connection) -> None:
        kind = connection.dialect
        if inspect(connection.full).get_table_names():
            run(connection)
        elif kind in made:
            for statement, given in made[kind]:
                connection.exec_driver_sql(statement, given)
        else:
            made[kind] = _dumped(run, connection) if kind == "sqlite" else _heard(run, connection)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(migrate, "_run", copied)
        yield


def _dumped(run: Callable[[Connection], None], connection: Connection) -> list[tuple[str, Any]]:
    """What makes the database that is there after *run*."""
    run(connection)
    assert isinstance(connection, Local)
    lines = connection.driver.iterdump()
    return [(line, None) for line in lines if line not in ("BEGIN TRANSACTION;", "COMMIT;")]


def _heard(run: Callable[[Connection], None], connection: Connection) -> list[tuple[str, Any]]:
    """What *run* has the database do."""
    said: list[tuple[str, Any]] = []

    def hear(_connection: object, _cursor: object, statement: str, given: Any, *_: object) -> None:
        if not statement.lstrip().upper().startswith("SELECT"):
            said.append((statement, given or None))

    event.listen(connection.full, "before_cursor_execute", hear)
    run(connection)
    event.remove(connection.full, "before_cursor_execute", hear)
    return said
