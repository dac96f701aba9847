"""Questions over small firms → the rows that their few records give: roles of one entity, related rows put together."""

from __future__ import annotations

from datetime import date
from pathlib import Path

import duckdb
import pytest
import yaml

from bot.analytics.reader.read import Reader
from bot.analytics.reader.reading import Bound, NotUnderstood, Unclear
from bot.analytics.reader.scope import lexicon_of
from bylaw.authored.context import Context, Entity, Metric
from bylaw.semantic.compiler import Compiler
from tests.rows import each

NAMES = ("garage", "haulage", "library", "purse")
FIRMS = {name: yaml.safe_load(Path(__file__).with_name(f"{name}.yaml").read_text(encoding="utf-8")) for name in NAMES}
TODAY = date(2026, 11, 20)


def rows_of(section):
    return [(firm, row) for firm in NAMES for row in FIRMS[firm].get(section, ())]


def title(value):
    return value if isinstance(value, str) else value["text"]


@pytest.fixture(scope="module")
def contexts():
    declared = {name: firm["context"] for name, firm in FIRMS.items()}
    return {
        name: Context(
            entities={item["name"]: Entity.model_validate(item) for item in items["entities"]},
            metrics={item["name"]: Metric.model_validate(item) for item in items["metrics"]},
        )
        for name, items in declared.items()
    }


@pytest.fixture(scope="module")
def compilers(contexts):
    return {name: Compiler(context) for name, context in contexts.items()}


@pytest.fixture(scope="module")
def readers(contexts, compilers):
    return {name: Reader(context, lexicon_of(context)) for name, context in contexts.items()}


@pytest.fixture(scope="module")
def tables():
    with duckdb.connect() as connection:
        for firm in FIRMS.values():
            connection.execute(firm["tables"])
            schema = firm["context"]["entities"][0]["base_table"]["schema"]
            for table, rows in firm["rows"].items():
                connection.executemany(f"INSERT INTO {schema}.{table} VALUES ({', '.join('?' * len(rows[0]))})", rows)
        yield connection


@pytest.mark.parametrize(("firm", "row"), rows_of("answered"), ids=title)
def test_a_question_has_these_rows(firm, row, readers, compilers, tables):
    reading = readers[firm].read(row["text"], TODAY)
    assert isinstance(reading, Bound), reading
    found = tables.execute(compilers[firm].compile(reading.query).sql).fetchall()
    assert [list(one) for one in found] == row["rows"]


@each(("firm", "row"), rows_of("form"), ids=title)
def test_what_the_form_asks_is_not_read_as_something_else(firm, row, readers):
    assert not isinstance(readers[firm].read(row["text"], TODAY), Bound)


@each(("firm", "row"), rows_of("refused"), ids=title)
def test_what_could_mean_two_things_is_refused_and_says_what(firm, row, readers):
    reading = readers[firm].read(row["text"], TODAY)
    assert isinstance(reading, NotUnderstood), reading
    assert row["says"] in reading.message


@each(("firm", "row"), rows_of("asked"), ids=title)
def test_what_has_two_readings_is_asked_in_words_that_have_one(firm, row, readers):
    reading = readers[firm].read(row["text"], TODAY)
    assert isinstance(reading, Unclear), reading
    assert [choice.value for choice in reading.choices] == row["values"]
    assert all(isinstance(readers[firm].read(value, TODAY), Bound) for value in row["values"])
