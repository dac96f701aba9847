"""What a quantity is worth in the unit of a fact: converted exactly, or refused with the reason."""

from __future__ import annotations

import re
from dataclasses import dataclass
from datetime import date, timedelta
from fractions import Fraction

from bot.enforcement.phrases import Match, unit_told
from bot.enforcement.utterance import Percent, Quantity, Times, Utterance
from bylaw.authored.vocabulary import Fact
from bylaw.language.days import is_weekday
from bylaw.language.money import Money, currency_of, may_be_thousands
from bylaw.language.periods import shifted
from bylaw.language.quantities import Unit, factor, units_in
from bylaw.language.span import Number, listed, whole
from bylaw.language.units import BUSINESS_DAYS, Duration, convert, unit_of

_HAS_YEAR = re.compile(r"\d{4}|\d[./]\d|yesterday|today")
_DONE = listed("since made built born bought sold sent paid given taken got left began begun")
_CLEARLY = 120  # days within which a day without a year is the near one of its name
_LONGEST = 6  # digits in a row, without a unit: more of them are the number of an order or of a telephone


@dataclass(frozen=True, slots=True)
class Misread:
    """The words give a quantity, but no value of the fact."""

    reason: str


def amount_in(said: Match | Quantity, fact: Fact, utterance: Utterance) -> Number | Misread | None:
    """The value that *fact* takes; Misread with the reason, None where the quantity is of another kind.

    Dates are ordinals, as everywhere in the logic.
    """
    match = said if isinstance(said, Match) else None
    quantity = said.quantity if isinstance(said, Match) else said
    assert quantity is not None  # only matches with a slot come here
    value = _converted(quantity, fact, match, utterance)
    if value is None or isinstance(value, Misread):
        return value
    return value if quantity.exact else Misread(why_not_exact(quantity))


def why_not_exact(quantity: Quantity) -> str:
    """Why a number that is not exact gives no value."""
    if may_be_thousands(quantity.words):
        return "its point may be a decimal one or one of thousands"
    return "it gives a bound or a range, not one value"


def _converted(quantity: Quantity, fact: Fact, match: Match | None, utterance: Utterance) -> Number | Misread | None:
    if fact.type == "date":
        return _day(quantity, match, utterance)
    if fact.type not in ("integer", "decimal"):
        return None
    unit, currency = unit_of(fact.unit or ""), currency_of(fact.unit or "")
    if fact.unit is None and match is not None and isinstance(quantity.value, Duration):
        unit = unit_of(match.phrase.unit or "")  # "{value} nights" of a fact that only counts
    if unit is not None:
        return _duration(quantity, fact, unit, match, utterance)
    if currency is not None:
        return _money(quantity, currency, match, utterance)
    is_percentage = (fact.unit or "").casefold() in ("%", "percent", "percentage")
    if isinstance(quantity.value, Times):
        is_often = fact.unit is None and (match is None or match.phrase.after == ("time",))
        return quantity.value.count if is_often else None
    if isinstance(quantity.value, Percent):
        return quantity.value.amount if is_percentage else None
    value = _bare(quantity, match, utterance, fact.unit)
    if value is None or match is None or match.phrase.measure is None:
        return value
    return measured(value, quantity, fact, utterance)


def measured(value: Number, quantity: Quantity, fact: Fact, utterance: Utterance) -> Number | Misread:
    """A bare number as the value of *fact*, in the unit that stands behind it; without one it is the fact's."""
    own, told = units_in(fact.unit or ""), unit_told(utterance, quantity)
    if not own or told is None:
        return value
    ratio = factor(told[1], own[0])
    if ratio is None:
        return Misread(f"it is in {told[1].name}, not in {own[0].name}")
    return whole(value * ratio + _in_addition(quantity, told, own[0], utterance))


def _in_addition(quantity: Quantity, told: tuple[int, Unit], own: Unit, utterance: Utterance) -> Number:
    """What a smaller unit adds behind a measure: the 200 grams of "5 kilos and 200 grams", in the unit *own*."""
    k = quantity.last + 1 + told[0]
    k += k < len(utterance.words) and utterance.words[k].text == "and"
    following = next((one for one in utterance.quantities if one.first == k), None)
    if following is None or not isinstance(following.value, int | Fraction):
        return 0
    smaller = unit_told(utterance, following)
    if smaller is None or smaller[1].size >= told[1].size or (ratio := factor(smaller[1], own)) is None:
        return 0
    return whole(following.value * ratio)


