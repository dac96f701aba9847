"""A document from a stranger is read as data: what does not fit is refused whole, and not a word of it is repeated."""

from __future__ import annotations

import copy
import json
from pathlib import Path
from typing import Any

import pytest
import yaml
from hypothesis import given
from hypothesis import strategies as st

from bylaw.errors import UsageError
from ci.review.computed.document import LONGEST, MOST_BYTES, ReviewDocument, clipped, read, write
from tests.rows import each

ROWS = yaml.safe_load((Path(__file__).parent / "document.yaml").read_text(encoding="utf-8"))
SOUND: dict[str, Any] = {
    "schema_version": "1.0",
    "head_sha": "a" * 40,
    "base_sha": "b" * 40,
    "pull_request": 7,
    "folder": "teams/shop/",
    "at": "2026-06-01",
    "policy_count": 3,
    "changed_files": ["policies/a.yaml"],
    "counts": {"error": 1, "warning": 0, "notice": 0, "existing": 2},
    "standing": ["0123456789abcdef"],
    "nothing_else_changes": True,
    "etag": "sha256:" + "c" * 64,
    "timings": [{"what": "all of it", "seconds": 1}],
    "findings": [
        {
            "id": "conflict",
            "severity": "error",
            "message": "they contradict each other",
            "at": {"path": "policies/a.yaml", "line": 3},
            "fingerprint": "0123456789abcdef",
            "case": {"words": "10 days", "facts": {"days": 10, "is_new": True, "amount": "0.1", "x": None}},
            "suggestion": {"path": "policies/a.yaml", "line": 3, "end_line": 3, "lines": ["\tfact: right"]},
        }
    ],
}


def data(document: Any) -> bytes:
    return json.dumps(document).encode()


def changed(row: dict[str, Any]) -> dict[str, Any]:
    document = copy.deepcopy(SOUND)
    document.update(row.get("set", {}))
    document["findings"][0].update(row.get("finding", {}))
    for key, (item, times) in row.get("repeat", {}).items():
        document[key] = [item] * times
    return document


def test_what_was_written_is_read_as_the_same_document() -> None:
    document = read(data(SOUND), "a" * 40)
    assert read(write(document).encode()) == document
    assert write(document) == write(read(write(document).encode()))
    assert [finding.id for finding in document.new] == ["conflict"]
    assert document.findings[0].case is not None
    assert document.findings[0].case.facts == {"days": 10, "is_new": True, "amount": "0.1", "x": None}


@each("row", ROWS, ids=[row["title"] for row in ROWS])
def test_what_does_not_fit_is_refused_with_its_place(row: dict[str, Any]) -> None:
    with pytest.raises(UsageError) as problem:
        read(data(changed(row)))
    assert f"first at `{row['at']}`" in str(problem.value)


@each("text", [b"", b"[]", b"null", b"{", b"\xff\xfe", b'{"a": NaN}', b"[" * 100_000, b'{"head_sha": "' + b"a" * 40])
def test_what_is_no_document_is_refused(text: bytes) -> None:
    with pytest.raises(UsageError, match="does not have the shape of one"):
        read(text)


def test_a_document_of_another_commit_is_refused() -> None:
    with pytest.raises(UsageError, match=f"is of the commit {'a' * 40}, not of {'d' * 40}"):
        read(data(SOUND), "d" * 40)


def test_a_document_that_is_too_large_is_not_even_read() -> None:
    with pytest.raises(UsageError, match="larger than 8,000,000 bytes"):
        read(b"x" * (MOST_BYTES + 1))


def test_a_refusal_repeats_no_word_of_a_stranger() -> None:
    spoken = "::error::@everyone"
    for document in ({**SOUND, spoken: 1}, {**SOUND, "folder": f"../{spoken}"}, {**SOUND, "at": spoken}):
        with pytest.raises(UsageError) as problem:
            read(data(document))
        assert "everyone" not in str(problem.value)


def keys(value: Any, at: tuple[Any, ...] = ()) -> list[tuple[Any, ...]]:
    inner = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    return [at, *(deeper for key, item in inner for deeper in keys(item, (*at, key)))]


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=20),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=8), inner, max_size=3),
    max_leaves=8,
)


@given(st.sampled_from(keys(SOUND)[1:]), JSON)
def test_any_value_in_any_place_is_read_or_refused(route: tuple[Any, ...], value: Any) -> None:
    document = copy.deepcopy(SOUND)
    inside: Any = document
    for step in route[:-1]:
        inside = inside[step]
    inside[route[-1]] = value
    try:
        assert isinstance(read(data(document)), ReviewDocument)
    except UsageError as problem:
        assert "does not have the shape" in str(problem)


@given(st.text(max_size=50), st.integers(60, 200), st.integers(1, 9))
def test_a_clipped_text_says_how_much_is_missing(text: str, most: int, times: int) -> None:
    long = text * times * 10
    short = clipped(long, most)
    assert len(short) <= most
    assert short == long or "more characters)" in short
    assert len(clipped("x" * 100_000)) <= LONGEST
