"""A moment is text of one width, in UTC, and comes back aware."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta, timezone

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bot.store.columns import Moment, stamp


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
