"""A word with several readings: each is computed where each may run alone, and shown with what it gives."""

from __future__ import annotations

import pytest

from bot.analytics.answer import answer
from bot.analytics.reading import Bound, Meant, Unclear
from bot.analytics.reply import alternatives
from bot.conversation import Question, Reply, Turn
from bot.index import BundleIndex
from bylaw.authored.machines.autonomy import Alternatives
from bylaw.semantic.query import SemanticQuery
from tests.bot.analytics.conftest import NOW
from tests.rows import each

MEANT = tuple(
    Meant(name, f"{name}: {told}", Bound(SemanticQuery(metrics=(name,)), ()))
    for name, told in (("gross revenue", "all of it"), ("net revenue", "what stays"))
)
READING = Unclear("revenue", MEANT)
PLAIN = Reply(
    kind="data", status="answered", text="Revenue, 2026: 7 USD.", request_id="r", session_id="s", bundle_etag="e",
    columns=("revenue",), rows=((7,),), caveats=("Test accounts are left out.",),
)  # fmt: skip


def turn(**changes):
    return Turn(PLAIN.model_copy(update=changes), {"query": {}}, artifacts={"plan": {"sql": changes.get("sql", "a")}})


def test_what_all_readings_give_is_the_answer_and_says_so():
    same = alternatives.agreed(READING, [turn(), turn(sql="b", columns=("other",))])
    assert same.reply.rows == ((7,),)
    assert same.reply.caveats[0] == "`revenue` can mean `gross revenue` or `net revenue`: all give the same."
    assert [reading["sql"] for reading in same.artifacts["readings"]] == ["a", "b"]


@each("other", [{"rows": ((8,),)}, {"rows": ((7, 7),), "columns": ("a", "b")}, {"rows": ()}])
def test_readings_that_differ_anywhere_do_not_agree(other):
    assert alternatives.agreed(READING, [turn(), turn(**other)]) is None


@each("status", ["recommended", "escalated", "pending", "refused"])
def test_where_one_reading_may_not_run_alone_none_is_shown(status):
    turns = {"gross revenue": turn(), "net revenue": turn(status=status)}
    assert alternatives.computed(MEANT, lambda one: turns[one.name]) == ()


def test_a_choice_shows_its_figures_and_sends_back_the_same():
    choices = alternatives.choices(READING, [turn(), turn(text="Net, 2026: 5 USD.")])
    assert [choice.label for choice in choices] == [
        "gross revenue: all of it: 7 USD",
        "net revenue: what stays: 5 USD",
    ]
    assert [choice.value for choice in choices] == ["gross revenue", "net revenue"]


def test_both_figures_stand_beside_the_choices(ask):
    reply = ask("revenue last month").reply
    assert reply.status == "needs_choice"
    for choice in reply.choices:
        alone = ask(f"{choice.value} last month").reply
        assert choice.label.endswith(alone.text.partition(": ")[2].rstrip("."))
    assert "Test accounts are left out." in reply.caveats


@pytest.mark.parametrize(
    "asked",
    [{"connected": False}, {"options": {"autonomy_override": 2}}, {"schemas": frozenset({"finance"})}],
    ids=["no warehouse", "a level that does not execute", "no right to see"],
)
def test_no_figure_is_shown_that_would_not_be_answered(ask, asked):
    reply = ask("revenue last month", **asked).reply
    assert reply.status == "needs_choice"
    assert not any("USD" in choice.label for choice in reply.choices)


@pytest.mark.parametrize("alternatives", [Alternatives(computed=1), None])
def test_more_readings_than_the_rules_allow_are_only_named(index, warehouse, alternatives):
    rules = index.rules
    autonomy = rules.autonomy.model_copy(update={"alternatives": alternatives})
    bundle = index.bundle.model_copy(update={"rules": rules.model_copy(update={"autonomy": autonomy})})
    asked = Question(text="revenue last month", asked_at=NOW, request_id="r-1", session_id="s-1")
    reply = answer(asked, {}, BundleIndex(bundle), warehouse, None).reply
    assert reply.status == "needs_choice"
    assert not any("USD" in choice.label for choice in reply.choices)
