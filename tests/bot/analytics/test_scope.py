"""Phrases of the catalogue in a text: the longest first, every meaning kept."""

from __future__ import annotations

import pytest

from bot.analytics.scope import Target, lexicon_of
from bylaw.language.words import read_words


@pytest.fixture(scope="module")
def found(index):
    lexicon = lexicon_of(index.bundle.context, ["for the board", "board meeting"])

    def _found(text):
        mentions = lexicon.mentions(read_words(text))
        return [
            (text[mention.begins : mention.ends], {(t.kind, t.name) for t in mention.targets}) for mention in mentions
        ]

    return _found


def test_the_longest_phrase_wins(found):
    assert found("net revenue") == [("net revenue", {("metric", "net_revenue")})]
    assert [words for words, _ in found("average order value by order status")] == [
        "average order value",
        "order status",
    ]


def test_a_word_of_two_meanings_keeps_both(found):
    assert found("revenue") == [("revenue", {("metric", "net_revenue"), ("metric", "gross_revenue")})]
    assert found("orders") == [("orders", {("metric", "order_count"), ("entity", "orders")})]


@pytest.mark.parametrize(
    ("text", "kind", "name"),
    [
        ("Net Revenue", "metric", "net_revenue"),
        ("net_revenue", "metric", "net_revenue"),
        ("regions", "dimension", "customers.region"),
        ("product category", "dimension", "products.category"),
        ("customer tier", "dimension", "customers.tier"),
        ("the EU", "value", "customers.region"),
        ("smartphones", "value", "products.category"),
        ("canceled", "value", "orders.status"),
        ("not as described", "value", "refunds.reason"),
        ("email", "personal", "customers.email"),
        ("full name", "personal", "customers.full_name"),
        ("baskets", "metric", "average_order_value"),
        ("clients", "entity", "customers"),
        ("board meeting", "stakes", "board meeting"),
    ],
)
def test_a_phrase_is_found_whatever_its_form(found, text, kind, name):
    ((_, targets),) = found(text)
    assert (kind, name) in targets


def test_phrases_of_stakes_that_overlap_are_one(found):
    ((words, targets),) = found("for the board meeting")
    assert words == "for the board meeting"
    assert targets == {("stakes", "for the board"), ("stakes", "board meeting")}


def test_a_phrase_never_reaches_over_the_end_of_a_sentence(found):
    assert [words for words, _ in found("It is net. Revenue fell.")] == ["Revenue"]


def test_words_of_nothing_are_nothing(found):
    assert found("flurb blarg") == []
    assert found("") == []


def test_a_value_keeps_its_own_spelling(index):
    lexicon = lexicon_of(index.bundle.context)
    (mention,) = lexicon.mentions(read_words("vip"))
    assert Target("value", "customers.tier", "VIP") in mention.targets


def test_an_ambiguous_term_of_the_glossary_binds_nothing(index):
    assert index.bundle.context.glossary["revenue"].refers_to is None
    (mention,) = lexicon_of(index.bundle.context).mentions(read_words("turnover"))
    assert {target.name for target in mention.targets} == {"gross_revenue", "net_revenue"}
