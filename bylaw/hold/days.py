"""What the days that a text names say: of a date, and of how long ago something was.

A date takes one day, a stretch, all before one or all from one on. A number that counts back from now ("bought {value}
days ago") takes the day instead of the figure. A day to come says nothing of it, nor does one that belongs to other
words, and one that may be either side of now ("on Monday") is not read.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import date, timedelta
from fractions import Fraction
from functools import lru_cache
from math import ceil, floor
from operator import attrgetter

from bylaw.authored.wording import SLOT
from bylaw.hold.item import Item
from bylaw.hold.text import Seen
from bylaw.hold.values import Values
from bylaw.hold.words import Index, Name, is_content, stems_of
from bylaw.language.dates import FIRST_DAY, LAST_DAY, Span
from bylaw.language.days import find_days
from bylaw.language.lexicon import lexicon
from bylaw.language.months import IN_MONTHS, months_passed
from bylaw.language.text import Token, words_of
from bylaw.language.units import convert, unit_named

_NUMBERS = ("integer", "decimal")
_CLEAR = ("last", "this past")  # before a weekday: which one is meant
_SO_FAR = frozenset(("have", "has", "had", "been"))  # "have had it for {value} days" lasts until now
_PARTING = frozenset(("and", "but", "or", "that", "which", "who", "when", "then", "because", "before", "after"))
_WEEK = 7
_NEAR = 12  # words on each side of a day among which a form is looked for
_MOST = 20  # days of one text; the rest is residue
_START = attrgetter("start")
_OPEN = ("since ", "after ", "later than ", "on or after ")  # no day ends what is said of a date
_ONE = timedelta(days=1)
_BACK = frozenset(("ago", "since", "after", "for", "already", "old"))  # how long it has been
_AHEAD = frozenset(("before", "until", "till", "ahead", "left"))  # how long it will be


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
    """The days and periods of the text that have passed or begun, in order. A figure "ago" is no day, but a weekday
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
    found = found[:_MOST]
    taken = [(one.begins, one.ends) for one in found]
    for begins, ends, day in find_days(values.seen.text.seen, today)[:_MOST]:
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


def words_of_day(day: PastDays, index: Index, tokens: Sequence[Token]) -> Mapping[str, Sequence[Token]]:
    """The facts that count back and of which a form stands beside *day*, the nearest, each with the words that say it.

    *tokens* are those of its sentence. None where the sentence goes on in between.
    """
    beside = _beside(day, tokens)
    found: dict[str, tuple[int, Sequence[Token]]] = {}
    for (group, _), name in index.names.items():
        forms = _forms(name, day.is_since) if group == "fact" and beside else ()
        said = [row for form in forms if (row := _spoken(form, beside, day)) is not None]
        if said:
            found[name.name] = min(((_distance(day, row, beside), row) for row in said), key=lambda one: one[0])
    nearest = min((far for far, _ in found.values()), default=0)
    return {name: row for name, (far, row) in found.items() if far == nearest}


def _beside(day: PastDays, tokens: Sequence[Token]) -> Sequence[Token]:
    """The words near *day*: those of its clause, and of the next where it opens the sentence by itself."""
    first = bisect_left(tokens, day.begins, key=_START)
    behind = bisect_left(tokens, day.ends, key=_START)
    clauses = {token.clause for token in tokens[first:behind]}
    near = (*tokens[max(first - _NEAR, 0) : first], *tokens[behind : behind + _NEAR])
    found = [token for token in near if token.clause in clauses]
    if not found and first == 0:
        found = [token for token in near if token.clause == near[0].clause]
    return found


def counts_back(name: Name) -> bool:
    """Is *name* called by how long ago something was?"""
    return any(True for _ in _forms(name, is_since=False))


def other_time(name: Name, before: str, behind: str) -> bool:
    """Does a duration between these words lie on the other side of now: "48 hours ago" of the hours until it begins?"""
    words = {word for text in (*name.texts, *name.forms) for word in words_of(text)}
    is_back, is_ahead = not words.isdisjoint(_BACK), not words.isdisjoint(_AHEAD)
    if is_back is is_ahead:
        return False
    return behind in ("ago", "after") if is_ahead else before == "in" or behind == "before"


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


# ---- of a date ------------------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class SaidDays:
    """An operator with its day, or with both of its days, in ISO dates."""

    operator: str
    values: tuple[str, ...]

    def item(self, name: str, quote: str) -> Item:
        """The fact of that *name* that it says."""
        operator = None if self.operator == "==" else self.operator
        value = list(self.values) if len(self.values) > 1 else self.values[0]
        return Item.model_validate({"kind": "fact", "name": name, "operator": operator, "value": value, "quote": quote})

    def bears(self, operator: str | None, values: Sequence[object]) -> bool:
        """Is that what it says, or one end of it?"""
        said = tuple(map(str, values))
        if (operator or "==", said) == (self.operator, self.values):
            return True
        ends = {
            "between": {">=": self.values[:1], "<=": self.values[-1:]},
            "==": {">=": self.values, "<=": self.values},
        }
        return ends.get(self.operator, {}).get(operator or "==") == said


def said_days(span: Span, seen: Seen) -> SaidDays | None:
    """What *span* says of a date; None where only the words around would tell, or where it is all of time."""
    if span.is_untold or span.start is None or span.end is None or (span.start, span.end) == (FIRST_DAY, LAST_DAY):
        return None
    first, last = span.start.isoformat(), (span.end - _ONE).isoformat()
    is_open = seen.text.seen[span.begins : span.ends].lower().startswith(_OPEN)
    if span.start == FIRST_DAY:
        return SaidDays("<", (span.end.isoformat(),))
    if is_open or span.end == LAST_DAY:
        return SaidDays(">=", (first,))
    return SaidDays("==", (first,)) if first == last else SaidDays("between", (first, last))


def has_year(span: Span, seen: Seen) -> bool:
    """Is the year said, or known by today: not in "on 3 May", which is of some year?"""
    words = [token.word for token in seen.words(span.begins, span.ends)]
    is_dated = any(word.rstrip(".") in lexicon().months for word in words)
    return not is_dated or any(len(word) == 4 and word.isdecimal() for word in words)
