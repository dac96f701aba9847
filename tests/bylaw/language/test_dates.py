"""The grammar of time phrases, over rows and over every day of a few years."""

from __future__ import annotations

from datetime import date, timedelta
from pathlib import Path

import pytest
import yaml
from hypothesis import given
from hypothesis import strategies as st

from bylaw.language.dates import _GRAMMAR, _pattern, find
from bylaw.language.periods import UNITS, CalendarRules, period_of, shifted
from tests.rows import each

ROWS = yaml.safe_load(Path(__file__).with_name("dates.yaml").read_text(encoding="utf-8"))
TODAY = date(2026, 11, 20)
DAYS = st.dates(date(2020, 1, 1), date(2032, 12, 31))
CALENDARS = st.builds(
    CalendarRules, st.integers(0, 6), st.integers(1, 12), fiscal_by_default=st.booleans(), whole_periods=st.booleans()
)


@each("row", ROWS["spans"], ids=lambda row: f"{row['text']}{row.get('calendar', '')}")
def test_a_phrase_is_read_as_its_span(row):
    found = find(row["text"], row.get("today", TODAY), CalendarRules(**row.get("calendar", {})))
    assert [(span.start, span.end) for span in found] == [(row.get("start"), row.get("end"))]
    if "label" in row:
        assert found[0].label == str(row["label"])
    if "words" in row:
        assert row["text"][found[0].begins : found[0].ends] == row["words"]


@each("text", ROWS["none"])
def test_a_phrase_that_the_grammar_does_not_know_is_left_alone(text):
    assert find(text, TODAY) == ()


@pytest.mark.parametrize("row", range(len(_GRAMMAR)))
@given(data=st.data())
def test_every_phrase_of_a_row_holds_what_the_row_is_tried_for(row, data):
    phrase, _, needed = _GRAMMAR[row]
    pattern = _pattern(phrase)
    text = data.draw(st.from_regex(pattern))
    assert needed.search(pattern.search(text)[0])


def test_two_phrases_are_both_found_in_order():
    found = find("last month and in 2025", TODAY)
    assert [span.label for span in found] == ["October 2026", "2025"]


@given(DAYS, CALENDARS, st.integers(1, 400), st.sampled_from(UNITS), st.sampled_from(["last", "past", "previous"]))
def test_looking_back_never_reaches_into_the_future(today, calendar, count, unit, word):
    (span,) = find(f"{word} {count} {unit}s", today, calendar)
    assert span.start < span.end <= today + timedelta(days=1)


@given(DAYS, CALENDARS, st.sampled_from(UNITS[1:]))
def test_this_period_holds_today_and_follows_the_last_one(today, calendar, unit):
    (this,), (last,) = find(f"this {unit}", today, calendar), find(f"last {unit}", today, calendar)
    assert this.start <= today < this.end
    assert last.end == this.start
    assert last.start < last.end


@given(DAYS, CALENDARS, st.booleans())
def test_the_months_of_a_quarter_fill_it(day, calendar, fiscal):
    start = period_of(day, "quarter", calendar, fiscal)
    months = [shifted(start, "month", count) for count in range(4)]
    assert months[3] == shifted(start, "quarter", 1)
    assert all(period_of(month, "quarter", calendar, fiscal) == start for month in months[:3])


@given(st.text(max_size=60))
def test_no_text_makes_it_raise(text):
    find(text, TODAY)


WORDS = "last past 31 feb 2026 2026-13-40 q4 fiscal fy between and from to since"


@given(st.lists(st.sampled_from(WORDS.split())))
def test_no_words_of_the_grammar_in_any_order_make_it_raise(words):
    for span in find(" ".join(words), TODAY, CalendarRules(fiscal_start=2)):
        assert span.begins < span.ends


@each("row", ROWS["several"], ids=lambda row: row["text"])
def test_spans_beside_each_other_are_read_each(row):
    found = find(row["text"], TODAY)
    assert [span.label for span in found] == row["labels"]
    assert all((span.start is None) == span.is_untold for span in found)


def months_since(day, other):
    return (other.year - day.year) * 12 + other.month - day.month


def week_of(day, calendar):
    return (day.toordinal() - 1 - calendar.week_start) // 7


def fiscal_year_of(day, calendar):
    return (day.year * 12 + day.month - calendar.fiscal_start) // 12


# Of each phrase whether a day lies in it, said without the arithmetic of the grammar.
ORACLES = {
    "last {n} days": lambda day, n, of, today, _: 0 <= (today - day).days <= n,
    "past {n} days, inclusive of {n} days ago": lambda day, n, of, today, _: 0 <= (today - day).days <= n,
    "last {n} months, excluding the current month": lambda day, n, of, today, _: 1 <= months_since(day, today) <= n,
    "{n} weeks ago": lambda day, n, of, today, calendar: week_of(today, calendar) - week_of(day, calendar) == n,
    "{n} years ago": lambda day, n, of, today, _: today.year - day.year == n,
    "in the previous month": lambda day, n, of, today, _: months_since(day, today) == 1,
    "in the week of {of}": lambda day, n, of, today, calendar: week_of(day, calendar) == week_of(of, calendar),
    "the {n} days before {of}": lambda day, n, of, today, _: 1 <= (of - day).days <= n,
    "the {n} days after {of}": lambda day, n, of, today, _: 1 <= (day - of).days <= n,
    "within {n} days after {of}": lambda day, n, of, today, _: 0 <= (day - of).days <= n,
    "until {of}": lambda day, n, of, today, _: day <= of,
    "between {of} inclusive and {to} exclusive": lambda day, n, of, today, _: 0 <= (day - of).days < n,
    "between {of} and {to}, both inclusive": lambda day, n, of, today, _: 0 <= (day - of).days <= n,
    "YTD": lambda day, n, of, today, _: day.year == today.year and day <= today,
    "since the beginning of the year": lambda day, n, of, today, _: day.year == today.year and day <= today,
    "since the start of this month": lambda day, n, of, today, _: months_since(day, today) == 0 and day <= today,
    "this fiscal year to date": lambda day, n, of, today, calendar: (
        fiscal_year_of(day, calendar) == fiscal_year_of(today, calendar) and day <= today
    ),
    "last fiscal year": lambda day, n, of, today, calendar: (
        fiscal_year_of(today, calendar) - fiscal_year_of(day, calendar) == 1
    ),
}
EDGES = st.sampled_from([date(2024, 2, 28), date(2024, 2, 29), date(2024, 3, 1), date(2023, 12, 31), date(2025, 3, 31)])


@given(
    EDGES | DAYS, EDGES | DAYS, st.integers(0, 6), st.integers(1, 12), st.integers(2, 20), st.sampled_from([*ORACLES])
)
def test_a_span_holds_the_days_that_its_words_say(today, of, week_start, fiscal_start, count, phrase):
    calendar = CalendarRules(week_start, fiscal_start)
    text = phrase.format(n=count, of=of.isoformat(), to=(of + timedelta(count)).isoformat())
    (span,) = find(text, today, calendar)
    assert (span.begins, span.ends) == (0, len(text)) or text[: span.begins].strip() in (
        "",
        "in",
        "until",
        "the",
        "in the",
    )
    near = (today, of, span.start, span.end)
    for middle in near:
        for far in range(-45, 46):
            day = date.fromordinal(max(1, min(middle.toordinal() + far, date.max.toordinal())))
            assert (span.start <= day < span.end) is ORACLES[phrase](day, count, of, today, calendar), (text, day)
