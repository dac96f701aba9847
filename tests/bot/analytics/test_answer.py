"""Whole data questions over the demo warehouse: what is said, shown, asked back and refused."""

from __future__ import annotations

import json
from datetime import date
from decimal import Decimal
from pathlib import Path

import pytest
import yaml

from bot.analytics.answer import WRITES_REFUSED
from bot.analytics.prepared import continues, score, topics
from bot.conversation import spoken, spoken_json
from bot.index import BundleIndex
from bylaw.warehouses.port import Estimate, Rows, WarehouseError
from tests.rows import each

ROWS = yaml.safe_load(Path(__file__).with_name("answer.yaml").read_text(encoding="utf-8"))


@each("row", ROWS["answers"], ids=lambda row: row["text"])
def test_a_question_gets_this_answer(row, ask):
    reply = spoken(ask(row["text"], schemas=frozenset(row.get("schemas", ["shop", "finance"]))).reply)
    assert (reply.kind, reply.status) == (row.get("kind", "data"), row["status"])
    assert reply.text == row["says"]
    assert reply.level == row.get("level")
    assert [list(line) for line in reply.rows] == row.get("rows", [])
    assert list(reply.caveats) == row.get("caveats", [])


@each("row", ROWS["answers"], ids=lambda row: row["text"])
def test_an_answer_is_one_json_document_with_its_sources(row, ask):
    reply = ask(row["text"], schemas=frozenset(row.get("schemas", ["shop", "finance"]))).reply
    document = json.loads(spoken_json(spoken(reply)))
    assert document["request_id"] == "r-1"
    assert document["bundle_etag"] == "sha256:test"
    if reply.status == "answered":
        assert reply.sql and reply.columns and reply.bindings
        assert all(citation.path and citation.commit == "abc1234" for citation in reply.citations)
        assert reply.citations[0].id.startswith("metrics/")


def test_a_conversation_carries_its_query(ask):
    state = {}
    said = []
    for text in ["refund rate by product category this year", "by region", "and last quarter?", "only EU"]:
        turn = ask(text, state)
        state = turn.state
        said.append(turn.reply.text.partition(":")[0])
    assert said == [
        "Refund rate by category, 2026",
        "Refund rate by region, 2026",
        "Refund rate by region, Q3 2026",
        "Refund rate by region, region EU, Q3 2026",
    ]


def test_words_that_change_nothing_are_told_so(ask):
    first = ask("net revenue by region")
    again = ask("what about it?", first.state).reply
    assert again.rows == first.reply.rows
    assert (
        again.caveats[0] == "Nothing in “what about it?” was read as a change: this answers the question before again."
    )


@pytest.mark.parametrize("text", ["revenue by flurb", "delete all orders", "revenue"])
def test_a_question_without_an_answer_leaves_the_conversation_as_it_was(ask, text):
    state = ask("net revenue by region").state
    after = ask(text, state).state
    assert {name: value for name, value in after.items() if name != "readings"} == state


def test_a_choice_told_alone_fills_the_question_that_was_asked(ask):
    asked = ask("revenue by region last month")
    assert asked.reply.status == "needs_choice"
    filled = ask("Net revenue.", asked.state)
    whole = ask("net revenue by region last month")
    assert (filled.reply.rows, filled.reply.interval) == (whole.reply.rows, whole.reply.interval)
    assert filled.state["settled"] == {"revenue": "net revenue"}


def test_what_was_chosen_once_is_not_asked_again(ask):
    chosen = ask("Net revenue.", ask("revenue by region last month").state)
    again = ask("revenue by month in 2025", chosen.state)
    assert again.reply.status == "answered"
    assert "`revenue` is read as net revenue, as you chose before." in again.reply.caveats
    assert again.reply.rows == ask("net revenue by month in 2025").reply.rows
    assert ask("revenue by month in 2025").reply.status == "needs_choice"  # to nobody else


