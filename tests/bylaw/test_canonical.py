"""One spelling for every value, the same on every machine; and a file that is written whole or not at all."""

from __future__ import annotations

import json
import os
import stat
import subprocess
import sys
from collections.abc import Mapping
from datetime import UTC, date, datetime
from decimal import Decimal
from enum import Enum
from fractions import Fraction
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import BaseModel

from bylaw.canonical import canonical_json, fingerprint, number_text, plain, write_atomically
from tests.rows import each


class Colour(Enum):
    RED = "red"


class Record(BaseModel):
    name: str
    price: Decimal


SPELLED = [
    (None, "null"),
    (True, "true"),
    (7, "7"),
    ("ü – 日本", '"ü – 日本"'),
    ('"\\\n\x01', '"\\"\\\\\\n\\u0001"'),
    ({"b": 1, "a": 2}, '{"a":2,"b":1}'),
    ({2: "x", 10: "y"}, '{"10":"y","2":"x"}'),
    ((1, [2, (3,)]), "[1,[2,[3]]]"),
    ({"b", "a"}, '["a","b"]'),
    (frozenset({3, 1}), "[1,3]"),
    (Decimal("0.10"), '"0.1"'),
    (Decimal("1E+3"), '"1000"'),
    (Decimal("-0.05"), '"-0.05"'),
    (Decimal("-0"), '"0"'),
    (Fraction(5, 72), '"5/72"'),
    (Fraction(-1, 8), '"-0.125"'),
    (date(2026, 1, 31), '"2026-01-31"'),
    (datetime(2026, 1, 31, 12, tzinfo=UTC), '"2026-01-31T12:00:00+00:00"'),
    (Colour.RED, '"red"'),
    (Record(name="x", price=Decimal("1.50")), '{"name":"x","price":"1.5"}'),
    (0.5, "0.5"),
    ({}, "{}"),
]


@each(("value", "text"), SPELLED, ids=[text for _, text in SPELLED])
def test_a_value_has_one_spelling(value: Any, text: str) -> None:
    assert canonical_json(value) == text


@each("value", [float("nan"), float("inf"), -float("inf"), object(), b"bytes", {"a": {1, None}}.keys])
def test_what_json_does_not_know_has_none(value: Any) -> None:
    with pytest.raises(TypeError, match="no canonical form"):
        canonical_json({"deep": [value]})


numbers = st.one_of(
    st.fractions(), st.integers().map(Fraction), st.decimals(allow_nan=False, allow_infinity=False, places=12)
)


@given(numbers)
def test_a_number_is_said_exactly(number: Fraction | Decimal) -> None:
    assert Fraction(number_text(number)) == Fraction(number)


@given(numbers)
def test_a_number_has_one_text_whatever_holds_it(number: Fraction | Decimal) -> None:
    exact = Fraction(number)
    assert number_text(number) == number_text(exact)
    text = number_text(exact)
    assert text == text.strip()
    if "." in text:
        assert not text.endswith("0")
    if "/" in text:
        rest = exact.denominator
        for prime in (2, 5):
            while rest % prime == 0:
                rest //= prime
        assert rest != 1  # no finite decimal says it


@given(st.decimals(allow_nan=False, allow_infinity=False, min_value=-(10**15), max_value=10**15, places=9))
def test_trailing_noughts_make_no_other_text(number: Decimal) -> None:
    assert number_text(number) == number_text(number * Decimal("1.000"))


documents = st.recursive(
    st.one_of(
        st.none(),
        st.booleans(),
        st.integers(),
        st.text(),
        st.dates(),
        st.decimals(allow_nan=False, allow_infinity=False),
    ),
    lambda inner: st.one_of(st.lists(inner), st.dictionaries(st.text(), inner)),
    max_leaves=12,
)


def shuffled(value: Any) -> Any:
    """The same value with the keys of every mapping in the other order."""
    if isinstance(value, Mapping):
        return {key: shuffled(value[key]) for key in reversed(value)}
    return [shuffled(item) for item in value] if isinstance(value, list) else value


@given(documents)
def test_the_order_of_keys_changes_nothing(value: Any) -> None:
    assert canonical_json(value) == canonical_json(shuffled(value))
    assert fingerprint(value) == fingerprint(shuffled(value))


@given(documents)
def test_canonical_text_read_back_is_canonical(value: Any) -> None:
    text = canonical_json(value)
    assert json.loads(text) == plain(value)
    assert canonical_json(json.loads(text)) == text


def test_a_fingerprint_is_the_same_in_another_process() -> None:
    code = "from bylaw.canonical import fingerprint; print(fingerprint({'b': {'z', 'a', 'q'}, 'a': [1, '2']}))"
    told = {
        subprocess.run(
            [sys.executable, "-c", code],
            env={**os.environ, "PYTHONHASHSEED": seed},
            capture_output=True,
            text=True,
            check=True,
        ).stdout.strip()
        for seed in ("0", "1", "2")
    }
    assert told == {fingerprint({"a": [1, "2"], "b": ["a", "q", "z"]})}


# ---- writing --------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("durable", [True, False])
def test_a_file_is_written_with_its_folders_and_line_breaks(tmp_path: Path, durable: bool) -> None:
    path = tmp_path / "a" / "b" / "c.json"
    write_atomically(path, "one\ntwo ü\n", durable)
    assert path.read_bytes() == "one\ntwo ü\n".encode()
    assert stat.S_IMODE(path.stat().st_mode) == 0o644
    write_atomically(path, "three", durable)
    assert path.read_text() == "three"
    assert [entry.name for entry in path.parent.iterdir()] == ["c.json"]


class Unlucky(RuntimeError):
    pass


@pytest.mark.parametrize("step", ["fsync", "replace", "chmod"])
def test_a_failure_at_any_step_leaves_the_old_file_and_nothing_else(
    step: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "bundle.json"
    path.write_text("old")

    def fail(*_: Any, **__: Any) -> None:
        raise Unlucky

    monkeypatch.setattr(os if step == "fsync" else Path, step, fail)
    with pytest.raises(Unlucky):
        write_atomically(path, "new")
    monkeypatch.undo()
    assert path.read_text() == "old"
    assert [entry.name for entry in tmp_path.iterdir()] == ["bundle.json"]


def test_text_that_is_no_text_leaves_the_old_file(tmp_path: Path) -> None:
    path = tmp_path / "bundle.json"
    path.write_text("old")
    with pytest.raises(UnicodeEncodeError):
        write_atomically(path, "a lone surrogate \ud800")
    assert path.read_text() == "old"
    assert len(list(tmp_path.iterdir())) == 1


def test_a_link_is_replaced_and_its_target_kept(tmp_path: Path) -> None:
    (tmp_path / "target").write_text("target")
    (tmp_path / "link").symlink_to("target")
    write_atomically(tmp_path / "link", "new")
    assert (tmp_path / "target").read_text() == "target"
    assert not (tmp_path / "link").is_symlink()