def _duration(
    quantity: Quantity, fact: Fact, unit: str, match: Match | None, utterance: Utterance
) -> Number | Misread | None:
    value = quantity.value
    if isinstance(value, date) and match is not None and match.phrase.is_ahead:
        return days_until(value, quantity, utterance) if unit == "days" else None
    if isinstance(value, date):
        if (
            match is None
            or not match.phrase.before
            or "ago" not in match.phrase.after
            or unit != "days"
            or value > utterance.today
        ):
            return None
        return (utterance.today - value).days
    if not isinstance(value, Duration):
        is_called = match is not None and match.phrase.unit is None and match.phrase.before and not match.phrase.after
        return _bare(quantity, match, utterance, fact.unit) if is_called else None  # "the patient is 67"
    if match is not None and (match.phrase.is_ahead or not (value.is_counted or _is_beside(match))):
        return None
    if value.is_ago and unit not in ("days", "weeks", "months", "years"):
        return Misread(f"it does not say how many {unit}")
    amount = convert(value, unit)
    if amount is None:
        kind = "business days" if BUSINESS_DAYS in (value.unit, unit) else value.unit
        return Misread(f"{kind} do not convert into {unit}: no calendar says which days count")
    if fact.type == "integer" and not isinstance(amount, int):
        return Misread(f"it is not a whole number of {unit}")
    return amount


def _is_beside(match: Match) -> bool:
    """Do words of the phrase stand right beside the number, so that "a week" is a measure and not "each"?"""
    return bool(match.phrase.after) or (bool(match.phrase.before) and match.skipped == 0)


def days_until(day: date, quantity: Quantity, utterance: Utterance) -> int | None:
    """How many days it is until *day*; without a year it is the next one of its name."""
    if day < utterance.today and is_weekday(quantity.words):
        day += timedelta(days=7)
    elif day < utterance.today and not _HAS_YEAR.search(quantity.words):
        day = shifted(day, "year", 1)
    return (day - utterance.today).days if day >= utterance.today else None


def _money(quantity: Quantity, currency: str, match: Match | None, utterance: Utterance) -> Number | Misread | None:
    value = quantity.value
    if isinstance(value, Money):
        return value.amount if value.fits(currency) else Misread(f"it is in {value.currency}, not in {currency}")
    if match is not None and match.phrase.unit is not None:
        return None
    return _bare(quantity, match, utterance, None)


def _bare(quantity: Quantity, match: Match | None, utterance: Utterance, unit: str | None) -> Number | None:
    """A number without a unit counts only right where the phrase expects it, and with nothing else to count."""
    value = quantity.value
    if not isinstance(value, int) and not hasattr(value, "numerator"):
        return None
    if len(quantity.words) > _LONGEST and quantity.words.isdigit():
        return None
    if match is not None and not match.phrase.after and match.phrase.measure is None:
        if match.skipped or not utterance.stands_alone(quantity, unit):
            return None
    elif match is not None and match.skipped > 2:
        return None
    return value  # type: ignore[return-value]  # int or Fraction, by the test above


def _day(quantity: Quantity, match: Match | None, utterance: Utterance) -> Number | Misread | None:
    if isinstance(quantity.value, date):
        if quantity.words.casefold() == "tomorrow":
            return None  # what will be is not
        if match is None or not match.phrase.before or any(map(_is_done, match.phrase.before)):
            return quantity.value.toordinal()
        return _nearest(quantity.value, quantity.words, utterance.today)
    if isinstance(quantity.value, Duration) and quantity.value.is_ago:
        amount = convert(quantity.value, "days")
        return utterance.today.toordinal() - amount if isinstance(amount, int) else None
    return None


def _is_done(word: str) -> bool:
    return word.endswith("ed") or word in _DONE


def _nearest(day: date, words: str, today: date) -> Number | Misread:
    """The day that is meant where nothing says that it is past: "arriving on 1 December", said in November."""
    if _HAS_YEAR.search(words) or day > today:
        return day.toordinal()
    if is_weekday(words):
        return Misread("it does not say whether it is past or to come")
    following = shifted(day, "year", 1)
    before, ahead = (today - day).days, (following - today).days
    if min(before, ahead) > _CLEARLY:
        return Misread("it does not say of which year")
    return (day if before < ahead else following).toordinal()