@pytest.mark.parametrize(
    ("text", "whole"),
    [
        ("the same by region", "net revenue by region in Q2 2025"),
        ("same as before", "net revenue in Q2 2025"),
        ("but for Q3 2025", "net revenue in Q3 2025"),
        ("same as before but for Q3 2025", "net revenue in Q3 2025"),
    ],
)
def test_a_turn_goes_on_from_the_one_before(ask, text, whole):
    before = ask("net revenue in Q2 2025")
    after = ask(text, before.state)
    assert (after.reply.status, after.reply.rows) == ("answered", ask(whole).reply.rows)


@pytest.mark.parametrize(
    ("first", "then", "whole"),
    [
        ("net revenue in Q1 2025", "but for Q2 2025", "net revenue in Q2 2025"),
        ("net revenue in Q2 2025", "the same by region", "net revenue in Q2 2025 by region"),
        ("net revenue by region in Q2 2025", "same as before", "net revenue by region in Q2 2025"),
    ],
)
def test_the_risk_is_of_what_is_asked_not_of_how_or_in_how_many_turns(ask, first, then, whole):
    after, at_once = ask(then, ask(first).state).reply, ask(whole).reply
    assert (after.level, after.risk.factors) == (at_once.level, at_once.risk.factors)


@pytest.mark.parametrize(
    ("text", "options", "stated"),
    [
        ("net revenue in Q2 2025", {}, None),
        ("net revenue in Q2 2025 for the board meeting", {}, "high"),
        ("urgent: net revenue in Q2 2025", {}, None),  # says when, not how much depends on it
        ("net revenue in Q2 2025 for the board meeting", {"criticality": "low"}, "low"),
    ],
)
def test_how_much_depends_on_an_answer_is_logged_where_it_was_said(ask, text, options, stated):
    assert ask(text, options=options).log["stated_criticality"] == stated


def test_what_nobody_measures_is_no_part_of_what_is_shown(ask):
    risk = ask("net revenue in Q2 2025").reply.risk
    assert risk.source_signals[:2] == ("documentation_completeness", "test_coverage")
    assert "owner_responsiveness" not in risk.source_signals


@pytest.mark.parametrize(
    ("text", "goes_on"),
    [
        ("the same by region", True),
        ("same as before", True),
        ("but for Q3 2025", True),
        ("and gross revenue?", True),
        ("net revenue by region", False),  # a question of its own
        ("thanks Bob, see you at lunch", False),
        ("same here", False),
    ],
)
def test_in_a_thread_only_what_needs_the_question_before_goes_on(ask, index, text, goes_on):
    state = ask("net revenue in Q2 2025").state
    assert continues(text, state, index) is goes_on
    assert not continues(text, {}, index)


@pytest.mark.parametrize("state", [{"query": {"metrics": 7}}, {"query": None}, {"other": 1}, {"query": {"flurb": 1}}])
def test_a_state_that_cannot_be_read_counts_as_none(ask, state):
    assert ask("by region", state).reply.form is not None
    assert ask("net revenue", state).reply.status == "answered"


def test_a_choice_sends_back_a_question_that_works(ask):
    reply = ask("revenue by region last quarter").reply
    assert reply.status == "needs_choice"
    for choice in reply.choices:
        assert ask(choice.value).reply.status == "answered"


def test_the_answer_shows_its_interval(ask):
    interval = ask("net revenue last quarter").reply.interval
    assert (interval.start, interval.end, interval.label) == ("2026-07-01", "2026-10-01", "Q3 2026")
    assert ask("net revenue").reply.interval is None


def test_the_query_log_knows_what_was_read_and_how_risky_it_was(ask):
    log = ask("net revenue by region last quarter", options={"criticality": "high"}).log
    assert log["matched_entities"] == ["customers", "order_items", "orders"]
    assert log["domain"] == "sales"
    assert 0 < log["error_likelihood"] < 0.3
    assert log["expected_cost"] == 0.6
    assert set(log["factors"]) == {"complexity", "source_risk", "novelty", "ambiguity"}
    assert log["stated_criticality"] == "high"


