"""Which fact a number tells, by the words that stand around it."""

from datetime import date

from bot.enforcement.question.case.facts import read_text
from bylaw.authored.vocabulary import Vocabulary
from ci.loading.derived.variables import variables
from tests.rows import each

VOCABULARY = Vocabulary.model_validate(
    {
        "facts": {
            "age": {"type": "integer", "unit": "years", "phrases": ["I am {value}"]},
            "days_overdue": {"type": "integer", "unit": "days", "phrases": ["{value} days late"]},
            "points": {"type": "integer", "minimum": 0, "phrases": ["{value} points"]},
            "hours_before": {"type": "integer", "unit": "hours", "phrases": ["in {value} hours"]},
            "notice": {"type": "integer", "unit": "days", "phrases": ["starts in {value} days"]},
            "days_signed_up": {"type": "integer", "unit": "days", "phrases": ["signed up {value} days ago"]},
        }
    }
)


SHOP = Vocabulary.model_validate(
    {
        "facts": {
            "is_ours": {"type": "boolean", "phrases": {"true": ["your fault"], "false": ["my fault"]}},
            "is_paid": {"type": "boolean", "phrases": {"true": ["paid my bill"], "false": ["bill is open"]}},
        }
    }
)


@each(
    ("text", "facts"),
    [
        ("it's your fault", {"is_ours": True}),
        ("it was my fault", {"is_ours": False}),
        ("whose fault is it", {}),
        ("I paid the bill", {"is_paid": True}),
    ],
)
def test_my_and_your_tell_apart_what_only_they_tell_apart(text: str, facts: dict[str, bool]) -> None:
    assert read_text(text, SHOP, variables(SHOP), date(2026, 11, 20)).facts == facts


@each(
    ("text", "facts"),
    [
        ("I'm 22", {"age": 22}),
        ("I'm only 22", {"age": 22}),
        ("I'm 30 days late", {"days_overdue": 30}),
        ("I'm moving out on the 30th", {}),
        ("I'm bringing my sister, 14 days late", {"days_overdue": 14}),
        ("it begins in 12 hours", {"hours_before": 12}),
        ("in my room for 24 hours", {}),
        ("signed up for the plan 25 days ago", {"days_signed_up": 25}),
        ("I have 3 points", {"points": 3}),
        ("I have no points", {"points": 0}),
        ("I have no more than 3 points", {}),
        ("no idea how many points", {}),
    ],
)
def test_a_number_is_of_the_fact_whose_words_govern_it_and_whose_value_it_is(text: str, facts: dict[str, int]) -> None:
    assert read_text(text, VOCABULARY, variables(VOCABULARY), date(2026, 11, 20)).facts == facts


def test_a_number_that_is_no_value_of_the_fact_it_stands_beside_is_of_the_one_asked_about_in_its_unit() -> None:
    said = "it starts in 30 hours"
    found = [
        read_text(said, VOCABULARY, variables(VOCABULARY), date(2026, 11, 20), asked)
        for asked in (["hours_before"], ["notice"])
    ]
    assert [one.facts for one in found] == [{"hours_before": 30}, {}]
    assert [one.fact for one in found[1].unclear] == ["notice"]
