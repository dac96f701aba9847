"""Objectives beside data answers: only while they are pursued, only of metrics that show them, only where it is on."""

from __future__ import annotations

from datetime import UTC, date, datetime

import pytest

from bot.analytics.answer import answer
from bot.analytics.reply.business import told
from bot.conversation import Question
from bot.index import BundleIndex
from bylaw.authored.business import Business, Project
from tests.fakes.bundle import bundle_of
from tests.rows import each

TODAY = date(2026, 11, 20)
KNOWN = Business.model_validate(
    {
        "objectives": {
            "grow": {
                "id": "grow",
                "title": "Grow in Europe",
                "metrics": ["net_revenue", "order_count"],
                "ends_on": "2026-12-31",
                "target": "up by a tenth",
            },
            "past": {"id": "past", "title": "Last year's", "metrics": ["net_revenue"], "ends_on": "2025-12-31"},
            "soon": {"id": "soon", "title": "Next year's", "metrics": ["net_revenue"], "starts_on": "2027-01-01"},
            "service": {"id": "service", "title": "Answer sooner", "metrics": ["first_reply"]},
        },
        "projects": {
            "lisbon": {"id": "lisbon", "title": "A shop in Lisbon", "objectives": ["grow"]},
            "done": {"id": "done", "title": "A shop in Porto", "objectives": ["grow"], "ends_on": "2026-11-19"},
        },
    }
)
GROW = "Objective Grow in Europe until 2026-12-31 is seen by {}, up by a tenth. Worked on in: A shop in Lisbon."


@each(
    ("metrics", "said"),
    [
        ({"net_revenue"}, [GROW.format("net revenue")]),
        ({"order_count", "net_revenue"}, [GROW.format("net revenue and order count")]),
        ({"first_reply"}, ["Objective Answer sooner is seen by first reply."]),
        ({"refund_count"}, []),
        (set(), []),
    ],
)
def test_an_objective_is_told_where_its_metric_is_asked_for(metrics, said):
    assert list(told(KNOWN, metrics, TODAY)) == said


def test_where_it_is_off_there_is_nothing_to_tell():
    assert list(told(None, {"net_revenue"}, TODAY)) == []


def test_a_reply_tells_it_beside_the_number_and_never_decides_by_it(workspace, warehouse):
    made = {"source_commit": None, "commit_date": "2026-11-20", "etag": "sha256:test"}
    plain = bundle_of(workspace.context, workspace.rules, workspace.decisions, **made)
    replies = []
    for bundle in (plain, plain.model_copy(update={"business": KNOWN})):
        asked_at = datetime(2026, 11, 20, 9, 30, tzinfo=UTC)
        question = Question(
            text="net revenue by region last quarter", asked_at=asked_at, request_id="r", session_id="s"
        )
        replies.append(answer(question, {}, BundleIndex(bundle), warehouse, None).reply)
    off, on = replies
    assert on.caveats == (*off.caveats, GROW.format("net revenue"))
    assert on.model_copy(update={"caveats": off.caveats}) == off


def test_nothing_ends_before_it_starts():
    with pytest.raises(ValueError, match="`p` ends before it starts"):
        Project.model_validate({"id": "p", "title": "P", "starts_on": "2026-02-01", "ends_on": "2026-01-31"})
