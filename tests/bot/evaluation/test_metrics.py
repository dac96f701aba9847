"""The confusion matrix: what is counted, what holds, and how it is told."""

from __future__ import annotations

from decimal import Decimal

import pytest

from bot.evaluation.metrics import Tally, render, wilson
from bot.evaluation.suites import Graded
from bylaw.authored.machines.suites import Evaluation, Floors, SuiteQuestion
from tests.fakes.frame import reply
from tests.rows import each

FLOORS = Floors(accuracy_from=Decimal("0.5"), silent_wrong_up_to=Decimal("0.25"))


def graded(did, is_right, ask="how many orders", why="", **question):
    asked = SuiteQuestion(ask=ask, expect="clarify", **question)
    return Graded(asked, did, is_right, why, reply(text="Which\none?"))


MIXED = (
    graded("answer", True),
    graded("answer", False, why="gave 1, not 2", topic="sales", after=["orders"]),
    graded("clarify", True),
    graded("refuse", False, why="did refuse, should answer"),
)


def test_every_cell_is_counted():
    tally = Tally("mixed", MIXED, FLOORS)
    counted = {
        (did, is_right): tally.count(did, is_right)
        for did in ("answer", "clarify", "refuse")
        for is_right in (True, False)
    }
    assert counted == {
        ("answer", True): 1,
        ("answer", False): 1,
        ("clarify", True): 1,
        ("clarify", False): 0,
        ("refuse", True): 0,
        ("refuse", False): 1,
    }
    assert (tally.accuracy, tally.silent_wrong) == (0.5, 0.25)


@each(
    ("accuracy_from", "silent_wrong_up_to", "holds"),
    [("0.5", "0.25", True), ("0.51", "0.25", False), ("0.5", "0.24", False), ("0", "1", True), ("1", "0", False)],
)
def test_a_suite_holds_when_it_reaches_both_floors(accuracy_from, silent_wrong_up_to, holds):
    floors = Floors(accuracy_from=Decimal(accuracy_from), silent_wrong_up_to=Decimal(silent_wrong_up_to))
    assert Tally("mixed", MIXED, floors).holds is holds


def test_the_matrix_is_shown_and_the_failures_on_demand():
    tally = Tally("mixed", MIXED, FLOORS)
    assert render([tally], False).splitlines() == [
        "mixed: 4 questions, 50.0% right (at least 50.0%), 25.0% answered wrongly (at most 25.0%): holds",
        "            right  wrong",
        "  answer        1      1",
        "  clarify       1      0",
        "  form          0      0",
        "  refuse        0      1",
        "  development: 4 questions, 2 right (15.0% to 85.0%)",
        "    answered 2, 1 of these wrong (9.5% to 90.5%); asked 1 (0 with a form), refused 1",
    ]
    assert render([tally], True).splitlines()[9:] == [
        "mixed, what went wrong: 1 other, 1 sales",
        "  orders → how many orders",
        "      gave 1, not 2",
        "  how many orders",
        "      did refuse, should answer",
        "      said: Which one?",
    ]


def test_the_document_says_the_same():
    document = Tally("mixed", MIXED, FLOORS).document()
    assert document["matrix"]["answer"] == {"right": 1, "wrong": 1}
    assert (document["questions"], document["accuracy"], document["silent_wrong"]) == (4, 0.5, 0.25)
    assert document["floors"] == {"accuracy_from": 0.5, "silent_wrong_up_to": 0.25}
    assert [one["why"] for one in document["failures"]] == ["gave 1, not 2", "did refuse, should answer"]


def test_a_suite_without_floors_of_its_own_has_those_of_all():
    rules = Evaluation(floors=FLOORS, suites={"sql": Floors(accuracy_from=Decimal(1), silent_wrong_up_to=Decimal(0))})
    assert rules.floors_of("sql").accuracy_from == 1
    assert rules.floors_of("routing") == FLOORS


@each(("routed_from", "holds"), [(None, True), ("0.5", True), ("0.51", False)])
def test_who_was_asked_counts_where_a_question_says_who_answers(routed_from, holds):
    floors = FLOORS.model_copy(update={"routed_from": routed_from and Decimal(routed_from)})
    said = [
        Graded(SuiteQuestion(ask="q", route="data"), "answer", True, "", reply(), route) for route in ("data", "policy")
    ]
    tally = Tally("routing", tuple(said), floors)
    assert (tally.routed, tally.holds) == (0.5, holds)
    assert "50.0% came to the right answerer" in render([tally], False)
    assert Tally("mixed", MIXED, floors).routed is None


@each(
    ("count", "of", "low", "high"),
    [(0, 0, 0, 1), (0, 10, 0, 0.2775), (5, 10, 0.2366, 0.7634), (155, 160, 0.9289, 0.9866)],
)
def test_the_interval_is_that_of_wilson(count, of, low, high):
    assert wilson(count, of) == pytest.approx((low, high), abs=1e-4)
