"""A bound that is told decides what every value that it leaves is decided, and nothing else."""

from __future__ import annotations

from datetime import UTC, datetime
from operator import ge, gt, le, lt

import pytest

from bot.conversation import Question, Reply
from bot.enforcement.answer import answer
from bot.index import BundleIndex

DAYS = range(120)
SAID = {"more than": gt, "at least": ge, "less than": lt, "at most": le}
CASE = "I bought a {kind} {days} days ago and have the receipt. Can I get a refund?"


def asked(text: str, shop: BundleIndex) -> Reply:
    question = Question(text=text, asked_at=datetime(2026, 11, 20, 9, tzinfo=UTC), request_id="r")
    return answer(question, {}, shop).reply


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
