"""Which questions are about policies, and which domains their words are near."""

import pytest

from bot.enforcement.question.fit import prepare, score, topics
from bot.enforcement.question.near import domains_near
from bot.index import BundleIndex

POLICY = [
    "Can I get a refund?",
    "I bought a TV 20 days ago and lost the receipt. Can I get a refund?",
    "Am I allowed to disclose the social security number?",
    "May we send a parcel by air?",
    "Does a VIP with 2 items get a discount?",
    "Must the identity be verified for a refund?",
    "can somebody get a refund for a laptop he opened",
]
NO_POLICY = [
    "net revenue by region last quarter",
    "top 5 products by revenue",
    "why did we leave plasma?",
    "who decided that?",
    "hello",
    "can I bring my kids",
    "what does a flight to London cost",
    "🎉",
    "",
    "?",
]


@pytest.mark.parametrize("text", POLICY)
def test_a_policy_question_scores_high(text: str, shop: BundleIndex) -> None:
    assert score(text, shop) >= 0.6


@pytest.mark.parametrize("text", NO_POLICY)
def test_anything_else_scores_low(text: str, shop: BundleIndex) -> None:
    """Below the edge, or as what asks for a rule that is not there."""
    assert score(text, shop) <= shop.rules.routing.policy.form


def test_what_was_paid_back_is_less_of_one_than_what_somebody_gets(shop: BundleIndex) -> None:
    assert score("how much did a VIP get refunded", shop) < 0.5 < score("how much does a VIP get refunded", shop)


def test_counting_refunds_is_less_of_a_policy_question_than_asking_for_one(shop: BundleIndex) -> None:
    assert score("How many refunds were there last month?", shop) < 0.3 < score("Do I get a refund?", shop)


@pytest.mark.parametrize(
    ("text", "first"),
    [
        ("Can I get a refund?", "refund"),
        ("May we ship a heavy parcel by air?", "shipping"),
        ("what does delivery cost", "shipping"),
        ("may I disclose personal data", "privacy"),
        ("which discount for 2 items", "discount"),
    ],
)
def test_the_words_of_a_domain_are_near_it(text: str, first: str, shop: BundleIndex) -> None:
    assert domains_near(text, shop)[:1] == (first,)


def test_without_a_known_word_there_is_no_domain(shop: BundleIndex) -> None:
    assert domains_near("the airspeed of an unladen swallow", shop) == ()


def test_the_domains_are_what_can_be_asked_about(shop: BundleIndex) -> None:
    assert topics(shop) == ("discount", "privacy", "refund", "shipping", "vault")


def test_preparing_changes_no_answer(shop: BundleIndex) -> None:
    before = score("Can I get a refund?", shop)
    prepare(shop)
    assert score("Can I get a refund?", shop) == before
