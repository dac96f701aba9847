"""What every warehouse promises, held against each that can be had here: DuckDB, a real PostgreSQL, SQLite."""

from __future__ import annotations

import os
import re
import signal
import threading
import time

import pytest
from sqlalchemy import create_engine, text

from bylaw.warehouses.dialects import OURS
from bylaw.warehouses.duckdb import DuckDBWarehouse
from bylaw.warehouses.port import WarehouseError
from bylaw.warehouses.registry import WAREHOUSES, open_warehouse
from bylaw.warehouses.sql import BACKENDS, SQLWarehouse
from tests.bylaw.warehouses.conftest import COUNT


def fails(warehouse, sql, stop):
    with pytest.raises(WarehouseError):
        warehouse.run(sql, 1, stop)


def test_rows_come_in_order_with_their_columns(place, opened):
    rows = opened.run(f"SELECT order_id, note FROM {place.schema}.orders ORDER BY order_id", 3)
    assert rows.columns == ("order_id", "note")
    assert rows.rows == ((1, "n1"), (2, "n2"), (3, "n3"))
    assert rows.truncated


@pytest.mark.parametrize(("limit", "is_cut"), [(COUNT - 1, True), (COUNT, False), (COUNT + 1, False)])
def test_a_result_is_cut_exactly_where_there_is_more(place, opened, limit, is_cut):
    rows = opened.run(f"SELECT order_id FROM {place.schema}.orders", limit)
    assert (len(rows.rows), rows.truncated) == (min(limit, COUNT), is_cut)


def test_a_percent_sign_is_a_percent_sign(opened):
    assert opened.run("SELECT '100 %s %d %', 7 % 4", 1).rows == (("100 %s %d %", 3),)


def test_the_columns_of_a_table_are_named_in_order(place, opened):
    assert opened.columns(place.schema, "orders") == ("order_id", "status", "amount", "note")
    assert opened.columns(place.schema, "salaries") == ()


@pytest.mark.parametrize(
    "sql",
    [
        "INSERT INTO {0}.orders (order_id) VALUES (0)",
        "UPDATE {0}.orders SET status = 0",
        "DELETE FROM {0}.orders",
        "DROP TABLE {0}.orders",
        "CREATE TABLE {0}.t AS SELECT 1 AS a",
        "ALTER TABLE {0}.orders ADD COLUMN b INT",
    ],
)
def test_nothing_is_ever_written_even_without_a_gate(place, opened, sql):
    with pytest.raises(WarehouseError):
        opened.run(sql.format(place.schema), 1)
    assert opened.run(f"SELECT count(*), sum(status) > 0 FROM {place.schema}.orders", 1).rows[0][0] == COUNT


def test_one_statement_at_a_time(place, opened):
    with pytest.raises(WarehouseError):
        opened.run(f"SELECT 1; DROP TABLE {place.schema}.orders", 1)
    assert opened.columns(place.schema, "orders")


def test_what_takes_too_long_is_stopped_and_the_next_one_runs(place):
    quick = place.open(seconds=1)
    started = time.monotonic()
    with pytest.raises(WarehouseError, match="stopped after 1 seconds"):
        quick.run(place.endless, 1)
    assert time.monotonic() - started < 10
    assert quick.run("SELECT 1", 1).rows == ((1,),)
    quick.close()


def test_another_thread_stops_it(place, opened):
    stop = threading.Event()
    threading.Timer(0.2, stop.set).start()
    with pytest.raises(WarehouseError, match="nobody waits"):
        opened.run(place.endless, 1, stop)
    with pytest.raises(WarehouseError, match="nobody waits"):
        opened.run("SELECT 1", 1, stop)  # it never begins
    assert opened.run("SELECT 1", 1, threading.Event()).rows == ((1,),)


def test_closing_stops_what_runs_and_nothing_may_be_asked_afterwards(place):
    closing = place.open()
    threading.Timer(0.3, closing.close).start()
    with pytest.raises(WarehouseError):
        closing.run(place.endless, 1)
    with pytest.raises(WarehouseError, match="closed"):
        closing.run("SELECT 1", 1)
    closing.close()


def test_an_error_is_said_in_one_line_without_the_words_of_the_driver(place, opened):
    with pytest.raises(WarehouseError) as caught:
        opened.run(f"SELECT colour FROM {place.schema}.orders", 1)
    assert "colour" not in caught.value.message
    assert "colour" in str(caught.value.detail)
    assert "\n" not in caught.value.message


