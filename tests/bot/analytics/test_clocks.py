"""Today is the organisation's: asked at half past eleven in the evening, UTC, when Amsterdam has tomorrow already."""

from __future__ import annotations

from datetime import UTC, datetime

import pytest

from bot.analytics.answer import answer
from bot.analytics.plan import freshness
from bot.conversation import Question
from bot.index import BundleIndex
from bylaw.authored.calendar import Calendar
from bylaw.authored.context import Entity
from tests.bot.analytics.test_freshness import Shelf
from tests.fakes.bundle import bundle_of

LATE = datetime(2026, 3, 28, 23, 30, tzinfo=UTC)  # in the night in which Amsterdam loses an hour
AMSTERDAM = Calendar(time_zone="Europe/Amsterdam")


@pytest.fixture(scope="module")
def asked(workspace, warehouse):
    def _asked(text, calendar, at=LATE):
        entities = dict(workspace.context.entities)
        raw = entities["orders"].model_dump(by_alias=True)
        raw["time_dimensions"] = [{**part, "time_zone": "UTC"} for part in raw["time_dimensions"]]
        entities["orders"] = Entity.model_validate(raw)
        context = workspace.context.model_copy(update={"calendar": calendar, "entities": entities})
        made = {"source_commit": "abc1234", "commit_date": "2026-03-28", "etag": "sha256:test"}
        index = BundleIndex(bundle_of(context, workspace.rules, workspace.decisions, **made))
        question = Question(text=text, asked_at=at, request_id="r", session_id="s")
        return answer(question, {}, index, warehouse, None).reply

    return _asked


@pytest.mark.parametrize(
    ("calendar", "start", "end"),
    [(Calendar(), "2026-03-28", "2026-03-29"), (AMSTERDAM, "2026-03-29", "2026-03-30"),
     (Calendar(time_zone="America/New_York"), "2026-03-28", "2026-03-29")],
    ids=["nowhere", "Amsterdam", "New York"],
)  # fmt: skip
def test_today_is_the_day_of_the_organisation(asked, calendar, start, end):
    interval = asked("how many orders today", calendar).interval
    assert (interval.start, interval.end) == (start, end)


def test_the_reply_says_whose_clocks_it_means(asked):
    reply = asked("orders by day last week", AMSTERDAM)
    assert reply.status == "answered"
    assert "Dated by orders.ordered_at in Europe/Amsterdam time." in reply.caveats
    assert "Dated by orders.ordered_at." in asked("orders by day last week", Calendar()).caveats


def test_the_newest_moment_is_told_in_the_zone_of_the_organisation():
    orders = Entity.model_validate(
        {
            "name": "orders",
            "base_table": {"schema": "shop", "table": "orders"},
            "time_dimensions": [{"name": "ordered_at", "time_zone": "UTC"}],
            "freshness": {"as_of_column": "ordered_at", "max_age": "1 day"},
        }
    )
    assert "AT TIME ZONE 'Europe/Amsterdam'" in freshness.statement(orders, "duckdb", None, AMSTERDAM)
    shown = freshness.looked_up(orders, Shelf(datetime(2026, 3, 27, 0, 30)), None, AMSTERDAM)
    assert shown.newest.isoformat() == "2026-03-27T00:30:00+01:00"
    now = AMSTERDAM.local(LATE)
    assert freshness.said(shown, now) == "Data of orders ends 27 March."
    assert freshness.said(shown, AMSTERDAM.local(datetime(2026, 3, 28, 22, 59, tzinfo=UTC))) is None
