"""Questions over a small firm → the rows that its few records give: roles of one entity, related rows put together."""

from __future__ import annotations

from datetime import date
from pathlib import Path

import duckdb
import pytest
import yaml

from bot.analytics.read import Reader
from bot.analytics.reading import Bound, NotUnderstood
from bot.analytics.scope import lexicon_of
from bylaw.authored.context import Context, Entity
from bylaw.semantic.compiler import Compiler

FIRM = yaml.safe_load(Path(__file__).with_name("haulage.yaml").read_text(encoding="utf-8"))
TODAY = date(2026, 11, 20)


@pytest.fixture(scope="module")
def read():
    entities = {item["name"]: Entity.model_validate(item) for item in FIRM["context"]["entities"]}
    context = Context(entities=entities)
    reader = Reader(context, lexicon_of(context), Compiler(context))
    return lambda text: reader.read(text, TODAY)


@pytest.fixture(scope="module")
def compiler():
    entities = {item["name"]: Entity.model_validate(item) for item in FIRM["context"]["entities"]}
    return Compiler(Context(entities=entities))


@pytest.fixture(scope="module")
def tables():
    with duckdb.connect() as connection:
        connection.execute(FIRM["tables"])
        for table, rows in FIRM["rows"].items():
            connection.executemany(f"INSERT INTO m.{table} VALUES ({', '.join('?' * len(rows[0]))})", rows)
        yield connection


@pytest.mark.parametrize("row", FIRM["answered"], ids=lambda row: row["text"])
def test_a_question_has_these_rows(row, read, compiler, tables):
    reading = read(row["text"])
    assert isinstance(reading, Bound), reading
    found = tables.execute(compiler.compile(reading.query).sql).fetchall()
    assert [list(one) for one in found] == row["rows"]


@pytest.mark.parametrize("row", FIRM["refused"], ids=lambda row: row["text"])
def test_what_could_mean_two_things_is_refused_and_says_what(row, read):
    reading = read(row["text"])
    assert isinstance(reading, NotUnderstood), reading
    assert row["says"] in reading.message
