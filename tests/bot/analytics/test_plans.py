"""A plan that waits runs after a yes, as it was shown; after a no, too late or changed it does not."""

from __future__ import annotations

from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from decimal import Decimal
from pathlib import Path

import pytest
import yaml

from bot.analytics.answer import answer
from bot.analytics.plan import plans
from bot.conversation import Question
from bot.index import BundleIndex
from bylaw.warehouses.port import Estimate, Rows
from tests.rows import each

ROWS = yaml.safe_load(Path(__file__).with_name("plans.yaml").read_text(encoding="utf-8"))
NOW = datetime(2026, 11, 20, 9, 30, tzinfo=UTC)
LARGE = Estimate(rows=10, scan_bytes=101_000_000_000, runtime_ms=1)
ASKED = "net revenue by region last quarter"


@dataclass
class Warehouse:
    """One that says what a plan costs, and remembers what it ran."""

    estimate: Estimate = LARGE
    dialect: str = "duckdb"
    ran: list[str] = field(default_factory=list)

    def explain(self, sql):
        return self.estimate

    def run(self, sql, limit, stop=None):
        if "most" in sql:
            return Rows(("most",), ((1,),))  # no key comes twice
        if "newest" in sql:
            return Rows(("newest",), ((None,),))
        self.ran.append(sql)
        return Rows(("region", "net_revenue"), (("EU", Decimal(2)),))

    def columns(self, schema, table):
        return ()

    def close(self):
        pass


@dataclass
class Talk:
    """One person's conversation about data, turn by turn."""

    index: BundleIndex
    warehouse: Warehouse | None = field(default_factory=Warehouse)
    state: dict = field(default_factory=dict)
    settled: list = field(default_factory=list)
    is_first: bool = True
    count: int = 0
    turn: object = None

    def says(self, text, at=NOW, **options):
        self.count += 1
        asked = Question(text=text, asked_at=at, request_id=f"r-{self.count}", session_id="s", options=options)
        self.turn = answer(asked, self.state, self.index, self.warehouse, None, self._settle)
        self.state = self.turn.state
        return self.turn.reply

    def _settle(self, request_id, question, outcome):
        self.settled.append((request_id, outcome))
        return self.is_first


@pytest.fixture
def talk(index):
    return Talk(index)


@each("row", ROWS["words"], ids=lambda row: row["says"] or "nothing")
def test_a_text_is_a_yes_a_no_or_more_than_that(row):
    assert plans.heard(row["says"]) == row["word"]
    if row["word"] is None:
        assert plans.beyond(row["says"]) == row.get("beyond", row["says"])


def test_a_yes_runs_the_plan_that_was_shown(talk):
    shown = talk.says(ASKED)
    assert (shown.status, talk.warehouse.ran) == ("pending", [])
    assert [choice.value for choice in shown.choices] == ["yes", "no"]
    assert "Shall I run it?" in shown.text
    reply = talk.says("yes", at=NOW + timedelta(hours=1))
    assert (reply.status, reply.choices, reply.rows) == ("answered", (), (("EU", Decimal(2)),))
    assert talk.warehouse.ran == [shown.sql] == [reply.sql]
    assert talk.settled == [("r-1", "confirmed")]
    assert talk.turn.artifacts["plan"]["confirms"] == "r-1"
    assert (reply.bindings, reply.interval) == (shown.bindings, shown.interval)


def test_who_says_just_do_it_of_a_plan_that_waits_says_yes(talk):
    talk.says(ASKED)
    assert talk.says("just do it, but for EU").status != "answered" and not talk.warehouse.ran
    talk.says(ASKED)
    reply = talk.says("Just do it!")
    assert (reply.status, len(talk.warehouse.ran)) == ("answered", 1)


def test_a_second_yes_runs_nothing(talk):
    talk.says(ASKED)
    talk.says("yes")
    reply = talk.says("yes")
    assert (reply.status, reply.text) == ("refused", plans.GONE)
    assert len(talk.warehouse.ran) == 1


def test_a_yes_that_comes_behind_another_runs_nothing(talk):
    talk.says(ASKED)
    talk.is_first = False
    assert (talk.says("yes").text, talk.turn.is_aside) == (plans.SECOND, True)
    assert talk.warehouse.ran == []


def test_a_no_drops_the_plan_and_keeps_the_question(talk):
    talk.says(ASKED)
    assert talk.says("no thanks").text == plans.DROPPED
    assert talk.settled == [("r-1", "declined")]
    assert talk.says("yes").text == plans.GONE
    assert talk.warehouse.ran == []
    assert talk.says("only EU").text.startswith("Net revenue by region, region EU, Q3 2026")


def test_what_is_a_yes_and_a_no_runs_nothing_and_asks_again(talk):
    talk.says(ASKED)
    reply = talk.says("no, go ahead")
    assert (reply.status, talk.warehouse.ran) == ("pending", [])
    assert talk.says("go ahead").status == "answered"


@pytest.mark.parametrize("text", ["only 2025", "yes, but only 2025", "no, only 2025"])
def test_a_change_is_a_plan_of_its_own(talk, text):
    talk.says(ASKED)
    changed = talk.says(text)
    assert (changed.status, changed.interval.label) == ("pending", "2025")
    assert talk.warehouse.ran == []
    assert talk.says("yes").interval.label == "2025"
    assert talk.settled == [("r-2", "confirmed")]


