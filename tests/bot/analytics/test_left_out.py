"""Rows that belong to none of what an answer is grouped by: a group of their own, or left out and counted."""

from __future__ import annotations

from datetime import UTC, datetime

import duckdb
import pytest
import yaml

from bot.analytics.answer import answer
from bot.conversation import Question
from bot.index import BundleIndex
from bylaw.authored.context import Context
from bylaw.authored.decisions import Decisions
from bylaw.warehouses.registry import open_warehouse
from tests.fakes.bundle import bundle_of

NOW = datetime(2026, 11, 20, 9, 30, tzinfo=UTC)
CONTEXT = """
entities:
  swimmers:
    name: swimmers
    domain: pool
    base_table: {schema: m, table: swimmers}
    primary_key: {columns: [id]}
    label: [name]
    dimensions: [{name: name}]
    relationships:
    - {name: of_club, right_entity: clubs, relationship_type: many_to_one,
       relationship_columns: [{left_column: club_id, right_column: id}]}
  clubs:
    name: clubs
    domain: pool
    base_table: {schema: m, table: clubs}
    primary_key: {columns: [id]}
    label: [name]
    dimensions: [{name: name}]
    relationships:
    - {name: paid_by, right_entity: sponsors, relationship_type: many_to_one,
       relationship_columns: [{left_column: sponsor_id, right_column: id}]}
  sponsors:
    name: sponsors
    domain: pool
    base_table: {schema: m, table: sponsors}
    primary_key: {columns: [id]}
    label: [name]
    dimensions: [{name: name}]
metrics:
  swimmer_count: {name: swimmer_count, entity: swimmers, agg: count, synonyms: [number of swimmers]}
"""
NONE = "Left out: 3 of the swimmers, which belong to none of the clubs."
OF_CLUBS = [("Delfin", 2), ("Otter", 1)]


@pytest.fixture
def pool(tmp_path):
    """Six swimmers: two without a club, one whose club is not in the table of clubs."""
    path = tmp_path / "pool.duckdb"
    with duckdb.connect(str(path)) as connection:
        connection.execute("CREATE SCHEMA m; CREATE TABLE m.sponsors AS SELECT 7 AS id, 'Acme' AS name")
        clubs = "(1, 'Delfin', 7), (2, 'Otter', NULL)"
        connection.execute(f"CREATE TABLE m.clubs AS FROM (VALUES {clubs}) c(id, name, sponsor_id)")
        rows = "(1, 'A', 1), (2, 'B', 1), (3, 'C', 2), (4, 'D', NULL), (5, 'E', NULL), (6, 'F', 9)"
        connection.execute(f"CREATE TABLE m.swimmers AS FROM (VALUES {rows}) s(id, name, club_id)")
    warehouse = open_warehouse(f"duckdb://{path}", statement_seconds=10)
    yield warehouse
    warehouse.close()


def asked(text, warehouse, workspace, join_type="left_outer"):
    made = {"source_commit": "abc1234", "commit_date": "2026-11-20", "etag": "sha256:test"}
    context = yaml.safe_load(CONTEXT)
    context["entities"]["swimmers"]["relationships"][0]["join_type"] = join_type
    bundle = bundle_of(Context.model_validate(context), workspace.rules, Decisions(), **made)
    question = Question(text=text, asked_at=NOW, request_id="r-1", session_id="s-1")
    return answer(question, {}, BundleIndex(bundle), warehouse, None)


@pytest.mark.parametrize(
    ("text", "join_type", "rows", "says"),
    [
        ("number of swimmers by club", "left_outer", [*OF_CLUBS, (None, 3)], None),
        ("number of swimmers by club", "inner", OF_CLUBS, NONE),
        ("number of swimmers by club name", "inner", OF_CLUBS, NONE),
        ("number of swimmers for each club", "left_outer", [*OF_CLUBS, (None, 3)], None),
        ("top 2 clubs by number of swimmers", "left_outer", OF_CLUBS, NONE),
        ("number of swimmers", "inner", [(6,)], None),
    ],
)
def test_rows_of_no_group_are_shown_or_counted(pool, workspace, text, join_type, rows, says):
    turn = asked(text, pool, workspace, join_type)
    assert sorted(turn.reply.rows, key=str) == sorted(rows, key=str)
    assert [one for one in turn.reply.caveats if one.startswith("Left out")] == ([says] if says else [])
    looked = turn.artifacts["plan"]["joins"].values()
    assert (3 in looked) == (says is not None)
