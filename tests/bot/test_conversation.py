"""What is said survives a trip through JSON, exactly, and a time always has a zone."""

from __future__ import annotations

import json
from datetime import UTC, date, datetime, time, timedelta, timezone
from decimal import Decimal
from uuid import UUID

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import ValidationError

from bot.conversation import Actor, Reply, moment, sayable, spoken, spoken_json
from bylaw.errors import UsageError
from tests.fakes.frame import question, reply
from tests.rows import each


@each(
    ("value", "said"),
    [
        (Decimal("10.00"), 10),
        (Decimal("0.1"), 0.1),
        (Decimal("-1234.56"), -1234.56),
        (Decimal("0.12345678901234567891"), "0.12345678901234567891"),
        (Decimal("12345678901234567890"), 12345678901234567890),
        (Decimal("NaN"), "NaN"),
        (float("nan"), None),
        (float("inf"), None),
        (True, True),
        (date(2026, 1, 2), "2026-01-02"),
        ({1: (Decimal("2"),)}, {"1": [2]}),
        ({"b", "a"}, ["a", "b"]),
        (timedelta(days=1, hours=2), "1 day, 2:00:00"),
        (time(9, 30), "09:30:00"),
        (UUID(int=1), "00000000-0000-0000-0000-000000000001"),
        (Actor(id="ana"), {"id": "ana", "type": "human"}),
    ],
)
def test_a_value_is_said_as_people_read_it(value, said):
    result = sayable(value)
    assert result == said
    assert type(result) is type(said)


def test_a_reply_is_the_same_after_it_was_stored():
    said = spoken(
        reply(rows=((Decimal("1.50"), date(2026, 1, 2), None, float("nan")),), facts={"paid": Decimal("9.99")})
    )
    assert said.rows == ((1.5, "2026-01-02", None, None),)
    assert Reply.model_validate_json(spoken_json(said)) == said == spoken(said)


@given(st.lists(st.one_of(st.decimals(allow_nan=False, allow_infinity=False), st.floats(), st.integers(), st.text())))
def test_saying_twice_changes_nothing(values):
    once = sayable(values)
    assert sayable(json.loads(json.dumps(once, allow_nan=False))) == once


def test_a_reply_lists_every_field_of_the_contract():
    fields = set(json.loads(spoken_json(reply())))
    assert fields >= {"kind", "status", "text", "citations", "level", "choices", "ask", "request_id", "session_id"}
    assert fields >= {"sql", "columns", "rows", "interval", "bindings", "caveats", "outcomes", "facts", "path"}
    assert fields >= {"intent", "evidence", "answer", "completeness_flags", "meta"}


def test_what_is_said_cannot_be_changed_or_misspelt():
    with pytest.raises(ValidationError):
        question().text = "other"
    with pytest.raises(ValidationError):
        reply(unheard_of=1)


@each(
    ("text", "read"),
    [
        ("2026-11-20", datetime(2026, 11, 20, tzinfo=UTC)),
        (" 2026-11-20T09:30 ", datetime(2026, 11, 20, 9, 30, tzinfo=UTC)),
        ("2026-11-20T09:30:00Z", datetime(2026, 11, 20, 9, 30, tzinfo=UTC)),
        ("2026-11-20T09:30:00+02:00", datetime(2026, 11, 20, 9, 30, tzinfo=timezone(timedelta(hours=2)))),
    ],
)
def test_a_time_is_iso_and_has_a_zone(text, read):
    assert moment(text) == read
    assert moment(text).utcoffset() == read.utcoffset()


@each("text", ["", "yesterday", "20.11.2026", "2026-13-01", "2026-11-20T25:00"])
def test_a_time_that_is_none_is_wrong_usage(text):
    with pytest.raises(UsageError, match="not an ISO time"):
        moment(text)
