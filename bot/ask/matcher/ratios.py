"""Numbers of numbers: the share of what the words pick in the whole, and the ratio of one number to another."""

from __future__ import annotations

from dataclasses import replace

from bot.ask.matcher.arranged import leads_to_group
from bot.ask.matcher.conditions import read_having
from bot.ask.matcher.moments import read_day
from bot.ask.matcher.numbers import read_number, read_pick, read_picks
from bot.ask.matcher.parts import Draft, Part, widened
from bylaw.language.lexicon import closed, stem

_PERCENT = frozenset(("percentage", "percent", "cent"))


def read_shares(draft: Draft) -> None:
    """ "Share of cancelled orders", "percentage of revenue by region": the part that the words pick, of the whole."""
    for i in list(draft.free("operator")):
        if draft.says(i, "share"):
            found = _read_share(draft, i)
            if found is not None and found not in draft.parts:
                draft.add(found)


def _read_share(draft: Draft, i: int) -> Part | None:
    words = draft.sentence.quote(draft.marks[i].first, draft.marks[i].last).casefold().split()
    unit = None if _PERCENT.isdisjoint(words) else "percent"
    if _word_before(draft, i) in ("as", "a"):
        return _read_part_of(draft, i, unit)
    found = _read_side(draft, draft.after(i))
    is_grouped = any(leads_to_group(draft, k) for k in range(i, len(draft.marks)))
    if found is None or not (found.of or is_grouped):
        return None
    picks = _picked(draft, found.of)
    whole = [k for one in found.of if one not in picks for k in range(one.first, one.last + 1)]
    part = Part("asks", i, found.last, f"share({found.name})", unit=unit if picks else None, of=picks)
    if found.of and not picks:
        return None
    draft.add(part)
    draft.used.difference_update(whole)  # what narrows the whole are conditions of their own
    return part


def _picked(draft: Draft, conditions: list[Part]) -> list[Part]:
    """Which of the conditions pick the part: those said of the rest, "online orders that were returned"."""
    said = [one for one in conditions if _word_before(draft, one.first) in closed("copula")]
    if said or not conditions:
        return said
    last = conditions[-1].last
    is_one_side = all(one.last < last for one in conditions[:-1]) and len({one.name for one in conditions}) == 1
    return conditions if len(conditions) == 1 or is_one_side else []


def _word_before(draft: Draft, i: int) -> str:
    first = draft.marks[i].first
    return draft.sentence.tokens[first - 1].word if first else ""


def _read_part_of(draft: Draft, i: int, unit: str | None) -> Part | None:
    """ "Refunds as a share of revenue": the number before, divided by the one behind."""
    lower = _read_side(draft, draft.after(i))
    sides = (_read_side(draft, k) for k in range(i))
    upper = next((one for one in sides if one is not None and one.last == i - 1), None)
    if upper is None or lower is None or (upper.name == lower.name and not lower.of):
        return None
    of = [one for one in (upper, lower) if one.of]
    return Part("asks", upper.first, lower.last, f"ratio({upper.name}, {lower.name})", unit=unit, of=of)


def read_ratios(draft: Draft) -> None:
    """ "The ratio of A to B": both are numbers, each with what narrows it."""
    for i in list(draft.free("operator")):
        if not draft.says(i, "ratio") or not draft.word(i).startswith("ratio"):
            continue
        for to in (k for k in range(i + 1, len(draft.marks)) if draft.word(k) == "to"):
            found = _read_two(draft, i, to)
            if found is not None:
                draft.add(found)
                break


def _read_two(draft: Draft, i: int, to: int) -> Part | None:
    """The two numbers before and behind the "to"."""
    before = replace(draft, sentence=replace(draft.sentence, marks=draft.marks[:to]), choice=draft.choice[:to])
    upper, lower = _read_side(before, draft.after(i)), _read_side(draft, to + 1)
    if upper is None or lower is None or upper.last + 1 != to:
        return None
    of = [one for one in (upper, lower) if one.of]
    if upper.name == lower.name and len(of) == 1:  # which of the two is narrowed, no item can say
        return None
    if _is_narrowed_behind(lower) and not _is_narrowed_behind(upper):  # "online to other orders in the EU": maybe both
        return None
    return Part("asks", i, lower.last, f"ratio({upper.name}, {lower.name})", of=of)


def _is_narrowed_behind(side: Part) -> bool:
    """Does a condition stand behind the words of the number?"""
    return any(pick.last == side.last for pick in side.of)


def _read_side(draft: Draft, i: int) -> Part | None:
    """A number with its conditions, which stand before it or right behind it."""
    picks, k = read_picks(draft, i)
    number = read_number(draft, k, is_counted=True) or _rows_of(draft, picks)
    if number is None:
        return None
    last = number.last
    while (
        pick := _read_condition(draft, draft.after(last), number) or read_day(draft, draft.after(last), number)
    ) is not None:
        picks.append(pick)
        last = pick.last
    number.first, number.last, number.of = min(i, number.first), last, picks
    return number


def _rows_of(draft: Draft, picks: list[Part]) -> Part | None:
    """The rows that the name of a condition speaks of as well: "open businesses"."""
    entity = draft.index.get("part", picks[-1].owner or "") if picks else None
    words = draft.word(picks[-1].last).split() if picks else []
    if entity is None or draft.index.own(entity).isdisjoint(map(stem, words)):
        return None
    return Part("asks", picks[0].first, picks[-1].last, f"count({entity.name})", owner=entity.name)


def _read_condition(draft: Draft, k: int, number: Part) -> Part | None:
    """A condition, with the word for its rows before it: "courses with exams"."""
    entity, behind = draft.name(k, "entity"), draft.after(k)
    if entity is not None and (pick := read_pick(draft, behind)) is not None and pick.owner == entity.name:
        return widened(pick, k, pick.last)
    if draft.is_role(k) and (pick := _read_condition(draft, draft.after(k), number)) is not None:
        role = draft.role(k, pick.owner) if pick.owner else None  # "made by gold customers"
        if role is not None and pick.name is not None and pick.kind == "filter":
            return replace(pick, name=pick.name.replace(pick.owner or "", role, 1), first=k)
    having = read_having(draft, k, number.first)
    return _with_time(draft, having) if having is not None else read_pick(draft, k)


def _with_time(draft: Draft, having: Part) -> Part:
    """The number of each with the time right behind it: "who have an order in 2025"."""
    for time in [one for one in draft.parts if one.kind == "time" and one.name is None]:
        if draft.after(having.last) == time.first:
            draft.parts.remove(time)
            return replace(having, of=[*having.of, time], last=time.last)
    return having
