"""What rows say of a context: each fault at its line, on real databases; a sound one is left in peace."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from datetime import date
from pathlib import Path
from typing import Any

import duckdb
import pytest
import yaml

from bylaw.errors import UsageError
from bylaw.warehouses.duckdb import DuckDBWarehouse
from bylaw.warehouses.port import Rows, WarehouseError
from ci.findings import SEVERITIES
from ci.measured.columns import family
from ci.measured.ids import MEASURED
from ci.measured.registry import MEASURES, measure
from ci.measured.values import days, spelled
from tests.rows import each, one_of

DOCUMENT = yaml.safe_load(Path(__file__).with_name("measures.yaml").read_text(encoding="utf-8"))
ROWS: list[dict[str, Any]] = DOCUMENT["rows"]
DAY = date(2026, 6, 15)


def database(folder: Path, sql: str) -> str:
    """The address of a DuckDB file that *sql* has filled."""
    path = folder / "rows.duckdb"
    duckdb.connect(str(path)).execute(sql).close()
    return f"duckdb://{path}"


def changed(row: Mapping[str, Any]) -> tuple[dict[str, str], str]:
    """The files and the SQL of a row. Each change changes something."""
    files, sql = {**DOCUMENT["base"], **row.get("files", {})}, DOCUMENT["data"]
    for path, (old, new) in row.get("change", {}).items():
        assert old in files[path], old
        files[path] = files[path].replace(old, new)
    for key in ("rows", "rows_too", "rows_three", "rows_four"):
        if key in row:
            old, new = row[key]
            assert old in sql, old
            sql = sql.replace(old, new)
    if "limits" in row:
        files["rules/ci.yaml"] = row["limits"]
    return files, sql


@pytest.mark.parametrize("row", one_of(2, ROWS), ids=lambda row: row["title"])
def test_the_rows_tell_what_does_not_hold(
    row: dict[str, Any], workspace_of: Callable[..., Any], told: Callable[..., Any], tmp_path: Path
) -> None:
    files, sql = changed(row)
    workspace = workspace_of(files)
    assert [finding.message for finding in workspace.findings] == []
    found = measure(workspace, database(tmp_path, sql), date.fromisoformat(row.get("day", DAY.isoformat()))).findings
    said = sorted(told(workspace, found), key=lambda one: (one["id"], one["at"]))
    assert len(said) == len(row["told"]), said
    for one, wanted in zip(said, row["told"], strict=True):
        if (start := wanted.pop("starts", None)) is not None:
            assert one["says"].startswith(start)
            one = {key: one[key] for key in wanted}
        assert {key: one.get(key) for key in one} == wanted


def test_every_measure_has_a_row_that_it_finds_and_every_id_is_of_the_contract() -> None:
    told = {one["id"] for row in ROWS for one in row["told"]}
    assert (
        told == {*MEASURED, "unkept-decision"} <= set(SEVERITIES)
    )  # a decision may be kept no more without a warehouse
    assert len(MEASURES) <= len(told)


def test_the_factor_of_each_metric_is_for_machines_too(workspace_of: Callable[..., Any], tmp_path: Path) -> None:
    files, sql = changed(next(row for row in ROWS if row["title"].startswith("a join that finds five")))
    (finding,) = measure(workspace_of(files), database(tmp_path, sql), DAY).findings
    factors = {"order_count": round(11 / 3, 4), "revenue": round(510 / 110, 4)}
    assert finding.detail == {"rows_per_key": 5, "factor": round(11 / 3, 4), "metrics": factors}


def test_the_factor_is_what_the_join_makes_of_the_number(workspace_of: Callable[..., Any], tmp_path: Path) -> None:
    """Held against the join itself, written out."""
    files, sql = changed(next(row for row in ROWS if row["title"].startswith("a join that finds five")))
    address = database(tmp_path, sql)
    (finding,) = measure(workspace_of(files), address, DAY).findings
    joined = """SELECT sum(o.amount) FILTER (o.status = 'placed') FROM shop.orders o
        LEFT JOIN shop.customers c ON o.customer_id = c.customer_id"""
    with duckdb.connect(address.removeprefix("duckdb://"), read_only=True) as connection:
        many = connection.execute(joined).fetchall()[0][0]
        once = connection.execute("SELECT sum(amount) FILTER (status = 'placed') FROM shop.orders").fetchall()[0][0]
    assert finding.detail["metrics"]["revenue"] == round(float(many / once), 4)


@pytest.mark.parametrize("asked", range(0, 24, 3))
def test_a_warehouse_that_goes_away_is_one_finding(
    asked: int, workspace_of: Callable[..., Any], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Its connection is closed under the measuring after so many statements."""
    left = asked
    run = DuckDBWarehouse.run

    def closing(self: DuckDBWarehouse, sql: str, limit: int, stop: Any = None) -> Rows:
        nonlocal left
        left -= 1
        if left < 0:
            self.close()
        return run(self, sql, limit, stop)

    monkeypatch.setattr(DuckDBWarehouse, "run", closing)
    found = measure(workspace_of(DOCUMENT["base"]), database(tmp_path, DOCUMENT["data"]), DAY).findings
    if left >= 0:
        assert found == ()
    else:
        assert [finding.id for finding in found] == ["unmeasured"]
        assert found[0].message.startswith("the warehouse does not answer, so the rest was not measured: ")
        assert found[0].at.path == "context/entities/customers.yaml"


