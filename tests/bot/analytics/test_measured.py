"""A bundle knows which columns the tables had: an answer from one that has changed says so, and how old it is."""

from __future__ import annotations

from datetime import UTC, datetime

import pytest

from bot.analytics.answer import answer
from bot.conversation import Question
from bot.index import BundleIndex
from bylaw.bundle import SchemaVersion
from tests.fakes.bundle import bundle_of

NOW = datetime(2026, 11, 20, 9, 30, tzinfo=UTC)
LONG_AGO = "how many orders in 2025"  # reaches no day that might be missing


@pytest.fixture(scope="module")
def asked(workspace, warehouse):
    def _asked(change, text=LONG_AGO):
        columns = [name.lower() for name in warehouse.columns("shop", "orders")]
        versions = {"orders": SchemaVersion(declared="d", measured="m", columns=sorted(change(columns)))}
        made = {"source_commit": None, "commit_date": "2026-11-20", "etag": "sha256:test"}
        bundle = bundle_of(workspace.context, workspace.rules, workspace.decisions, schema_versions=versions, **made)
        question = Question(text=text, asked_at=NOW, request_id="r", session_id="s")
        return answer(question, {}, BundleIndex(bundle), warehouse, None)

    return _asked


def test_a_table_as_it_was_measured_is_no_matter(asked):
    turn = asked(lambda columns: columns)
    assert not any("measured" in caveat for caveat in turn.reply.caveats)
    assert turn.artifacts["plan"]["columns"] == {}


def test_an_answer_from_a_table_that_changed_says_so_and_how_new_it_is(asked):
    plain, turn = asked(lambda columns: columns), asked(lambda columns: [*columns[1:], "was_there"])
    said = "The table of orders is not as it was measured for the catalogue: 1 column is new and 1 column is gone."
    assert said in turn.reply.caveats
    assert turn.reply.rows == plain.reply.rows, "what the question reads is still there"
    assert turn.reply.data_until is not None
    looked = turn.artifacts["plan"]["freshness"]
    assert any("FROM shop.orders" in sql for sql in looked), "how old the rows are is looked up for it"
    assert turn.artifacts["plan"]["columns"]["shop.orders"]
