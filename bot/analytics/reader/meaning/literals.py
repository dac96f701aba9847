"""What a condition compares with, as the column or the metric has it: numbers in its unit, digits as text."""

from __future__ import annotations

import re
from collections.abc import Sequence
from decimal import Decimal
from fractions import Fraction

from bot.analytics.reader.headline import readable
from bot.analytics.reader.meaning.draft import QueryDraft
from bot.analytics.reader.measured import SHARE
from bot.analytics.reader.reading import NotUnderstood, Stop, Unclear, not_understood
from bot.analytics.reader.said import Narrowing, Ref, RelatedSaid
from bot.analytics.reader.scope import Target
from bot.conversation import Choice
from bylaw.language.units import Unit
from bylaw.semantic.query import Value

MOST_CHOICES = 5  # that a person reads before choosing
_NUMERIC = ("integer", "bigint", "smallint", "int", "double", "float", "real", "decimal", "numeric", "number")


def numbers_meant(draft: QueryDraft, narrowing: Narrowing, attributes: tuple[Target, ...]) -> tuple[Target, ...]:
    """What is compared with a number: no text, and of rows ("sales over 40000") the only number that each has."""
    found = tuple(target for target in attributes if not is_text(draft, target.name))
    if not found:
        known = [(name, draft.context.entities[name].facts) for name in narrowing.ref.entities]
        named = [Target("fact", f"{name}.{fact.name}") for name, facts in known for fact in facts]
        found = tuple(named) if len(named) == 1 else ()
        if len(named) > 1:
            raise Stop(which_number(draft, narrowing.ref, [target.name for target in named]))
    if not found:
        words = narrowing.ref.words
        message = f"I do not see what of `{words}` is compared with {narrowing.values[0]}"
        raise Stop(not_understood(message, "name the number", (words,)))
    return found


def which_number(draft: QueryDraft, ref: Ref, names: Sequence[str]) -> Unclear | NotUnderstood:
    """ "Transactions over 500": of their amount, or of their tax? Each choice says the question with it named."""
    said = [readable(name.partition(".")[2]) for name in names]
    whole = re.search(rf"(?<!\w){re.escape(ref.words)}(?!\w)", draft.text, re.IGNORECASE)
    if whole is None or len(names) > MOST_CHOICES:
        known = ", ".join(said)
        return not_understood(f"I do not see what of `{ref.words}` is compared", f"name it: {known}", (ref.words,))
    head, tail = draft.text[: whole.end()], draft.text[whole.end() :].removeprefix(" are").removeprefix(" were")
    return Unclear(ref.words, tuple(Choice(value=f"{head} with {one}{tail}", label=one) for one in said))


def as_stored(draft: QueryDraft, name: str, value: Value) -> Value:
    """A number that is compared with a column of text is text: "postal code 10115". Raises Stop the other way round."""
    dimension = draft.dimension(name)
    kind = (dimension.data_type or "").lower().partition("(")[0] if dimension is not None else ""
    if isinstance(value, str) and kind in _NUMERIC and not value.replace(".", "", 1).lstrip("-").isdecimal():
        message = f"`{readable(name)}` is a number, and `{value}` is none"
        raise Stop(not_understood(message, "name the column that it is a value of", (value,)))
    is_number = isinstance(value, int) and not isinstance(value, bool)
    return str(value) if is_number and is_text(draft, name) else value


def is_text(draft: QueryDraft, name: str) -> bool:
    dimension = draft.dimension(name)
    return dimension is not None and (dimension.data_type or "").lower() in ("varchar", "text", "string")


def told_in_unit(draft: QueryDraft, said: Narrowing | RelatedSaid, name: str) -> tuple[Value, ...]:
    """The numbers of a condition in the unit of *name*: "over 2 kilometers" of metres are 2000."""
    values = said.values if isinstance(said, Narrowing) else (said.value,)
    unit = said.unit
    if unit is None and not any(isinstance(value, int | Decimal) for value in values):
        return values
    declared, named = draft.unit_of(name)
    if unit is None:
        stop_at_shares(name, values, declared)
        return values
    if declared is None and unit in named:
        return values
    share = unit.into(declared) if declared is not None else None
    if share is None:
        told = declared or (named[0] if len(named) == 1 else None)
        said_unit = f"is in {told.name}, not in {unit.name}" if told is not None else f"has no unit, so not {unit.name}"
        message = f"`{readable(name)}` {said_unit}"
        raise Stop(not_understood(message, "say the number in the unit of the column", (unit.name,)))
    numbers = [value for value in values if isinstance(value, int | Decimal)]
    return tuple(exactly(Fraction(value) * share, unit) for value in numbers)


def stop_at_shares(name: str, values: Sequence[Value], declared: Unit | None) -> None:
    """A share of 1 is compared with "10": ten percent, or ten times the whole?"""
    if declared == SHARE and any(isinstance(value, int | Decimal) and value >= 1 for value in values):
        message = f"I do not see whether `{readable(name)}` is compared with {values[0]} percent"
        raise Stop(not_understood(message, f"say `{values[0]} %`", (str(values[0]),)))


def exactly(value: Fraction, unit: Unit) -> Value:
    """The number as a person would write it; refused where no decimal is exact."""
    if value.denominator == 1:
        return int(value)
    decimal = Decimal(value.numerator) / Decimal(value.denominator)
    if Fraction(decimal) != value:
        raise Stop(not_understood(f"no exact number is so many {unit.name}", "say it in the unit of the column"))
    return decimal
