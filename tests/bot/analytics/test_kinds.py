"""Who paid is a person or a shop: what is said of people holds for the payments of people alone."""

from __future__ import annotations

from datetime import date

import duckdb
import pytest
import yaml

from bot.analytics.matched import Desk
from bot.analytics.reading import Bound, NotUnderstood
from bot.ask.ground import calendar_rules
from bylaw.authored.calendar import Calendar
from bylaw.authored.context import Context, Entity
from bylaw.hold.hold import Ground
from bylaw.hold.values import Clock
from bylaw.semantic.compiler import Compiler
from bylaw.semantic.words import index_context
from tests.bylaw.semantic.test_kinds import ENTITIES

TABLES = """
CREATE SCHEMA k; CREATE TABLE k.people (id INT, name TEXT, town TEXT); CREATE TABLE k.shops (id INT, shop TEXT);
CREATE TABLE k.payments (payment_id INT, payer INT, payer_kind TEXT, channel TEXT, amount INT, paid_on DATE);
INSERT INTO k.people VALUES (1, 'Ann', 'Bonn'), (2, 'Ben', 'Jena'); INSERT INTO k.shops VALUES (1, 'Tea'), (2, 'Ink');
INSERT INTO k.payments VALUES (1, 1, 'person', 'web', 5, '2026-01-01'), (2, 1, 'shop', 'web', 7, '2026-01-02'),
  (3, 2, 'person', 'till', 1, '2025-01-01'), (4, 2, 'shop', 'till', 20, '2025-01-01'),
  (5, NULL, NULL, 'web', 50, '2026-01-01')
"""


@pytest.fixture(scope="module")
def asked():
    entities = [Entity.model_validate(entity) for entity in yaml.safe_load(ENTITIES)]
    context = Context(entities={entity.name: entity for entity in entities}, calendar=Calendar())
    compiler = Compiler(context)
    clock = Clock(date(2026, 11, 20), calendar_rules(context.calendar))
    desk = Desk(Ground("data", index_context(context), clock), compiler)
    with duckdb.connect() as tables:
        tables.execute(TABLES)

        def _asked(text):
            reading = desk.read(text).reading
            return reading if not isinstance(reading, Bound) else tables.execute(compiler.compile(reading.query).sql)

        yield _asked


@pytest.mark.parametrize(
    ("text", "rows"),
    [
        ("how many payments are there", [(5,)]),
        ("total amount of payments of people whose town is 'Bonn'", [(5,)]),
        ("people with no payments in 2026", [("Ben", "Jena", 2)]),
    ],
)
def test_payments_of_people_are_those_of_people(text, rows, asked):
    found = asked(text)
    assert not isinstance(found, NotUnderstood), found
    assert found.fetchall() == rows


@pytest.mark.parametrize(
    "text",
    [
        "how many payments did people make",
        "total amount of payments of people",
        "total amount of payments of people in 2026",
        "total amount of payments of shops in 2026",
    ],
)
def test_payments_of_all_are_never_taken_for_those_of_people(text, asked):
    assert isinstance(asked(text), NotUnderstood)
