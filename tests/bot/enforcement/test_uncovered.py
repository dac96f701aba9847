"""What no rule covers is not answered, and what one covers is."""

from __future__ import annotations

from datetime import UTC, datetime
from pathlib import Path

import pytest
import yaml

from bot.answerers import answerers
from bot.conversation import Question, Reply
from bot.enforcement.question.topic.covered import is_of_another_deed
from bot.index import BundleIndex
from bot.router import Past, route, thresholds
from tests.beside import beside
from tests.compiled import index_of
from tests.rows import each

HERE = Path(__file__)
TRADES = HERE.with_name("trades")
ASKED = yaml.safe_load(HERE.with_name("uncovered.yaml").read_text())
NOW = datetime(2026, 11, 20, 9, tzinfo=UTC)
SPEAKING = answerers(None)
# asked of an animal that its kennel has no rule about: "No rule of ours speaks about this."
UNBOUND = {"Do you take in puppies?"}


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
def test_what_no_rule_covers_is_refused_and_goes_to_an_owner(company: str, index: BundleIndex) -> None:
    for text in ASKED[company]["uncovered"]:
        reply = asked(text, index)
        if reply is None or reply.kind == "data":
            continue  # nobody recognises it, which is said, too, or the catalogue asks what is meant
        assert (reply.status, reply.ask, reply.citations) == ("refused", None, ()), text
        if reply.meta:
            assert reply.meta["uncovered"]["owners"], text
            assert "Please ask " in reply.text


@pytest.mark.parametrize("company", ASKED)
def test_what_a_rule_covers_is_answered_or_asked_back(company: str, index: BundleIndex) -> None:
    for text in ASKED[company]["covered"]:
        reply = asked(text, index)
        assert reply is not None, text
        assert (reply.kind == "policy") is (text not in UNBOUND), text


def test_a_question_in_a_conversation_may_be_uncovered_too(own: BundleIndex) -> None:
    policy = next(one for one in SPEAKING if one.kind == "policy")
    first = policy.answer(Question(text="Can I return a TV?", asked_at=NOW, request_id="r1"), {}, own)
    second = policy.answer(Question(text="May I bring my dog?", asked_at=NOW, request_id="r2"), first.state, own)
    assert second.reply.status == "refused"
    assert second.is_aside  # the case goes on


@each(
    ("text", "is_another"),
    [
        ("Can I return a laptop?", False),
        ("Can I get a refund for my laptop?", False),
        ("Can Jana return a laptop?", False),
        ("May we send a parcel by air?", False),
        ("Can I rent a laptop?", True),
        ("May I get a helmet for my laptop?", True),
        ("Could two vouchers share a parcel?", True),
    ],
)
def test_a_deed_that_nothing_speaks_of_is_no_matter_of_what_it_names(
    text: str, is_another: bool, own: BundleIndex
) -> None:
    assert is_of_another_deed(text, (), own) is is_another


def test_what_such_a_question_names_is_offered_and_not_presumed() -> None:
    reply = asked("May I paint the dog before boarding?", index_of(TRADES / "kennel"))
    assert reply is not None and reply.status == "needs_choice" and "“paint”" in reply.text