def test_a_question_that_is_not_understood_leaves_the_plan_waiting(talk):
    talk.says(ASKED)
    assert talk.says("by flurb").status == "needs_choice"
    assert talk.says("yes").status == "answered"


def test_another_question_takes_the_place_of_the_plan(talk):
    talk.says(ASKED)
    talk.says("how many orders last month")
    talk.says("yes")
    assert talk.settled == [("r-2", "confirmed")]


def test_nothing_waits_for_the_yes_to_an_answer(index):
    talk = Talk(index, Warehouse(Estimate()))
    assert talk.says(ASKED).status == "answered"
    assert talk.says("yes").text == plans.GONE


@pytest.mark.parametrize(("level", "hours"), [(3, 72), (2, 168)])
def test_a_plan_expires_with_its_level(talk, level, hours):
    talk.says(ASKED, autonomy_override=level)
    reply = talk.says("yes", at=NOW + timedelta(hours=hours))
    assert reply.status == "refused"
    assert "2026-11-20 09:30 waited too long" in reply.text
    assert (talk.settled, talk.warehouse.ran) == ([("r-1", "expired")], [])
    talk.says(ASKED, autonomy_override=level)
    assert talk.says("yes", at=NOW + timedelta(hours=hours, seconds=-1)).status == "answered"


def test_a_recommended_statement_is_run_by_whoever_says_so(index):
    talk = Talk(index, Warehouse(Estimate()))
    shown = talk.says(ASKED, autonomy_override=2)
    assert (shown.status, [choice.label for choice in shown.choices]) == ("recommended", ["Run it", "Do not run it"])
    reply = talk.says("run it")
    assert (reply.status, reply.level) == ("answered", 2)


def test_what_a_person_has_to_answer_offers_nothing_to_run(talk):
    reply = talk.says(ASKED, autonomy_override=1)
    assert (reply.status, reply.choices) == ("escalated", ())
    assert talk.says("yes").text == plans.GONE


def test_without_a_warehouse_there_is_nothing_to_run(index):
    talk = Talk(index, None)
    assert talk.says(ASKED).choices == ()
    assert talk.says("yes").text == plans.GONE


def test_who_wants_to_be_asked_first_is_asked_first(index):
    talk = Talk(index, Warehouse(Estimate()))
    reply = talk.says(f"{ASKED}, confirm first")
    assert (reply.status, talk.warehouse.ran) == ("pending", [])
    assert reply.text.endswith(f"You want to be asked first. Shall I run it? {plans.HOW}")
    assert talk.says("yes").status == "answered"


def other_bundle(index, **metric):
    """The same bundle with net revenue defined anew."""
    context = index.bundle.context
    changed = context.metrics["net_revenue"].model_copy(update=metric)
    known = context.model_copy(update={"metrics": {**context.metrics, "net_revenue": changed}})
    named = index.bundle.bundle_metadata.model_copy(update={"etag": "sha256:newer"})
    return BundleIndex(index.bundle.model_copy(update={"context": known, "bundle_metadata": named}))


def test_a_newer_bundle_with_the_same_statement_is_said(talk, index):
    talk.says(ASKED)
    talk.index = other_bundle(index, description="the same, in other words")
    reply = talk.says("yes")
    assert reply.status == "answered"
    assert plans.SAME in reply.caveats


@pytest.mark.parametrize("estimate", [LARGE, Estimate()], ids=["large", "small"])
def test_a_newer_bundle_with_another_statement_is_shown_before_it_runs(index, estimate):
    talk = Talk(index)
    shown = talk.says(ASKED)
    metric = index.bundle.context.metrics["net_revenue"]
    talk.index = other_bundle(index, filter=f"({metric.filter or 'true'}) and 1 = 1")
    talk.warehouse.estimate = estimate
    again = talk.says("yes")
    assert again.status in ("pending", "recommended")
    assert again.text.startswith(plans.CHANGED)
    assert again.sql != shown.sql
    assert (talk.warehouse.ran, talk.settled) == ([], [])
    assert talk.says("yes").status == "answered"
    assert talk.warehouse.ran == [again.sql]


def test_a_plan_whose_metric_is_gone_is_refused(talk, index):
    talk.says(ASKED)
    known = index.bundle.context.model_copy(update={"metrics": {}})
    talk.index = BundleIndex(index.bundle.model_copy(update={"context": known}))
    assert talk.says("yes").status == "refused"
    assert talk.warehouse.ran == []


@pytest.mark.parametrize("waiting", [7, {}, {"query": {"flurb": 1}}, [], {"sql": "DROP TABLE orders"}])
def test_a_plan_that_cannot_be_read_counts_as_none(talk, waiting):
    talk.says(ASKED)
    talk.state = {**talk.state, "waiting": waiting}
    assert talk.says("yes").text == plans.GONE


def test_the_statement_is_compiled_anew_and_never_taken_from_the_conversation(talk):
    talk.says(ASKED)
    talk.state = {**talk.state, "waiting": {**talk.state["waiting"], "sql": "SELECT 1"}}
    assert talk.says("yes").status == "pending"
    assert talk.warehouse.ran == []
