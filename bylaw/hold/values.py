"""What a quote says in numbers, sums, durations and days: the one reader of values, with its clock.

Figures and time phrases are read of the whole text and cut to the quote, so that a quote which leaves out "week of" or
"the first half of" does not say the day that is left.
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import date
from decimal import Decimal, InvalidOperation
from fractions import Fraction
from functools import cached_property, partial

from bylaw.hold.text import Seen
from bylaw.language import dates
from bylaw.language.dates import Span
from bylaw.language.figures import Figure, figures_in
from bylaw.language.lexicon import closed, lexicon
from bylaw.language.months import IN_MONTHS, days_in
from bylaw.language.periods import CalendarRules
from bylaw.language.text import Token
from bylaw.language.units import unit_named

_DAY = 86_400  # seconds
_MIRRORED: Mapping[str, str] = {"<": ">=", "<=": ">", ">": "<=", ">=": "<"}  # what a negation makes of it


@dataclass(frozen=True)
class Clock:
    """The day of asking, and how the organisation counts its periods."""

    today: date
    calendar: CalendarRules = field(default_factory=CalendarRules)


class Values:
    """The figures and time phrases of one text."""

    def __init__(self, seen: Seen, clock: Clock) -> None:
        self.seen, self.clock = seen, clock

    @cached_property
    def spans(self) -> tuple[Span, ...]:
        """Every time phrase; a number with a unit behind it ("2000 m") is no year."""
        found = dates.find(self.seen.text.seen, self.clock.today, self.clock.calendar)
        return tuple(
            span for span in found if not any(_measures(one, span) for one in self._figures_in(span.begins, span.ends))
        )

    @cached_property
    def figures(self) -> tuple[Figure, ...]:
        """Every number, sum, percentage, duration and date."""
        return figures_in(self.seen.text)

    def figures_at(self, start: int, end: int, beside_time: bool = False) -> tuple[Figure, ...]:
        """The figures of a stretch. Time wins over number, unless *beside_time*: then a duration is meant."""
        inside = [one for one in self._figures_in(start, end) if one.first >= start and one.core <= end]
        if beside_time:
            return tuple(inside)
        return tuple(one for one in inside if not any(map(partial(_holds, one), self.spans_at(one.core - 1, one.core))))

    def spans_at(self, start: int, end: int) -> tuple[Span, ...]:
        """The time phrases that share a word with a stretch. None of them lies within another."""
        first = bisect_right(self.spans, start, key=lambda one: one.ends)
        return self.spans[first : bisect_left(self.spans, end, key=lambda one: one.begins)]

    def _figures_in(self, start: int, end: int) -> Sequence[Figure]:
        """The figures that share a sign with a stretch. They lie apart, in order."""
        first = bisect_right(self.figures, start, key=lambda one: one.end)
        return self.figures[first : bisect_left(self.figures, end, key=lambda one: one.start)]

    def cut_off(self, start: int, end: int) -> str | None:
        """The words of a time phrase that a quote from *start* to *end* leaves out; None where it leaves out none."""
        for span in self.spans_at(start, end):
            for first, last in ((span.begins, min(start, span.ends)), (max(end, span.begins), span.ends)):
                left = [token for token in self.seen.words(first, last) if token.word not in _LEADING]
                if first < last and left:
                    return self.seen.text.seen[first:last].strip()
        return None


def _holds(figure: Figure, span: Span) -> bool:
    """Does the whole number lie within *span*?"""
    return span.begins <= figure.first and figure.core <= span.ends


def _measures(figure: Figure, span: Span) -> bool:
    """Is the whole of *span* the number of a sum, a length, a weight?"""
    is_number = figure.first <= span.begins and span.ends <= figure.core < figure.end
    return is_number and figure.unit is not None and _is_measured(figure.unit)


_LEADING = frozenset(("in", "on", "during", "for", "of", "at", "the", "from"))


def operators_in(tokens: Sequence[Token]) -> frozenset[str]:
    """The comparisons that words say: `>` for "over", `>=` for "at least". None where nothing bounds."""
    words = [token.word for token in tokens]
    return frozenset(operator for _, _, operator in comparisons_at(words) if operator != "==")


def comparisons_at(words: Sequence[str]) -> Iterator[tuple[int, int, str]]:
    """Each comparison in a row of words: its first word, the one behind its last, and the operator that it says."""
    table = lexicon().comparisons
    longest = max(map(len, table))
    i = 0
    while i < len(words):
        for size in range(min(longest, len(words) - i), 0, -1):
            operator = table.get(tuple(words[i : i + size]))
            if operator is not None:
                is_denied = i > 0 and words[i - 1] in ("not", "no") and operator in _MIRRORED
                yield i, i + size, _MIRRORED[operator] if is_denied else operator
                i += size - 1
                break
        i += 1


def is_said(figure: Figure, value: object, unit: str | None) -> bool:
    """Is *figure* that value of that unit? A figure without a unit is in the unit that is meant."""
    wanted = amount_of(value)
    if wanted is None:
        return False
    for said in figure.values:
        if isinstance(said, date) or isinstance(wanted, date):
            if said == wanted:
                return True
        elif figure.unit is None or unit is None:
            if said == wanted and (figure.unit is None or not _is_measured(figure.unit)):
                return True
        elif are_equal(said, figure.unit, wanted, unit):
            return True
    return False


def are_equal(one: Fraction, unit: str, other: Fraction, its_unit: str) -> bool:
    """Are two amounts the same? Months and years are one another exactly; days meet them as the logic counts them."""
    if unit == its_unit:
        return one == other
    if unit == "cents" and its_unit in lexicon().currencies:
        return one / 100 == other
    if unit in IN_MONTHS and its_unit in IN_MONTHS:
        return one * IN_MONTHS[unit] == other * IN_MONTHS[its_unit]
    mine, theirs = _size(one, unit), _size(other, its_unit)
    return mine is not None and mine == theirs


def _size(amount: Fraction, unit: str) -> tuple[str, Fraction] | None:
    """What an amount measures, and how much: 12 months are 365 days, one is 30 (the rule of the logic)."""
    if unit in IN_MONTHS:
        return "time", days_in(amount * IN_MONTHS[unit]) * _DAY
    size = lexicon().sizes.get(unit)
    return None if size is None else (size[0], amount * size[1])


def _is_measured(unit: str) -> bool:
    return unit in lexicon().sizes or unit in lexicon().currencies or unit == "percent"


def amount_of(value: object) -> Fraction | date | None:
    """A value as a number or a day; None for a flag, a word, or a number that is none."""
    if isinstance(value, bool) or value is None:
        return None
    if isinstance(value, int | Fraction):
        return Fraction(value)
    try:
        if isinstance(value, str) and len(value) == 10 and value[4] == "-":
            return date.fromisoformat(value)
        number = Decimal(str(value))
        return Fraction(number) if number.is_finite() and abs(number.adjusted()) <= 40 else None
    except (InvalidOperation, ValueError):
        return None


def unit_of(given: str | None, declared: str | None) -> str | None:
    """The unit that an item's value is in: the one it names, else that of its name."""
    return unit_named(given) or unit_named(declared)


def interval_of(value: object) -> tuple[date | None, date | None] | None:
    """`2026-07-01/2026-10-01` as the days from the first up to, not including, the second; `..` where it is open."""
    parts = value.split("/") if isinstance(value, str) else []
    if len(parts) != 2:
        return None
    try:
        start, end = (None if part in ("", "..") else date.fromisoformat(part) for part in parts)
    except ValueError:
        return None
    return start, end


def written_interval(span: Span) -> str:
    """The days of a span, as `interval_of` reads them."""
    start = ".." if span.start in (None, dates.FIRST_DAY) else span.start.isoformat()
    end = ".." if span.end in (None, dates.LAST_DAY) else span.end.isoformat()
    return f"{start}/{end}"


def grains_in(tokens: Sequence[Token]) -> frozenset[str]:
    """The grains of time that words name: `month` for "by month", "monthly" and "each month"."""
    return frozenset(
        grain
        for grain in ("day", "week", "month", "quarter", "year")
        for t in tokens
        if t.word in closed(f"grain_{grain}")
    )
