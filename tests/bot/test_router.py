"""Who answers: rows of texts with scores, the way choices are named, and an honest refusal."""

from __future__ import annotations

from pathlib import Path

import pytest
import yaml
from hypothesis import given
from hypothesis import strategies as st

from bot.conversation import MAX_TEXT, Choice
from bot.router import Answerer, Past, chosen, named_kind, otherwise, refusal, route, which
from bylaw.language.reports import asks_for_a_rule, is_of_one, is_report
from bylaw.language.turns import courtesy_of, replies, states
from tests.fakes.frame import ANSWERERS, EDGES, Shop
from tests.rows import each

ROWS = yaml.safe_load(Path(__file__).with_name("router.yaml").read_text())
KINDS = ("decision", "data", "policy")


def answerers(scores):
    return [Answerer(kind, lambda text, index, kind=kind: scores[kind], None) for kind in KINDS]


@each("row", ROWS, ids=[row["title"] for row in ROWS])
def test_the_right_one_answers(row):
    way = route(row["text"], None, answerers(row["scores"]), EDGES, Past(row.get("last"), row.get("pending")))
    assert way.kind == row["kind"]
    assert 0 <= way.confidence <= 1
    assert set(way.scores) == set(KINDS)
    assert way.reason


def test_without_answerers_nobody_answers():
    assert route("x", None, [], EDGES).kind is None


@given(st.text(), st.sampled_from([None, *KINDS]), st.sampled_from([None, "needs_fact"]))
def test_every_text_has_a_route(text, last, pending):
    way = route(text, Shop(), ANSWERERS, EDGES, Past(last, pending))
    assert way.kind in (*KINDS, None)
    assert isinstance(replies(text, EDGES.short_words) or states(text), bool)


@pytest.mark.parametrize(
    "piece", ["x'", " - ", "a ", "is ", "the best ", "do more ", "a, b ", "how long do ", "\u2019"]
)
def test_a_text_of_one_piece_over_and_over_is_soon_read(piece):
    text = f"{piece * (MAX_TEXT // len(piece) - 1)}?"
    for last in (None, *KINDS):
        assert route(text, Shop(), ANSWERERS, EDGES, Past(last, "needs_fact")).scores
    assert {is_report(text), is_of_one(text), asks_for_a_rule(text)} <= {True, False}


YES_NO = (Choice(value="true", label="Yes"), Choice(value="false", label="No, I lost it"))
NUMBERS = (Choice(value="2", label="two"), Choice(value="1", label="one"))


@each(
    ("said", "offered", "value"),
    [
        ("1", YES_NO, "true"),
        ("2.", YES_NO, "false"),
        ("2)", YES_NO, "false"),
        (" yes ", YES_NO, "true"),
        ("Yes!", YES_NO, "true"),
        ("no, i LOST it", YES_NO, "false"),
        ("true", YES_NO, "true"),
        ("3", YES_NO, "3"),
        ("0", YES_NO, "0"),
        ("-1", YES_NO, "-1"),
        ("²", YES_NO, "²"),
        ("9" * 5000, YES_NO, "9" * 5000),
        ("maybe", YES_NO, "maybe"),
        ("yes, I have it here", YES_NO, "yes, I have it here"),
        ("1", (), "1"),
        ("1", NUMBERS, "1"),  # a value is meant before a position
        ("one", NUMBERS, "1"),
    ],
)
def test_a_choice_is_named_by_value_number_or_label(said, offered, value):
    assert chosen(said, offered) == value


@each(
    ("text", "named"),
    [
        ("data: refunds of laptops", ("data", "refunds of laptops")),
        ("Policy:  what about refunds?", ("policy", "what about refunds?")),
        ("data:", None),
        ("database: refunds", None),
        ("our data: refunds", None),
    ],
)
def test_who_asks_may_say_which_kind_is_meant(text, named):
    assert named_kind(text) == named
    assert [named_kind(choice.value) for choice in which("refunds")] == [("policy", "refunds"), ("data", "refunds")]


def test_what_nobody_recognises_may_be_asked_of_a_kind_all_the_same():
    offered = otherwise("turnover by month", Shop(), ANSWERERS)
    assert [choice.value for choice in offered] == ["policy: turnover by month", "data: turnover by month"]
    only = [one for one in ANSWERERS if one.kind == "data"]
    assert [choice.value for choice in otherwise("x", Shop(), only)] == ["data: x"]
    assert otherwise("thanks", Shop(), ANSWERERS) == ()


def test_a_refusal_names_what_can_be_asked():
    assert refusal(Shop(), ANSWERERS).splitlines() == [
        "I did not recognise this as a question about our policies, our data or our decisions.",
        "You can ask about:",
        "- decisions: Leave plasma",
        "- data: revenue",
        "- policies: refund",
    ]


@each(
    ("said", "kind"),
    [
        ("Thanks!", "thanks"),
        ("ok, thank you so much", "thanks"),
        ("hello", "help"),
        ("Hi there!", "help"),
        ("What can you do?", "help"),
        ("help", "help"),
        ("what can I ask about refunds", "help"),
        ("no thanks, I want my money back", None),
        ("what can I do with a broken TV", None),
        ("hello, can I return a TV?", None),
        ("thanks " * 40, None),
    ],
)
def test_a_courtesy_is_no_question(said, kind):
    assert courtesy_of(said) == kind


def test_who_greets_hears_what_can_be_asked_and_who_thanks_is_thanked():
    assert refusal(Shop(), ANSWERERS, "hello").startswith("I answer questions about our policies")
    assert refusal(Shop(), ANSWERERS, "hello").endswith("- policies: refund")
    assert refusal(Shop(), ANSWERERS, "thanks") == "You are welcome."


def test_a_refusal_without_topics_promises_nothing():
    bare = [Answerer(one.kind, one.score, one.answer) for one in ANSWERERS]
    assert "You can ask" not in refusal(Shop(), bare)
