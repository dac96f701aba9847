"""The columns that a data question lists: "return their id, first and last name", "the titles of the plays"."""

from __future__ import annotations

from bot.ask.matcher.marks import GRAINS
from bot.ask.matcher.parts import Draft, Part, is_numeric
from bylaw.hold.words import Name
from bylaw.language.lexicon import closed


def read_columns(draft: Draft) -> None:
    """The columns that are listed: behind "return" or "list", or first of all, up to what is none."""
    start = next((k for k in range(len(draft.marks)) if draft.says(k, "list") and k not in draft.used), None)
    is_told = start is not None and draft.sentence.tokens[draft.marks[start].first].word not in closed("wh")
    if not is_told and (draft.is_asked or _has_number(draft) or draft.has("group")):
        return
    k = draft.after(start) if start is not None else next(draft.free("name"), 0)
    while draft.says(k, "list", "values") and draft.kind(k) == "operator":
        k = draft.after(k)
    first = start if start is not None else k
    asked = {i for part in draft.parts if part.kind == "asks" for i in range(part.first, part.last + 1)}
    thing = draft.thing or _owner_of(draft, k)
    while k < len(draft.marks):
        if draft.kind(k) == "operator" and draft.says(k, *GRAINS) and k not in draft.used:
            draft.add(Part("group", first, k, unit=next(one for one in GRAINS if draft.says(k, one))))
            k = first = k + 1
            continue
        name, last = _column(draft, k, thing)
        thing = thing or (name.owner if name is not None else None)
        is_figure = name is not None and is_numeric(name) and not _may_list(draft, last, is_told)
        is_figure &= name is None or thing != draft.thing or name.owner != thing
        is_figure |= name is not None and name.kind == "date" and not is_told  # "birthdays" alone lists nobody's
        if name is not None and k not in draft.used and not is_figure and not _is_joined(draft, k):
            draft.add(Part("asks", first, last, f"values({name.name})", owner=name.owner))
        elif k not in asked and not draft.says(k, "and"):
            return
        k = first = last + 1


def _may_list(draft: Draft, k: int, is_told: bool) -> bool:
    """May the figures of the column be listed, and are not summed or averaged: "return the price", "the areas"?"""
    word = draft.sentence.tokens[draft.marks[k].last].word
    return not (draft.is_asked or _has_number(draft) or draft.has("group")) and (is_told or word.endswith("s"))


def _has_number(draft: Draft) -> bool:
    return any(one.kind == "asks" and not (one.name or "").startswith(("list(", "values(")) for one in draft.parts)


def _is_joined(draft: Draft, k: int) -> bool:
    """Is it the end of a longer name that nothing is called by: "country name"?"""
    here, before = draft.marks[k], draft.marks[k - 1] if k else None
    if before is None or before.kind != "name" or draft.name(k - 1, "entity") is not None:
        return False
    tokens = draft.sentence.tokens
    return before.last + 1 == here.first and tokens[before.last].clause == tokens[here.first].clause


def _first_of_two(draft: Draft, k: int, thing: str | None) -> Name | None:
    """The first of two columns that share their last word: "first and last name"."""
    other = (draft.own_column(k + 2, thing) or draft.name(k + 2, "dimension")) if draft.says(k + 1, "and") else None
    words = draft.word(k + 2).split()
    if other is None or len(words) < 2 or k in draft.used:
        return None
    called = f"{draft.word(k)} {words[-1]}"
    found = [one for one in draft.index.of(other.owner) if called in one.texts]
    return found[0] if len(found) == 1 and found[0].kind == other.kind else None


def _owner_of(draft: Draft, k: int) -> str | None:
    """The thing that listed columns are of, which stands behind them: "the id and name of the drug"."""
    for i in range(k + 1, len(draft.marks)):
        if draft.kind(i) != "name" and not draft.says(i, "and", "of"):
            return None
        entity = draft.name(i, "entity")
        if entity is not None and draft.says(i - 1, "of"):
            return entity.name
    return None


def _column(draft: Draft, k: int, thing: str | None) -> tuple[Name | None, int]:
    """The column that begins there, with the word for its rows, and its last mark; first those of *thing*."""
    if (column := draft.column_of(k)) is not None:
        return column, k + 1
    if (column := _first_of_two(draft, k, thing)) is not None:
        return column, k
    if k not in draft.used and (column := draft.own_column(k, thing)) is not None:
        return column, k
    name = draft.name(k, "dimension", "number", "date")
    is_other = draft.value(k) is not None or draft.name(k, "metric") is not None
    if name is None or is_other or (draft.name(k, "entity") is not None and not draft.is_literal(k, name)):
        return None, k
    return name, k
