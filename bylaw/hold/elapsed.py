"""How long ago a day is that a text names, where a declared number counts back from now: "bought {value} days ago".

"Bought yesterday" says it by the day instead of the figure. A day to come says nothing of it, nor does one that
belongs to other words, and one that may be either side of now ("on Monday") is not read.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from datetime import date, timedelta
from fractions import Fraction
from functools import lru_cache
from math import ceil, floor

from bylaw.authored.wording import SLOT
from bylaw.hold.item import Item
from bylaw.hold.values import Values
from bylaw.hold.words import Index, Name, is_content, stems_of
from bylaw.language.dates import FIRST_DAY
from bylaw.language.days import find_days
from bylaw.language.lexicon import lexicon
from bylaw.language.months import IN_MONTHS, months_passed
from bylaw.language.text import Passage, Token, words_of
from bylaw.language.units import convert, unit_named

_NUMBERS = ("integer", "decimal")
_CLEAR = ("last", "this past")  # before a weekday: which one is meant
_SO_FAR = frozenset(("have", "has", "had", "been"))  # "have had it for {value} days" lasts until now
_PARTING = frozenset(("and", "but", "or", "that", "which", "who", "when", "then", "because", "before", "after"))
_WEEK = 7


@dataclass(frozen=True, slots=True)
class PastDays:
    """Days up to now that a text names, from place `begins` to `ends`: between `first` (None: any) and `last`."""

    begins: int
    ends: int
    first: date | None
    last: date
    is_since: bool = False


@dataclass(frozen=True, slots=True)
class Elapsed:
    """A duration that days say: its operator, and its value or both of its bounds, in the unit of the name."""

    operator: str
    values: tuple[Fraction, ...]

    def item(self, name: Name, quote: str) -> Item:
        """The fact of that *name* that it says."""
        values = [int(one) if one.denominator == 1 else float(one) for one in self.values]
        value = values if len(values) > 1 else values[0]
        said = {"kind": "fact", "name": name.name, "value": value, "unit": name.unit}
        operator = None if self.operator == "==" else self.operator
        return Item.model_validate({**said, "operator": operator, "quote": quote})


@lru_cache(maxsize=8)
def past_days(values: Values) -> tuple[PastDays, ...]:
    """Every day and period of the text that has passed or begun, in order. A figure "ago" is no day, but a weekday
    behind it is ("three weeks ago on Monday").
    """
    text, today = values.seen.text.seen.lower(), values.clock.today
    found: list[PastDays] = []
    for span in values.spans:
        is_since = text[span.begins : span.ends].startswith("since ")
        if span.is_untold or span.is_state or span.start is None or span.end is None or span.start > today:
            continue
        if not text[span.begins : span.ends].endswith(" ago"):
            last = span.start if is_since else min(span.end - timedelta(days=1), today)
            first = None if span.start == FIRST_DAY else span.start
            found.append(PastDays(span.begins, span.ends, first, last, is_since))
    taken = [(one.begins, one.ends) for one in found]
    for begins, ends, day in find_days(values.seen.text.seen, today):
        if not any(begins < b and a < ends for a, b in taken):
            found += _weekday(values, begins, ends, day)
    return tuple(sorted(found, key=lambda one: one.begins))


def _weekday(values: Values, begins: int, ends: int, day: date | None) -> Iterator[PastDays]:
    """A weekday that can only be one before now."""
    text, today = values.seen.text.seen.lower(), values.clock.today
    which, _, weekday = text[begins:ends].rpartition(" ")
    before = text[:begins].rstrip()
    if before.endswith(" ago"):
        ago = next((span for span in values.spans if span.ends == len(before)), None)
        if ago is not None and ago.start and ago.end and (ago.end - ago.start).days == _WEEK:
            latest = find_days(f"on {weekday}", today + timedelta(days=1))[0][2]
            if latest is not None:
                meant = ago.start + timedelta(days=(latest.weekday() - ago.start.weekday()) % _WEEK)
                yield PastDays(ago.begins, ends, meant, meant)
    elif day is not None and day <= today:
        if before.endswith("since"):
            yield PastDays(len(before) - len("since"), ends, day, day, is_since=True)
        elif which in _CLEAR:
            yield PastDays(begins, ends, day, day)


def words_of_day(
    day: PastDays, name: Name, index: Index, passage: Passage, tokens: Sequence[Token]
) -> Sequence[Token] | None:
    """The words among *tokens*, those of *passage*, that say *name* of *day* by one of its forms; None where none do,
    where words of another name that counts back are nearer, or where the sentence goes on in between.
    """
    mine = _nearest(day, name, tokens, passage)
    if mine is None:
        return None
    far = _distance(day, mine, tokens)
    others = (one for (group, _), one in index.names.items() if group == "fact" and one is not name)
    for other in others:
        theirs = _nearest(day, other, tokens, passage)
        if theirs is not None and _distance(day, theirs, tokens) < far:
            return None
    return mine


def _nearest(day: PastDays, name: Name, tokens: Sequence[Token], passage: Passage) -> Sequence[Token] | None:
    """The words of the form of *name* that stands the nearest to *day*."""
    clause = _clause_of(day, tokens, passage)
    said = [row for form in _forms(name, day.is_since) if (row := _spoken(form, clause, day)) is not None]
    return min(said, key=lambda row: (_distance(day, row, tokens), -len(row)), default=None)


def _clause_of(day: PastDays, tokens: Sequence[Token], passage: Passage) -> Sequence[Token]:
    """The words beside *day*: those of its clause, and of the next where it opens the sentence by itself."""
    inside = [token for token in tokens if day.begins <= token.start < day.ends]
    clauses = {token.clause for token in inside}
    beside = [token for token in tokens if token.clause in clauses and token not in inside]
    if not beside and inside and tokens[0] is inside[0]:
        following = next((token.clause for token in tokens if token.start >= day.ends), None)
        beside = [token for token in tokens if token.clause == following]
    return beside


def counts_back(name: Name) -> bool:
    """Is *name* called by how long ago something was?"""
    return any(True for _ in _forms(name, is_since=False))


def _forms(name: Name, is_since: bool) -> Iterator[tuple[str, ...]]:
    """The words of each form of *name* that counts back from now, without the figure, its unit, and what counts."""
    if name.type not in _NUMBERS or name.unit is None or convert(Fraction(1), "days", name.unit) is None:
        return
    for form in name.forms:
        before, _, behind = form.partition(SLOT)
        left, right = words_of(before), words_of(behind)
        unit = lexicon().unit(right, 0) if right else None
        right = right[unit[1] :] if unit else right
        if right[:1] == ("ago",) and not is_since:
            yield (*left, *right[1:])
        elif is_since and left[-1:] == ("for",) and not _SO_FAR.isdisjoint(left):
            yield (*left[:-1], *right)


def _spoken(form: Sequence[str], clause: Sequence[Token], day: PastDays) -> Sequence[Token] | None:
    """The words of *clause* that are those of *form*; a form of empty words only stands right before the day."""
    telling = [word for word in form if is_content(word)]
    if not telling:
        before = [token for token in clause if token.end <= day.begins][-len(form) :] if form else []
        is_there = bool(form) and [token.word for token in before] == list(form)
        return before if is_there else None
    found = []
    for word in telling:
        mine = [token for token in clause if not stems_of(token.word).isdisjoint(stems_of(word))]
        if not mine:
            return None
        found.append(min(mine, key=lambda token: abs(token.start - day.begins)))
    first, last = min(found[0].start, day.begins), max(found[0].start, day.begins)
    between = (token.word for token in clause if first < token.start < last)
    return None if not _PARTING.isdisjoint(between) else sorted(found, key=lambda token: token.start)


def _distance(day: PastDays, words: Iterable[Token], tokens: Sequence[Token]) -> int:
    """How many words stand between the day and the nearest of *words*."""

    def between(one: Token) -> int:
        first, last = (one.end, day.begins) if one.end <= day.begins else (day.ends, one.start)
        return sum(first <= token.start < last for token in tokens)

    return min(between(one) for one in words)


def elapsed(day: PastDays, name: Name, today: date) -> Elapsed:
    """How long it has been since *day*, in the unit of *name*: exact where that counts whole days, else its bounds."""
    fewest = Fraction((today - day.last).days)
    most = None if day.first is None else Fraction((today - day.first).days)
    size = convert(Fraction(1), "days", unit_named(name.unit) or "days") or Fraction(1)
    if size > 1:  # the hours of a day
        low, high = max(fewest - 1, Fraction(0)) * size, None if most is None else (most + 1) * size
    else:
        low, high = _whole(fewest, name, floor), None if most is None else _whole(most, name, ceil)
    if high is None:
        return Elapsed(">=", (low,))
    return Elapsed("==", (low,)) if low == high else Elapsed("between", (low, high))


def _whole(days: Fraction, name: Name, rounding: Callable[[Fraction], int]) -> Fraction:
    """So many days in the unit of *name*; where that is counted whole, one of the two whole numbers beside it."""
    unit = unit_named(name.unit) or "days"
    amount = convert(days, "days", unit)
    if amount is None:  # the last five days of a year
        amount = months_passed(days) / IN_MONTHS[unit]
    return Fraction(rounding(amount)) if name.type == "integer" else amount
