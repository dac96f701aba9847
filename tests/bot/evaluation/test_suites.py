"""What counts as right: rows of replies, rows of results, and a suite asked as conversations."""

from __future__ import annotations

from datetime import UTC, date, datetime
from decimal import Decimal
from pathlib import Path

import yaml
from hypothesis import given
from hypothesis import strategies as st

from bot.conversation import Binding, Citation
from bot.evaluation.suites import grade, plain, run, same_rows
from bylaw.authored.machines.suites import Suite, SuiteQuestion
from ci.loading.source import read
from tests.fakes.frame import reply
from tests.rows import each

HERE = Path(__file__).parent
GRADES = read("grade.yaml", (HERE / "grade.yaml").read_bytes()).data  # decimals stay as they are written
RESULTS = yaml.safe_load((HERE / "same_rows.yaml").read_text(encoding="utf-8"))


def said(given):
    given = dict(given)
    cites = tuple(Citation(id=name) for name in given.pop("cites", ()))
    binds = tuple(Binding(words=name, kind="metric", name=name) for name in given.pop("binds", ()))
    rows = tuple(map(tuple, given.pop("rows", ())))
    return reply(**{"kind": "data", **given}, citations=cites, bindings=binds, rows=rows)


@each("row", GRADES, ids=lambda row: row["title"])
def test_a_reply_is_right_or_not_for_a_reason(row):
    graded = grade(SuiteQuestion.model_validate(row["question"]), said(row["reply"]), row.get("route"))
    assert (graded.did, graded.is_right, graded.why) == (row["did"], row["right"], row.get("why", ""))


@each("row", RESULTS, ids=lambda row: row["title"])
def test_two_results_are_the_same_answer_or_not(row):
    assert same_rows(row["golden"], row["given"], row.get("ordered", False)) is row["same"]


@given(
    st.lists(st.tuples(st.integers(-9, 9), st.sampled_from("abc"), st.booleans()), min_size=1, max_size=8), st.data()
)
def test_shuffled_rows_and_columns_are_still_the_same(rows, data):
    order = data.draw(st.permutations(range(3)))
    shuffled = [tuple(row[i] for i in order) for row in data.draw(st.permutations(rows))]
    assert same_rows(rows, shuffled)
    assert not same_rows(rows, shuffled[:-1])


@each(
    ("one", "other"),
    [
        (Decimal("12.50"), 12.5),
        (date(2026, 10, 1), "2026-10-01"),
        (datetime(2026, 10, 1, tzinfo=UTC), "2026-10-01"),
        (float("nan"), "NaN"),
    ],
)
def test_a_value_is_compared_as_what_it_means(one, other):
    assert plain(one) == plain(other)


def test_each_question_is_a_conversation_of_its_own_and_only_its_end_is_graded():
    asked = []

    def say(question):
        asked.append((question.session_id, question.text, question.actor.id))
        return reply(kind="data", status="answered", rows=((len(asked),),)), "data"

    suite = Suite.model_validate(
        {
            "name": "s",
            "at": "2026-11-20T09:30:00Z",
            "user": "grace",
            "questions": [
                {"ask": "and last month?", "after": ["net revenue"], "rows": [[2]]},
                {"ask": "orders", "user": "ben", "rows": [[4]]},
            ],
        }
    )
    graded = list(run(suite, say, None))
    assert asked == [("s-1", "net revenue", "grace"), ("s-1", "and last month?", "grace"), ("s-2", "orders", "ben")]
    assert [one.is_right for one in graded] == [True, False]
