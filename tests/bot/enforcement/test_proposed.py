"""Facts that a model proposes are held against the words; whatever it says, the logic decides."""

from __future__ import annotations

from datetime import UTC, date, datetime
from decimal import Decimal
from typing import Any

import pytest

from bot.conversation import Question, Reply
from bot.enforcement.answer import answer
from bot.enforcement.question.case.proposed import Held, ReadCase, held
from bot.enforcement.weighed import case_of
from bot.index import BundleIndex
from bylaw.llm.guarded import Guard
from bylaw.llm.port import NoAnswer
from tests.bot.enforcement.models import Author
from tests.rows import each

NOW = datetime(2026, 11, 20, 9, tzinfo=UTC)
# in words that no phrase of the vocabulary has: the plain reader finds nothing of it
SAID = "My tablet came out of your shop a fortnight back, and the till slip went through the wash. A refund?"


def proposed(*facts: dict[str, Any], domain: str | None = "refund", unused: tuple[str, ...] = ()) -> dict[str, Any]:
    return {"domain": domain, "facts": list(facts), "unused": list(unused)}


def fact(name: str, value: object, quote: str, **more: Any) -> dict[str, Any]:
    return {"fact": name, "operator": "==", "value": value, "quote": quote, **more}


def asked(text: str, own: BundleIndex, reading: object) -> tuple[Reply, Author]:
    author = Author(reading=reading)
    question = Question(text=text, asked_at=NOW, request_id="r")
    return answer(question, {}, own, Guard(author, lambda: 0.0)).reply, author


LOST = fact("has_receipt", False, "the till slip went through the wash")
TABLET = fact("product_category", "electronics", "My tablet")
AGO = fact("days_since_purchase", 2, "a fortnight back", unit="weeks")


def test_what_the_words_bear_is_a_fact_and_the_rest_is_said_not_to_be_used(own: BundleIndex) -> None:
    reply, author = asked(SAID, own, proposed(LOST, AGO, TABLET, unused=("out of your shop",)))
    assert len(author.read) == 1
    assert reply.facts == {"product_category": "electronics", "days_since_purchase": 14, "has_receipt": False}
    assert "not used: out of your shop." in reply.text


@pytest.mark.parametrize(
    "wrong",
    [
        fact("days_since_purchase", 3, "a fortnight back", unit="weeks"),  # another number than the words say
        fact("days_since_purchase", 14, "two weeks ago", unit="days"),  # words that nobody said
        fact("days_since_purchase", 14, "a fortnight back", unit="kg"),
        fact("days_since_purchase", "soon", "a fortnight back"),
        fact("purchase_amount", 600, "My tablet"),
        fact("customer_tier", "platinum", "My tablet"),
        fact("no_such_fact", True, "My tablet"),
        {**LOST, "operator": "!="},
    ],
)
def test_what_the_words_do_not_bear_is_no_fact(own: BundleIndex, wrong: dict[str, Any]) -> None:
    assert asked(SAID, own, proposed(wrong, TABLET))[0].facts == {"product_category": "electronics"}


def test_where_the_readers_differ_the_person_is_asked(own: BundleIndex) -> None:
    text = "I lost the receipt for something. Can I get a refund?"
    reply, _ = asked(text, own, proposed(fact("has_receipt", True, "the receipt")))
    assert "has_receipt" not in reply.facts
    assert "I did not use “lost the receipt” (the customer has the receipt): it was read in two ways." in reply.text


@pytest.mark.parametrize("reading", ["no JSON", {"facts": "none"}, NoAnswer("late"), {"facts": [{"fact": "x"}]}])
def test_a_model_that_gives_no_reading_changes_nothing(own: BundleIndex, reading: object) -> None:
    plain = answer(Question(text=SAID, asked_at=NOW, request_id="r"), {}, own).reply
    assert asked(SAID, own, reading)[0].text == plain.text


