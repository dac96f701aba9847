"""The unit that a number is to be told in: "average height in cm", "total duration of visits in hours"."""

from __future__ import annotations

from bot.ask.matcher.parts import Draft, Part
from bylaw.hold.targets import read_target
from bylaw.language.lexicon import lexicon
from bylaw.language.units import is_convertible, unit_named


def read_units(draft: Draft) -> None:
    """A unit behind "in" is that of the one number before it that has such a unit. Its own unit changes nothing."""
    words = [token.word for token in draft.sentence.tokens]
    for k in range(len(draft.marks)):
        first = draft.marks[k].first
        found = lexicon().unit(words, first) if k not in draft.used and first and words[first - 1] == "in" else None
        if found is None:
            continue
        unit, length = found
        last = next((j for j in range(k, len(draft.marks)) if draft.marks[j].last == first + length - 1), None)
        numbers = [(one, own) for one in draft.parts if one.last < k and (own := _unit_of(draft, one)) is not None]
        meant = [(one, own) for one, own in numbers if own == unit or is_convertible(unit, own)]
        if last is None or len(meant) != 1 or not draft.is_one_clause(meant[0][0].last, k):
            continue
        number, own = meant[0]
        number.last, number.unit = last, None if own == unit else unit
        draft.used.update(range(k, last + 1))


def _unit_of(draft: Draft, part: Part) -> str | None:
    """The unit of a number that is asked for, as it is declared; None where it has none, or several are in it."""
    if part.kind != "asks" or part.unit is not None:
        return None
    target = read_target(draft.index, part.name or "")
    is_counted = not {"count", "count_distinct", "list", "values", "share", "ratio"}.isdisjoint(target.functions)
    return unit_named(target.parts[0].unit) if len(target.parts) == 1 and not is_counted else None
