"""Parts of dates that come again, and how far two dates of a row lie apart: "on weekends", "within 2 days after"."""

from __future__ import annotations

from collections.abc import Iterator
from fractions import Fraction
from typing import Any

from bot.ask.matcher.parts import Draft, Part
from bylaw.hold.bearing import is_empty
from bylaw.hold.targets import AGAIN
from bylaw.hold.words import Name

_APART = {"days": "day", "weeks": "week", "months": "month", "years": "year"}
_GRAINS = ("day", "week", "month", "quarter", "year")
_WEEK = ("weekend", "weekday", "days of the week")
_LATER, _EARLIER = ("after", "following"), ("before", "prior")


# ---- two dates


def read_apart(draft: Draft) -> None:
    """ "Boarded before they were ordered", "shipped within 2 days after the order", "paid in the same month as".

    Once it is known what is asked for, its own date needs no words: "visits within 2 days after booking".
    """
    for i in list(draft.free("name")):
        since = draft.name(i, "date")
        part = _read_apart(draft, i, since) if since is not None and i not in draft.used else None
        if part is not None:
            draft.add(part)


def _read_apart(draft: Draft, i: int, since: Name) -> Part | None:
    """What is said of another date before the one at mark *i*; its words stand between the two."""
    k = i - 1
    while k >= 0 and draft.kind(k) in ("operator", "figure", "joining") and k not in draft.used:
        k -= 1
    moment, first = draft.name(k, "date"), k
    known = _distance(draft, k, i) if k >= 0 and draft.is_one_clause(k, i) else None
    if known is None:
        return None
    operator, value, unit = known
    if moment is None or k in draft.used:
        _, told = _date_at(draft, i, None)
        moment, first = draft.index.get("part", told or ""), k + 1
        is_next = k not in draft.used or any(one.kind == "asks" and one.last == k for one in draft.parts)
        if unit is None or draft.name(k, "entity", "metric") is None or not is_next:  # "returned within": of another
            return None
    if moment is None or moment is since:
        return None
    return Part("filter", first, i, f"after({moment.name}, {since.name})", operator, value, unit, owner=moment.owner)


def _distance(draft: Draft, k: int, i: int) -> tuple[str, Any, str | None] | None:
    """Operator, value and unit of what stands between two dates; None where it says no distance."""
    marks, tokens = draft.marks, draft.sentence.tokens
    figures = [j for j in range(k + 1, i) if draft.kind(j) == "figure"]
    if any(draft.says(j, "not", "none") for j in range(k + 1, i)) or (figures and figures[0] > k + 2):
        return None
    first = marks[figures[0]].last if figures else marks[k].last
    said = [token.word for token in tokens[first + 1 : marks[i].first]]
    words = [word for word in said if not is_empty(word)]
    if not figures and words and words[0] == "same":
        unit = next((one for one in _GRAINS if words[1:] == [one]), None)
        return None if unit is None else ("same", None, unit)
    if len(words) != 1 or words[0] not in (*_LATER, *_EARLIER) or len(figures) > 1:
        return None
    is_later = words[0] in _LATER
    return _far(draft, k, figures[0], is_later) if figures else (">" if is_later else "<", 0, None)


def _far(draft: Draft, k: int, j: int, is_later: bool) -> tuple[str, Any, str] | None:
    """So many days behind a date, or before it, on the side that the words bound."""
    figure, side = draft.marks[j].figure, draft.marks[j - 1].operator if j - 1 > k else None
    unit = _APART.get(figure.unit or "") if figure is not None else None
    if figure is None or unit is None or side is None or not isinstance(figure.values[0], Fraction):
        return None
    count = figure.values[0]
    if count.denominator != 1 or not count:
        return None
    far = count.numerator if is_later else -count.numerator
    if side in ("<", "<="):  # as many at most, and not on the other side
        return "between" if side == "<=" else "<", sorted((0, far)), unit
    return side if is_later else {">": "<", ">=": "<="}[side], far, unit


# ---- what comes again


def read_growth(draft: Draft) -> None:
    """ "Revenue by month and its month over month growth": the number, and beside it how it runs on."""
    for over in [one for one in draft.parts if one.kind == "over"]:
        numbers = [one for one in draft.parts if one.kind == "asks" and one.last < over.first and not one.of]
        if len(numbers) == 1 and draft.says(over.first - 1, "and") and draft.is_one_clause(numbers[0].first, over.last):
            draft.parts.remove(over)
            draft.add(Part("asks", numbers[0].first, over.last, numbers[0].name, of=[over], owner=numbers[0].owner))


