"""A moment is text of one width, in UTC, and comes back aware."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta, timezone
from decimal import Decimal

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bot.evidence.store.columns import Written, moment, stamp, told
from bot.evidence.store.connection import among, insert, insert_new, update
from bot.evidence.store.engine import StoreError
from bylaw.canonical import canonical_json
from tests.rows import each


@each(
    ("at", "text"),
    [
        (datetime(2026, 11, 20, 9, 30, tzinfo=UTC), "2026-11-20T09:30:00.000000Z"),
        (datetime(2026, 11, 20, 9, 30, tzinfo=timezone(timedelta(hours=-5))), "2026-11-20T14:30:00.000000Z"),
        (datetime(987, 1, 2, tzinfo=UTC), "0987-01-02T00:00:00.000000Z"),
    ],
)
def test_a_moment_is_written_in_utc(at, text):
    assert stamp(at) == text


def test_a_moment_without_a_zone_is_a_mistake():
    with pytest.raises(ValueError, match="timezone"):
        stamp(datetime(2026, 11, 20))


@given(st.lists(st.datetimes(timezones=st.just(UTC)), min_size=2, max_size=6))
def test_the_order_of_the_texts_is_the_order_in_time(moments):
    texts = [stamp(one) for one in moments]
    assert sorted(texts) == [stamp(one) for one in sorted(moments)]
    assert [moment(text) for text in texts] == moments


NOON = datetime(2026, 11, 20, 12, tzinfo=UTC)
LOGGED = {
    "log_id": "r1", "at": NOON, "request_id": "r1", "actor_id": "ana", "session_id": "s1", "natural_language": "why?",
    "kind": "data", "status": "answered", "correction_made": False, "factors": {"b": [1, None], "a": "é"},
}  # fmt: skip


def test_one_table_may_be_given_different_columns(store):
    with store.writing() as connection:
        for name, more in (("r1", {}), ("r2", {"matched_entities": ["orders"]}), ("r3", {"matched_entities": None})):
            assert insert_new(connection, "query_log", {**LOGGED, **more, "log_id": name})
        assert not insert_new(connection, "query_log", {**LOGGED, "log_id": "r3"})
        found = connection.all("SELECT matched_entities FROM query_log ORDER BY log_id")
        assert [told(row["matched_entities"]) for row in found] == [None, ["orders"], None]
        (count,) = connection.first("SELECT count(*) FROM query_log WHERE matched_entities IS NULL")
        assert count == 2


def test_what_changes_is_found_by_a_key_that_may_change_itself(store):
    with store.writing() as connection:
        insert(connection, "query_log", [LOGGED, {**LOGGED, "log_id": "r2"}])
        key = {"log_id": "r2", "kind": "data"}
        assert update(connection, "query_log", key, {"kind": "policy", "error_likelihood": Decimal("0.5")}) == 1
        assert update(connection, "query_log", key, {"kind": "policy"}) == 0
        chosen, given = among("log_id", ["r1", "r2", "r3"])
        rows = connection.all(f"SELECT kind, error_likelihood FROM query_log WHERE {chosen} ORDER BY log_id", given)
        assert [tuple(row.values()) for row in rows] == [("data", None), ("policy", 0.5)]
        assert connection.one(f"SELECT kind FROM query_log WHERE {among('log_id', [])[0]}") is None


def test_json_that_is_spelled_already_is_kept_like_its_value(store):
    value = {"b": [1, None, "é"], "a": {"c": 0.1}}
    with store.writing() as connection:
        for name, factors in (("r1", value), ("r2", Written(canonical_json(value)))):
            insert(connection, "query_log", {**LOGGED, "log_id": name, "factors": factors})
        kept = connection.all("SELECT factors, CAST(factors AS TEXT) AS text FROM query_log ORDER BY log_id")
        assert kept[0] == kept[1]
        assert [told(row["factors"]) for row in kept] == [value, value]


def test_what_the_driver_refuses_is_said_in_our_words(store):
    def twice(once):
        with pytest.raises(StoreError, match=r"(?i)unique"), store.writing() as connection:
            for _ in range(2):
                once(connection)

    twice(lambda connection: insert(connection, "query_log", LOGGED))
    twice(lambda connection: insert(connection, "query_log", [LOGGED]))
    with store.reading() as connection:
        assert connection.first("SELECT log_id FROM query_log") is None
