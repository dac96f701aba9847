"""The plain writer, sentence by sentence."""

from datetime import date
from fractions import Fraction

import pytest

from bot.enforcement.question import offers
from bot.enforcement.question.bounds import Bound, Read
from bot.enforcement.writing import write
from bot.index import BundleIndex
from bylaw.authored.vocabulary import Vocabulary
from bylaw.logic.formula.ir import Atom, Value


@pytest.fixture
def words(shop: BundleIndex) -> write.Words:
    return write.Words(shop.vocabulary)


@pytest.mark.parametrize(
    ("fact", "value", "said"),
    [
        ("has_receipt", True, "yes"),
        ("has_receipt", False, "no"),
        ("days_since_purchase", 1, "1 day"),
        ("days_since_purchase", 20, "20 days"),
        ("purchase_amount", Fraction(2401, 2), "1200.5 USD"),
        ("item_count", 3, "3"),
        ("product_category", "gift_card", "gift card"),
        ("delivered_on", date(2025, 11, 3).toordinal(), "2025-11-03"),
    ],
)
def test_a_value_is_said_with_its_unit(fact: str, value: Value, said: str, words: write.Words) -> None:
    assert words.value(fact, value) == said


def test_names_without_a_label_are_said_as_words(words: write.Words) -> None:
    assert words.fact("no_such_fact") == "no such fact"
    assert words.action("money_back") == "money back"
    assert words.action("full_refund") == "a full refund"
    assert words.outcome("some_outcome") == "some outcome"


def test_a_question_is_the_facts_own_or_made_from_its_label(words: write.Words) -> None:
    assert write.question(words, "has_receipt") == "Do you have the receipt?"
    assert write.question(words, "parcel_weight") == "What is the weight of the parcel, in kg?"
    assert write.question(words, "channel") == "Please tell me where it was bought."


def test_choices_are_offered_for_short_lists_only(shop: BundleIndex) -> None:
    facts = shop.vocabulary.facts
    assert [choice.value for choice in write.choices(facts["has_receipt"])] == ["yes", "no"]
    assert [choice.value for choice in write.choices(facts["channel"])] == ["in-store", "online"]
    assert write.choices(facts["purchase_amount"]) == ()


def test_a_label_with_forms_stands_in_a_sentence() -> None:
    pay = {"name": "the money", "given": "you get the money", "denied": "the money is not paid back"}
    keep = {"name": "nothing", "given": "you get nothing", "denied": "you get something"}
    vocabulary = Vocabulary.model_validate(
        {
            "facts": {
                "late": {
                    "type": "integer",
                    "unit": "days",
                    "label": {"name": "delay", "given": "you were {value} late"},
                },
                "paid": {"type": "boolean", "label": {"name": "is paid", "denied": "nobody paid"}},
                "has_card": {"type": "boolean", "label": "the member has a card"},
            },
            "actions": {
                "pay": {"outcome": "back", "label": pay},
                "keep": {"outcome": "back", "label": keep},
                "none": {"outcome": "back", "label": {"name": "no money", "given": "the money is not paid back"}},
                "pay_later": {"outcome": "back", "label": {"name": "later", "given": "you get the money a day later"}},
            },
            "outcomes": {"back": {"label": {"name": "what you get", "ask": "What do I get?"}}},
        }
    )
    words = write.Words(vocabulary)
    assert write.taken(words, "back", "pay", True) == "Yes, you get the money."
    assert write.taken(words, "back", "keep", False, ["pay"]) == "No, the money is not paid back. You get nothing."
    assert write.taken(words, "back", "none", False, ["pay"]) == "No, the money is not paid back."
    assert write.taken(words, "back", "keep") == "You get nothing."
    assert vocabulary.is_part("pay", "pay_later") and not vocabulary.is_part("keep", "pay_later")
    assert write.duty(words, "prohibited", "pay") == "The money is not paid back."
    told = [words.told(name, value) for name, value in {"late": 1, "paid": False, "has_card": False}.items()]
    assert told == ["you were 1 day late", "nobody paid", "the member does not have a card"]
    assert offers.choices(["back"], vocabulary)[0].label == "What do I get?" and words.outcome("back") == "what you get"
    assert Vocabulary.model_validate_json(vocabulary.model_dump_json()).actions["pay"].label.written() == pay  # type: ignore[union-attr]


def test_an_action_asked_for_is_answered_first(words: write.Words) -> None:
    assert write.taken(words, "refund", "full_refund", True) == "Yes. What the customer gets back: a full refund."
    assert (
        write.taken(words, "refund", "reject", False, ["full_refund"]) == "No. What the customer gets back: no refund."
    )
    assert write.taken(words, "refund", "reject") == "What the customer gets back: no refund."


def test_what_was_read_is_shown_with_its_words_and_long_words_are_cut(words: write.Words) -> None:
    read = Read("has_receipt", False, "lost   the\nreceipt")
    more = Bound((Atom("item_count", ">", 3),), "more than 3 things")
    assert write.understood(words, [read], [more], "number of items: 2") == [
        "I read: has the receipt: no (“lost the receipt”); number of items is more than 3 (“more than 3 things”).",
        "From before: number of items: 2.",
    ]
    assert write.understood(words, [], [], "") == []
    (line,) = write.understood(words, [Read("item_count", 2, "x" * 500)], [], "")
    assert len(line) < 150


def test_what_was_not_used_is_shown_with_the_reason(words: write.Words) -> None:
    assert write.not_understood(words, {"over 3 items": "item_count"}) == [
        "I did not use “over 3 items” (number of items): it is a bound or a range."
    ]


def test_a_listing_reads_like_english() -> None:
    assert [write.listing(items) for items in (["a"], ["a", "b"], ["a", "b", "c"])] == ["a", "a and b", "a, b and c"]
