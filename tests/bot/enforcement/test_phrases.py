"""The phrases of a vocabulary as they are compiled, and what an utterance knows of its words."""

from datetime import date

import pytest

from bot.enforcement.phrases import Lexicon, Phrase, phrase_words
from bot.enforcement.utterance import Percent, Utterance, utterance
from bylaw.authored.vocabulary import Vocabulary
from bylaw.language.units import Duration


def compiled(fact: dict, name: str = "fact") -> list[Phrase]:
    lexicon = Lexicon(Vocabulary.model_validate({"facts": {name: fact}}))
    return [*(phrase for group in lexicon.by_first.values() for phrase in group), *lexicon.slot_first]


def test_determiners_do_not_count() -> None:
    assert phrase_words("with my receipt") == phrase_words("with a receipt") == ("with", "receipt")
    assert phrase_words("the") == ("the",)


@pytest.mark.parametrize(
    ("text", "before", "unit", "after"),
    [
        ("bought {value} days ago", ("bought",), "days", ("ago",)),
        ("{value} business days", (), "business days", ()),
        ("cost {value}", ("cost",), None, ()),
        ("cost ${value}", ("cost",), "USD", ()),
        ("{value} dollars", (), "USD", ()),
        ("{value}% off", (), "%", ("off",)),
        ("weighs {value} kg", ("weigh",), "kilograms", ()),
    ],
)
def test_a_slot_takes_the_unit_behind_it(
    text: str, before: tuple[str, ...], unit: str | None, after: tuple[str, ...]
) -> None:
    phrase, *_ = compiled({"type": "integer", "phrases": [text]})
    measured = phrase.measure.name if phrase.measure else phrase.unit
    assert (phrase.before, measured, phrase.after) == (before, unit, after)


@pytest.mark.parametrize("text", ["no slot", "{value} and {value}"])
def test_a_number_phrase_without_exactly_one_slot_says_nothing(text: str) -> None:
    assert compiled({"type": "integer", "phrases": [text]}) == []


def test_everyday_values_are_not_read_from_free_text() -> None:
    values = [
        phrase.value for phrase in compiled({"type": "enum", "values": {"red": ["crimson"], "other": [], "none": []}})
    ]
    assert values == ["red", "red"]


def test_a_boolean_named_has_knows_how_people_say_so() -> None:
    said = {(" ".join(phrase.before), phrase.value) for phrase in compiled({"type": "boolean"}, "has_invoice")}
    assert {("have invoice", True), ("no invoice", False), ("lost invoice", False), ("without invoice", False)} <= said


def test_quantities_do_not_overlap() -> None:
    said = Utterance("$600, 20 days, 15%, 3 November 2026, 7").on(date(2026, 11, 20))
    assert [quantity.words for quantity in said.quantities] == ["$600", "20 days", "15", "3 November 2026", "7"]
    assert said.quantities[1].value == Duration(20, "days")
    assert said.quantities[2].value == Percent(15)
    assert said.quantities[3].value == date(2026, 11, 3)


def test_a_day_counts_from_the_one_the_words_are_said_on() -> None:
    fact = {"type": "date", "phrases": ["bought {value}"]}
    lexicon = Lexicon(Vocabulary.model_validate({"facts": {"bought": fact}}))
    said = [utterance("I bought it on 3 May", date(year, 11, 20)) for year in (2026, 2027, 2026)]
    named = [[quantity.value for quantity in one.quantities] for one in said]
    assert named == [[date(year, 5, 3)] for year in (2026, 2027, 2026)]
    assert [one.today.year for one in said] == [2026, 2027, 2026]
    found = [[match.quantity.value for match in lexicon.found(one).matches] for one in said]
    assert found[0] == found[2] != found[1]
