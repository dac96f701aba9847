"""From sentences to facts: rows, and what must hold for every text."""

from datetime import date
from pathlib import Path

import pytest
import yaml
from hypothesis import given, settings
from hypothesis import strategies as st

from bot.enforcement.question.case.facts import Reading, read_text
from bot.index import BundleIndex
from bylaw.authored.vocabulary import Fact
from bylaw.logic.formula.ir import Variable
from tests.rows import each

TODAY = date(2026, 11, 20)
ROWS = yaml.safe_load(Path(__file__).with_name("facts.yaml").read_text())


def reading(text: str, shop: BundleIndex, *asked: str) -> Reading:
    return read_text(text, shop.vocabulary, shop.ruleset.variables, TODAY, asked)


def shown(text: str, shop: BundleIndex) -> dict[str, object]:
    variables = shop.ruleset.variables
    return {read.fact: variables[read.fact].show(read.value) for read in reading(text, shop).reads}


@each("row", ROWS, ids=lambda row: str(row.get("title", row["text"]))[:60])
def test_a_sentence_states_exactly_these_facts(row: dict, shop: BundleIndex) -> None:
    assert shown(row["text"], shop) == row.get("facts", {})
    assert [one.fact for one in reading(row["text"], shop).unclear] == sorted(row.get("unclear", []))


@each("row", ROWS, ids=lambda row: str(row["text"])[:60])
def test_a_reading_quotes_the_text(row: dict, shop: BundleIndex) -> None:
    for read in read_text(row["text"], shop.vocabulary, shop.ruleset.variables, TODAY).reads:
        assert row["text"][read.start : read.end] == read.words != ""


def test_a_shared_word_is_read_for_the_fact_that_is_asked_about(shop: BundleIndex) -> None:
    assert reading("by visa", shop, "paid_with").facts == {"paid_with": "credit_card"}
    assert reading("by visa", shop, "refund_to").facts == {"refund_to": "credit_card"}
    assert reading("by visa", shop, "paid_with", "refund_to").facts == {}


def test_a_number_without_words_is_that_of_the_only_fact_that_is_measured_so(shop: BundleIndex) -> None:
    assert reading("a box of 7 kg", shop, "parcel_weight").facts == {"parcel_weight": 7}
    assert reading("a box of 7 kg", shop, "has_receipt").facts == {}
    assert reading("a box of 7 kg", shop, "has_receipt").unused == ("7 kg",)


def test_what_a_number_counts_by_may_be_declared_behind_it(shop: BundleIndex) -> None:
    facts = shop.vocabulary.facts
    rate = facts["purchase_amount"].model_copy(update={"phrases": ["{value} a night", "{value} per night"]})
    vocabulary = shop.vocabulary.model_copy(update={"facts": {**facts, "purchase_amount": rate}})
    rows = {
        "for 190 USD a night": {"purchase_amount": 190},
        "$190 per night?": {"purchase_amount": 190},
        "190 USD a month": {},
    }
    for text, expected in rows.items():
        assert read_text(text, vocabulary, shop.ruleset.variables, TODAY).facts == expected, text


def test_an_unclear_reading_says_why(shop: BundleIndex) -> None:
    reasons = {
        "bought more than 30 days ago": "it gives a bound or a range, not one value",
        "bought 36 hours ago": "it is not a whole number of days",
        "it cost €20": "it is in EUR, not in USD",
        "by visa": "it could also be: where the money goes",
        "maybe I have the receipt": "it is not said for sure",
        "a phone and a shirt": "they contradict each other",
    }
    for text, reason in reasons.items():
        assert reading(text, shop).unclear[0].reason == reason


VARIED = (
    "I|have|the|a|receipt|no|not|lost|without|with|don't|bought|20|days|ago|three weeks|TV|shirt|VIP|$600|cost|600|"
    "dollars|and|but|or|,|.|?|5 kg|weighs|20% off|more than|yesterday|online|ordered|2 hours|items|-|never|visa|need|"
    "to|half an hour|a fortnight|on|delivered on|2026-11-01|opened|box|gift card|couple of|1,200.50|€20"
)
PIECES = st.sampled_from(VARIED.split("|"))
GAPS = st.sampled_from([" ", "  ", "\n", "\t ", " \r\n\n "])


@given(pieces=st.lists(PIECES, max_size=14), gaps=st.lists(GAPS, min_size=14))
@settings(max_examples=400, deadline=None)
def test_reading_is_the_same_in_any_case_and_with_any_white_space(
    pieces: list[str], gaps: list[str], shop: BundleIndex
) -> None:
    plain = " ".join(pieces)
    expected = shown(plain, shop)
    spaced = "".join(part.replace(" ", gap) + gap for part, gap in zip(pieces, gaps, strict=False))
    assert shown(plain.upper(), shop) == shown(plain.lower(), shop) == shown(spaced, shop) == expected


@given(text=st.text(max_size=300))
@settings(max_examples=300, deadline=None)
def test_any_text_is_read_without_a_crash_and_stays_in_the_domains(text: str, shop: BundleIndex) -> None:
    for read in reading(text, shop).reads:
        variable = shop.ruleset.variables[read.fact]
        assert variable.read(variable.show(read.value)) == read.value


HOSTILE = {
    "words": "bought a TV and lost the receipt ",
    "anchors": "bought ",
    "numbers": "20 ",
    "quantities": "20 days ago $5 ",
    "not": "not ",
    "no punctuation": "I never have the ",
    "digits": "1",
    "separators": "1,",
    "spaces": " ",
    "newlines": "\n",
    "punctuation": "?!.,",
    "regular expression": "(a+)+$.*[",
    "emoji": "👩‍👩‍👧🎉",
    "combining": "e\u0301\u0323",
    "apostrophes": "a'",
    "hyphens": "-1",
    "slots": "{value} days ago ",
    "letters": "a",
    "typos": "recieptt electroncis ",
    "different words": "",
}


# One of each kind in its full length: prose, amounts, a sentence without an end, one word, symbols, no word twice.
LONGEST = ("words", "quantities", "no punctuation", "letters", "regular expression", "different words")


@pytest.mark.parametrize(
    ("name", "size"),
    [
        *((name, 10_000) for name in HOSTILE),
        *(pytest.param(name, 100_000, marks=pytest.mark.slow) for name in LONGEST),
    ],
)
def test_a_hundred_kilobytes_of_anything_are_read(name: str, size: int, shop: BundleIndex) -> None:
    piece = HOSTILE[name]
    text = piece * (size // len(piece)) if piece else " ".join(f"w{i:x}rd" for i in range(size // 7))
    assert isinstance(reading(text, shop), Reading)


def test_the_unit_of_a_number_is_no_value_of_a_category(shop: BundleIndex) -> None:
    ticket = Fact.model_validate({"type": "enum", "values": {"year": ["year pass"], "trial": ["8 years"]}})
    vocabulary = shop.vocabulary.model_copy(update={"facts": {"ticket": ticket}})
    variables = {"ticket": Variable("ticket", "enum", ("year", "trial"))}
    told = {
        "I come with a year pass": {"ticket": "year"},
        "my 9 year old son": {},
        "a 9 year pass": {"ticket": "year"},
        "it is for 8 years": {"ticket": "trial"},  # declared, whole
    }
    assert {text: read_text(text, vocabulary, variables, TODAY).facts for text in told} == told
