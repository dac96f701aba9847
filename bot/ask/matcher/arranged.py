"""How a data question wants its answer: by what, of which time, beside which other time, in which order, how many."""

from __future__ import annotations

from datetime import date

from bot.ask.matcher.conditions import amount
from bot.ask.matcher.marks import GRAINS
from bot.ask.matcher.numbers import narrowing, read_number, read_picks
from bot.ask.matcher.parts import GROUPABLE, Draft, Part, is_numeric
from bylaw.hold import sequence
from bylaw.hold.values import grains_in
from bylaw.hold.words import Name
from bylaw.language.lexicon import closed, stem

_SIDES = ("desc", "asc")


def read_times(draft: Draft) -> None:
    """Spans of time, with the date that stands before them; one behind "compared with" is the other of two."""
    for i in list(draft.free("time")):
        span = draft.marks[i].span
        before = draft.before(i)
        is_compared = draft.says(before, "compare") and draft.has("time")
        if span is not None and span.is_untold and not is_compared:
            continue
        if span is not None and span.is_untold and not _is_previous(draft, i):
            continue
        is_second = any(one.kind == "time" and one.name is None for one in draft.parts)
        if is_compared and span is not None:
            is_same = any(one.kind == "time" and _days(draft, one.last) == _days(draft, i) for one in draft.parts)
            value = "previous" if span.is_untold or is_same else None
            draft.add(Part("compare", before, i, value=value))
            continue
        if is_second and draft.name(before, "date") is None:  # in one and the other: no one span
            continue
        first = draft.word(i).partition(" ")[0]
        is_called = span is not None and sequence.is_called(draft.word(before), span, first)
        is_called = is_called and not draft.says(before - 1, "by")
        dated = draft.name(draft.before(before), "date") if is_called else None
        if dated is not None and draft.value(draft.before(before)) is None:  # "published in the year 2020"
            draft.add(Part("time", draft.before(before), i, dated.name, owner=dated.owner))
            continue
        if is_called and before not in draft.used and draft.is_one_clause(before, i):  # "the month of April 2021"
            draft.add(Part("time", before, i))
            continue
        dated = draft.name(before, "date")
        thing = draft.name(before, "entity")
        if (
            dated is not None
            and draft.value(before) is None
            and (thing is None or draft.is_literal(before, dated))  # "bookings in May" are of no "booked on"
            and before not in draft.used
            and not draft.says(before - 1, "by")
        ):
            draft.add(Part("time", before, i, dated.name, owner=dated.owner))
        else:
            draft.add(Part("time", i, i))


def _is_previous(draft: Draft, i: int) -> bool:
    words = draft.word(i).split()
    return any(word in ("previous", "prior", "before") for word in words)


def _days(draft: Draft, i: int) -> tuple[date | None, date | None] | None:
    span = draft.marks[i].span
    return None if span is None else (span.start, span.end)


def read_course(draft: Draft) -> None:
    """A number that runs on over the periods, or how it grows from one to the next: "month over month change"."""
    for i in list(draft.free("operator")):
        units = [one for one in GRAINS if draft.says(i, "change") and closed(f"grain_{one}") & {*draft.word(i).split()}]
        if units and i not in draft.used:
            is_growth = draft.says(i + 1, "growth") and not draft.says(i + 1, "change")
            last = i + 1 if is_growth or draft.says(i + 1, "change") else i
            if draft.is_asked and is_growth:  # beside the number of the sentence before
                continue
            beside = Part("compare", i, last, value="previous")
            draft.add(beside if draft.is_asked else Part("over", i, last, value="growth" if is_growth else "change"))
            if not any(draft.says(k, "by") and draft.says(draft.after(k), units[0]) for k in range(i)):
                draft.add(Part("group", i, i, unit=units[0]))
        for over in ("running", "growth"):
            if draft.says(i, over) and i not in draft.used and not (draft.says(i, "by") or draft.is_asked):
                draft.add(Part("over", i, i, value=over))


def read_groups(draft: Draft) -> None:
    """What stands behind "by", "per" or "each", and what "and" adds to it; "monthly" says it alone."""
    for i in list(draft.free("operator")):
        if draft.says(i, *GRAINS) and draft.sentence.tokens[draft.marks[i].first].word.endswith(("ly", "nual")):
            _add_grain(draft, i, i)
        elif draft.says(i, "by") and i not in draft.used:
            _read_listed(draft, i)


