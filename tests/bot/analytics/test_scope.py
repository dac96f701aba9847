"""Phrases of the catalogue in a text: the longest first, every meaning kept."""

from __future__ import annotations

from datetime import date

import pytest

from bot.analytics.reader.grammar.parse import parse
from bot.analytics.reader.grammar.scan import Scan
from bot.analytics.reader.grammar.tokens import read_tokens
from bot.analytics.reader.scope import Target, lexicon_of
from bylaw.language.periods import CalendarRules


@pytest.fixture(scope="module")
def found(index):
    lexicon = lexicon_of(index.bundle.context, ["for the board", "board meeting"])

    def _found(text):
        scan, mentions = Scan(read_tokens(text, date(2026, 11, 20), CalendarRules()), lexicon), []
        while scan.at < len(scan.tokens):
            mention = scan.mention(scan.at)
            if mention is not None:
                mentions.append((mention[1].words, {(t.kind, t.name) for t in mention[1].targets}))
            scan.at += mention[0] if mention else 1
        return mentions

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
    length, targets = lexicon.longest_at(["vip"], 0)
    assert length == 1
    assert Target("value", "customers.tier", "VIP") in targets


def test_an_ambiguous_term_of_the_glossary_binds_nothing(index):
    assert index.bundle.context.glossary["revenue"].refers_to is None
    _, targets = lexicon_of(index.bundle.context).longest_at(["turnover"], 0)
    assert {target.name for target in targets} == {"gross_revenue", "net_revenue"}


@pytest.mark.parametrize(("text", "named"), [("net revenue by flurb", True), ("hello flurb", False), ("", False)])
def test_whether_anything_is_named_at_all(index, text, named):
    lexicon = lexicon_of(index.bundle.context)
    assert lexicon.names_any(text.split()) is named


def test_a_word_that_only_goes_on_a_name_is_no_name(index):
    lexicon = lexicon_of(index.bundle.context)
    assert not lexicon.names_any(["net"])


def test_a_long_question_looks_up_phrases_in_proportion(index, monkeypatch):
    lexicon = lexicon_of(index.bundle.context, [])
    words: list[int] = []
    longest_at = type(lexicon).longest_at

    def counted(self, given, at):
        words.append(len(given))
        return longest_at(self, given, at)

    monkeypatch.setattr(type(lexicon), "longest_at", counted)

    def looked_at(times):
        words.clear()
        parse(
            Scan(read_tokens("net revenue of cancelled orders " * times, date(2026, 11, 20), CalendarRules()), lexicon)
        )
        return sum(words)

    assert looked_at(40) < 3 * looked_at(20)
