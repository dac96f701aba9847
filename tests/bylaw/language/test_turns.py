"""How a turn opens: one list of openings for policies, data and the router."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from bylaw.language import turns
from tests.rows import each


@each(
    ("text", "is_more"),
    [
        ("and by region?", True),
        ("ok, and for gold customers?", True),
        ("no, I meant 2025", True),
        ("now only the EU", True),
        ("going back to the lamp", True),
        ("sorry, it was 20 days ago", False),
        ("order by region", False),
        ("android phones by month", False),
        ("", False),
        ("?!", False),
    ],
)
def test_more_of_what_was_said_is_told_by_how_it_opens(text, is_more):
    assert turns.goes_on(text) is is_more


@each(
    ("text", "words"),
    [
        ("yes, but only 2025", ("yes", "but", "only")),
        ("show 2024 instead", ("instead",)),
        ("gold customers only", ("only",)),
        ("compared to last year", ()),
        ("without Germany", ()),
    ],
)
def test_only_words_that_carry_nothing_are_passed_over(text, words):
    assert turns.words_that_go_on(text) == words


@each(
    ("text", "is_reply"),
    [
        ("by month", True),
        ("it's 40 days", True),
        ("40", True),
        ("why not?", True),
        ("versus the year before", True),
        ("how does that compare?", True),
        ("second: a phone bought 40 days ago, with a receipt", True),
        ("how many orders last month", False),
        ("in which of our shops can a customer get the full price back", False),
    ],
)
def test_a_few_words_that_stand_on_others_are_a_reply(text, is_reply):
    assert turns.replies(text, 6) is is_reply


@given(st.text())
def test_every_text_opens_in_some_way(text):
    assert isinstance(turns.replies(text, 6) or turns.states(text) or turns.corrects(text), bool)
    assert set(turns.words_that_go_on(text)) <= set(turns.words_of(text))
