"""`bylaw read`: what a text says and which words are left over, as text and as one JSON document."""

from pathlib import Path

import pytest

ROOT = str(Path(__file__).parents[3])


@pytest.fixture
def read(call):
    return lambda *more: call("read", *more, "--root", ROOT, "--at", "2026-11-20T10:00:00+00:00")


def test_a_reading_is_one_json_document(read):
    items = (
        '[{"kind": "asks", "name": "net_revenue", "quote": "net revenue"}, {"kind": "time", "quote": "last quarter"}]'
    )
    found = read("net revenue last quarter", "--kind", "data", "--items", items, "--json")
    document = found.json
    assert (found.code, document["kind"], document["reading"]["by"]) == (0, "data", "given")
    statuses = [(one["status"], one.get("value")) for one in document["reading"]["items"]]
    assert statuses == [("borne", None), ("borne", "2026-07-01/2026-10-01")]
    assert document["reading"]["residue"] == []


def test_what_is_left_over_is_named_with_the_next_step(read):
    found = read(
        "net revenue of hamsters",
        "--kind",
        "data",
        "--items",
        '[{"kind": "asks", "name": "net_revenue", "quote": "net revenue"}]',
    )
    assert found.code == 1
    assert "left over: hamsters" in found.out
    assert "context/entities/order_items.yaml:  dimensions: [{name: A_COLUMN, synonyms: [hamsters]}]" in found.out


@pytest.mark.parametrize(
    ("text", "kind", "lines"),
    [
        (
            "Can I get a refund on drinks?",
            "policy",
            [
                "outcomes: {refund: {phrases: [get a refund on drinks]}}    # asks for what the customer gets back",
                "facts: {customer_tier: {values: {A_VALUE: [drinks]}}}    # a customer tier",
                "policies/vocabulary.yaml:  idle: [drinks]    # changes nothing in this house",
            ],
        ),
        ("What of hamsters?", "policy", ["outcomes: {AN_OUTCOME: {phrases: [hamsters]}}    # asks for that outcome"]),
        ("hamsters", "data", ["context/metrics/A_METRIC.yaml:  synonyms: [hamsters]    # asks for that number"]),
        (
            "why did we leave plasma and hamsters?",
            "decision",
            [
                "leave-plasma-tv-2014.yaml:  aliases: [plasma]",
                "context/decisions/decisions/A_DECISION.yaml:  aliases: [hamsters]    # means that decision",
            ],
        ),
    ],
)
def test_each_word_that_is_missing_comes_with_the_line_that_would_declare_it(read, text, kind, lines):
    found = read(text, "--kind", kind)
    assert found.code == 1 and all(line in found.out for line in lines), found.out


def test_a_line_that_is_shown_is_one_that_declares_the_word(tmp_path, call):
    """What is shown, pasted where it belongs, is a vocabulary by which the question is read without rest."""
    words = tmp_path / "policies" / "vocabulary.yaml"
    words.parent.mkdir()
    words.write_text('actions: {pay: {outcome: refund, label: "yes"}}\noutcomes: {refund: {phrases: [refund]}}\n')
    again = ("read", "refund on drinks", "--kind", "policy", "--root", str(tmp_path))
    line = next(line for line in call(*again).out.splitlines() if "outcomes:" in line)
    shown = line.partition("  outcomes:")[2].partition("  #")[0].strip()
    assert "policies/vocabulary.yaml:2" in line and shown == "{refund: {phrases: [refund on drinks]}}"
    words.write_text(words.read_text().replace("{refund: {phrases: [refund]}}", shown))
    assert call(*again).code == 0


@pytest.mark.parametrize(
    "items", ["[", '[{"kind": "asks"}]', '[{"kind": "asks", "name": "x", "qoute": "y"}]', "@nowhere.json"]
)
def test_items_that_are_none_are_wrong_usage(read, items):
    assert read("net revenue", "--kind", "data", "--items", items).code == 2
