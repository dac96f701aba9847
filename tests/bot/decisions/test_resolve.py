"""Which decision is meant: rows in resolve.yaml."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from hypothesis import given, settings
from hypothesis import strategies as st

from bot.decisions.resolve import resolve
from bot.decisions.search import search_of
from bylaw.authored.decisions import Decisions
from bylaw.authored.machines.intents import Intents
from ci.loading.source import read
from tests.rows import each

ROWS = read("resolve.yaml", Path(__file__).with_name("resolve.yaml").read_bytes()).data


@each("row", ROWS, ids=lambda row: row["title"])
def test_a_text_means_this_decision(row: dict[str, Any], panasonic: Decisions, intents: Intents) -> None:
    found = resolve(row["text"], panasonic, search_of(panasonic, intents.search), intents.search, row.get("last"))
    assert (found.anchor, found.how) == (row["anchor"], row["how"])
    if "candidates" in row:
        assert [hit.id for hit in found.candidates] == row["candidates"]
    assert 0 <= found.confidence <= 1


def test_the_threshold_is_the_rules_affair(panasonic: Decisions, intents: Intents) -> None:
    text = "plasma donation blood bank opening hours"
    lenient = intents.search.model_copy(update={"confidence_from": intents.search.confidence_from / 100})
    assert resolve(text, panasonic, search_of(panasonic, intents.search), intents.search).anchor is None
    assert (
        resolve(text, panasonic, search_of(panasonic, intents.search), lenient).anchor == "panasonic-exit-plasma-2012"
    )


def test_no_more_candidates_than_the_rules_allow(panasonic: Decisions, intents: Intents) -> None:
    one = intents.search.model_copy(update={"k": 1})
    found = resolve("stopping production", panasonic, search_of(panasonic, intents.search), one)
    assert found.anchor is None
    assert len(found.candidates) == 1


def test_nothing_is_found_where_nothing_is_recorded(intents: Intents) -> None:
    empty = Decisions()
    found = resolve(
        "why did we leave plasma", empty, search_of(empty, intents.search), intents.search, "panasonic-exit-plasma-2012"
    )
    assert (found.anchor, found.how, found.candidates) == (None, "none", ())


@settings(max_examples=100, deadline=None)
@given(text=st.text(max_size=200))
def test_no_text_breaks_the_resolver(text: str, panasonic: Decisions, intents: Intents) -> None:
    found = resolve(text, panasonic, search_of(panasonic, intents.search), intents.search)
    assert found.anchor is None or found.anchor in panasonic.decisions