def test_a_server_that_is_not_there_is_one_finding(workspace_of: Callable[..., Any]) -> None:
    pytest.importorskip("psycopg")
    found = measure(workspace_of(DOCUMENT["base"]), "postgresql://reader:secret@127.0.0.1:1/shop", DAY).findings
    assert [finding.id for finding in found] == ["unmeasured"]
    assert "secret" not in found[0].message


def test_a_repository_without_context_has_nothing_to_measure(workspace_of: Callable[..., Any], tmp_path: Path) -> None:
    workspace = workspace_of({"context/calendar.yaml": "week_start: monday\n"})
    assert measure(workspace, database(tmp_path, "SELECT 1"), DAY).findings == ()


def test_a_file_that_is_no_database_is_one_finding(workspace_of: Callable[..., Any], tmp_path: Path) -> None:
    (tmp_path / "rows.duckdb").write_text("no database at all, but long enough to be read as one" * 99)
    found = measure(workspace_of(DOCUMENT["base"]), f"duckdb://{tmp_path}/rows.duckdb", DAY).findings
    assert [finding.id for finding in found] == ["unmeasured"]


def test_an_address_that_nobody_serves_is_wrong_usage(workspace_of: Callable[..., Any]) -> None:
    with pytest.raises(UsageError, match="no warehouse serves the address"):
        measure(workspace_of(DOCUMENT["base"]), "oracle://db", DAY)


def test_nothing_is_written_into_the_warehouse(workspace_of: Callable[..., Any], tmp_path: Path) -> None:
    address = database(tmp_path, DOCUMENT["data"])
    before = (tmp_path / "rows.duckdb").read_bytes()
    measure(workspace_of(DOCUMENT["base"]), address, DAY, record=True)
    assert (tmp_path / "rows.duckdb").read_bytes() == before


def test_what_is_recorded_is_no_drift_afterwards(workspace_of: Callable[..., Any], tmp_path: Path) -> None:
    workspace = workspace_of(DOCUMENT["base"])
    address = database(tmp_path, DOCUMENT["data"])
    measure(workspace, address, DAY, record=True)
    assert (tmp_path / "context" / ".measured.json").is_file()
    assert measure(workspace, address, DAY).findings == ()
    with duckdb.connect(address.removeprefix("duckdb://")) as connection:
        connection.execute("ALTER TABLE shop.customers ADD COLUMN tier VARCHAR")
    (finding,) = measure(workspace, address, DAY).findings
    assert (finding.id, finding.at.line) == ("schema-drift", 2)
    assert finding.message.endswith("`tier` is new")
    assert measure(workspace, address, DAY, record=True).findings == measure(workspace, address, DAY).findings == ()


