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
    assert "declare these words" in found.out


@pytest.mark.parametrize(
    "items", ["[", '[{"kind": "asks"}]', '[{"kind": "asks", "name": "x", "qoute": "y"}]', "@nowhere.json"]
)
def test_items_that_are_none_are_wrong_usage(read, items):
    assert read("net revenue", "--kind", "data", "--items", items).code == 2