def test_without_a_warehouse_the_statement_is_recommended(ask):
    reply = ask("net revenue by region", connected=False).reply
    assert reply.status == "recommended"
    assert reply.sql.startswith("SELECT")
    assert reply.rows == ()


def test_a_person_may_ask_for_more_care(ask):
    assert ask("net revenue by region last quarter").reply.level == 5
    careful = ask("net revenue by region last quarter", options={"preferences": ["confirm_this"]}).reply
    assert (careful.level, careful.status) == (3, "pending")


def test_a_stated_high_stake_lowers_the_level(ask):
    assert ask("orders by month this year").reply.level == 5
    assert ask("orders by month this year", options={"criticality": "high"}).reply.level == 4
    assert ask("orders by month this year for the board meeting", options={"audience": "public"}).reply.level == 4


class Pretender:
    """A warehouse that answers as it is told: the failures of a real one cannot be had on demand."""

    dialect = "duckdb"

    def __init__(self, estimate=None, rows=None, error=None, newest=None, columns=()):
        self.estimate, self.rows, self.error, self.ran = estimate or Estimate(), rows, error, []
        self.newest, self.there = newest, columns

    def explain(self, sql):
        return self.estimate

    def run(self, sql, limit, stop=None):
        if "most" in sql:
            return Rows(("most",), ((1,),))  # no key comes twice
        if "newest" in sql:
            return Rows(("newest",), ((self.newest,),))
        self.ran.append(sql)
        if self.error:
            raise self.error
        return self.rows

    def columns(self, schema, table):
        return self.there

    def close(self):
        pass


@pytest.fixture
def ask_of(index):
    from datetime import UTC, datetime

    from bot.analytics.answer import answer
    from bot.conversation import Question

    def _ask(text, warehouse):
        question = Question(text=text, asked_at=datetime(2026, 11, 20, tzinfo=UTC), request_id="r", session_id="s")
        return answer(question, {}, index, warehouse, None).reply

    return _ask


def test_a_plan_above_the_limits_halts_and_asks(ask_of):
    large = Pretender(Estimate(rows=10, scan_bytes=101_000_000_000, runtime_ms=1))
    reply = ask_of("net revenue by region", large)
    assert (reply.status, reply.level) == ("pending", 3)
    assert "resource limits" in reply.text
    assert large.ran == []


def test_a_plan_that_runs_too_long_halts_and_asks(ask_of):
    slow = Pretender(Estimate(rows=10, scan_bytes=1, runtime_ms=11 * 60_000))
    assert ask_of("net revenue by region", slow).status == "pending"
    assert slow.ran == []


def test_many_rows_are_a_warning_and_no_halt(ask_of):
    wide = Pretender(Estimate(rows=200_000_000), Rows(("net_revenue",), ((Decimal(1),),)))
    reply = ask_of("net revenue", wide)
    assert reply.status == "answered"
    assert any("200000000 rows" in caveat for caveat in reply.caveats)


def test_a_warehouse_that_fails_is_said_with_the_statement(ask_of):
    reply = ask_of("net revenue", Pretender(error=WarehouseError("the statement was stopped after 30 seconds")))
    assert reply.status == "refused"
    assert reply.text == "The statement was stopped after 30 seconds."
    assert reply.sql is not None


def test_personal_data_in_a_cell_is_masked(ask_of):
    rows = Rows(("region", "net_revenue"), (("ada@example.org", Decimal("1.50")), ("EU", Decimal(2))))
    reply = ask_of("net revenue by region", Pretender(rows=rows))
    assert "ada@example.org" not in spoken_json(spoken(reply))
    assert reply.rows[0][0] == "***"
    assert reply.rows[1] == ("EU", Decimal(2))


def test_a_result_that_was_cut_says_so(ask_of):
    rows = Rows(("region", "net_revenue"), (("EU", Decimal(2)),), truncated=True)
    assert "Only the first 1 rows are shown." in ask_of("net revenue by region", Pretender(rows=rows)).caveats


