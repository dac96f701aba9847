"""Questions over small firms → the rows that their few records give: roles of one entity, related rows put together."""

from __future__ import annotations

from datetime import date
from pathlib import Path

import duckdb
import pytest
import yaml

from bot.analytics.matched import Desk
from bot.analytics.reading import Bound
from bot.ask.ground import calendar_rules
from bylaw.authored.context import Context, Entity, Metric
from bylaw.hold.hold import Ground
from bylaw.hold.values import Clock
from bylaw.semantic.compiler import Compiler
from bylaw.semantic.words import index_context
from tests.rows import each

NAMES = ("garage", "haulage", "library", "purse")
FIRMS = {name: yaml.safe_load(Path(__file__).with_name(f"{name}.yaml").read_text(encoding="utf-8")) for name in NAMES}
TODAY = date(2026, 11, 20)


def rows_of(section):
    return [(firm, row) for firm in NAMES for row in FIRMS[firm].get(section, ())]


def title(value):
    return value if isinstance(value, str) else value["text"]


@pytest.fixture(scope="module")
def desks():
    found = {}
    for name, firm in FIRMS.items():
        context = Context(
            entities={item["name"]: Entity.model_validate(item) for item in firm["context"]["entities"]},
            metrics={item["name"]: Metric.model_validate(item) for item in firm["context"]["metrics"]},
        )
        clock = Clock(TODAY, calendar_rules(context.calendar))
        found[name] = Desk(Ground("data", index_context(context), clock), Compiler(context))
    return found


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
def test_a_question_has_these_rows(firm, row, desks, tables):
    reading = desks[firm].read(row["text"]).reading
    assert isinstance(reading, Bound), reading
    found = tables.execute(desks[firm].compiler.compile(reading.query).sql).fetchall()
    assert sorted(map(list, found), key=str) == sorted(row["rows"], key=str)


@each(("firm", "text"), rows_of("form"), ids=title)
def test_what_the_form_asks_is_not_read_as_something_else(firm, text, desks):
    assert not isinstance(desks[firm].read(text).reading, Bound)
