"""No input is our fault: whatever words, facts and names a verb is given, it never ends with exit code 3."""

from __future__ import annotations

import json
import sys
from collections.abc import Sequence
from datetime import date
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from bylaw.demos.warehouse import build
from tests.conftest import call_bylaw, run_bylaw
from tests.fakes.voltmark import compiled
from tests.hostile import TEXTS, VALUES

TEXT, JSON = "<text>", "<json>"
SAID = (
    ["ask", "--json", "--warehouse", "<data>", "--", TEXT],
    ["guide", "--json", "--", TEXT],
    ["enforce", "--json", "--query", TEXT, "--response", "A full refund."],
    ["enforce", "--json", "--query", "May I return a TV?", "--response", TEXT],
    ["ask", "--at", TEXT, "net revenue last month"],
    ["ask", "--as", TEXT, "--session", TEXT, "net revenue"],
    ["decide", "--action", TEXT],
    ["decide", "--tool", TEXT],
    ["decide", "--want", TEXT],
    ["decide", "--at", TEXT],
    ["accept", "--", TEXT],
    ["feedback", "--good", "--text", TEXT, "--", TEXT],
    ["revise", "--", TEXT, TEXT],
    ["correct", "--object", TEXT, "--field", TEXT, "--new", TEXT, "--reason", TEXT, "--", TEXT],
)
GIVEN = (
    ["decide", "--facts", JSON],
    ["decide", "--action", "full_refund", "--facts", JSON],
    ["decide", "--action", "full_refund", "--keys", JSON],
    ["decide", "--action", "full_refund", "--session", "s", "--session-facts", JSON],
    ["guide", "--facts", JSON, "May I return a TV?"],
    ["enforce", "--query", "q", "--response", "A full refund.", "--claims", JSON],
    ["enforce", "--query", "q", "--response", "A full refund.", "--facts", JSON],
    ["ask", "--form", JSON, "x"],
)
SHAPES: tuple[Any, ...] = (
    lambda value: value,
    lambda value: {"days_since_purchase": value},
    lambda value: {"product_category": value},
    lambda value: {"has_receipt": value, str(value)[:50]: 1},
    lambda value: [{"kind": "fact", "quote": "full", "fact": "has_receipt", "value": value}],
    lambda value: [{"kind": "fact", "quote": value, "fact": "has_receipt", "value": True}],
    lambda value: {"metrics": ["net_revenue"], "period": value},
    lambda value: {"metrics": value, "limit": value},
)


@pytest.fixture(scope="module")
def company(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Any]:
    folder = tmp_path_factory.mktemp("hostile")
    build(folder / "data.duckdb", date(2026, 11, 20))
    run = folder / "run"
    run.mkdir()
    return {"bundle": compiled(folder / "root"), "data": f"duckdb:///{folder / 'data.duckdb'}", "cwd": run}


def ends(company: dict[str, Any], words: Sequence[str], text: str) -> int:
    """The exit code of the words, with *text* in its places."""
    filled = [{"<text>": text, "<json>": text, "<data>": company["data"]}.get(word, word) for word in words]
    done = call_bylaw(filled[0], "--bundle", company["bundle"], *filled[1:], cwd=company["cwd"])
    assert done.code in (0, 1, 2), (words, text[:50], done.err)
    return done.code


@settings(max_examples=600)
@given(words=st.sampled_from(SAID), text=st.sampled_from(TEXTS))
def test_whatever_is_said_is_answered_or_refused(company: dict[str, Any], words: Sequence[str], text: str) -> None:
    ends(company, words, text)


@settings(max_examples=600)
@given(words=st.sampled_from(GIVEN), shape=st.sampled_from(SHAPES), value=st.sampled_from(VALUES))
def test_whatever_is_given_is_answered_or_refused(
    company: dict[str, Any], words: Sequence[str], shape: Any, value: Any
) -> None:
    ends(company, words, json.dumps(shape(value)))


RAW = (
    "{" * 5_000,
    "[" * 100_000,
    '{"a":' * 5_000,
    "9" * 5_000,
    "@/nosuch",
    "@/tmp",
    "@",
)


@pytest.mark.parametrize("words", GIVEN, ids=lambda words: " ".join(words))
def test_what_is_no_document_is_wrong_usage(company: dict[str, Any], words: Sequence[str]) -> None:
    for raw in RAW:
        assert ends(company, words, raw) == 2, raw[:20]


@pytest.mark.parametrize("at", ["9999-12-31", "0001-01-01"])
@pytest.mark.parametrize(
    "words",
    [["guide", "May I return a TV tomorrow?"], ["ask", "net revenue last month"], ["decide"]],
    ids=lambda one: one[0],
)
def test_a_day_at_the_end_of_the_calendar_is_wrong_usage(
    company: dict[str, Any], words: Sequence[str], at: str
) -> None:
    assert ends(company, [words[0], "--at", TEXT, *words[1:]], at) == 2


@pytest.mark.parametrize("verb", ["check", "compile", "cases", "explain", "report"])
def test_a_name_that_no_file_can_have_is_wrong_usage(tmp_path: Path, verb: str) -> None:
    words = ["x"] if verb == "explain" else ["-o", tmp_path / "out"] if verb in ("compile", "report") else []
    done = call_bylaw(verb, "--root", "x" * 5_000, *words, cwd=tmp_path)
    assert (done.code, done.out) == (2, "")
    assert done.err.startswith(f"error: `{'x' * 100}…` cannot be used: file name too long\n  help: name another")


@pytest.mark.skipif(sys.platform == "win32", reason="names of files are text there")
@pytest.mark.parametrize(
    "words", [["accept"], ["feedback", "--good"], ["correct"], ["trace"], ["replay"]], ids=lambda one: one[0]
)
def test_an_id_that_is_no_text_is_unknown(tmp_path: Path, company: dict[str, Any], words: Sequence[str]) -> None:
    """Bytes that are not UTF-8 reach a program as halves of letters."""
    around = [] if words[0] in ("trace", "replay") else ["--bundle", company["bundle"]]
    done = run_bylaw(*words, *around, "\udcff", cwd=company["cwd"])
    assert done.code in (1, 2), done.err