def test_a_model_is_not_asked_where_the_plain_reader_knows_enough(own: BundleIndex) -> None:
    text = "I bought software 10 days ago, the seal is intact and I have the receipt. Can I get a refund?"
    assert not asked(text, own, proposed())[1].read


def test_a_fact_that_nobody_may_assert_never_comes_from_words(own: BundleIndex) -> None:
    facts = {**own.vocabulary.facts}
    facts["has_receipt"] = facts["has_receipt"].model_copy(update={"assertable": False})
    vocabulary = own.vocabulary.model_copy(update={"facts": facts})
    case = ReadCase.model_validate(proposed(LOST))
    assert held(case, SAID, vocabulary, own.ruleset.variables, date(2026, 11, 20)).reads == ()


# ---- the thresholds of rules/enforcement.yaml (seed 001) ------------------------------------------------------------

VAGUE = "Can a gold customer have the money for a TV?"  # keywords of several domains


def ruled(own: BundleIndex, **shares: Decimal) -> BundleIndex:
    """The own policies, with other thresholds."""
    rules = own.rules.model_copy(update={"enforcement": own.rules.enforcement.model_copy(update=shares)})
    return BundleIndex(own.bundle.model_copy(update={"rules": rules}))


@pytest.mark.parametrize(("above", "is_asked"), [(Decimal(0), False), (Decimal("0.001"), True)])
def test_classify_by_model_below_a_confidence_the_model_finds_the_domain(
    own: BundleIndex, above: Decimal, is_asked: bool
) -> None:
    case = case_of(VAGUE, NOW.date(), {}, own, own.evaluator)
    confidence = Decimal(str(case.memory.topic.confidence))
    index = ruled(own, classify_by_model_below=confidence + above, extract_by_model_below=Decimal(0))
    other = next(name for name in sorted(own.rules_by_domain) if name not in case.memory.topic.domains[:1])
    model = Held(domain=other)
    _, author = asked(VAGUE, index, proposed(domain=other))
    assert bool(author.read) is is_asked
    found = case_of(VAGUE, NOW.date(), {}, index, index.evaluator, proposed=model)
    assert (found.memory.topic.domains[0] == other) is is_asked


@pytest.mark.parametrize(("above", "is_asked"), [(Decimal(0), False), (Decimal("0.001"), True)])
def test_extract_by_model_below_a_share_of_the_facts_the_model_reads_them(
    own: BundleIndex, above: Decimal, is_asked: bool
) -> None:
    text = "I bought a tablet 20 days ago, and the till slip went through the wash. Can I get a refund?"
    case = case_of(text, NOW.date(), {}, own, own.evaluator)
    share = Decimal(len(case.facts)) / len({*case.facts, *case.scope.missing})
    assert 0 < share < 1
    reply, author = asked(
        text, ruled(own, classify_by_model_below=Decimal(0), extract_by_model_below=share + above), proposed(LOST)
    )
    assert bool(author.read) is is_asked
    assert ("has_receipt" in reply.facts) is is_asked


@each(
    ("told", "tests"),
    [
        ({"operator": ">", "value": 3, "unit": "months"}, ((">", 90),)),
        ({"operator": ">", "value": 90}, ((">", 90),)),
        ({"operator": "<", "value": 3, "unit": "months"}, ()),
        ({"operator": ">", "value": 4, "unit": "months"}, ()),
        ({"operator": "!=", "value": 90}, ()),
        ({"operator": "between", "value": [90, 100]}, ()),
    ],
)
def test_a_bound_is_one_where_our_own_reader_finds_the_same(told: dict[str, Any], tests: Any, own: BundleIndex) -> None:
    text = "My tablet left your shop over three months back. A refund?"
    case = ReadCase.model_validate(proposed({**fact("days_since_purchase", 0, "over three months back"), **told}))
    found = held(case, text, own.vocabulary, own.ruleset.variables, date(2026, 11, 20))
    assert [one.tests for one in found.stopped] == [tests] and not found.reads