def test_many_ask_at_once_and_each_gets_its_own(place, opened):
    wrong: list[object] = []

    def ask(number: int) -> None:
        for _ in range(10):
            found = opened.run(f"SELECT {number}, count(*) FROM {place.schema}.orders WHERE status = {number}", 1)
            expected = sum(1 for i in range(1, COUNT + 1) if i % 7 == number)
            if found.rows != ((number, expected),):
                wrong.append(found)

    threads = [threading.Thread(target=ask, args=(number,)) for number in range(7)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert wrong == []


def test_one_that_is_stopped_leaves_its_neighbours_alone(place, opened):
    stop = threading.Event()
    slow = threading.Thread(target=fails, args=(opened, place.endless, stop))
    slow.start()
    found = [opened.run(f"SELECT count(*) FROM {place.schema}.orders", 1).rows[0][0] for _ in range(5)]
    stop.set()
    slow.join()
    assert found == [COUNT] * 5


def test_large_cells_end_the_result_before_the_memory_does(place):
    cell = "printf('%10000s', 'x')" if place.kind == "sqlite" else "repeat('x', 10000)"
    kind = DuckDBWarehouse if place.kind == "duckdb" else SQLWarehouse
    small = kind.open(place.url, result_bytes=50_000)
    rows = small.run(f"SELECT {cell} FROM {place.schema}.orders", 1_000)
    assert (len(rows.rows), rows.truncated) == (4, True)
    with pytest.raises(WarehouseError, match="one row"):
        kind.open(place.url, result_bytes=1_000).run(f"SELECT {cell} FROM {place.schema}.orders", 1_000)
    small.close()


def test_a_plan_gives_orders_of_magnitude_and_runs_nothing(place, opened):
    plan = opened.explain(f"SELECT status, count(*) FROM {place.schema}.orders GROUP BY status")
    if place.kind == "sqlite":
        assert plan.rows is None
        return
    assert 1 <= plan.rows <= COUNT
    assert 100_000 < plan.scan_bytes < 10_000_000
    assert plan.warnings == ()
    started = time.monotonic()
    large = opened.explain(place.endless)
    assert time.monotonic() - started < 5
    assert large.runtime_ms > 600_000
    assert "every other" in large.warnings[0]


def test_a_statement_that_cannot_be_planned_is_an_error(place, opened):
    if place.kind == "sqlite":
        pytest.skip("no plans are read there")
    with pytest.raises(WarehouseError):
        opened.explain(f"SELECT colour FROM {place.schema}.orders")


def test_a_stopped_request_leaves_nothing_running_on_the_server(place):
    if place.kind != "postgresql":
        pytest.skip("the others run in this process")
    admin = create_engine(place.url)

    def active(of: str = "%") -> int:
        asked = (
            "SELECT count(*) FROM pg_stat_activity"
            " WHERE state = 'active' AND application_name = 'bylaw' AND query ILIKE :of"
        )
        with admin.connect() as connection:
            return int(connection.execute(text(asked), {"of": of}).scalar_one())

    warehouse, stop = place.open(), threading.Event()
    asked = threading.Thread(target=fails, args=(warehouse, place.endless, stop))
    asked.start()
    deadline = time.monotonic() + 10
    while not active("FETCH%") and time.monotonic() < deadline:  # what comes before is over at once
        time.sleep(0.02)
    assert active() == 1
    stop.set()
    asked.join()
    assert active() == 0
    warehouse.close()
    admin.dispose()


def test_every_row_of_the_table_has_its_class_and_every_server_its_dialect():
    assert {name for name, target in WAREHOUSES.items() if target.endswith(":SQLWarehouse")} == set(BACKENDS)
    assert WAREHOUSES["duckdb"].endswith(":DuckDBWarehouse")
    assert DuckDBWarehouse.dialect == OURS


def test_each_warehouse_says_its_dialect(place, opened):
    assert opened.dialect == {"duckdb": "duckdb", "postgresql": "postgres", "sqlite": "sqlite"}[place.kind]


@pytest.mark.parametrize("said", ["s3cr%40t", "p%2Bq", "plain"])
def test_a_password_is_in_no_error(said, caplog):
    url = f"postgresql://reader:{said}@127.0.0.1:1/shop"
    pytest.importorskip("psycopg")
    with caplog.at_level("DEBUG"), pytest.raises(WarehouseError) as caught:
        open_warehouse(url)
    told = f"{caught.value!r}{caught.value.message}{caught.value.__cause__!r}{caplog.text}"
    for secret in (said, "s3cr@t", "p+q"):
        assert secret not in told
    assert "cannot be reached" in caught.value.message
    assert caught.value.__suppress_context__


def test_the_operator_finds_the_words_of_the_driver_under_the_reference(place, opened, caplog):
    caplog.set_level("INFO", "bylaw.warehouse")
    with pytest.raises(WarehouseError) as caught:
        opened.run(f"SELECT colour FROM {place.schema}.orders", 1)
    (reference,) = re.findall(r"reference ([0-9a-f]{8})", caught.value.message)
    (line,) = [record.getMessage() for record in caplog.records if reference in record.getMessage()]
    assert "colour" in line


def test_nobody_waits_for_a_server_that_does_not_hear(place):
    """A server inside one long function takes no order to end: here its process is halted, and hears nothing at all."""
    if place.kind != "postgresql":
        pytest.skip("the others run on this machine, in a process of ours")
    warehouse, stop = place.open(), threading.Event()
    admin = create_engine(place.url, isolation_level="AUTOCOMMIT")
    waiting = threading.Thread(target=fails, args=(warehouse, place.endless, stop))
    with admin.connect() as connection:
        waiting.start()
        # in the statement itself: whoever still opens its connection is not stopped by anybody
        asked = (
            "SELECT pid FROM pg_stat_activity WHERE state = 'active' AND application_name = 'bylaw'"
            " AND starts_with(query, 'FETCH')"
        )
        deadline, pid = time.monotonic() + 10, None
        while pid is None and time.monotonic() < deadline:
            pid = connection.exec_driver_sql(asked).scalar()
        assert pid is not None
        os.kill(pid, signal.SIGSTOP)
        try:
            stop.set()
            waiting.join(10)
            assert not waiting.is_alive()
        finally:
            os.kill(pid, signal.SIGCONT)
    assert warehouse.run("SELECT 1", 1).rows == ((1,),)
    warehouse.close()
    admin.dispose()
