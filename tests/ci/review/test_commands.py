"""A comment asks for one of three things, or is told how they are written, or is nobody's business."""

from __future__ import annotations

from pathlib import Path

import yaml
from hypothesis import given
from hypothesis import strategies as st

from ci.review.asked.commands import LONGEST, LONGEST_REASON, USAGE, Accept, Command, Diff, Misunderstood, Why, parse
from tests.rows import each

ROWS = yaml.safe_load(Path(__file__).with_name("commands.yaml").read_text(encoding="utf-8"))


def shown(command: Command | None):
    match command:
        case Why(facts, case):
            return ["why", case if facts is None else {name: _plain(value) for name, value in facts.items()}]
        case Diff():
            return ["diff"]
        case Accept(finding, head, until, because):
            return ["accept", finding, head, until, because]
        case Misunderstood(why):
            return why
    return None


def _plain(value):
    return value if isinstance(value, bool | int) else str(value)


@each("row", ROWS, ids=[row["title"] for row in ROWS])
def test_parse(row):
    found = parse(row["text"])
    if "wrong" in row:
        assert isinstance(found, Misunderstood)
        assert row["wrong"] in found.why
    else:
        assert shown(found) == row["asks"]


def test_the_usage_is_understood():
    lines = [line.replace("FINDING", "abc123").replace("COMMIT", "9f2c1ab") for line in USAGE.splitlines()]
    assert [type(parse(line)) for line in lines] == [Why, Why, Diff, Accept]


@given(st.text(max_size=200))
def test_any_text_is_read_without_a_crash(text):
    assert parse("/bylaw " + text) is not None
    assert parse("/bylaw why " + text) is not None
    assert parse("/bylaw accept " + text) is not None


@each("text", ["/bylaw why " + "x" * LONGEST, "/bylaw why " + '{"a":' * 5_000, "/bylaw why " + "{" * 9])
def test_what_is_too_long_or_too_deep_is_not_looked_at(text):
    assert isinstance(parse(text), Misunderstood)


def test_a_reason_has_a_length():
    text = "/bylaw accept abc123 at 9f2c1ab until 2026-12-31 because "
    assert isinstance(parse(text + "x" * LONGEST_REASON), Accept)
    assert isinstance(parse(text + "x" * (LONGEST_REASON + 1)), Misunderstood)
