"""What is shown of a result: each row of what was listed, named winners with their figures, and where the data end."""

from __future__ import annotations

from datetime import UTC, datetime

import duckdb
import pytest
import yaml

from bot.analytics.answer import answer
from bot.analytics.form import OPTION
from bot.conversation import Question
from bot.index import BundleIndex
from bylaw.authored.context import Context
from bylaw.authored.decisions import Decisions
from bylaw.warehouses.registry import open_warehouse
from tests.fakes.bundle import bundle_of

NOW = datetime(2026, 11, 20, 9, 30, tzinfo=UTC)
CONTEXT = """
entities:
  boats:
    name: boats
    domain: harbour
    base_table: {schema: m, table: boats}
    primary_key: {columns: [id]}
    label: [name]
    dimensions: [{name: name}, {name: berth}]
    time_dimensions: [{name: arrived_on, default: true}]
    facts: [{name: tons}]
metrics:
  total_tons: {name: total_tons, entity: boats, agg: sum, expr: tons, synonyms: [tons]}
"""


@pytest.fixture
def harbour(tmp_path):
    """Five boats, two of one name; one has no berth, and is the heaviest. They came in 2013."""
    path = tmp_path / "harbour.duckdb"
    with duckdb.connect(str(path)) as connection:
        rows = "(1, 'Anna', 'north', 5, 0), (2, 'Anna', 'north', 6, 9), (3, 'Bella', 'south', 7, 20),"
        rows += "(4, 'Cara', NULL, 90, 40), (5, 'Dora', 'east', 2, 60)"
        connection.execute("CREATE SCHEMA m")
        connection.execute(
            f"CREATE TABLE m.boats AS SELECT id, name, berth, tons, DATE '2013-03-01' + days AS arrived_on"
            f" FROM (VALUES {rows}) b(id, name, berth, tons, days)"
        )
    warehouse = open_warehouse(f"duckdb://{path}", statement_seconds=10)
    yield warehouse
    warehouse.close()


@pytest.fixture
def asked(harbour, workspace):
    made = {"source_commit": "abc1234", "commit_date": "2026-11-20", "etag": "sha256:test"}
    context = Context.model_validate(yaml.safe_load(CONTEXT))
    index = BundleIndex(bundle_of(context, workspace.rules, Decisions(), **made))

    def ask(text, form=None):
        options = {} if form is None else {OPTION: form}
        question = Question(text=text, asked_at=NOW, request_id="r", options=options)
        return answer(question, {}, index, harbour, None).reply

    return ask


def test_a_list_has_as_many_rows_as_are_counted(asked):
    """Two boats of one name are two; a list of names has each once."""
    assert asked("number of boats").rows == ((5,),)
    assert [row[0] for row in asked("list boats").rows] == ["Anna", "Anna", "Bella", "Cara", "Dora"]
    assert [row[0] for row in asked("list name").rows] == ["Anna", "Bella", "Cara", "Dora"]


def test_a_ranking_has_no_nameless_group_and_says_so(asked):
    reply = asked("top 2 berth by tons")
    assert [row[0] for row in reply.rows] == ["north", "south"]
    assert "Left out: 1 of the boats, which have no berth." in reply.caveats


def test_nor_has_one_that_a_form_asks_for(asked):
    reply = asked("x", {"metrics": ["total_tons"], "by": ["boats.berth"], "order": "descending", "limit": "3"})
    assert [row[0] for row in reply.rows] == ["north", "south", "east"]


def test_without_a_ranking_the_groups_add_up_to_the_whole(asked):
    assert sum(row[1] for row in asked("tons by berth").rows) == 110


def test_a_winner_comes_with_its_figure(asked):
    reply = asked("which berth has the highest tons")
    assert reply.rows == (("north",),)
    assert reply.text.endswith(": north (11).")


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("tons last month", "The data of boats end on 30 April 2013."),
        ("tons by week last month", "The data of boats end on 30 April 2013."),
        ("number of boats in 2009", "The data of boats begin on 1 March 2013."),
    ],
)
def test_a_span_without_rows_says_where_the_data_end_or_begin(asked, text, says):
    assert asked(text).text.endswith(says)


def test_a_span_with_rows_says_nothing_of_it(asked):
    assert "data of boats" not in asked("tons in March 2013").text
