"""A name that the catalogue does not list is looked up: the form begins with its row, and nobody else's is shown."""

from __future__ import annotations

from datetime import UTC, datetime

import duckdb
import pytest
import yaml

from bot.analytics.answer import answer
from bot.analytics.form import blank, from_choices, which_way
from bot.conversation import Question
from bot.index import BundleIndex
from bylaw.authored.context import Context
from bylaw.authored.decisions import Decisions
from bylaw.authored.machines.access import Grant, Rights
from bylaw.warehouses.registry import open_warehouse
from tests.fakes.bundle import bundle_of

NOW = datetime(2026, 11, 20, 9, 30, tzinfo=UTC)
CONTEXT = yaml.safe_load("""
entities:
  swimmers:
    name: swimmers
    base_table: {schema: m, table: swimmers}
    primary_key: {columns: [id]}
    label: [first_name, last_name]
    dimensions:
    - {name: first_name}
    - {name: last_name}
    - {name: town, data_type: varchar}
    - {name: code, data_type: varchar}
    pii: [code]
  trainers:
    name: trainers
    base_table: {schema: staff, table: trainers}
    primary_key: {columns: [id]}
    label: [name]
    dimensions: [{name: name, match: ignore_case}]
  lessons:
    name: lessons
    base_table: {schema: m, table: lessons}
    primary_key: {columns: [id]}
    label: [title]
    dimensions: [{name: title}]
    relationships:
    - {name: given_by, right_entity: trainers, relationship_type: many_to_one,
       relationship_columns: [{left_column: trainer_id, right_column: id}]}
  enrolments:
    name: enrolments
    base_table: {schema: m, table: enrolments}
    primary_key: {columns: [lesson_id, swimmer_id]}
    relationships:
    - {name: of_lesson, right_entity: lessons, relationship_type: many_to_one,
       relationship_columns: [{left_column: lesson_id, right_column: id}]}
    - {name: of_swimmer, right_entity: swimmers, relationship_type: many_to_one,
       relationship_columns: [{left_column: swimmer_id, right_column: id}]}
metrics: {}
""")
TABLES = """
CREATE SCHEMA m; CREATE SCHEMA staff;
CREATE TABLE m.swimmers (id INT, first_name TEXT, last_name TEXT, town TEXT, code TEXT);
INSERT INTO m.swimmers VALUES (1, 'Ida', 'Moe', 'Oslo', 'Xyz'),
  (2, 'Ida', 'Roe', 'Bergen', 'Xyz'), (3, 'Liv', 'Moe', 'Oslo', 'Xyz');
CREATE TABLE staff.trainers AS FROM (VALUES (1, 'Eva Lind'), (2, 'Ida Moe')) t(id, name);
CREATE TABLE m.lessons AS FROM (VALUES (1, 'Diving', 1), (2, 'Crawl', 1), (3, 'Turns', 2)) t(id, title, trainer_id);
CREATE TABLE m.enrolments AS FROM (VALUES (1, 1), (2, 2), (3, 1), (3, 3)) t(lesson_id, swimmer_id);
"""


@pytest.fixture
def pool(tmp_path):
    path = tmp_path / "pool.duckdb"
    with duckdb.connect(str(path)) as connection:
        connection.execute(TABLES)
    warehouse = open_warehouse(f"duckdb://{path}", statement_seconds=10)
    yield warehouse
    warehouse.close()


def asked(text, warehouse, workspace, rights=None, **options):
    made = {"source_commit": "abc1234", "commit_date": "2026-11-20", "etag": "sha256:test"}
    bundle = bundle_of(Context.model_validate(CONTEXT), workspace.rules, Decisions(), **made)
    question = Question(text=text, asked_at=NOW, request_id="r-1", session_id="s-1", options=options)
    return answer(question, {}, BundleIndex(bundle), warehouse, rights)


