"""A moment is text of one width, in UTC, and comes back aware."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta, timezone

import pytest
from hypothesis import given
from hypothesis import strategies as st
from sqlalchemy import Text, bindparam, cast, func, literal, select

from bot.evidence.store.columns import Moment, Written, first_row, insert_new, run, stamp
from bot.evidence.store.engine import StoreError
from bot.evidence.store.tables.querylog import query_log
from bylaw.canonical import canonical_json


@pytest.mark.parametrize(
    ("moment", "text"),
    [
        (datetime(2026, 11, 20, 9, 30, tzinfo=UTC), "2026-11-20T09:30:00.000000Z"),
        (datetime(2026, 11, 20, 9, 30, tzinfo=timezone(timedelta(hours=-5))), "2026-11-20T14:30:00.000000Z"),
        (datetime(987, 1, 2, tzinfo=UTC), "0987-01-02T00:00:00.000000Z"),
    ],
)
def test_a_moment_is_written_in_utc(moment, text):
    assert stamp(moment) == text


def test_a_moment_without_a_zone_is_a_mistake():
    with pytest.raises(ValueError, match="timezone"):
        stamp(datetime(2026, 11, 20))


@given(st.lists(st.datetimes(timezones=st.just(UTC)), min_size=2, max_size=6))
def test_the_order_of_the_texts_is_the_order_in_time(moments):
    texts = [stamp(moment) for moment in moments]
    assert sorted(texts) == [stamp(moment) for moment in sorted(moments)]
    assert [Moment().process_result_value(text, None) for text in texts] == moments


NOON = datetime(2026, 11, 20, 12, tzinfo=UTC)
LOGGED = {
    "log_id": "r1", "at": NOON, "request_id": "r1", "actor_id": "ana", "session_id": "s1", "natural_language": "why?",
    "kind": "data", "status": "answered", "correction_made": False, "factors": {"b": [1, None], "a": "é"},
}  # fmt: skip


def test_a_statement_that_was_spelled_once_keeps_what_any_other_keeps(store):
    with store.writing() as connection:
        run(connection, query_log.insert(), LOGGED)
        connection.execute(query_log.insert(), {**LOGGED, "log_id": "r2"})
    with store.reading() as connection:
        ours, theirs = connection.execute(select(query_log).order_by(query_log.c.log_id)).mappings()
    assert dict(ours) == {**dict(theirs), "log_id": "r1"}
    assert (ours["at"], ours["factors"], ours["matched_entities"]) == (NOON, LOGGED["factors"], None)


def test_one_statement_may_bring_different_columns(store):
    with store.writing() as connection:
        for name, more in (("r1", {}), ("r2", {"matched_entities": ["orders"]}), ("r3", {"matched_entities": None})):
            assert insert_new(connection, query_log, {**LOGGED, **more, "log_id": name})
        assert not insert_new(connection, query_log, {**LOGGED, "log_id": "r3"})
        found = connection.execute(select(query_log.c.matched_entities).order_by(query_log.c.log_id)).scalars()
        assert list(found) == [None, ["orders"], None]
        nothing = query_log.c.matched_entities.is_(None)
        assert connection.execute(select(func.count()).where(nothing)).scalar() == 2


def test_a_statement_may_have_values_of_its_own(store):
    asked = select(query_log.c.log_id, literal(7).label("own")).where(query_log.c.log_id == bindparam("asked"))
    with store.writing() as connection:
        run(connection, query_log.insert(), LOGGED)
        for _ in range(2):
            assert tuple(first_row(connection, asked, {"asked": "r1"})) == ("r1", 7)
        assert first_row(connection, asked, {"asked": "r2"}) is None


def test_json_that_is_spelled_already_is_kept_like_its_value(store):
    value = {"b": [1, None, "é"], "a": {"c": 0.1}}
    with store.writing() as connection:
        for name, factors in (("r1", value), ("r2", Written(canonical_json(value)))):
            run(connection, query_log.insert(), {**LOGGED, "log_id": name, "factors": factors})
        text = cast(query_log.c.factors, Text)
        kept = list(connection.execute(select(text).order_by(query_log.c.log_id)).scalars())
        assert kept[0] == kept[1]
        assert list(connection.execute(select(query_log.c.factors)).scalars()) == [value, value]


def test_what_the_driver_refuses_is_said_as_by_any_other_statement(store):
    def twice(insert):
        with pytest.raises(StoreError, match=r"(?i)unique"), store.writing() as connection:
            for _ in range(2):
                insert(connection)

    twice(lambda connection: run(connection, query_log.insert(), LOGGED))
    twice(lambda connection: run(connection, query_log.insert(), [LOGGED]))
    twice(lambda connection: connection.execute(query_log.insert(), LOGGED))
    with store.reading() as connection:
        assert first_row(connection, select(query_log.c.log_id)) is None