def _read_listed(draft: Draft, i: int) -> None:
    k, first = draft.after(i), i
    k = draft.after(k) if draft.says(k, "by") else k  # "by each author"
    while (last := _read_group(draft, first, k)) is not None:
        is_last = draft.kind(last + 1) == "joining" and draft.says(last + 1, "and")
        if not is_last and not _is_enumerated(draft, last):
            return
        first = k = draft.after(last + 1 if is_last else last)


def _is_enumerated(draft: Draft, last: int) -> bool:
    """Is another column behind the comma, in a row of columns that "and" ends: "by region, tier and month"?"""
    k = last + 1
    while k < len(draft.marks) and not draft.is_one_clause(k - 1, k):
        thing = _thing(draft, k)
        if thing is None or (thing[0].kind == "entity" and draft.word(k).endswith("s")):
            return False
        k = thing[1] + 1
        if draft.says(k, "and"):
            return True
    return False


def _read_group(draft: Draft, first: int, k: int) -> int | None:
    """Adds the group that begins at *k*; its last mark, or None where none begins there."""
    if k in draft.used and draft.kind(k) != "time":
        return None
    if draft.says(k, *GRAINS) and draft.kind(k) == "operator":
        _add_grain(draft, first, k)
        return k
    if draft.kind(k) == "time":  # "in each of the last 8 weeks"
        return _add_each(draft, first, k)
    column, name = draft.column_of(k), thing_at(draft, k)
    if column is not None and column.kind == "dimension":
        draft.add(Part("group", first, k + 1, column.name, owner=column.owner))
        return k + 1
    if name is None or _is_narrowed(draft, k, name):
        return None
    if name.kind == "date":
        return None
    if any(one.kind == "group" and one.name == name.name and draft.says(one.first, "by") for one in draft.parts):
        return None  # from each to each: two ways to the same thing
    draft.add(Part("group", first, k, name.name, owner=name.owner or name.name))
    return k


def thing_at(draft: Draft, k: int) -> Name | None:
    """What rows may be of there: the name that is called so to the letter, else the thing before its columns."""
    if k in draft.used or draft.value(k) is not None or draft.name(k, "metric") is not None:
        return None
    found = [one for kind in GROUPABLE if (one := draft.name(k, kind)) is not None]
    return next((one for one in found if draft.is_literal(k, one)), found[0] if found else None)


def _is_narrowed(draft: Draft, k: int, name: Name) -> bool:
    """ "By users who joined …", "by pilots hired in 2020" may be those who did it, or a row for each."""
    if name.kind != "entity":
        return False
    known = any(one.owner == name.name and one.first == draft.after(k) and one.name for one in draft.parts)
    is_behind = k + 2 < len(draft.marks)  # "does each have?" narrows nothing
    return known or (is_behind and draft.says(k + 1, "who", "that", "which", "with", "whose", "have"))


def leads_to_group(draft: Draft, i: int) -> bool:
    """Does a word that groups stand there, with what it groups by behind it?"""
    k = draft.after(i)
    return draft.says(i, "by") and (thing_at(draft, k) is not None or draft.says(k, *GRAINS))


def _add_grain(draft: Draft, first: int, k: int) -> None:
    unit = next(one for one in GRAINS if draft.says(k, one))
    i = draft.before(first)
    is_free = (
        i not in draft.used and draft.value(i) is None and not {"each", "every"}.isdisjoint(draft.word(first).split())
    )
    dated = draft.name(i, "date") if is_free else None
    if dated is not None and draft.is_literal(i, dated) and draft.is_one_clause(i, first):  # "who joined each year"
        draft.add(Part("group", i, k, dated.name, owner=dated.owner, unit=unit))
    else:
        draft.add(Part("group", first, k, unit=unit))


def _add_each(draft: Draft, first: int, k: int) -> int | None:
    mark = draft.marks[k]
    units = grains_in(draft.sentence.tokens[mark.first : mark.last + 1])
    if len(units) != 1:
        return None
    draft.add(Part("group", first, k, unit=next(iter(units))))
    return k


# ---- what comes first


def read_tops(draft: Draft) -> None:
    """ "Top 5 customers by revenue", "the region with the highest revenue", "which customer has the most orders"."""
    for i in list(draft.free("operator")):
        nameless = [one for one in draft.parts if one.kind == "order" and one.name is None]
        is_first = len(nameless) == sum(one.kind == "order" for one in draft.parts)
        if draft.says(i, *_SIDES) and i not in draft.used and (is_first if nameless else not draft.has("order")):
            _ = (not nameless and _read_top(draft, i)) or _read_superlative(draft, i)


