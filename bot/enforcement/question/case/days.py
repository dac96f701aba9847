"""The days that a question is about: those it names ("in March 2027"), else the day on which it is asked.

A day that tells a fact of the case ("bought on 3 May") is none of them. A month without a year is the next one, and in
a question about the past the latest.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import date, timedelta
from functools import lru_cache

from bot.enforcement.question.case.facts import Read
from bot.enforcement.question.intent import clauses
from bylaw.language import dates
from bylaw.language.days import find_days
from bylaw.language.figures import figures_in
from bylaw.language.lexicon import closed, lexicon
from bylaw.language.periods import CalendarRules, shifted
from bylaw.language.text import as_typed
from bylaw.language.words import AUXILIARIES, FUNCTION_WORDS, Word
from bylaw.logic.formula.ir import ConditionalRule, Unproven

_AHEAD, _BACK = CalendarRules(is_ahead=True), CalendarRules()
_PAST, _PERFECT = closed("past_auxiliary"), closed("perfect")
_GENITIVE = ("'s", "’s")
_SHORT = 4  # letters of "need" and "bed"
_ONE = timedelta(days=1)


@dataclass(frozen=True)
class Days:
    """Days from `start` up to, not including, `end`."""

    start: date
    end: date

    def __str__(self) -> str:
        """As they are said: "on 1 March 2027", "in March 2027", "from 1 to 14 March 2027"."""
        last = self.end - _ONE
        if last == self.start:
            return f"on {written(last)}"
        for unit, told in (("month", f"{self.start:%B %Y}"), ("year", f"{self.start:%Y}")):
            is_first = self.start.day == 1 and (unit == "month" or self.start.month == 1)
            if is_first and self.end == shifted(self.start, unit, 1):  # type: ignore[arg-type]  # one of the units
                return f"in {told}"
        if self.end == dates.LAST_DAY:
            return f"from {written(self.start)} on"
        is_of_one = (self.start.year, self.start.month) == (last.year, last.month)
        return f"from {self.start.day if is_of_one else written(self.start)} to {written(last)}"


@dataclass(frozen=True)
class ToldDays:
    """The days that a text names, and where it does."""

    days: Days
    begins: int
    ends: int


def written(day: date) -> str:
    """A day as it is written in an answer."""
    return f"{day.day} {day:%B %Y}"


def told_days(text: str, today: date, reads: Sequence[Read]) -> ToldDays | None:
    """The only days that *text*, said *today*, names as those of the case; none where it names several.

    "Today is 3 March 2027" names that day.
    """
    found = list(_told(text, today, reads))
    others = [one for one in found if one.days != Days(today, today + _ONE)] or found[:1]
    return others[0] if len(others) == 1 else None


def changes(days: Days, rules: Sequence[ConditionalRule | Unproven]) -> list[date]:
    """The first of *days*, and each on which one of *rules* begins or no longer holds."""
    turns = {day for rule in rules for day in (rule.start, rule.end and rule.end + 1) if day is not None}
    within = sorted(day for day in turns if days.start.toordinal() < day < days.end.toordinal())
    return [days.start, *map(date.fromordinal, within)]


@lru_cache(maxsize=256)
def named_days(text: str) -> tuple[tuple[int, int], ...]:
    """Where *text* names days; on which day it is said does not matter."""
    return tuple((start, end) for start, end, _ in _spans(text, date(2000, 1, 1), _AHEAD))


def _spans(text: str, today: date, calendar: CalendarRules) -> Iterator[tuple[int, int, Days]]:
    found = ((one.begins, one.ends, one.start, one.end) for one in dates.find(text, today, calendar))
    taken = [(begins, ends, Days(start, end)) for begins, ends, start, end in found if start and end]
    yield from taken
    said = [(one.start, one.end, one.values) for one in figures_in(as_typed(text)) if one.unit == "date"]
    for start, end, days in (*said, *((start, end, (day,)) for start, end, day in find_days(text, today))):
        is_new = not any(begins < end and start < ends for begins, ends, _ in taken)
        if is_new and len(days) == 1 and isinstance(days[0], date) and today < days[0] < dates.LAST_DAY:
            yield start, end, Days(days[0], days[0] + _ONE)


def _told(text: str, today: date, reads: Sequence[Read]) -> Iterator[ToldDays]:
    for words, is_asking in clauses(text):
        first, last = words[0].start, words[-1].end
        is_past = any(text[word.start : word.end].casefold() in _PAST for word in words)
        for start, end, days in _spans(text, today, _BACK if is_past and is_asking else _AHEAD):
            if not first <= start < last or any(read.start < end and start < read.end for read in reads):
                continue
            named = _meant(days, today)
            before = [word for word in words if word.end <= start]
            is_other = _is_of_a_thing(text, before) if is_asking else is_past or _is_over(text, words)
            is_other = is_other or text.startswith(_GENITIVE, end)  # "tomorrow's show" need not be asked of tomorrow
            is_then = named is not None and (named.end > today or (is_asking and is_past))  # nobody may do it last week
            if named is not None and is_then and not is_other:
                yield ToldDays(named, start, end)


def _meant(days: Days, today: date) -> Days | None:
    """The days as they are meant: of what began before today the rest, of what is over nothing but a date."""
    if days.start == dates.FIRST_DAY and days.end <= today:
        return None
    return Days(today if days.start < today < days.end else days.start, days.end)


def _is_of_a_thing(text: str, before: Sequence[Word]) -> bool:
    """Does a participle before the days say of a thing what was done to it: "a ticket bought in May"?"""
    carrying = [word for word in before if word.text not in FUNCTION_WORDS or word.text in AUXILIARIES]
    return _is_over(text, carrying[-1:]) and not any(word.text in _PERFECT for word in before)


def _is_over(text: str, words: Sequence[Word]) -> bool:
    """Is one of the *words* a verb in its past form?"""
    said = [text[word.start : word.end].casefold() for word in words]
    return any(one in lexicon().irregular or (one.endswith("ed") and len(one) > _SHORT) for one in said)
