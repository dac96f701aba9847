"""Cases that were told before: which one is meant, and whole dialogues that go back to one."""

import json
from datetime import date
from pathlib import Path
from typing import Any

import pytest
import yaml

from bot.enforcement.question.earlier import MOST, EarlierCase, is_correction, left, meant, names_back, opens_another
from bot.enforcement.question.memory import Memory, load
from bot.enforcement.question.topic.recognise import Topic
from bot.enforcement.question.understanding import understand
from bot.index import BundleIndex
from tests.rows import each

DIALOGUES = yaml.safe_load(Path(__file__).with_name("earlier.yaml").read_text())
A, B, C = (EarlierCase(number, {"failed_login_count": number}, Topic()) for number in range(3))


@pytest.mark.parametrize("dialogue", DIALOGUES, ids=lambda dialogue: str(dialogue["title"]))
def test_a_dialogue_goes_back_to_what_was_told(dialogue: dict[str, Any], own: BundleIndex) -> None:
    variables, state = own.ruleset.variables, Memory({}).dump(own.ruleset.variables)
    for turn in dialogue["turns"]:
        memory, _, _ = understand(turn["say"], date(2026, 11, 20), load(state, variables), own, own.evaluator)
        state = json.loads(json.dumps(memory.dump(variables)))
        assert state["facts"] == turn["facts"], turn["say"]


@each(
    ("text", "expected"),
    [
        ("and the first one?", A),
        ("ok back to the first case: what then?", A),
        ("what about the second one", B),
        ("the previous customer had a receipt", B),
        ("and the previous customer?", B),
        ("the other one", B),
        ("first: a phone", A),
        ("the third one", None),
        ("the fourth one", None),
        ("he returned the first one", None),
        ("the first 10 days are over", None),
        ("back to the two failed logins", None),
    ],
)
def test_a_case_is_meant_by_its_place(text: str, expected: EarlierCase | None) -> None:
    assert meant(text, (A, B), C, {}) is expected
    assert meant(text, (), C, {}) is None


def test_a_case_is_meant_by_its_name() -> None:
    assert names_back("ok back to the TV: what if it is broken?") == "the TV"
    assert names_back("I sent the TV back") is None
    assert meant("back to the TV", (A, B), C, {"failed_login_count": 0}) is A
    assert meant("back to the TV", (A, B), C, {"failed_login_count": 7}) is None
    assert meant("a TV", (A, B), C, {"failed_login_count": 0}) is None


@each(
    ("text", "opens"),
    [
        ("second: a game", True),
        ("ok, next case: a game", True),
        ("another customer: a game", True),
        ("a new customer - a game", True),
        ("the second phone is broken", False),
        ("another phone: broken", False),
        ("first: a game", False),
    ],
)
def test_another_case_is_announced(text: str, opens: bool) -> None:
    assert opens_another(text) is opens


def test_a_correction_tells_of_the_same_case() -> None:
    assert is_correction("sorry, 12 days") and is_correction("no, 12 days") and is_correction("12, I mean 13")
    assert not is_correction("and after 12 days?")


def test_only_the_last_few_are_kept() -> None:
    told: tuple[EarlierCase, ...] = ()
    for number in range(9):
        told = left(told, EarlierCase(number, {}, Topic()), number + 1)
    assert [one.number for one in told] == list(range(9 - MOST, 9))
    assert left((A, B), C, 0) == (B, C)


def test_what_does_not_fit_is_forgotten(own: BundleIndex) -> None:
    state = {"facts": {}, "number": "x", "earlier": [{"facts": {"nonsense": 1, "failed_login_count": 4}}, 7]}
    memory = load(state, own.ruleset.variables)
    assert memory.number == 0
    assert [one.facts for one in memory.earlier] == [{"failed_login_count": 4}]
    assert load({"earlier": "x"}, own.ruleset.variables) == Memory({})