def _side(draft: Draft, i: int) -> str:
    return next(one for one in _SIDES if draft.says(i, one))


def _read_top(draft: Draft, i: int) -> bool:
    """ "Top 5 customers by revenue"."""
    k = draft.after(i)
    count = k if draft.kind(k) == "figure" else None
    k = draft.after(k) if count is not None else k
    thing = _thing(draft, k)
    if thing is None and count is not None and k == len(draft.marks) and i == 0:  # "bottom 3": of what is known
        draft.add(Part("order", i, i, value=_side(draft, i)))
        _limit(draft, i, count)
        return True
    if thing is None:
        return False
    by = draft.after(thing[1])
    while draft.kind(by) in ("name", "joining", "figure") and not draft.says(by, "by"):
        by += 1
    number = read_number(draft, by + 1, is_counted=True) if draft.says(by, "by") else None
    is_before = any(read_number(draft, h) for h in range(i)) and count is not None and not draft.says(by, "by")
    if number is None and is_before:  # "signups for the top 2 states"
        draft.add(Part("order", i, i, value=_side(draft, i)))
        _limit(draft, i, count)
        draft.add(_group(draft, k, thing))
    if number is None:
        return is_before
    number.first = by
    draft.add(Part("order", i, i, value=_side(draft, i)))
    _limit(draft, i, count)
    draft.add(_group(draft, k, thing))
    draft.add(number)
    return True


def _limit(draft: Draft, i: int, count: int | None) -> None:
    figure = draft.marks[count].figure if count is not None else None
    value = amount(figure) if figure is not None else 1
    first = i if count is None or count > i else count
    draft.add(Part("limit", first, i if count is None else count, value=value))


def _thing(draft: Draft, k: int) -> tuple[Name, int] | None:
    """The thing or column there that rows may be of, and its last mark; None where there is none."""
    column, name = draft.column_of(k), thing_at(draft, k)
    if column is not None and column.kind == "dimension" and k not in draft.used:
        return column, k + 1
    return (name, k) if name is not None and name.kind != "date" else None


def _group(draft: Draft, k: int, thing: tuple[Name, int]) -> Part:
    name, last = thing
    return Part("group", k, last, name.name, owner=name.owner or name.name)


def _read_superlative(draft: Draft, i: int) -> bool:
    """ "The region with the highest revenue": the thing stands before, the number behind. "How much" is not asked."""
    picks, k = read_picks(draft, draft.after(i))
    number = read_number(draft, k, is_counted=draft.word(i) in closed("counting"))
    column = draft.name(k, "number", "dimension") if number is None and not picks else None
    head = next((h for h in range(i - 1, -1, -1) if _is_head(draft, h, i)), None)
    if head is None and number is not None and (grain := _grain_before(draft, i)) is not None:
        draft.add(Part("order", i, number.last, number.name, value=_side(draft, i)))
        _limit(draft, i, None)
        _add_grain(draft, grain, grain)
        draft.used -= set(narrowing(draft, i, number.last))
        return True
    thing = _thing(draft, head) if head is not None else None
    if head is None or thing is None or _is_cut(draft, head, i):
        return False
    name, last = thing
    is_counted = draft.kind(head - 1) == "figure" and head - 1 not in draft.used
    if number is not None and number.owner != name.name:
        shown, last_of = number, number.last
    elif column is not None and is_numeric(column) and column.owner == name.name:
        shown, last_of = Part("asks", k, k, f"values({column.name})"), k
    else:
        return False
    order = number.name if number is not None else column.name if column is not None else None
    draft.add(Part("order", i, last_of, value=_side(draft, i), name=order))
    is_plural = not is_counted and _is_plural(draft, last)
    if is_counted or is_plural:  # "the top 3 publications with the most citations" are told with their figures
        draft.add(shown)
    if (is_counted or is_plural) and number is not None:
        draft.add(_group(draft, head, thing))
    else:
        asked = _told_by(draft, name) if name.kind == "entity" else f"values({name.name})"
        draft.add(Part("asks", head, last, asked, owner=name.owner or name.name))
    draft.used -= set(narrowing(draft, i, last_of))
    if not is_plural:
        _limit(draft, i, head - 1 if is_counted else None)
    if is_counted and draft.says(head - 2, *_SIDES):
        draft.parts[-1].first = head - 2
        draft.used.add(head - 2)
    return True


