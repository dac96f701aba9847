"""The execution layer: what a statement may be, what its plan says, and cells of every kind that a driver may give."""

from __future__ import annotations

import json
from datetime import UTC, date, datetime, time, timedelta
from decimal import Decimal
from uuid import UUID

from bot.analytics.plan.execution import Execution, plan_of
from bot.analytics.plan.interfaces import AnalyticsRequest, AnalyticsResponse, ExecutionRequest
from bot.conversation import Acceptance, Factors, Question, RiskAssessment, sayable
from bylaw.sql.catalogue import Catalogue, TableInfo
from bylaw.warehouses.port import Estimate, Rows
from tests.fakes.frame import NOON, reply
from tests.rows import each

CATALOGUE = Catalogue({"shop.orders": TableInfo(frozenset({"status"}), frozenset())})
ASKED = ExecutionRequest(request_id="r", sql="SELECT status FROM shop.orders", schema_whitelist=("shop",))


class Shelf:
    """A warehouse that gives one column of cells."""

    dialect = "duckdb"

    def __init__(self, *cells):
        self.cells, self.limits = cells, []

    def explain(self, sql):
        return Estimate(rows=5, scan_bytes=2_500_000_000, runtime_ms=40, warnings=("w",))

    def run(self, sql, limit, stop=None):
        self.limits.append(limit)
        return Rows(("a",), tuple((cell,) for cell in self.cells), truncated=True)


def execution(warehouse, masked=lambda rows: rows):
    return Execution(CATALOGUE, warehouse, "duckdb", masked)


def cells(*given):
    made = execution(Shelf(*given))
    return [row[0] for row in made.executed(ASKED, made.planned(ASKED), 9).results.rows]


def test_a_statement_is_validated_planned_and_run():
    shelf = Shelf("x", "y")
    made = execution(shelf)
    planned = made.planned(ASKED)
    assert (planned.status, planned.validation.sql_type, planned.results) == ("success", "SELECT", None)
    assert planned.plan.model_dump() == {
        "estimated_scan_gb": 2.5, "estimated_runtime_ms": 40, "estimated_rows": 5, "warnings": ("w",),
    }  # fmt: skip
    done = made.executed(ASKED, planned, 7)
    assert (done.results.rows, done.results.row_count, done.results.truncated) == ((("x",), ("y",)), 2, True)
    assert shelf.limits == [7]


@each(
    ("request_", "why"),
    [
        (ASKED.model_copy(update={"sql": "DROP TABLE shop.orders"}), "write operations"),
        (ASKED.model_copy(update={"schema_whitelist": ()}), "do not grant"),
        (ASKED.model_copy(update={"sql": "SELECT 1; SELECT 2"}), "one statement"),
    ],
)
def test_what_the_gate_rejects_is_neither_planned_nor_run(request_, why):
    shelf = Shelf("x")
    made = execution(shelf)
    planned = made.planned(request_)
    assert (planned.status, planned.plan, planned.validation.is_allowed) == ("rejected", None, False)
    assert why in planned.rejection_reason
    assert made.executed(request_, planned, 9) == planned
    assert shelf.limits == []


def test_without_a_warehouse_nothing_is_planned_and_nothing_runs():
    made = execution(None)
    planned = made.planned(ASKED)
    assert (planned.status, planned.plan) == ("success", None)
    assert made.executed(ASKED, planned, 9).results is None


def test_rows_are_masked_before_anybody_sees_them():
    made = execution(Shelf("ada@example.org"), lambda rows: Rows(rows.columns, (("***",),)))
    assert made.executed(ASKED, made.planned(ASKED), 9).results.rows == (("***",),)


CELLS = [
    (b"\x00\xff", "00ff"),
    (memoryview(b"ab"), "6162"),
    (Decimal("12.50"), Decimal("12.50")),
    (Decimal("0.33333333333333333333"), 0.3333333333333333),
    (Decimal("NaN"), Decimal("NaN")),
    (float("inf"), float("inf")),
    (2**80, 2**80),
    (True, True),
    (date(2026, 1, 2), "2026-01-02"),
    (datetime(2026, 1, 2, 3, 4), "2026-01-02T03:04:00"),
    (datetime(2026, 1, 2, 3, 4, tzinfo=UTC), "2026-01-02T03:04:00+00:00"),
    (time(3, 4), "03:04:00"),
    (timedelta(days=1), "1 day, 0:00:00"),
    (UUID(int=7), "00000000-0000-0000-0000-000000000007"),
    ([1, 2], "[1, 2]"),
    ({"a": 1}, "{'a': 1}"),
    ("\x1b[31mred\x00", "\x1b[31mred\x00"),
    (None, None),
]


@each(("cell", "shown"), CELLS, ids=[type(cell).__name__ + str(i) for i, (cell, _) in enumerate(CELLS)])
def test_a_cell_is_what_json_can_say(cell, shown):
    (found,) = cells(cell)
    assert found == shown or (found != found and shown != shown)
    json.dumps(sayable(found), allow_nan=False)


def test_a_column_of_midnights_is_one_of_days():
    assert cells(datetime(2026, 1, 1), None, datetime(2026, 2, 1, tzinfo=UTC)) == ["2026-01-01", None, "2026-02-01"]
    assert cells(datetime(2026, 1, 1), datetime(2026, 1, 1, 5)) == ["2026-01-01T00:00:00", "2026-01-01T05:00:00"]


def test_an_estimate_that_says_nothing_is_a_plan_that_says_nothing():
    assert plan_of(Estimate()).model_dump(exclude_none=True) == {"warnings": ()}


def test_a_question_and_a_reply_in_the_words_of_the_interface():
    options = {"criticality": "high", "autonomy_override": 3, "audience": "team"}
    asked = AnalyticsRequest.of(Question(text="t", asked_at=NOON, request_id="r1", options=options))
    assert asked.preferences.options() == {"criticality": "high", "autonomy_override": 3}
    assert asked.query.natural_language == "t"
    factors = Factors(complexity=0, source_risk=0, novelty=0, ambiguity=0)
    risk = RiskAssessment(
        error_likelihood=Decimal("0.25"), expected_cost=0, factors=factors, decision="CONFIRM", rationale="x"
    )
    done = reply(columns=("a", "b"), rows=((1, 2),), risk=risk, acceptance=Acceptance(required=True, timeout_minutes=9))
    said = AnalyticsResponse.of(done)
    assert (said.status, said.result.confidence, said.acceptance.timeout_minutes) == ("pending_acceptance", 0.75, 9)
    assert said.result.data == ({"a": 1, "b": 2},)


@each(
    ("status", "said"),
    [
        ("answered", "completed"),
        ("needs_choice", "needs_disambiguation"),
        ("needs_fact", "needs_disambiguation"),
        ("pending", "pending_acceptance"),
        ("recommended", "pending_acceptance"),
        ("refused", "blocked"),
        ("escalated", "blocked"),
    ],
)
def test_each_status_has_its_word(status, said):
    assert AnalyticsResponse.of(reply(status=status)).status == said
