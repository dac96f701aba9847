"""What is carried from turn to turn: the same again, a choice made once, what was talked about before."""

from __future__ import annotations

from bot.analytics.reader import carrying
from bot.analytics.reader.reading import Bound, Unclear
from bot.conversation import Choice
from bylaw.semantic.query import SemanticQuery
from tests.rows import each

PHRASES = ["the same as before", "same as before", "the same", "same"]


@each(
    ("text", "rest"),
    [
        ("the same by region", "by region"),
        ("Same as before, but for Q2", "but for Q2"),
        ("same as before.", ""),
        ("same", ""),
        ("samefold returns", None),
        ("by the same region", None),
        ("", None),
    ],
)
def test_what_is_said_besides_the_same(text, rest):
    assert carrying.referred(text, PHRASES) == rest


UNCLEAR = Unclear("fees", (Choice(value="late fees", label="Late: …"), Choice(value="entry fees", label="Entry: …")))


@each(("said", "label"), [("late", "late"), ("Entry.", "entry"), ("entry fees", "entry")])
def test_a_choice_is_remembered_by_its_words(said, label):
    state = carrying.offered({}, UNCLEAR)
    assert carrying.settled(said, state) == {"fees": label}
    assert carrying.chosen({"settled": {"fees": label}}, UNCLEAR).value == f"{label} fees"


@each("said", ["fees by month", "neither", ""])
def test_what_chooses_nothing_is_not_remembered(said):
    assert carrying.settled(said, carrying.offered({}, UNCLEAR)) == {}


def test_a_choice_that_is_not_offered_any_more_is_asked_for_again():
    assert carrying.chosen({"settled": {"fees": "annual"}}, UNCLEAR) is None


def test_what_was_talked_about_before_is_offered_first(index):
    context = index.bundle.context
    of = {metric.entity: name for name, metric in sorted(context.metrics.items()) if metric.entity}
    near, far = sorted(of)[:2]
    read = {
        "late fees": Bound(SemanticQuery(metrics=(of[near],)), ()),
        "entry fees": Bound(SemanticQuery(metrics=(of[far],)), ()),
    }
    for talked, first in ((near, "late fees"), (far, "entry fees")):
        previous = SemanticQuery(metrics=(of[talked],))
        ordered = carrying.nearest(UNCLEAR, previous, read.get, context)
        assert ordered.choices[0].value == first
        assert set(ordered.choices) == set(UNCLEAR.choices)
    assert carrying.nearest(UNCLEAR, None, read.get, context) == UNCLEAR
