"""A bound that is told decides what every value that it leaves is decided, and nothing else."""

from __future__ import annotations

from datetime import UTC, datetime
from operator import ge, gt, le, lt

import pytest

from bot.conversation import Question, Reply
from bot.enforcement.answer import answer
from bot.index import BundleIndex

DAYS = range(120)
NOW = datetime(2026, 11, 20, 9, tzinfo=UTC)
SAID = {"more than": gt, "at least": ge, "less than": lt, "at most": le}
CASE = "I bought a {kind} {days} days ago and have the receipt. Can I get a refund?"


def asked(text: str, shop: BundleIndex) -> Reply:
    turn = answer(Question(text=text, asked_at=NOW, request_id="r"), {}, shop)
    assert turn.reply.status != "answered" or turn.artifacts["verdict"]["verdict"] == "valid"
    return turn.reply


def taken(reply: Reply) -> str | None:
    return reply.outcomes["refund"]["action"] if reply.status == "answered" else None


@pytest.mark.parametrize("kind", ["shirt", "TV"])
def test_it_decides_what_all_that_it_leaves_is_decided(kind: str, shop: BundleIndex) -> None:
    each = [taken(asked(CASE.format(kind=kind, days=days), shop)) for days in DAYS]
    assert len(set(each)) > 1 and None not in each
    for said, holds in SAID.items():
        for days in (1, 14, 15, 16, 29, 30, 31, 45, 59, 60, 61, 90):
            left = {each[value] for value in DAYS if holds(value, days)}
            reply = asked(CASE.format(kind=kind, days=f"{said} {days}"), shop)
            assert taken(reply) == (left.pop() if len(left) == 1 else None), (said, days)
            assert "days_since_purchase" not in reply.facts  # it has no value
            assert reply.status == "answered" or reply.ask.fact == "days_since_purchase"  # type: ignore[union-attr]


@pytest.mark.parametrize(
    "days",
    [
        "not more than 40",
        "at most 40",
        "more than 40 or less than 3",
        "maybe more than 40",
        "almost over 40",
        "more than 5000",
        "more than 9" + 40 * "9",
        "less than 0",
        "more than -5",
        "20 to 40",
    ],
)
def test_what_is_denied_doubted_or_no_bound_of_the_fact_decides_nothing(days: str, shop: BundleIndex) -> None:
    assert taken(asked(CASE.format(kind="shirt", days=days), shop)) is None


def test_a_bound_that_is_denied_is_none(shop: BundleIndex) -> None:
    reply = asked(
        "It is not over 40 days ago that I bought the shirt, and I have the receipt. Do I get a refund?", shop
    )
    assert taken(reply) is None


def test_a_conversation_keeps_a_bound_and_forgets_what_no_state_may_hold(shop: BundleIndex) -> None:
    question = Question(text="more than 40 days ago", asked_at=NOW, request_id="r")
    kept = {"facts": {"has_receipt": True, "product_category": "clothing"}, "outcomes": ["refund"]}
    for told, action in (
        ({"days_since_purchase": {"words": "over 40", "tests": [[">", 40]]}}, "reject"),
        ({"days_since_purchase": {"words": "over 40", "tests": [["==", 40]]}}, None),
        ({"days_since_purchase": {"words": "over 40", "tests": [[">", "x"]]}}, None),
        ({"days_since_purchase": {"words": "over 40", "tests": 7}}, None),
        ({"days_since_purchase": []}, None),
        ({"gone": {"words": "over 40", "tests": [[">", 40]]}}, None),
        ({"product_category": {"words": "over a", "tests": [[">", "clothing"]]}}, None),
        ([], None),
    ):
        turn = answer(question.model_copy(update={"text": "and the refund?"}), {**kept, "bounds": told}, shop)
        assert taken(turn.reply) == action, told
