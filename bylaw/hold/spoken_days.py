"""The days that a time phrase says of a date: one of them, a stretch, all before one or all from one on."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import timedelta

from bylaw.hold.item import Item
from bylaw.hold.text import Seen
from bylaw.language.dates import FIRST_DAY, LAST_DAY, Span
from bylaw.language.lexicon import lexicon

_OPEN = ("since ", "after ", "later than ", "on or after ")  # no day ends what is said of a date
_DAY = timedelta(days=1)


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
    first, last = span.start.isoformat(), (span.end - _DAY).isoformat()
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
