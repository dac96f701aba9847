"""Numbers of numbers: the share of what the words pick in the whole, and the ratio of one number to another."""

from __future__ import annotations

from bot.ask.matcher.conditions import read_having
from bot.ask.matcher.numbers import read_number, read_pick
from bot.ask.matcher.parts import Draft, Part, widened

_PERCENT = frozenset(("percentage", "percent", "cent"))


def read_shares(draft: Draft) -> None:
    """ "Share of cancelled orders", "percentage of revenue by region": the part that the words pick, of the whole."""
    for i in list(draft.free("operator")):
        if draft.says(i, "share"):
            found = _read_share(draft, i)
            if found is not None:
                draft.add(found)


def _read_share(draft: Draft, i: int) -> Part | None:
    found = _read_side(draft, draft.after(i))
    if found is None:
        return None
    words = draft.sentence.quote(draft.marks[i].first, draft.marks[i].last).casefold().split()
    unit = "percent" if found.of and not _PERCENT.isdisjoint(words) else None
    return Part("asks", i, found.last, f"share({found.name})", unit=unit, of=found.of, owner=found.owner)


def read_ratios(draft: Draft) -> None:
    """ "The ratio of A to B": both are numbers, each with what narrows it."""
    for i in list(draft.free("operator")):
        if not draft.says(i, "ratio") or not draft.word(i).startswith("ratio"):
            continue
        upper = _read_side(draft, draft.after(i))
        if upper is None or draft.word(upper.last + 1) != "to":
            continue
        lower = _read_side(draft, upper.last + 2)
        if lower is None:
            continue
        of = [one for one in (upper, lower) if one.of]
        if upper.name == lower.name and len(of) == 1:  # which of the two is narrowed, no item can say
            continue
        draft.add(Part("asks", i, lower.last, f"ratio({upper.name}, {lower.name})", of=of))


def _read_side(draft: Draft, i: int) -> Part | None:
    """A number with its conditions, which stand before it or right behind it."""
    k, picks = i, list[Part]()
    while (pick := read_pick(draft, k)) is not None and draft.is_before_thing(k):
        picks.append(pick)
        k = draft.after(pick.last)
    number = read_number(draft, k, is_counted=True)
    if number is None:
        return None
    last = number.last
    while (pick := _read_condition(draft, draft.after(last))) is not None:
        picks.append(pick)
        last = pick.last
    number.first, number.last, number.of = min(i, number.first), last, picks
    return number


def _read_condition(draft: Draft, k: int) -> Part | None:
    """A condition, with the word for its rows before it: "courses with exams"."""
    entity, behind = draft.name(k, "entity"), draft.after(k)
    if entity is not None and (pick := read_pick(draft, behind)) is not None and pick.owner == entity.name:
        return widened(pick, k, pick.last)
    return read_having(draft, k) or read_pick(draft, k)