@pytest.mark.parametrize("text", ["", "[]", "{}", '{"entities": []}', '{"entities": {"a": 1}}', "[" * 100_000])
def test_a_record_that_is_none_is_wrong_usage(text: str, workspace_of: Callable[..., Any], tmp_path: Path) -> None:
    workspace = workspace_of({**DOCUMENT["base"], "context/.measured.json": text})
    with pytest.raises(UsageError, match=r"`context/\.measured\.json` is no record"):
        measure(workspace, database(tmp_path, DOCUMENT["data"]), DAY)


def test_postgresql_is_measured_by_the_same_port(
    workspace_of: Callable[..., Any], told: Callable[..., Any], postgresql: str
) -> None:
    """The five-fold join and what else stands in the rows, on a real server."""
    from sqlalchemy import create_engine

    admin = create_engine(f"{postgresql}postgres", isolation_level="AUTOCOMMIT")
    with admin.connect() as connection:
        connection.exec_driver_sql("CREATE DATABASE measured")
    row = next(row for row in ROWS if row["title"].startswith("a join that finds five"))
    files, sql = changed(row)
    engine = create_engine(f"{postgresql}measured")
    with engine.begin() as connection:
        for statement in sql.split(";"):
            if statement.strip():
                connection.exec_driver_sql(statement)
    engine.dispose()
    admin.dispose()
    workspace = workspace_of(files)
    found = measure(workspace, f"{postgresql}measured".replace("+psycopg", ""), DAY).findings
    assert told(workspace, found) == [
        {
            "id": "relationship-cardinality",
            "at": "context/entities/orders.yaml:17:24",
            "says": (
                "declared many_to_one; up to 5 rows per `customer_id`: "
                "`order_count` would be ×3.7, `revenue` would be ×4.6"
            ),
            "help": "declare many_to_many, or join a table with one row per `customer_id`",
        }
    ]


@each(
    ("span", "whole"),
    [
        ("1 day", 1),
        ("36 hours", 2),
        ("24 hours", 1),
        ("90 minutes", 1),
        ("2 weeks", 14),
        ("1 month", 31),
        ("soon", None),
    ],
)
def test_an_age_is_counted_in_whole_days(span: str, whole: int | None) -> None:
    assert days(span) == whole


@each(
    ("kind", "found"),
    [
        ("BIGINT", "a number"),
        ("decimal(10,2)", "a number"),
        ("double precision", "a number"),
        ("character varying", "text"),
        ("timestamp with time zone", "a date or moment"),
        ("DATE", "a date or moment"),
        ("boolean", "true or false"),
        ("GEOMETRY", None),
        ("", None),
    ],
)
def test_types_are_known_by_what_they_hold(kind: str, found: str | None) -> None:
    assert family(kind) == found


@each(("value", "text"), [(True, "true"), (1, "1"), ("a", "a"), (None, "None")])
def test_values_are_compared_as_text(value: Any, text: str) -> None:
    assert spelled(value) == text


def test_a_measuring_error_is_no_traceback(workspace_of: Callable[..., Any], tmp_path: Path) -> None:
    """A view whose table has gone: the column list is there, the rows are not."""
    sql = (
        DOCUMENT["data"]
        + "CREATE TABLE shop.old AS SELECT 1 AS a; CREATE VIEW shop.v AS FROM shop.old; DROP TABLE shop.old;"
    )
    files = {**DOCUMENT["base"], "context/entities/v.yaml": "name: v\nbase_table: {schema: shop, table: v}\n"}
    found = measure(workspace_of(files), database(tmp_path, sql), DAY).findings
    assert {finding.id for finding in found} <= {"unmeasured", "missing-table"}
    assert [finding.at.path for finding in found] == ["context/entities/v.yaml"]
    assert issubclass(WarehouseError, Exception)