def _grain_before(draft: Draft, i: int) -> int | None:
    """Where a period stands before a superlative, and nothing else does: "what month were most students admitted"."""
    k = draft.before(i)
    is_period = draft.kind(k) == "operator" and draft.says(k, *GRAINS) and k not in draft.used
    return k if is_period and not any(draft.kind(one) == "name" for one in range(k)) else None


def _told_by(draft: Draft, entity: Name) -> str:
    """The one column that rows of a thing are told by, else the whole rows."""
    own = [one for one in draft.index.of(entity.name) if one.near]
    return f"values({own[0].name})" if len(own) == 1 else f"list({entity.name})"


def _is_plural(draft: Draft, k: int) -> bool:
    """Are several asked for: "which regions have the most orders" puts them all in order?"""
    word = draft.sentence.tokens[draft.marks[k].last].word
    return word.endswith("s") and word not in closed("singular_in_s") and stem(word) != word


def _is_head(draft: Draft, h: int, i: int) -> bool:
    """Is it a thing that the words up to the superlative are said of: "the city with", "who has"?"""
    thing = _thing(draft, h) if h not in draft.used else None
    is_way = draft.kind(h) == "name" and any("@" in name.name for name, _ in draft.choice[h])
    called = thing[0].name.partition(".")[0].replace("_", " ").split() if thing is not None else []
    is_way = is_way and {stem(word) for word in draft.word(h).split()}.isdisjoint(
        map(stem, called)
    )  # "taught the most"
    if thing is None or is_way or draft.says(h - 1, "by"):
        return False
    return draft.after(thing[1]) == i or draft.kind(thing[1] + 1) == "joining"


def _is_cut(draft: Draft, head: int, i: int) -> bool:
    """Does anything that is not understood, or another question, stand between?"""
    return any(draft.kind(k) in ("word", "figure", "time") for k in range(head + 1, i))


def read_orders(draft: Draft) -> None:
    """ "Sorted by revenue descending", "ordered from highest to lowest", "in ascending order of price"."""
    for i in list(draft.free("operator")):
        if i in draft.used:
            continue
        if draft.says(i, *_SIDES) and draft.word(i).endswith(("order", "first")) and " " in draft.word(i):
            k = draft.after(i)
            k = draft.after(k) if draft.says(k, "by") else k
            name, last = _sorted_by(draft, k)
            draft.add(Part("order", i, i if name is None else last, name, value=_side(draft, i)))
        elif draft.says(i, "order"):
            _read_order(draft, i)


def _read_order(draft: Draft, i: int) -> None:
    k = draft.after(i)
    name, last = _sorted_by(draft, draft.after(k) if draft.says(k, "by") else k)
    side = draft.after(i if name is None else last)
    is_column = name is not None and "(" not in name and draft.index.get("number", name) is None
    if is_column and not draft.says(side, *_SIDES) and not draft.says(i + 1, *_SIDES):
        draft.add(Part("order", i, last, name, value="asc", owner=str(name).partition(".")[0]))
    elif draft.says(side, *_SIDES):
        end, name = _with_name(draft, side, name)  # "from the most orders to the fewest"
        end = end + 2 if draft.word(end + 1) == "to" and draft.says(end + 2, *_SIDES) else end
        end = end + 1 if draft.word(end + 1) == "order" else end
        end, name = _with_name(draft, end, name)  # "from most to least sales"
        draft.add(Part("order", i, end, name, value=_side(draft, side)))


def _with_name(draft: Draft, end: int, name: str | None) -> tuple[int, str | None]:
    """The end and the name, with the number right behind where none is known yet."""
    if name is not None or end + 1 >= len(draft.marks) or not draft.is_one_clause(end, end + 1):
        return end, name
    number = read_number(draft, end + 1, is_counted=True)
    return (number.last, number.name) if number is not None else (end, name)


def _sorted_by(draft: Draft, k: int) -> tuple[str | None, int]:
    """The number or the column there, and its last mark."""
    if draft.kind(k) == "operator" and draft.says(k, *GRAINS):
        return "time", k
    name = draft.column_of(k)
    if name is not None and draft.name(k, "metric") is None:
        return name.name, k + 1
    number = read_number(draft, k, is_counted=True)
    name = draft.name(k, "dimension", "number")
    return (number.name, number.last) if number is not None else (name.name if name is not None else None, k)
