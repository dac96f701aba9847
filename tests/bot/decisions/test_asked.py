"""What a question asks of the records: every word of content is carried by an item, or nothing is answered from it."""

from __future__ import annotations

from collections.abc import Callable
from datetime import date
from pathlib import Path
from time import process_time
from typing import Any

from hypothesis import given, settings
from hypothesis import strategies as st

from bot.decisions.reading import read_question
from bot.index import BundleIndex
from bylaw.authored.decisions import Decisions
from ci.loading.source import read
from tests.rows import each

ROWS = read("asked.yaml", Path(__file__).with_name("asked.yaml").read_bytes()).data
NUMBERED = read("numbered.yaml", Path(__file__).with_name("numbered.yaml").read_bytes()).data
DAY = date(2026, 11, 28)

Indexed = Callable[[Decisions], BundleIndex]


@each("row", ROWS, ids=lambda row: row["text"][:60])
def test_a_question_asks_this(row: dict[str, Any], panasonic: Decisions, index: Indexed) -> None:
    asked = read_question(row["text"], DAY, "anybody", index(panasonic))
    assert (asked.intent, sorted(asked.anchors)) == (row["intent"], sorted(row["anchors"]))
    assert list(asked.residue) == row.get("residue", [])
    assert list(asked.waiting) == row.get("waiting", [])
    told = {one.item.named: one.item.value if one.item.value is not None else one.value for one in asked.filters}
    assert told == row.get("filters", {})


@each("row", NUMBERED["rows"], ids=lambda row: row["text"])
def test_a_number_is_an_identity(row: dict[str, Any], snapshot: Callable[..., Decisions], index: Indexed) -> None:
    known = index(snapshot({"decisions": NUMBERED["decisions"]}))
    asked = read_question(row["text"], DAY, "anybody", known)
    assert sorted(asked.anchors) == row["anchors"]
    assert bool(asked.residue) is row.get("is_left", not row["anchors"])


@each(
    "text",
    [
        "plasma " * 1_100,
        "not " * 1_900,
        "ADR 4 " * 1_300,
        "#" * 7_900,
        "in 2012 " * 950,
        "why did we " * 700,
        "panasonic-exit-plasma-2012 " * 290,
        "Why did we exit plasma? " * 330,
    ],
)
def test_no_long_text_breaks_the_reading(text: str, panasonic: Decisions, index: Indexed) -> None:
    begun = process_time()
    read_question(f"why {text}"[:8_000], DAY, "anybody", index(panasonic))
    assert process_time() - begun < 5


@settings(max_examples=80, deadline=None)
@given(text=st.text(max_size=200))
def test_no_text_breaks_the_reading(text: str, panasonic: Decisions, index: Indexed) -> None:
    asked = read_question(text, DAY, "anybody", index(panasonic))
    assert set(asked.anchors) <= set(panasonic.decisions)
    assert not (asked.anchors and not asked.reading.items and asked.anchors[0].casefold() not in text.casefold())