def test_rows_of_no_value_are_no_zero(ask_of):
    reply = ask_of("net revenue", Pretender(rows=Rows(("net_revenue",), ((None,),))))
    assert reply.text == "Net revenue, all time: there are no such rows."


def test_dates_in_rows_are_iso_text(ask_of):
    reply = ask_of("net revenue by month", Pretender(rows=Rows(("month", "net_revenue"), ((date(2026, 1, 1), 3),))))
    assert reply.rows == (("2026-01-01", 3),)


@each(
    ("text", "low", "high"),
    [
        ("net revenue by region last quarter", 0.9, 1.0),
        ("how many orders last month", 0.4, 1.0),
        ("revenue by flurb", 0.25, 0.9),
        ("delete all orders", 1.0, 1.0),
        ("can I return a laptop without a receipt", 0.0, 0.0),
        ("I bought a TV 20 days ago and lost the receipt", 0.0, 0.0),
        ("why did we leave plasma?", 0.0, 0.0),
        ("I want a refund for my TV", 0.0, 0.24),
        ("what can you do", 0.0, 0.0),
        ("", 0.0, 0.0),
    ],
)
def test_a_text_is_recognised_by_how_much_of_it_speaks_of_data(index, text, low, high):
    assert low <= score(text, index) <= high


def test_the_topics_are_questions_that_work(index, ask):
    offered = topics(index)
    assert len(offered) == 3
    for text in offered:
        assert ask(text).reply.status == "answered"


def test_two_bundles_do_not_share_their_words(index, ask):
    other = index.bundle.model_copy(update={"context": index.bundle.context.model_copy(update={"metrics": {}})})
    assert score("net revenue by region", BundleIndex(other)) < 0.5  # of these words it knows the group alone
    assert score("net revenue by region", index) > 0.9


def test_the_refusal_of_writes_is_the_seeds_hard_gate():
    assert "not supported" in WRITES_REFUSED


def test_an_answer_says_how_likely_it_is_wrong_and_why_it_has_its_level(ask):
    reply = ask("net revenue by region last quarter", options={"criticality": "high"}).reply
    risk = reply.risk
    assert risk.decision == "NOTIFY"
    assert risk.stakes["criticality"] == "high"
    assert sum(dict(risk.factors).values()) / 4 == pytest.approx(risk.error_likelihood, abs=Decimal("0.0001"))
    assert "give level 4" in risk.rationale
    assert (reply.acceptance.required, reply.acceptance.timeout_minutes) == (False, 48 * 60)


def test_a_level_that_a_request_asks_for_only_lowers(ask):
    asked = "net revenue by region last quarter"
    assert [ask(asked, options={"autonomy_override": level}).reply.level for level in (1, 2, 3, 5)] == [1, 2, 3, 5]
    assert ask(asked, options={"autonomy_override": 9}).reply.level == 5
    assert ask(asked, options={"autonomy_override": 5, "criticality": "high"}).reply.level == 4
    recommended = ask(asked, options={"autonomy_override": 2}).reply
    assert (recommended.status, recommended.rows, recommended.risk.caps) == ("recommended", (), ("asked for: level 2",))


def test_data_that_ends_too_early_is_said_and_makes_the_answer_riskier(ask_of):
    from datetime import datetime

    rows = Rows(("net_revenue",), ((Decimal(1),),))
    fresh = ask_of("net revenue", Pretender(rows=rows, newest=datetime(2026, 11, 19)))
    stale = ask_of("net revenue", Pretender(rows=rows, newest=datetime(2026, 11, 7)))
    assert not any("ends" in caveat for caveat in fresh.caveats)
    assert any(caveat.endswith("ends 7 November.") for caveat in stale.caveats)
    assert stale.data_until.startswith("2026-11-07")
    assert stale.risk.error_likelihood > fresh.risk.error_likelihood


def test_a_series_has_a_chart_and_a_number_has_none(ask):
    assert ask("net revenue by month since 2026-08-01").reply.chart.kind == "line"
    assert ask("net revenue by region last quarter").reply.chart.kind == "bars"
    assert ask("net revenue last quarter").reply.chart is None
