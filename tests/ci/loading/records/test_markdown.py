"""ADR Markdown becomes decisions: rows in markdown.yaml, and in bad.yaml what is said of documents that are none."""

from __future__ import annotations

import time
from pathlib import Path
from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from bylaw.authored.decision_sources import DecisionSource
from bylaw.authored.decisions import Decision
from ci.loading.records.markdown import read as read_document
from ci.loading.source import Unreadable, locate
from ci.loading.source import read as read_yaml
from tests.rows import each

HERE = Path(__file__).parent
ROWS = read_yaml("markdown.yaml", (HERE / "markdown.yaml").read_bytes()).data
BAD = read_yaml("bad.yaml", (HERE / "bad.yaml").read_bytes()).data
SECONDS = 20  # for any document of the largest size, on a slow machine


@each("row", ROWS, ids=lambda row: row["title"])
def test_a_document_is_read_as(row: dict[str, Any]) -> None:
    source = DecisionSource.model_validate(row["source"]) if "source" in row else None
    found, notes = read_document(row["path"], row["text"].encode(), source)
    assert found is not None
    decision = Decision.model_validate(found.data)
    said = [one.text for one in decision.confirmation]
    days = {"decided_on": decision.decided_on and str(decision.decided_on), "confirmation": said}
    assert {name: days.get(name, getattr(decision, name)) for name in row["reads"]} == row["reads"]
    if "options" in row:
        assert [one.model_dump() for one in decision.options] == row["options"]
    wanted = row.get("notes", [])
    assert [[note.id, note.at.line] for note in notes if wanted or note.id != "extra-field"] == [
        one[:2] for one in wanted
    ]
    for note, (_, _, words) in zip(notes, wanted, strict=False):
        assert words in note.message


@each("row", BAD, ids=lambda row: row["title"])
def test_what_is_no_record_is_said(row: dict[str, Any]) -> None:
    id, line, words = row["says"]
    content = bytes.fromhex(row["hex"]) if "hex" in row else row["text"].encode() * row.get("times", 1)
    since = time.monotonic()
    try:
        found, notes = read_document(row["path"], content, None)
    except Unreadable as problem:
        assert (problem.kind, problem.line) == (id, line)
        assert words in problem.message
    else:
        assert found is None
        assert [(note.id, note.at.line) for note in notes] == [(id, line)]
        assert words in notes[0].message
    assert time.monotonic() - since < SECONDS


def test_a_field_stands_on_its_line() -> None:
    found, _ = read_document(ROWS[0]["path"], ROWS[0]["text"].encode(), None)
    assert found is not None
    lines = {name: locate(found, (name,))[0] for name in ("option", "status", "context", "rationale", "consequences")}
    assert lines == {"option": 1, "status": 7, "context": 9, "rationale": 13, "consequences": 17}
    assert found.line(7) == "Accepted"


@given(st.text(alphabet="# \n-*|:[]()<>`{}ABadr0123_.\\\"'=>~!", max_size=300))
def test_no_document_breaks_the_reader(text: str) -> None:
    try:
        found, _ = read_document("adr/0001-any.md", f"# Any\n\n{text}\n\n## Decision\n\n{text}\n".encode(), None)
    except Unreadable:
        return
    assert found is None or found.data["id"] == "0001-any"