def read_days(draft: Draft) -> None:
    """ "On weekends", "on Sundays and Mondays": days of the date that stands before, else of what is asked for."""
    for i in list(draft.free("operator")):
        part = read_day(draft, i) if i not in draft.used else None
        if part is not None:
            draft.add(part)


def read_day(draft: Draft, i: int, number: Part | None = None) -> Part | None:
    """The days of the week at mark *i*; *number* is what is counted on them."""
    if not draft.says(i, *_WEEK):
        return None
    first, date = _date_at(draft, i, number)
    at = draft.marks[i].first
    is_told = not draft.says(i, "weekday") or (at > 0 and draft.sentence.tokens[at - 1].word == "on")
    if date is None or not is_told:
        return None
    last = [*_days(draft, i)][-1] if draft.says(i, "days of the week") else i
    if any(draft.says(k, "and", "or") and draft.says(k + step, *_WEEK) for k, step in ((last + 1, 1), (first - 1, -1))):
        return None  # "on weekends and Mondays": no condition says both
    owner, is_denied = date.partition(".")[0], draft.says(first - 1, "not", "none")
    first -= is_denied
    if draft.says(i, "weekend", "weekday"):
        is_weekend = draft.says(i, "weekend") is not is_denied
        return Part("filter", first, i, date, "is weekend" if is_weekend else "not weekend", owner=owner)
    values = [draft.word(k).removesuffix("s").capitalize() for k in _days(draft, i)]
    operator = "!=" if is_denied else "=="
    if len(values) > 1:
        operator = "not in" if is_denied else "in"
    told: Any = values if len(values) > 1 else values[0]
    return Part("filter", first, last, _again("weekday", date), operator, told, owner=owner)


def _days(draft: Draft, i: int) -> Iterator[int]:
    """The marks of the days of the week that "and" and "or" join, from mark *i* on."""
    yield i
    while draft.says(i + 1, "and", "or") and draft.says(i + 2, "days of the week"):
        i += 2
        yield i


def read_cycles(draft: Draft) -> None:
    """ "By day of the week", "per hour of the day": what comes again of the date that is told by."""
    for i in list(draft.free("operator")):
        k = draft.after(i)
        again = next((one for one in AGAIN if draft.says(k, one)), None)
        _, date = _date_at(draft, k, None)
        is_said = " " in draft.word(k) or draft.says(k, "weekday")  # "by hour" may be every hour
        if draft.says(i, "by") and i not in draft.used and again is not None and is_said and date is not None:
            draft.add(Part("group", i, k, _again(again, date), owner=date.partition(".")[0]))


def _again(function: str, date: str) -> str:
    owner, _, short = date.partition(".")
    return f"{owner}.{function}({short})"


def _date_at(draft: Draft, i: int, number: Part | None) -> tuple[int, str | None]:
    """The date that is said right before, with its mark; else the one that what is asked for is told by."""
    k = draft.before(i)
    said = draft.name(k, "date") if k not in draft.used and not draft.says(draft.before(k), "by") else None
    if said is not None:
        return k, said.name
    beside = [one for one in draft.parts if one.kind == "having" and draft.after(one.last) == i]
    asked = [number] if number is not None else beside or [one for one in draft.parts if one.kind == "asks"]
    asked = asked or [*_rows(draft)]
    dates = {_date_of(draft, one) for one in asked}
    return i, dates.pop() if len(dates) == 1 else None


def _rows(draft: Draft) -> Iterator[Part]:
    """The rows that are asked for where no number is: "visits by weekday"."""
    things = ((k, draft.name(k, "entity")) for k in draft.free("name"))
    found = next(((k, thing) for k, thing in things if thing is not None), None)
    if found is not None and not any(draft.says(k, "list") for k in range(found[0])):
        yield Part("asks", found[0], found[0], owner=found[1].name)


def _date_of(draft: Draft, part: Part) -> str | None:
    """The date that the rows of a number are told by where nobody says which."""
    metric = draft.index.get("number", part.name or "")
    entity = draft.index.get("part", part.owner) if part.owner else None
    name = metric or entity
    return name.dated if name is not None else None
