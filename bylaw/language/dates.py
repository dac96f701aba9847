"""Time phrases: "last quarter", "in March", "between 2026-01-01 and 2026-03-31" → a half-open span of days.

One grammar, the day of asking is an argument. A phrase it does not know is not matched, so that the reader can name
it: general date parsers guess, and turn "past 30 days" into the future. "Last 30 days" rolls back to that day and
includes today, unless the calendar says that whole periods are meant.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from datetime import date, timedelta
from functools import cache, lru_cache

from bylaw.language.lexicon import lexicon
from bylaw.language.periods import UNITS, CalendarRules, Unit, label_of, period_of, shifted, whole


@dataclass(frozen=True, slots=True)
class Span:
    """Days from `start` up to, not including, `end`; both None: all time. `begins`, `ends` are places in the text.

    `is_untold`: only the text around would tell its days ("the month before"). `is_state` asks how things stood at
    its end ("at the end of October").
    """

    start: date | None
    end: date | None
    label: str
    begins: int
    ends: int
    is_untold: bool = False
    is_state: bool = False


_ORDINARY = CalendarRules()
FIRST_DAY = date(1, 1, 1)  # of a span that has no beginning
LAST_DAY = date(9999, 12, 31)  # of a span that has no end
_Period = tuple[date | None, date | None, str]
_Reader = Callable[[re.Match[str], date, CalendarRules], _Period | None]


def day_before(day: date) -> date:
    """The day before *day*; the first day that there is has none before it."""
    return day if day == date.min else day - timedelta(days=1)


def find(text: str, today: date, calendar: CalendarRules = _ORDINARY) -> tuple[Span, ...]:
    """Every time phrase in *text*, in order; longer readings win over the shorter ones inside them."""
    found: list[Span] = []
    for match, reader in _matches(text.lower()):
        try:
            period = reader(match, today, calendar)
        except (ValueError, OverflowError):  # the 31st of February, the year 12000: no day, so no phrase
            period = None
        if period is not None:
            found.append(Span(*period, *match.span(), reader is _untold, reader is _state))
    return tuple(sorted(found, key=lambda span: span.begins))


@lru_cache(maxsize=64)
def _matches(lowered: str) -> tuple[tuple[re.Match[str], _Reader], ...]:
    """The time phrases and who reads them: the same whatever day it is. The last few are kept."""
    found: list[tuple[re.Match[str], _Reader]] = []
    taken = bytearray(len(lowered))
    said = {needed for needed in (_DAY_NAMED, _UNIT_NAMED, _ANYTHING) if needed.search(lowered)}
    for phrase, reader, needed in _GRAMMAR:
        for match in _pattern(phrase).finditer(lowered) if needed in said else ():
            # not even within one that makes no sense: half of "since 2030" would be a wrong reading
            if 1 not in taken[match.start() : match.end()]:
                taken[match.start() : match.end()] = b"\1" * len(match[0])
                found.append((match, reader))
    return tuple(found)


# --- words ---

_MONTHS = lexicon().months
_NUMBERS = {word: number for word, number in lexicon().numbers.items() if 0 < number <= 12}
_ORDINALS = {"first": 1, "second": 2, "third": 3, "fourth": 4, "1st": 1, "2nd": 2, "3rd": 3, "4th": 4}
_LAST_ONE = {"last": 4, "final": 4}

_MONTH = rf"(?:{'|'.join(sorted(_MONTHS, key=len, reverse=True))})\.?"
_YEAR = r"(?:19|20)\d\d"
_UNIT = r"(?:day|week|month|quarter|year)"
_COUNT = rf"(?:\d{{1,4}}|{'|'.join(_NUMBERS)})"
_ONE_DAY = (
    rf"(?:{_YEAR}-\d\d-\d\d|{_MONTH} \d\d?(?:st|nd|rd|th)?(?:,? {_YEAR})?|\d\d?(?:st|nd|rd|th)?(?: of)? {_MONTH}"
    rf"(?:,? {_YEAR})?|today|yesterday)"
)
_DATE = rf"(?:{_ONE_DAY}|{_YEAR}-\d\d|q[1-4](?: (?:of )?{_YEAR})?|{_MONTH} {_YEAR}|{_MONTH}|{_YEAR})"
_DAY_NAMED, _UNIT_NAMED, _ANYTHING = re.compile(_DATE), re.compile(_UNIT), re.compile("")
_END = r"(?![\w-])"
_QUARTER = re.compile(rf"(?P<fiscal>(?!))?q(?P<number>[1-4])(?P<ordinal>)(?: (?:of )?(?P<year>{_YEAR}))?")
_JOINED = r"(?:,? (?:and|or|vs\.?|versus|with|to|against|than|compared (?:to|with))|,)"


def _count(text: str) -> int:
    return _NUMBERS.get(text) or int(text)


def _any_count(text: str) -> int:
    return 1 if text in ("a", "an", "one") else _count(text)


def _mention(text: str, today: date, calendar: CalendarRules) -> tuple[date, date]:
    """The days that one mention covers: a day, a month, a quarter or a year. Without a year the latest, or the next."""
    if text in ("today", "yesterday"):
        start = today if text == "today" else today - timedelta(days=1)
        return start, start + timedelta(days=1)
    if match := re.fullmatch(rf"({_YEAR})-(\d\d)(?:-(\d\d))?", text):
        year, month, day = (int(part) if part else 1 for part in match.groups())
        start = date(year, month, day)
        return start, shifted(start, "day" if match[3] else "month", 1)
    if match := _QUARTER.fullmatch(text):
        start, end, _ = _quarter(match, today, calendar)
        return start, end
    if re.fullmatch(_YEAR, text):
        return date(int(text), 1, 1), date(int(text) + 1, 1, 1)
    words = re.findall(r"[a-z]+|\d+", re.sub(r"(?<=\d)(st|nd|rd|th)\b", "", text))
    month = next(_MONTHS[word] for word in words if word in _MONTHS)
    numbers = [int(word) for word in words if word.isdigit()]
    years = [number for number in numbers if number > 31]
    days = [number for number in numbers if number <= 31]
    start = date(years[0] if years else today.year, month, days[0] if days else 1)
    unit: Unit = "day" if days else "month"
    if not years and calendar.is_ahead:
        start = start.replace(year=start.year + (shifted(start, unit, 1) <= today))
    elif not years and start > today:
        start = start.replace(year=start.year - 1)
    return start, shifted(start, unit, 1)


# --- one reader a kind of phrase ---


def _untold(_match: re.Match[str], _today: date, _calendar: CalendarRules) -> _Period | None:
    return None, None, _match[0]


def _between(match: re.Match[str], today: date, calendar: CalendarRules) -> _Period | None:
    start, _ = _mention(match["from"], today, calendar)
    last, end = _mention(match["to"], today, calendar)
    end = last if match["exclusive"] else end
    if not re.search(_YEAR, match["from"]) and (named := re.search(_YEAR, match["to"])):
        start = start.replace(year=int(named[0]))  # "from January to March 2026": one year is meant
    if last < start:
        return None
    return start, end, f"{start.isoformat()} to {(end - timedelta(days=1)).isoformat()}"


def _since(match: re.Match[str], today: date, calendar: CalendarRules) -> _Period | None:
    start, end = _mention(match["from"], today, calendar)
    start = end if match["word"] in ("after", "later than") else start
    if start > today and not calendar.is_ahead:
        return None
    if match["word"] == "on or after" or start > today:
        return start, LAST_DAY, f"from {start.isoformat()} on"
    return start, today + timedelta(days=1), f"since {start.isoformat()}"


def _from_on(match: re.Match[str], today: date, calendar: CalendarRules) -> _Period | None:
    start, _ = _mention(match["from"], today, calendar)
    return start, LAST_DAY, f"from {start.isoformat()} on"


def _up_to(match: re.Match[str], today: date, calendar: CalendarRules) -> _Period | None:
    _, end = _mention(match["from"], today, calendar)
    return FIRST_DAY, end, f"before {end.isoformat()}"


def _last_count(match: re.Match[str], today: date, calendar: CalendarRules) -> _Period | None:
    count, unit = _count(match["count"]), _unit(match)
    if count == 0:
        return None
    plural = f"{unit}s" if count > 1 else unit
    if match["calendar"] and not (calendar.whole_periods or match["excluding"]):
        start = period_of(shifted(today, unit, -count), unit, calendar)
        return start, today + timedelta(days=1), f"the last {count} calendar {plural} and this one so far"
    if calendar.whole_periods or match["whole"] or match["excluding"]:
        end = period_of(today, unit, calendar)
        return shifted(end, unit, -count), end, f"the last {count} whole {plural}"
    if match["today"] and unit == "day":
        return shifted(today, "day", 1 - count), today + timedelta(days=1), f"the last {count} {plural} with today"
    return shifted(today, unit, -count), today + timedelta(days=1), f"the last {count} {plural}"


def _relative(match: re.Match[str], today: date, calendar: CalendarRules) -> _Period | None:
    unit, fiscal = _unit(match), bool(match["fiscal"]) or None
    if match["word"] in ("past", "trailing") and not calendar.whole_periods and not fiscal:
        return shifted(today, unit, -1), today + timedelta(days=1), f"the past {unit}"
    start = period_of(today, unit, calendar, fiscal)
    if match["word"] == "next":
        return whole(shifted(start, unit, 1), unit, calendar, fiscal) if calendar.is_ahead else None
    if match["word"] not in ("this", "current"):
        start = shifted(start, unit, -1)
    return whole(start, unit, calendar, fiscal)


def _before(match: re.Match[str], today: date, calendar: CalendarRules) -> _Period | None:
    start, end = _mention(match["from"], today, calendar)
    until = end if match["word"] in ("on or before", "until", "through", "up to") else start
    return FIRST_DAY, until, f"before {until.isoformat()}"


def _ago(match: re.Match[str], today: date, calendar: CalendarRules) -> _Period | None:
    unit = _unit(match)
    return whole(period_of(shifted(today, unit, -_count(match["count"])), unit, calendar), unit, calendar)


def _longer_ago(match: re.Match[str], today: date, calendar: CalendarRules) -> _Period | None:
    """ "More than 90 days ago": the days before that one; "less than": those after it."""
    day = shifted(today, _unit(match), -_any_count(match["count"]))
    following = day + timedelta(days=1)
    match match["word"]:
        case "more than" | "over" | "longer than":
            return FIRST_DAY, day, f"before {day.isoformat()}"
        case "at least":
            return FIRST_DAY, following, f"up to {day.isoformat()}"
        case "at most" | "no more than":
            return day, today + timedelta(days=1), f"since {day.isoformat()}"
        case _:
            return following, today + timedelta(days=1), f"since {following.isoformat()}"


def _moved(match: re.Match[str], today: date, calendar: CalendarRules) -> _Period | None:
    """ "2 months after March 2026", "the month before": one period, counted in the unit that the date is said in."""
    start, end = _mention(match["from"], today, calendar)
    unit = _unit(match)
    if end != shifted(start, unit, 1) or (count := _any_count(match["count"] or "a")) == 0:
        return None
    return whole(shifted(start, unit, count if match["word"] in _AFTER else -count), unit, calendar, fiscal=False)


def _beside(match: re.Match[str], today: date, calendar: CalendarRules) -> _Period | None:
    """ "Within 10 days after March 5": that day and those that follow; of a longer span only what follows it."""
    start, end = _mention(match["from"], today, calendar)
    count, unit = _any_count(match["count"]), _unit(match)
    is_day = end == start + timedelta(days=1)
    if match["word"] in _AFTER:
        start, end = start if is_day else end, shifted(end, unit, count)
    else:
        start, end = shifted(start, unit, -count), end if is_day else start
    return start, end, f"{start.isoformat()} to {(end - timedelta(days=1)).isoformat()}"


def _apart(match: re.Match[str], today: date, calendar: CalendarRules) -> _Period | None:
    """ "The 7 days before March 5": as many whole units, up to that day or from the day behind it on."""
    start, end = _mention(match["from"], today, calendar)
    count, unit = _any_count(match["count"]), _unit(match)
    start, end = (end, shifted(end, unit, count)) if match["word"] in _AFTER else (shifted(start, unit, -count), start)
    return (start, end, f"{start.isoformat()} to {(end - timedelta(days=1)).isoformat()}") if start < end else None


def _around(match: re.Match[str], today: date, calendar: CalendarRules) -> _Period | None:
    """ "The week of March 5": the whole period that holds what is said."""
    start, end = _mention(match["from"], today, calendar)
    unit = _unit(match)
    found = whole(period_of(start, unit, calendar), unit, calendar)
    return found if found[0] <= start and end <= found[1] else None


def _part_of(match: re.Match[str], today: date, calendar: CalendarRules) -> _Period | None:
    """ "First 2 weeks of March 2026": as many from its beginning, or up to its end."""
    start, end = _mention(match["from"], today, calendar)
    count, unit = _any_count(match["count"] or "a"), _unit(match)
    cut = shifted(start, unit, count) if match["word"] == "first" else shifted(end, unit, -count)
    if not start < cut < end:
        return None
    start, end = (start, cut) if match["word"] == "first" else (cut, end)
    return start, end, f"{start.isoformat()} to {(end - timedelta(days=1)).isoformat()}"


def _state(match: re.Match[str], today: date, calendar: CalendarRules) -> _Period | None:
    """ "At the end of October": everything up to there, of which the last counts."""
    word = match["from"]
    if unit := next((unit for unit in UNITS if word.endswith(unit)), None):
        start = period_of(today, unit, calendar)
        end = start if word.startswith(("last", "previous")) else shifted(start, unit, 1)
    else:
        _, end = _mention(word, today, calendar)
    last = end - timedelta(days=1)
    return FIRST_DAY, end, f"as of {last.isoformat()}"


def _half(match: re.Match[str], today: date, calendar: CalendarRules) -> _Period | None:
    year = int(match["year"] or today.year)
    is_second = (match["word"] or match["number"]) in ("second", "2")
    start = date(year, 7 if is_second else 1, 1)
    return start, shifted(start, "month", 6), f"H{2 if is_second else 1} {year}"


def _to_date(match: re.Match[str], today: date, calendar: CalendarRules) -> _Period | None:
    unit = next(unit for unit in UNITS if unit.startswith((match["unit"] or match["short"])[0]))
    start = period_of(today, unit, calendar, bool(match["fiscal"]) or None)
    return start, today + timedelta(days=1), f"{unit} to date"


def _one_day(match: re.Match[str], today: date, calendar: CalendarRules) -> _Period | None:
    start, end = _mention(match["from"], today, calendar)
    return start, end, start.isoformat()


def _shared_year(match: re.Match[str], today: date, calendar: CalendarRules) -> _Period | None:
    """ "March and April 2026": one year is meant."""
    unit: Unit = "quarter" if match["from"].startswith("q") else "month"
    start, _ = _mention(f"{match['from']} {match['year']}", today, calendar)
    return whole(start, unit, calendar, None if unit == "quarter" else False)


def _quarter(match: re.Match[str], today: date, calendar: CalendarRules) -> tuple[date, date, str]:
    number = int(match["number"]) if match["number"] else (_ORDINALS | _LAST_ONE)[match["ordinal"]]
    fiscal = bool(match["fiscal"]) or calendar.fiscal_by_default
    first = calendar.fiscal_start if fiscal else 1
    year = int(match["year"]) if match["year"] else today.year + 1
    offset = first - 1 + 3 * (number - 1) - (12 if fiscal and first > 1 else 0)
    start = shifted(date(year, 1, 1), "month", offset)
    while not match["year"] and start > today:
        start = shifted(start, "year", -1)
    return whole(start, "quarter", calendar, fiscal)


def _fiscal(match: re.Match[str], _today: date, calendar: CalendarRules) -> _Period | None:
    year = int(match["year"]) if len(match["year"]) == 4 else 2000 + int(match["year"])
    start = date(year - (1 if calendar.fiscal_start > 1 else 0), calendar.fiscal_start, 1)
    return whole(start, "year", calendar, fiscal=True)


def _named(match: re.Match[str], today: date, calendar: CalendarRules) -> _Period | None:
    text = match["from"]
    if re.fullmatch(_YEAR, text) and calendar.fiscal_by_default and calendar.fiscal_start > 1:
        start = date(int(text) - 1, calendar.fiscal_start, 1)
        return whole(start, "year", calendar)
    start, end = _mention(text, today, calendar)
    unit: Unit = "year" if re.fullmatch(_YEAR, text) else "month"
    return start, end, label_of(start, unit, calendar, fiscal=False)


def _beside_today(match: re.Match[str], today: date, calendar: CalendarRules) -> _Period | None:
    """ "Last March", "next March": the latest, or the next that has not begun; which "this" is, the calendar says."""
    is_next = match["word"] in ("next", "coming")
    if is_next and not calendar.is_ahead:
        return None
    is_ahead = is_next or (match["word"] == "this" and calendar.is_ahead)
    start, _ = _mention(match["from"], today, replace(calendar, is_ahead=is_ahead))
    start = shifted(start, "year", 1) if is_next and start <= today else start
    return whole(start, "month", calendar, fiscal=False)


def _all_time(_match: re.Match[str], _today: date, _calendar: CalendarRules) -> _Period | None:
    return None, None, "all time"


def _unit(match: re.Match[str]) -> Unit:
    return next(unit for unit in UNITS if match["unit"].startswith(unit))


@cache
def _pattern(phrase: str) -> re.Pattern[str]:
    """The phrase of a row, compiled for the first text that may hold it: a command reads one text or none."""
    return re.compile(rf"(?<![\w-])(?:{phrase}){_END}")


_FISCAL = r"(?P<fiscal>fiscal )?"
_EXCLUDING = (
    rf"(?P<excluding>,? \(?(?:excluding|not including|without|exclusive of) (?:the )?current {_UNIT}\)?)?"
    rf"(?P<today>,? \(?(?:inclusive of|including) today(?:'s date)?\)?)?"
    rf"(?:,? \(?inclusive of (?:{_COUNT} {_UNIT}s? ago|the start)\)?)?(?:,? (?:from|until|to|as of) (?:today|now))?"
)
_BOTH = r"(?:,? \(?(?:both )?inclusive\)?)?"

_AFTER = ("after", "following")
_SIDES = ("next", "coming", "this", "last", "past", "previous")
_BESIDE = r"(?P<word>after|following|before)"
_SOME = rf"(?P<count>{_COUNT}|an?)"

# Tried in this order; what an earlier row took, a later one leaves alone. The third says what every phrase of the row
# holds: most texts name neither a day nor a unit, and most rows need not be tried.
_GRAMMAR: Sequence[tuple[str, _Reader, re.Pattern[str]]] = (
    (
        rf"(?:(?:in|within|during|over|for) )?the (?P<count>{_COUNT}) (?P<unit>{_UNIT})s? {_BESIDE} (?P<from>{_DATE})",
        _apart,
        _DAY_NAMED,
    ),
    (
        rf"(?:between|from) (?P<from>{_DATE})(?: inclusive)? (?:and|to|through|until) (?P<to>{_DATE})"
        rf"(?P<exclusive>,? \(?exclusive\)?)?{_BOTH}",
        _between,
        _DAY_NAMED,
    ),
    (
        rf"(?:within|in) (?:the )?(?:first )?{_SOME} (?P<unit>{_UNIT})s? {_BESIDE} (?P<from>{_DATE})",
        _beside,
        _DAY_NAMED,
    ),
    (
        rf"(?:in |on |during )?(?:the|(?:exactly )?(?P<count>{_COUNT})) (?P<unit>{_UNIT})s? {_BESIDE} "
        rf"(?P<from>{_DATE})",
        _moved,
        _DAY_NAMED,
    ),
    (
        rf"(?:in |during )?(?:the )?(?P<number>)(?P<ordinal>{'|'.join(_LAST_ONE)}) {_FISCAL}quarter"
        rf"(?: of| in|,)? (?P<year>{_YEAR})",
        _quarter,
        _ANYTHING,
    ),
    (
        rf"(?:in |on |during )?(?:the )?(?P<word>first|last) (?:{_SOME} )?"
        rf"(?P<unit>(?!quarter (?:of|in) {_YEAR}){_UNIT})s? (?:of|in) (?P<from>{_DATE})",
        _part_of,
        _DAY_NAMED,
    ),
    (
        rf"(?:in |during )?(?:the )?(?:(?P<word>first|second) half of|h(?P<number>[12]))"
        rf" (?:(?P<year>{_YEAR})|this year|the year)",
        _half,
        _ANYTHING,
    ),
    (
        rf"(?:(?:in|during|for) )?(?:the )?(?P<unit>{_UNIT}) (?:of|containing) (?P<from>{_ONE_DAY})",
        _around,
        _DAY_NAMED,
    ),
    (
        rf"(?:the )?same (?:period|time|{_UNIT})(?: of| in)?(?: the)? (?:last|previous|prior) year"
        rf"|(?:one|a) year (?:earlier|before)(?=\W*$|[,.;?!)])",
        _untold,
        _UNIT_NAMED,
    ),
    (
        rf"the (?:{_COUNT} )?{_UNIT}s? before(?: that| then| it)?"
        r"(?=\W*$|[,.;?!)]| (?:by|per|and|for|in|of|vs|versus|instead)\b)",
        _untold,
        _UNIT_NAMED,
    ),
    (
        rf"(?:at|as of|by) the (?:very )?(?:end|close) of (?:the )?"
        rf"(?P<from>{_DATE}|(?:last|previous|this) {_UNIT})",
        _state,
        _ANYTHING,
    ),
    (rf"(?:(?:in|from|on) )?(?P<from>{_DATE}) (?:or|and) (?P<word>later|after|onwards?)", _from_on, _DAY_NAMED),
    (rf"(?:(?:in|on) )?(?P<from>{_DATE}) (?:or|and) (?P<word>earlier|before)", _up_to, _DAY_NAMED),
    (
        rf"since (?:the )?(?:start|beginning) of (?:the|this) (?:current )?{_FISCAL}(?P<unit>{_UNIT})(?P<short>)",
        _to_date,
        _UNIT_NAMED,
    ),
    (rf"(?P<word>since|on or after|after|later than) (?:the )?(?P<from>{_DATE})", _since, _DAY_NAMED),
    (
        rf"(?P<word>on or before|before|until|through|prior to|earlier than) (?:the )?(?P<from>{_DATE})",
        _before,
        _DAY_NAMED,
    ),
    (
        rf"(?:last|past|previous|prior|trailing) (?P<count>{_COUNT}) (?P<whole>complete |full |whole )?"
        rf"(?P<calendar>calendar )?(?P<unit>{_UNIT})s?{_EXCLUDING}",
        _last_count,
        _UNIT_NAMED,
    ),
    (
        rf"(?P<word>last|past|previous|prior|trailing|this|current|next) {_FISCAL}(?P<unit>{_UNIT})(?! to date)"
        rf"{_EXCLUDING}",
        _relative,
        _UNIT_NAMED,
    ),
    (
        rf"(?P<word>more than|over|longer than|less than|fewer than|at least|at most|no more than|within) {_SOME} "
        rf"(?P<unit>{_UNIT})s? ago",
        _longer_ago,
        _UNIT_NAMED,
    ),
    (rf"(?P<count>{_COUNT}) (?P<unit>{_UNIT})s? ago", _ago, _UNIT_NAMED),
    (rf"(?:this )?{_FISCAL}(?P<unit>{_UNIT}) to date|(?P<short>[ymqw])td", _to_date, _ANYTHING),
    (
        rf"(?:(?:in|during|for|of) )?(?P<from>q[1-4]|{_MONTH})"
        rf"(?=(?:{_JOINED} (?:in |of |for )?(?:q[1-4]|{_MONTH}))+,? (?:of |in )?(?P<year>{_YEAR}))",
        _shared_year,
        _DAY_NAMED,
    ),
    (rf"{_FISCAL}q(?P<number>[1-4])(?P<ordinal>)(?:,? (?:of )?(?:fy ?)?(?P<year>{_YEAR}))?", _quarter, _ANYTHING),
    (
        rf"(?P<number>)(?P<ordinal>{'|'.join(_ORDINALS)}) {_FISCAL}quarter(?:,? (?:of |in )?(?P<year>{_YEAR}))?",
        _quarter,
        _ANYTHING,
    ),
    (rf"(?:fy ?|fiscal year )(?P<year>{_YEAR}|\d\d)", _fiscal, _ANYTHING),
    (rf"(?:on )?(?P<from>{_ONE_DAY})", _one_day, _DAY_NAMED),
    (rf"(?P<from>{_MONTH},? {_YEAR}|{_YEAR} {_MONTH}|{_YEAR}-\d\d)", _named, _DAY_NAMED),
    (rf"(?P<word>{'|'.join(_SIDES)}) (?P<from>{_MONTH})(?! \\d)", _beside_today, _DAY_NAMED),
    (rf"(?:in|during|for|of) (?P<from>{_MONTH}|{_YEAR})", _named, _DAY_NAMED),
    (rf"(?P<from>{'|'.join(name for name in _MONTHS if len(name) > 4)}|{_YEAR})", _named, _DAY_NAMED),
    (r"(?:of )?all time|ever", _all_time, _ANYTHING),
)
