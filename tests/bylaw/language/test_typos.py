"""Slips of the keyboard: what is forgiven, and what looks like another word."""

from itertools import product

from rapidfuzz.distance import OSA

from bylaw.language.typos import Nearest, closest, is_one_slip
from tests.rows import each

WORDS = Nearest(
    ["laptop", "receipt", "charger", "electronic", "packed", "shipped", "tablet", "television", "tv", "box"]
)


@each(("word", "meant"), [("latop", "laptop"), ("reciept", "receipt"), ("televison", "television")])
def test_a_near_word_is_corrected(word: str, meant: str) -> None:
    assert WORDS.correct(word) == meant


@each(
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


def test_one_slip_is_a_distance_of_one() -> None:
    words = ["".join(letters) for length in range(5) for letters in product("abc", repeat=length)]
    wrong = [
        (one, other) for one in words for other in words if is_one_slip(one, other) != (OSA.distance(one, other) == 1)
    ]
    assert wrong == []


def test_a_phrase_needs_a_margin() -> None:
    assert closest("washing machin", ["washing machine", "dish washer"]) == "washing machine"
    assert closest("monthly plam", ["monthly plan", "monthly play"]) is None
    assert closest("fridge", ["washing machine"]) is None
    assert closest("tv", ["tvs"]) is None
    assert closest("anything", []) is None
