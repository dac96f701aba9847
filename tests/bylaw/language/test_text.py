"""A text is read as a person sees it; its figures are complete."""

import random
import re
import string
from pathlib import Path

import yaml

from bylaw.language.figures import Figure, figures
from bylaw.language.lexicon import lexicon, stem
from bylaw.language.text import clean, parse
from tests.rows import each

ROWS = yaml.safe_load(Path(__file__).with_name("figures.yaml").read_text())


def _told(one: Figure) -> str:
    words = [str(one.values[0]), one.unit or "", f"per {one.per}" if one.per else ""]
    return ("" if one.is_firm else "~") + " ".join(filter(None, words))


@each("row", ROWS, ids=[row["text"] for row in ROWS])
def test_the_figures_of_a_text(row):
    assert [_told(one) for one in figures(row["text"])] == [str(one) for one in row["figures"]]


@each(
    ("text", "passages"),
    [
        ("One. Two! Three?", ["One.", "Two!", "Three?"]),
        ("Let me see... yes, it is (e.g. today). Fine", ["Let me see... yes, it is (e.g. today).", "Fine"]),
        ("Steps:\n1. A pen\n2. A photo ID", ["Steps:", "A pen", "A photo ID"]),
        ("| a | b |\n|---|---|\n| c | d |", ["| a | b |", "| c | d |"]),
        ("a line that\ngoes on. And\n\nA new one", ["a line that\ngoes on.", "And", "A new one"]),
        ("It costs 1.5 kg at 3 p.m. today", ["It costs 1.5 kg at 3 p.m. today"]),
        ("", []),
        ("…—!", []),
    ],
)
def test_the_passages_of_a_text(text, passages):
    found = parse(text)
    assert [found.seen[one.start : one.end] for one in found.passages] == passages


def test_what_nobody_sees_is_not_read():
    hidden = "You get a ~~full~~ **store** cre\u200bdit<!-- not --> <s>now</s> f\u0336u\u0336l\u0336l\u0336 ‘today’"
    assert " ".join(clean(hidden).split()) == "You get a store credit 'today'"


def test_a_quote_is_found_over_line_ends_and_curly_signs():
    text = parse("We don’t\ntake  it back.")
    assert text.find("don't take it") == ((3, 17),)
    assert text.find("do not take it") == ()


def test_forms_of_a_word_share_a_stem():
    alike = (
        ("verify", "verified"),
        ("damaged", "damage"),
        ("cancel", "cancelled", "cancellation"),
        ("child", "children"),
    )
    for forms in alike:
        assert len(set(map(stem, forms))) == 1, forms


def test_any_text_is_read_without_an_error_and_every_digit_is_in_a_figure():
    signs = string.digits * 2 + " .,/%$€:()|\n" + "one~two~half~of~a~the~twenty~hundred~per~day~May~"
    chance = random.Random(7)
    for _ in range(300):
        text = " ".join("".join(chance.choice(signs) for _ in range(60)).split("~"))
        seen, found = parse(text).seen, figures(text)
        for i, char in enumerate(seen):
            is_of_a_name = re.search(r"[^\W\d][\w.,]*$", seen[:i])
            if char.isdecimal() and not is_of_a_name:
                assert any(one.start <= i < one.end for one in found), (text, i)


def test_the_lexicon_finds_phrases():
    assert lexicon()["negation"].any_in(["it", "is", "no", "longer", "so"])
    assert "giving" not in lexicon()["negation"]