def chosen(turn):
    return {field.name: list(field.chosen) for field in turn.reply.form.fields if field.chosen}


SWIMMERS = Rights((Grant(frozenset({"m"})),))
LIV_MOE = ["swimmers.first_name=Liv", "swimmers.last_name=Moe"]
IDA_MOE = ["swimmers.first_name=Ida", "swimmers.last_name=Moe"]


@pytest.mark.parametrize(
    ("text", "rights", "filters", "says"),
    [
        ("Which lessons did Liv Moe take?", None, LIV_MOE, "one of the swimmers"),
        ("Which lessons did Ida Moe take?", SWIMMERS, IDA_MOE, "one of the swimmers"),
        ("Which lessons did Ida Moe take?", None, [], "one of the swimmers and one of the trainers"),
        ("Which lessons does Eva Lind give?", None, ["trainers.name=Eva Lind"], "one of the trainers"),
        ("Which lessons does Eva Lind give?", SWIMMERS, [], "I do not understand `Eva`, `Lind` here"),
        ("Which lessons did John Smith take?", None, [], "I do not understand `John`, `Smith`, `take` here"),
    ],
)  # fmt: skip
def test_a_name_is_in_the_form(pool, workspace, text, rights, filters, says):
    turn = asked(text, pool, workspace, rights)
    assert (turn.reply.status, turn.reply.rows) == ("needs_choice", ())
    assert says in turn.reply.text
    assert chosen(turn) == {"by": ["lessons.title"], **({"filters": filters} if filters else {})}


def test_the_form_as_it_is_gives_the_rows_of_that_person_alone(pool, workspace):
    picked = chosen(asked("Which lessons did Ida Moe take?", pool, workspace, SWIMMERS))
    turn = asked("Which lessons did Ida Moe take?", pool, workspace, SWIMMERS, form=from_choices(picked))
    assert sorted(turn.reply.rows) == [("Diving",), ("Turns",)]


def test_what_was_looked_up_is_kept(pool, workspace):
    papers = asked("Which lessons did Liv Moe take?", pool, workspace).artifacts
    assert [["Liv", "Moe"]] in papers["names"].values()


def test_a_value_of_a_text_that_is_not_listed_is_looked_up_too(pool, workspace):
    turn = asked("how many swimmers live in Oslo", pool, workspace)
    assert "`Oslo` is a town of the swimmers" in turn.reply.text
    assert chosen(turn)["filters"] == ["swimmers.town=Oslo"]
    picked = from_choices(chosen(turn) | {"metrics": ["count(swimmers)"]})
    assert asked("the form", pool, workspace, form=picked).reply.rows == ((2,),)


def test_no_value_of_a_personal_column_is_looked_up(pool, workspace):
    assert "Xyz` is" not in asked("how many swimmers live in Xyz", pool, workspace).reply.text


def test_of_several_ways_to_rows_none_is_chosen_and_each_is_named():
    context = Context.model_validate(CONTEXT)
    keys = {"relationship_columns": [{"left_column": "x", "right_column": "id"}], "relationship_type": "many_to_one"}
    lessons = context.entities["lessons"]
    more = [{"name": "checked_by", "right_entity": "trainers", "synonyms": ["checker"], **keys}]
    told = lessons.model_dump(by_alias=True)
    several = lessons.model_validate({**told, "relationships": [*told["relationships"], *more]})
    context = context.model_copy(update={"entities": {**context.entities, "lessons": several}})
    known = {"metrics": ("count(lessons)",), "by": ("trainers.name",)}
    assert which_way(context, known) == " Which trainers: given by, checker?"
    fields = {field.name: field for field in blank(context, None, known).fields}
    assert fields["by"].chosen == () and fields["metrics"].chosen == ("count(lessons)",)
    assert {"trainers@given_by.name", "trainers@checked_by.name"} <= {one.value for one in fields["by"].options}
    assert which_way(Context.model_validate(CONTEXT), known) == ""
