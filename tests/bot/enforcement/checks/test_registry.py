"""The table of checks: every weight has its check, and a check that breaks down has not passed."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from bot.enforcement.judged.checks.registry import CHECKS, run
from bot.enforcement.judged.checks.result import AnswerDraft, CheckResult
from bot.enforcement.judged.verdict import verdict
from bot.index import BundleIndex

QUERY = "I bought a TV for $90 20 days ago and lost the receipt. Can I get a refund?"
RIGHT = "You lost the receipt, so you get store credit."


def test_every_weight_has_a_check_and_every_check_a_weight(own: BundleIndex) -> None:
    weighted = {name for weights in own.rules.enforcement.profiles.values() for name in weights}
    assert weighted == set(CHECKS)


def broken(draft: AnswerDraft) -> CheckResult:
    raise RuntimeError("the solver is gone")


@pytest.mark.parametrize("name", sorted(CHECKS))
def test_a_check_that_breaks_down_escalates_a_right_answer(name: str, drafted: Any) -> None:
    assert verdict(drafted(QUERY, RIGHT)).action == "pass"
    found = verdict(drafted(QUERY, RIGHT), {**CHECKS, name: broken})
    assert found.action == "escalate"
    assert found.delivered is None
    assert [violation.kind for violation in found.violations] == ["crashed"]
    assert "RuntimeError" in found.reason


def test_what_nobody_read_has_not_passed(drafted: Any) -> None:
    found = verdict(replace(drafted(QUERY, RIGHT), found=None))
    assert (found.verdict, found.delivered) == ("unread", None)


def test_the_results_have_the_names_of_the_table(drafted: Any) -> None:
    assert [result.name for result in run(drafted(QUERY, RIGHT))] == list(CHECKS)


@pytest.mark.parametrize(
    ("says", "score", "kinds"),
    [
        (0.9, 0.9, []),
        (0.5, 0.5, []),
        (0.3, 0.3, ["judged"]),
        (None, None, []),
        (7.0, None, []),
        (float("nan"), None, []),
    ],
)
def test_the_judge_weighs_only_what_is_a_verdict(
    says: float | None, score: float | None, kinds: list[str], drafted: Any
) -> None:
    found = CHECKS["judge"](drafted(QUERY, RIGHT, judge=lambda query, answer, rules: says))
    assert found.score == score
    assert [violation.kind for violation in found.violations] == kinds


def test_the_judge_is_given_the_rules_that_decide(drafted: Any) -> None:
    heard: list[tuple[str, ...]] = []
    CHECKS["judge"](drafted(QUERY, RIGHT, judge=lambda query, answer, rules: heard.append(tuple(rules))))
    assert [rule.partition(":")[0] for rule in heard[0]] == ["POL-REFUND-001"]


@pytest.mark.parametrize(
    ("answer", "share"),
    [
        ("You get store credit.", 0.0),
        ("Without the receipt you get store credit.", 0.25),
        ("Somebody may know what to do.", 0.0),
    ],
)
def test_coverage_is_the_share_of_the_path_that_is_mentioned(answer: str, share: float, drafted: Any) -> None:
    known = {"product_category": "electronics", "purchase_amount": 90, "days_since_purchase": 20, "has_receipt": False}
    mistaken = "I have the receipt for software that I bought 3 days ago for $20. Can I get a refund?"
    assert CHECKS["coverage"](drafted(mistaken, answer, known)).score == share


@pytest.mark.parametrize(
    ("query", "given", "share"),
    [
        (QUERY, {}, 1.0),  # he knows all of it himself
        (QUERY, {"has_receipt": False}, 1.0),  # what is given agrees with him
        (QUERY, {"days_since_purchase": 25}, 0.75),  # what is given corrects him: he has to hear of it
        ("I bought a TV 20 days ago and lost the receipt. Can I get a refund?", {"purchase_amount": 90}, 1.0),
    ],
)
def test_what_the_asker_knows_needs_no_saying(query: str, given: Any, share: float, drafted: Any) -> None:
    assert CHECKS["coverage"](drafted(query, "Store credit.", given)).score == share
