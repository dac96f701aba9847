"""Slips of the keyboard: what is forgiven, and what looks like another word."""

import pytest

from bylaw.language.typos import Nearest, closest

WORDS = Nearest(
    ["laptop", "receipt", "charger", "electronic", "packed", "shipped", "tablet", "television", "tv", "box"]
)


@pytest.mark.parametrize(("word", "meant"), [("latop", "laptop"), ("reciept", "receipt"), ("televison", "television")])
def test_a_near_word_is_corrected(word: str, meant: str) -> None:
    assert WORDS.correct(word) == meant


@pytest.mark.parametrize(
    "word",
    [
        "televizion",
        "electroncis",
        "charged",
        "skipped",
        "laptop",
        "tvs",
        "bix",
        "table",
        "sealed",
        "laptops",
        "xaptop",
        "zzzzzzzz",
        "",
    ],
)
def test_anything_else_is_left_alone(word: str) -> None:
    assert WORDS.correct(word) is None


def test_a_word_between_two_words_is_neither() -> None:
    assert Nearest(["matter", "mutter"]).correct("mitter") is None


def test_a_phrase_needs_a_margin() -> None:
    assert closest("washing machin", ["washing machine", "dish washer"]) == "washing machine"
    assert closest("monthly plam", ["monthly plan", "monthly play"]) is None
    assert closest("fridge", ["washing machine"]) is None
    assert closest("tv", ["tvs"]) is None
    assert closest("anything", []) is None
