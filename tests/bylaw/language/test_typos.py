"""Slips of the keyboard: what is forgiven, and what looks like another word."""

from bylaw.language.typos import closest


def test_a_phrase_needs_a_margin() -> None:
    assert closest("washing machin", ["washing machine", "dish washer"]) == "washing machine"
    assert closest("monthly plam", ["monthly plan", "monthly play"]) is None
    assert closest("fridge", ["washing machine"]) is None
    assert closest("tv", ["tvs"]) is None
    assert closest("anything", []) is None
