"""What no rule covers is not answered, and what one covers is."""

from __future__ import annotations

from datetime import UTC, datetime
from pathlib import Path

import pytest
import yaml

from bot.answerers import answerers
from bot.conversation import Question, Reply
from bot.index import BundleIndex
from bot.router import Past, route, thresholds
from tests.beside import beside
from tests.compiled import index_of

HERE = Path(__file__)
TRADES = HERE.with_name("trades")
ASKED = yaml.safe_load(HERE.with_name("uncovered.yaml").read_text())
NOW = datetime(2026, 11, 20, 9, tzinfo=UTC)
SPEAKING = answerers(None)


@pytest.fixture
def index(company: str, companies: dict[str, BundleIndex]) -> BundleIndex:
    if company == "retail":
        return index_of(beside("realworld", "policies", "retail"))
    return companies[company] if company in companies else index_of(TRADES / company)


def asked(text: str, index: BundleIndex) -> Reply | None:
    way = route(text, index, SPEAKING, thresholds(index.rules.routing), Past())
    speaking = next((one for one in SPEAKING if one.kind == way.kind), None)
    return speaking and speaking.answer(Question(text=text, asked_at=NOW, request_id="r"), {}, index).reply


def test_there_are_enough_of_both_in_at_least_four_companies() -> None:
    assert len(ASKED) >= 4
    assert sum(len(kinds["uncovered"]) for kinds in ASKED.values()) >= 60
    assert sum(len(kinds["covered"]) for kinds in ASKED.values()) >= 60


@pytest.mark.parametrize("company", ASKED)
def test_what_no_rule_covers_is_never_answered_and_goes_to_an_owner(company: str, index: BundleIndex) -> None:
    for text in ASKED[company]["uncovered"]:
        reply = asked(text, index)
        if reply is None or reply.kind == "data":
            continue  # nobody recognises it, which is said, too, or the catalogue asks what is meant
        assert (reply.status in ("refused", "needs_choice"), reply.ask, reply.citations) == (True, None, ()), text
        if reply.meta and reply.status == "refused":
            assert reply.meta["uncovered"]["owners"], text
            assert "Please ask " in reply.text


@pytest.mark.parametrize("company", ASKED)
def test_what_a_rule_covers_is_answered_asked_back_or_offered(company: str, index: BundleIndex) -> None:
    """What is asked in words that nobody declared goes to the owner; most of it is understood or offered."""
    texts = ASKED[company]["covered"]
    replies = [asked(text, index) for text in texts]
    assert {reply.kind for reply in replies if reply is not None} <= {"policy", "refusal"}
    heard = sum(reply is not None and reply.kind == "policy" for reply in replies)
    assert heard >= 0.7 * len(texts), [
        t for t, r in zip(texts, replies, strict=True) if r is None or r.kind != "policy"
    ]


def test_a_question_in_a_conversation_may_be_uncovered_too(own: BundleIndex) -> None:
    policy = next(one for one in SPEAKING if one.kind == "policy")
    first = policy.answer(Question(text="Can I return a TV?", asked_at=NOW, request_id="r1"), {}, own)
    second = policy.answer(Question(text="Is there a swimming pool?", asked_at=NOW, request_id="r2"), first.state, own)
    assert second.reply.status == "refused"
    assert second.is_aside  # the case goes on
