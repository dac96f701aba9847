"""Weekdays and tomorrow: rows."""

from datetime import date
from pathlib import Path

import yaml

from bylaw.language.days import find_days
from tests.rows import each

TODAY = date(2026, 11, 20)
ROWS = yaml.safe_load(Path(__file__).with_name("days.yaml").read_text())


@each("row", ROWS, ids=lambda row: row["text"])
def test_a_text_names_these_days(row: dict) -> None:
    assert [day for _, _, day in find_days(row["text"], TODAY)] == row["days"]


def test_a_weekday_is_the_latest_before_any_day() -> None:
    for day in range(1, 29):
        today = date(2026, 11, day)
        ((start, end, found),) = find_days("on Monday", today)
        assert (start, end) == (0, 9)
        assert found is None if today.weekday() == 0 else found is not None and 0 < (today - found).days < 7
