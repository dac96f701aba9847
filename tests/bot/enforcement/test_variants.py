"""What follows from a declared phrase: rows of phrase and ways to say it."""

import pytest

from bot.enforcement.variants import of_flag, of_slot


@pytest.mark.parametrize(
    ("name", "said", "expected"),
    [
        ("has_damaged_battery", [("battery is swollen", True)], ("battery swollen", True)),
        ("is_unsealed", [("unopened", False)], ("never opened", False)),
        ("is_unsealed", [("unopened", False)], ("opened it", True)),
        ("has_call_consent", [("agreed to the recording", True)], ("did not agree to the recording", False)),
        ("has_accidental_damage", [("dropped it", True)], ("did not drop it", False)),
        ("has_receipt", [], ("with receipt", True)),
        ("has_receipt", [], ("no receipt", False)),
        ("is_member", [("is a member", True)], ("neither member", False)),
        ("is_member", [], ("member", True)),
        ("confirmed", [], ("confirmed", True)),
    ],
)
def test_a_flag_can_be_said_in_other_words(name: str, said: list[tuple[str, bool]], expected: tuple[str, bool]) -> None:
    assert expected in of_flag(name, said)
    assert of_flag(name, said)[: len(said)] == said


def test_what_is_in_two_words_says_nothing_alone() -> None:
    assert "is" not in dict(of_flag("is_member", [("is a member", True)]))
    assert "opened" not in dict(of_flag("is_unsealed", [("unopened", False)]))
    assert [text for text, _ in of_flag("flag", [("is not", True)])] == ["is not"]


@pytest.mark.parametrize(
    ("text", "is_count", "expected"),
    [
        ("order was placed {value} days ago", False, "order placed {value} days ago"),
        ("purchased {value} days ago", False, "{value} days after purchase"),
        ("delivered {value} hours ago", False, "{value} hours since delivery"),
        ("ordered {value} days ago", False, "{value} days from order"),
        ("{value} complaints", True, "complaints {value} times"),
    ],
)
def test_a_number_can_be_said_in_other_words(text: str, is_count: bool, expected: str) -> None:
    assert expected in [" ".join(way.split()) for way in of_slot(text, is_count)]


@pytest.mark.parametrize("text", ["order is {value}", "paid {value}", "{value} dollars", "{value} days ago"])
def test_other_words_need_words_to_begin_with(text: str) -> None:
    assert list(of_slot(text, is_count=False)) == []
