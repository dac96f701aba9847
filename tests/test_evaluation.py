"""Our own suites: large enough, golden numbers as the data have them, and the bot above its floors."""

from __future__ import annotations

from collections import Counter
from datetime import date
from pathlib import Path

import pytest

from bot.evaluation.command import tallied
from bot.evaluation.suites import same_rows
from bylaw.demos.warehouse import build
from bylaw.warehouses.registry import open_warehouse
from ci.loading.load import load as load_repository
from ci.loading.suites import load
from tests.rows import each

ROOT = Path(__file__).parents[1]
SUITES, RULES = load(ROOT)
BY_NAME = {suite.name: suite for suite in SUITES}
GOLDEN = [one for name in ("sql", "dialogue") for one in BY_NAME[name].questions]


@pytest.fixture(scope="module")
def warehouse(tmp_path_factory):
    path = tmp_path_factory.mktemp("golden") / "demo.duckdb"
    build(path, date(2026, 11, 20))
    opened = open_warehouse(f"duckdb://{path}")
    yield opened
    opened.close()


@each("question", GOLDEN, ids=lambda one: " → ".join([*one.after, one.ask]))
def test_golden_rows_are_what_hand_written_sql_gives(warehouse, question):
    assert same_rows(question.rows, warehouse.run(question.sql, 1_000).rows, question.ordered)


def test_the_suites_are_large_enough():
    count = {name: len(suite.questions) for name, suite in BY_NAME.items()}
    assert count["routing"] >= 178
    assert count["sql"] >= 60
    assert count["refusal"] >= 60
    assert count["dialogue"] >= 20
    assert all(one.after for one in BY_NAME["dialogue"].questions)
    topics = Counter(one.topic for one in BY_NAME["refusal"].questions)
    assert set(topics) == {"write", "personal data", "foreign schema", "unanswerable", "injection"}
    assert min(topics.values()) >= 10


def test_no_question_is_asked_twice():
    for suite in SUITES:
        asked = Counter((*one.after, one.ask, one.user) for one in suite.questions)
        assert [question for question, times in asked.items() if times > 1] == [], suite.name


def test_the_routing_suite_reaches_every_entity_and_every_kind_of_answer():
    context = load_repository(ROOT, today=date(2026, 11, 20)).context
    questions = BY_NAME["routing"].questions
    assert {one.route for one in questions} == {"policy", "data", "decision", "unknown"}
    reached = {name for one in questions for name in one.reaches}
    assert reached <= {*context.entities, *context.metrics}
    entities = {name for name in reached if name in context.entities}
    todo = [name for name in reached if name in context.metrics]
    while todo:
        metric = context.metrics[todo.pop()]
        entities |= {metric.entity} - {None}
        parts = [metric.numerator, metric.denominator, metric.metric, *(part.name for part in metric.inputs)]
        todo += [part for part in parts if part]
    assert entities == set(context.entities)


@pytest.mark.slow
@pytest.mark.parametrize("name", sorted(BY_NAME))
def test_the_bot_stays_above_its_floors(name):
    (tally,) = tallied(ROOT, [BY_NAME[name]], RULES, None)
    assert tally.holds, [f"{one.question.ask}: {one.why}" for one in tally.failures]
