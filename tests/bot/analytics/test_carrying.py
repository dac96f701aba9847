"""What is carried from turn to turn: the same again, a choice made once, the items of the turn before."""

from __future__ import annotations

from bot.analytics import carrying
from bot.analytics.reading import Bound, Meant, Unclear
from bylaw.hold.item import Item
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


LATE, ENTRY = (
    Meant(name, f"{name}: what it is", Bound(SemanticQuery(metrics=(name,)), ())) for name in ("late", "entry")
)
UNCLEAR = Unclear("Fees", (LATE, ENTRY))


def test_a_choice_is_remembered_by_its_words():
    known = carrying.settled({"settled": {"costs": "net"}}, "Fees", "entry")
    assert known == {"costs": "net", "fees": "entry"}
    assert carrying.chosen({"settled": known}, UNCLEAR) is ENTRY


def test_a_choice_that_is_not_offered_any_more_is_asked_for_again():
    assert carrying.chosen({"settled": {"fees": "annual"}}, UNCLEAR) is None
    assert carrying.chosen({}, UNCLEAR) is None


def test_the_items_of_a_turn_are_those_it_kept_else_what_its_query_says():
    query = SemanticQuery(metrics=("net_revenue",), dimensions=("customers.region",), limit=3)
    kept = [{"kind": "asks", "name": "net_revenue", "quote": "net revenue"}]
    assert carrying.items_of({"items": kept}, query) == [Item.model_validate(kept[0])]
    said = [(one.kind, one.name, one.value) for one in carrying.items_of({"items": [{"flurb": 1}]}, query)]
    assert said == [("asks", "net_revenue", None), ("group", "customers.region", None), ("limit", None, 3)]


def test_what_no_items_say_is_not_gone_on_with():
    assert carrying.items_of({}, SemanticQuery(metrics=("m",), hidden=("m",), dimensions=("a.b",))) is None
