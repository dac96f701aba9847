"""Unary tests: what a cell of a decision table says, in FEEL or in the shorthand of a spreadsheet, as a `Test`.

FEEL is read as far as the authoring format says it; everything else raises `Unsayable` with what it is.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from datetime import date
from decimal import Decimal
from typing import Final

from ci.importers.tables.model import (
    ANYTHING,
    Comparison,
    Except,
    Interval,
    Named,
    OneOf,
    Operand,
    Operator,
    Test,
    Unsayable,
)

LONGEST = 2_000  # characters of a cell
MOST_TESTS = 500  # alternatives in one cell
LONGEST_VALUE = 200
MOST_DIGITS = 40

_SPACE = re.compile(r"\s*")
_STRING = re.compile(r'"((?:[^"\\]|\\.)*)"', re.DOTALL)
_NUMBER = re.compile(r"-?(?:\d+(?:\.\d+)?|\.\d+)(?:[eE][-+]?\d+)?(?![\w])")
_OPERATOR = re.compile(r"<=|>=|!=|<>|≤|≥|≠|==|<|>|=")
_DATE_CALL = re.compile(r'date\s*\(\s*"([^"]*)"\s*\)|@"([^"]*)"')
_CALL = re.compile(r"([^\W\d][\w ]*?)\s*\(")
_ISO = re.compile(r"\d{4}-\d{2}-\d{2}")
_ESCAPES: Final = {'\\"': '"', "\\\\": "\\", "\\n": "\n", "\\t": "\t", "\\'": "'"}
_SPELLED: Final[dict[str, Operator]] = {
    "=": "==",
    "==": "==",
    "<>": "!=",
    "!=": "!=",
    "≠": "!=",
    "<": "<",
    "<=": "<=",
    "≤": "<=",
    ">": ">",
    ">=": ">=",
    "≥": ">=",
}
_KEPT_APART: Final = "\u200b\u200e\u200f\u2028\u2029\ufeff" + "".join(
    map(chr, (*range(0x202A, 0x202F), *range(0x2066, 0x206A)))
)


def visible(text: str) -> str:
    """*text* on one line. Raises Unsayable where it holds what nobody sees: control and direction characters."""
    plain = " ".join(text.split())
    for character in plain:
        if character in _KEPT_APART or unicodedata.category(character) in ("Cc", "Cs", "Co", "Cn"):
            raise Unsayable(f"it holds the invisible character U+{ord(character):04X}", "delete it from the cell")
    return plain


@dataclass(frozen=True, slots=True)
class Reading:
    """How cells are read. `named` resolves the name of another input; *loose* takes the shorthand of spreadsheets.

    In a loose cell a bare word is text, brackets around an interval may be left out, and `not x` needs none either.
    """

    named: Callable[[str], str | None]
    is_loose: bool = False

    def test(self, text: str) -> Test:
        """What a cell tests. Raises Unsayable."""
        if len(text) > LONGEST:
            raise Unsayable(f"it has {len(text):,} characters", f"at most {LONGEST:,} are read")
        shown = visible(text)
        if shown == "-":
            return ANYTHING
        if not shown:
            raise Unsayable("it is empty", "write `-` where the column does not matter, or give `--empty any`")
        return _Cell(shown, self).whole()

    def value(self, text: str) -> Operand:
        """What an output says: one value that stands there, nothing computed. Raises Unsayable."""
        shown = visible(text)
        if shown in ("", "-"):
            raise Unsayable("it says nothing", "every row says something in every output")
        cell = _Cell(shown, self)
        found = cell.operand()
        cell.skip()
        if cell.rest or isinstance(found, Named):
            raise Unsayable(
                f"it computes `{clip(shown)}`", "write a value: text in quotes, a number, true, false, a date"
            )
        return found


class _Cell:
    """One pass over the text of a cell."""

    def __init__(self, text: str, reading: Reading) -> None:
        self.text, self.reading, self.position = text, reading, 0

    @property
    def rest(self) -> str:
        return self.text[self.position :]

    def skip(self) -> None:
        found = _SPACE.match(self.text, self.position)
        self.position = found.end() if found else self.position

    def whole(self) -> Test:
        """The tests to the end of the cell."""
        if (inner := self._denied()) is not None:
            return Except(_Cell(inner, self.reading).tests())
        return self.tests()

    def _denied(self) -> str | None:
        """What stands behind `not`."""
        found = re.match(r"not\s*\((.*)\)\s*$", self.text, re.DOTALL | re.IGNORECASE)
        if found:
            return found[1].strip()
        loose = re.match(r"not\s+(.+)$", self.text, re.DOTALL | re.IGNORECASE) if self.reading.is_loose else None
        return loose[1] if loose else None

    def tests(self) -> Test:
        """One test, or several with commas between."""
        found: list[Test] = []
        while True:
            found.append(self._one())
            self.skip()
            if not self.rest:
                break
            if self.rest[0] != ",":
                raise self._strange()
            self._lone_comma()
            self.position += 1
            if len(found) >= MOST_TESTS:
                raise Unsayable(f"it lists more than {MOST_TESTS} tests", "split the row")
        return found[0] if len(found) == 1 else OneOf(tuple(found))

    def _lone_comma(self) -> None:
        """In a spreadsheet `1,000` may be one number or two."""
        around = self.text[max(self.position - 1, 0) : self.position + 2]
        if self.reading.is_loose and re.fullmatch(r"\d,\d", around):
            shown = clip(self.text)
            raise Unsayable(
                f"`{shown}` may be one number or several", "write 1000 or 3.5; with a space, `1, 2`, it is a list"
            )

    def _one(self) -> Test:
        self.skip()
        if operator := _OPERATOR.match(self.text, self.position):
            self.position = operator.end()
            if self.reading.is_loose and operator[0] == "=" and re.match(r"[^\W\d]", self.rest):
                raise Unsayable(f"`{clip(self.text)}` is a formula", "write what it gives; a value stands without `=`")
            self.skip()
            return Comparison(_SPELLED[operator[0]], self.operand(compared=True))
        if self.rest[:1] in ("[", "(", "]"):
            return self._interval()
        low = self.operand()
        self.skip()
        if self.reading.is_loose and self.rest.startswith(".."):
            self.position += 2
            self.skip()
            return _ordered(Interval(low, self.operand(compared=True)))
        if self.rest.startswith(".."):
            raise Unsayable(f"`{clip(self.text)}` has no brackets", "write [1..5], (1..5) or [1..5)")
        return Comparison("==", low)

    def _interval(self) -> Interval:
        has_low = self.rest[0] == "["
        self.position += 1
        self.skip()
        low = self.operand(compared=True)
        self.skip()
        if not self.rest.startswith(".."):
            raise self._strange()
        self.position += 2
        self.skip()
        high = self.operand(compared=True)
        self.skip()
        if self.rest[:1] not in ("]", ")", "["):
            raise self._strange()
        has_high = self.rest[0] == "]"
        self.position += 1
        return _ordered(Interval(low, high, has_low, has_high))

    # ---- operands

    def operand(self, compared: bool = False) -> Operand:
        """A value, or the name of another input."""
        self.skip()
        for read in (self._date, self._string, self._loose_date, self._number):
            if (found := read()) is not None:
                return found
        return self._word(compared)

    def _date(self) -> date | None:
        found = _DATE_CALL.match(self.text, self.position)
        if not found:
            return None
        self.position = found.end()
        return iso_date(found[1] if found[1] is not None else found[2])

    def _loose_date(self) -> date | None:
        found = _ISO.match(self.text, self.position) if self.reading.is_loose else None
        if not found or re.match(r"[\w:]", self.text[found.end() :]):
            return None
        self.position = found.end()
        return iso_date(found[0])

    def _string(self) -> str | None:
        found = _STRING.match(self.text, self.position)
        if not found:
            return None
        self.position = found.end()
        return _bounded(re.sub(r"\\.", lambda escape: _ESCAPES.get(escape[0], escape[0]), found[1]))

    def _number(self) -> Decimal | None:
        found = _NUMBER.match(self.text, self.position)
        if not found:
            return None
        behind = self.text[found.end() :]
        if self.reading.is_loose and not re.match(r"\s*($|,|\.\.|[\])\[])", behind):
            return None  # `30 days` is a word here
        if len(found[0]) > MOST_DIGITS or (len(found[0]) > 1 and re.search(r"[eE][-+]?\d{3,}", found[0])):
            raise Unsayable(f"`{clip(found[0])}` is no number of a usable size")
        self.position = found.end()
        return Decimal(found[0])

    def _word(self, compared: bool) -> Operand:
        end = self._end_of_word()
        written = self.text[self.position : end].strip()
        if not written:
            raise self._strange()
        if written.casefold() in ("true", "false") and (self.reading.is_loose or written.islower()):
            self.position = end
            return written.casefold() == "true"
        if (call := _CALL.match(written)) and not self.reading.is_loose:
            called = clip(call[1].strip())
            raise Unsayable(f"it calls the function `{called}`", "compute it before, as an input of its own")
        known = self.reading.named(written)
        if self.reading.is_loose:
            self.position = end
            if known is not None and compared:
                return Named(known)
            if re.search(r"[=<>\[\]|!{}]|\.\.", written) or written[0] in "+@'":
                raise Unsayable(f"`{clip(self.text)}` is a formula or cannot be read", "put text in quotes")
            return _bounded(written)
        if known is None:
            raise self._unknown(written)
        self.position = end
        return Named(known)

    def _end_of_word(self) -> int:
        """Where a bare word ends: at a comma, at `..`, at a bracket that closes an interval, or with the cell."""
        depth = 0
        for i in range(self.position, len(self.text)):
            character = self.text[i]
            depth += (character == "(") - (character == ")" and depth > 0)
            is_closing = character in "])" and "(" not in self.text[self.position : i]
            if depth == 0 and (character == "," or self.text.startswith("..", i) or is_closing):
                return i
        return len(self.text)

    def _unknown(self, written: str) -> Unsayable:
        if written == "null":
            return Unsayable(
                "it tests for `null`, and an unknown fact is never tested", "give missing values a value of their own"
            )
        if re.fullmatch(r"[\w .'-]+", written):
            return Unsayable(
                f"`{clip(written)}` is no input of this source", "put text in quotes, or declare the input"
            )
        return Unsayable(f"it computes `{clip(written)}`", "compute it before, as an input of its own")

    def _strange(self) -> Unsayable:
        shown = self.rest.strip() or self.text
        return Unsayable(
            f"`{clip(shown)}` is no test that can be read", 'write `-`, `"a", "b"`, `<= 30`, `[1..5)` or `not("a")`'
        )


def _ordered(interval: Interval) -> Interval:
    low, high = interval.low, interval.high
    if isinstance(low, Named) or isinstance(high, Named):
        return interval
    if type(low) is not type(high) or isinstance(low, bool | str):
        raise Unsayable(
            "its interval has ends of two kinds, or of a kind without order", "use two numbers or two dates"
        )
    is_open = not (interval.has_low and interval.has_high)
    if low > high or (low == high and is_open):  # type: ignore[operator]  # both are of one kind, see above
        raise Unsayable(
            f"its interval is empty: it begins at {spelled(low)} and ends at {spelled(high)}", "turn its ends round"
        )
    return interval


def iso_date(text: str) -> date:
    """A day like 2026-01-31. Raises Unsayable for times and for days that do not exist."""
    if not _ISO.fullmatch(text.strip()):
        why = "it has a time of day" if "T" in text else "it is no date"
        raise Unsayable(f"`{clip(text)}`: {why} like 2026-01-31", "facts hold days, not times")
    try:
        return date.fromisoformat(text.strip())
    except ValueError:
        raise Unsayable(f"`{clip(text)}` is no day of the calendar") from None


def spelled(value: Operand) -> str:
    """A value as a label says it."""
    match value:
        case bool():
            return str(value).lower()
        case Decimal():
            plain = format(value, "f")
            return (plain.rstrip("0").rstrip(".") if "." in plain else plain) or "0"
        case date():
            return value.isoformat()
        case Named():
            return value.name
        case str():
            return value


def clip(text: str, length: int = 60) -> str:
    """*text*, short enough for a message."""
    return text if len(text) <= length else text[: length - 1] + "…"


def _bounded(text: str) -> str:
    if not text.strip():
        raise Unsayable("it tests for an empty text", "give missing values a value of their own")
    if len(text) > LONGEST_VALUE:
        raise Unsayable(f"the value `{clip(text)}` has {len(text)} characters", f"at most {LONGEST_VALUE} are kept")
    return text


def name_lookup(names: Iterable[str]) -> Callable[[str], str | None]:
    """Finds a name among *names*, whatever blanks stand in it."""
    known = {" ".join(name.split()): name for name in names}
    return lambda written: known.get(" ".join(written.split()))
