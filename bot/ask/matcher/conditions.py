"""Which rows a data question means: declared values, named filters, numbers and texts of columns, rows of others."""

from __future__ import annotations

from collections.abc import Iterable
from fractions import Fraction
from typing import Any

from bot.ask.matcher.numbers import number_of, read_number, read_pick, read_picks
from bot.ask.matcher.parts import Draft, Part, is_numeric, widened
from bylaw.hold.words import Name
from bylaw.language.figures import Figure, measure
from bylaw.language.lexicon import closed, stem
from bylaw.language.units import unit_named


def amount(figure: Figure) -> int | float:
    """The number of a figure, as an item has it."""
    value = figure.values[0]
    assert isinstance(value, Fraction)
    return value.numerator if value.denominator == 1 else float(value)


def read_comparisons(draft: Draft) -> None:
    """ "More than 3 orders", "price over 100 EUR", "a rating of 4 or more": one number, and the side it lies on."""
    for i in list(draft.free("figure")):
        if i in draft.used:
            continue
        first, last, side = _bounds(draft, i)
        if side is not None:
            part = _of_behind(draft, i, first, last, side) or _of_before(draft, i, first, last, side)
            if part is not None:
                draft.add(part)


def _bounds(draft: Draft, i: int) -> tuple[int, int, str | None]:
    """The marks of a number with what bounds it, and the side; None where nothing does."""
    before, behind = draft.marks[i - 1] if i else None, draft.marks[i + 1] if i + 1 < len(draft.marks) else None
    if before is not None and before.operator is not None:
        return i - 1, i, before.operator
    if behind is not None and behind.operator in (">=", "<="):
        return i, i + 1, behind.operator
    return i, i, None


def _of_behind(draft: Draft, i: int, first: int, last: int, side: str, since: int = 0) -> Part | None:
    """ "More than 3 orders": a number of each row of something else that is spoken of before, from *since* on."""
    k = draft.after(last)
    picks, k = read_picks(draft, draft.after(k) if draft.says(k, "sum") else k)
    column = draft.name(k, "number", "dimension")
    if column is not None and is_numeric(column) and _fits(draft, i, column):
        return None if picks or k in draft.used else _compared(draft, i, column, first, k, side)
    number = read_number(draft, k, is_counted=True)
    head = _head(draft, first, number, since) if number is not None else None
    if number is None or head is None:
        return None
    of = [*picks, *_each(draft, head)]
    value = amount(_figure(draft, i))
    return Part("having", first, number.last, number.name, side, value, of=of, owner=number.owner)


def _of_before(draft: Draft, i: int, first: int, last: int, side: str) -> Part | None:
    """ "Rating above 4", "revenue over 1000": the name stands before the number."""
    k = draft.before(first)
    column = draft.name(k, "number", "dimension")
    if column is not None and is_numeric(column) and _fits(draft, i, column) and draft.name(k, "metric") is None:
        return _compared(draft, i, column, k, last, side)
    metric = draft.name(k, "metric")
    head = _head(draft, k, None) if metric is not None and k not in draft.used else None
    if metric is None or head is None:
        return None
    figure = _figure(draft, i)
    return Part("having", k, last, metric.name, side, amount(figure), figure.unit, of=_each(draft, head))


def _figure(draft: Draft, i: int) -> Figure:
    found = draft.marks[i].figure
    assert found is not None
    return found


def _head(draft: Draft, first: int, number: Part | None, since: int = 0) -> int | None:
    """The place of what has such a number of its own: the first thing or column that the sentence speaks of.

    Where another stands between, it is not told which of them has it.
    """
    own = number.owner if number is not None else None
    spoken = {k: _spoken(draft, k) for k in range(since, first) if draft.value(k) is None}
    is_bound = number is not None and number.name is not None  # "without refunds in October": of which, is not told
    names = {k: one for k, one in spoken.items() if one and (is_bound or draft.name(k, "metric") is None)}
    heads = [k for k in names if k == 0 or draft.column_of(k - 1) is None]
    if len(heads) > 1 and {name.owner or name.name for name in names.values()} - {own} and _are_of_one(names.values()):
        things = [k for k in heads if names[k].kind == "entity"]
        heads = (things or heads)[-1:]  # columns of one thing: what is said of it is said of its rows
    name = names[heads[0]] if len(heads) == 1 else None
    return heads[0] if name is not None and name.name != own else None


def _spoken(draft: Draft, k: int) -> Name | None:
    """The thing or column there, or the thing that the number there counts: "how many authors"."""
    name, metric = draft.name(k, "entity", "dimension"), draft.name(k, "metric")
    if name is not None or metric is None:
        return name
    counted = [one for one in draft.index.of("") if one.kind == "entity" and metric.name in one.kin]
    roots = draft.index.own(counted[0]) if len(counted) == 1 else frozenset[str]()
    return counted[0] if not roots.isdisjoint(map(stem, draft.word(k).split())) else None


def _are_of_one(names: Iterable[Name]) -> bool:
    return len({name.owner or name.name for name in names}) == 1


def _each(draft: Draft, head: int) -> list[Part]:
    """What has the number: each thing, or each value of a column; of listed columns, each of their rows."""
    name = _spoken(draft, head)
    if name is None:
        return []
    is_listed = name.owner and any(draft.name(k, "dimension") not in (None, name) for k in range(head))
    return [Part("group", head, head, name.owner if is_listed else name.name)]


def _fits(draft: Draft, i: int, column: Name) -> bool:
    figure, unit = _figure(draft, i), unit_named(column.unit)
    if figure.unit is None or figure.unit == unit:
        return True
    return unit is not None and measure(Fraction(1), figure.unit).kind == measure(Fraction(1), unit).kind


def _compared(draft: Draft, i: int, column: Name, first: int, last: int, side: Any) -> Part:
    figure = _figure(draft, i)
    return Part("filter", first, last, column.name, side, amount(figure), figure.unit, owner=column.owner)


def read_having(draft: Draft, i: int, since: int = 0) -> Part | None:
    """ "With more than 3 orders", "without orders", "that have orders", "with a price above 9": from mark *i* on."""
    for k in (i, i + 1, i + 2):
        if draft.kind(k) == "figure" and k not in draft.used:
            first, last, side = _bounds(draft, k)
            if side is None and first == i and draft.kind(i - 1) == "joining" and not draft.says(i - 1, "to", "and"):
                side = "=="  # "that have 1 order"
            if side is None:
                return None
            found = _of_behind(draft, k, first, last, side, since) if first == i else None
            found = found or _of_before(draft, k, first, last, side)
            return found if found is not None and found.first == i else None
    return _read_emptiness(draft, i) or (_read_emptiness(draft, i - 1) if draft.kind(i - 1) == "joining" else None)


def read_emptiness(draft: Draft) -> None:
    """ "Customers without orders" have none of them; "that have orders" at least one; "without an email" is missing."""
    for i in list(draft.free("operator", "joining")):
        part = _read_emptiness(draft, i) if i not in draft.used else None
        if part is not None:
            draft.add(part)


def _read_emptiness(draft: Draft, i: int) -> Part | None:
    is_none, is_some = draft.says(i, "none", "not"), draft.says(i, "with", "have", "has", "having")
    if not (is_none or is_some):
        return None
    k = draft.after(i)
    picks, k = read_picks(draft, draft.after(k) if draft.is_role(k) else k)  # "who have received notifications"
    if k in draft.used or draft.name(k, "metric") is not None:
        return None
    entity = draft.name(k, "entity")
    if entity is not None:
        head = _head(draft, i, Part("asks", k, k, owner=entity.name))
        if head is None or draft.column_of(k) is not None:  # "with customer name" is of a column
            return None
        name, sign = number_of(draft, k, entity), "==" if is_none else ">="
        of = [*picks, *_each(draft, head)]
        return Part("having", i, k, name, sign, 0 if is_none else 1, of=of, owner=entity.name)
    column = draft.name(k, "dimension", "date", "number") if is_none and draft.value(k) is None and not picks else None
    behind = draft.name(draft.after(k), "entity")
    if column is not None and column.kind == "date" and behind is not None and behind.name == column.owner:
        return None  # "never bought a ticket" speaks of no ticket that is not bought
    return Part("filter", i, k, column.name, "is null", owner=column.owner) if column is not None else None


def read_texts(draft: Draft) -> None:
    """Texts in quotation marks, codes and bare numbers beside the column that they are of, or behind "named"."""
    for i in list(draft.free("text", "figure", "word")):
        is_free = i not in draft.used and draft.word(i) not in closed("lettering")
        part = _text_before(draft, i) or _text_behind(draft, i) if is_free else None
        if part is None:
            continue
        others: list[Part] = []
        while (other := _another_text(draft, part, (others or [part])[-1].last + 1)) is not None:
            others.append(other)
        _add_values(draft, part, others)


_SEARCHES = ("contains", "starts with", "ends with")


def _text_behind(draft: Draft, i: int) -> Part | None:
    """ "Berth B7", "whose name starts with 'J'", "the vendor named 'Utility Company'": the column stands before."""
    k, search = _search_before(draft, i)
    if search is not None or draft.says(k, "named"):
        first = draft.before(k)
        column = draft.name(first, "dimension")
        if column is None and (draft.kind(i) == "text" or search is None):  # "how many clients are named 'Huber'"
            column, first = _label(draft, first), k
    else:
        column, first = draft.name(k, "dimension"), k
    if column is None or column.type == "boolean" or first in draft.used:
        return None
    between = {token.word for token in draft.sentence.tokens[draft.marks[k].last + 1 : draft.marks[i].first]}
    is_near = between <= closed("copula") | {"of", "the"}
    return _of_text(draft, column, first, i, search, is_near)


def _search_before(draft: Draft, i: int) -> tuple[int, str | None]:
    """The mark before a text, past "the letter", and the search in a text that it says."""
    k = draft.before(i)
    k = draft.before(k) if draft.kind(k) == "word" and draft.word(k) in closed("lettering") else k
    return k, next((one for one in _SEARCHES if draft.says(k, one)), None)


def _text_before(draft: Draft, i: int) -> Part | None:
    """ "'88' in their serial number", "the 'Sociology' domain": the column stands behind a quoted text."""
    is_inside = draft.says(i + 1, "contains") and draft.word(i + 1).startswith("in ")
    k = i + 2 if is_inside else i + 1
    column = draft.name(k, "dimension") or (None if is_inside else _label(draft, k))
    is_next = is_inside or (k < len(draft.marks) and draft.marks[k].first == draft.marks[i].last + 1)
    is_text = draft.kind(i) == "text" or (is_inside and bool(draft.marks[i].text))
    if not is_text or column is None or column.type != "text" or k in draft.used or not is_next:
        return None
    operator = "contains" if is_inside else "=="
    return Part("filter", i, k, column.name, operator, draft.marks[i].text, owner=column.owner)


def _of_text(draft: Draft, column: Name, first: int, i: int, search: str | None, is_near: bool) -> Part | None:
    """The condition that a column is, or holds, what stands at mark *i*."""
    mark = draft.marks[i]
    told: Any = mark.text or draft.sentence.quote(mark.first, mark.last)
    if mark.figure is not None and mark.figure.unit is not None:
        return None
    if search is None and (not (mark.text or mark.figure) or not is_near):
        return None
    if search is None and mark.figure is not None and is_numeric(column):
        told = amount(mark.figure)
    last = i + 1 if search is not None and draft.says(i + 1, "caseless") else i
    return Part("filter", first, last, column.name, search or "==", told, owner=column.owner)


def _another_text(draft: Draft, part: Part, k: int) -> Part | None:
    """Another text of the same column behind "or", with a search of its own or the same; behind "and" the same."""
    if draft.kind(k) != "joining" or not draft.says(k, "or", "and"):
        return None
    search, i = next((one for one in _SEARCHES if draft.says(k + 1, one)), None), k + 1
    i += search is not None
    i += draft.kind(i) == "word" and draft.word(i) in closed("lettering")
    if search is None and draft.says(k, "and") and part.operator != "==":  # "starts with A and B" holds for none
        return None
    column = draft.index.get("part", part.name or "")
    if column is None or i >= len(draft.marks) or i in draft.used or (search is not None and draft.says(k, "and")):
        return None
    told = draft.value(i)
    if told is not None and search is None and told[0].name == part.name:
        return Part("filter", k + 1, i, part.name, part.operator, told[1], owner=part.owner)
    if draft.kind(i) not in ("text", "word", "figure") or (draft.kind(i) == "figure" and draft.kind(i + 1) == "name"):
        return None
    return _of_text(draft, column, k + 1, i, search or (None if part.operator == "==" else part.operator), is_near=True)


def _label(draft: Draft, k: int) -> Name | None:
    """The one text that rows of the thing there are told by."""
    if draft.kind(k) != "name":
        return None
    entity = draft.name(k, "entity")
    known = draft.index.of(entity.name) if entity is not None else ()
    found = [one for one in known if one.kind == "dimension" and one.near and not is_numeric(one)]
    return found[0] if len(found) == 1 else None


def read_values(draft: Draft) -> None:
    """Declared values and named filters; several of different columns that "or" joins are one of several."""
    k = 0
    while k < len(draft.marks):
        part = read_pick(draft, k) if k not in draft.used else None
        if part is None or part.last in draft.used or _is_second(draft, part) or _is_of_other(draft, part):
            k += 1
            continue
        part, others = _with_column(draft, part), list[Part]()
        while (other := _alternative(draft, part if not others else others[-1])) is not None:
            others.append(other)
        _add_values(draft, part, others)
        k = draft.parts[-1].last + 1


def _is_second(draft: Draft, part: Part) -> bool:
    """Is it another value of a column that was narrowed before, apart from it: "from Oslo to Bergen" is not both?"""
    others = [one for one in draft.parts if one.kind == "filter" and one.name == part.name]
    return any(one.last != part.first - 1 and one.value != part.value for one in others)


def _is_of_other(draft: Draft, part: Part) -> bool:
    """Is it said of a thing that has no such column: "shops are active", where members are?"""
    tokens, marks = draft.sentence.tokens, draft.marks
    before, behind = draft.name(part.first - 1, "entity"), draft.name(part.last + 1, "entity")
    first = marks[part.first].first
    is_said = first > 0 and tokens[first - 1].word in closed("copula")
    if before is not None and is_said:
        return before.name != part.owner
    if _is_far(draft, part):
        return True
    is_next = behind is not None and marks[part.last + 1].first == marks[part.last].last + 1
    is_flag = part.value in (None, True, False)
    return is_next and is_flag and behind is not None and behind.name != part.owner


def _is_far(draft: Draft, part: Part) -> bool:
    """Is it said of the rows of something else that what is asked about has, or has not: whose then is not told?"""
    spoken = [one.name for k in range(len(draft.marks)) if (one := draft.name(k, "entity")) is not None]
    has_metric = any(draft.name(k, "metric") is not None for k in range(len(draft.marks)))
    if not spoken or has_metric or part.owner in spoken:
        return False
    is_denied = part.operator in ("!=", "is not") or part.value is False
    return is_denied or draft.says(part.first - 1, "with", "have", "has", "having", "none", "not")


def _with_column(draft: Draft, part: Part) -> Part:
    """The part with what its column is called right before or behind it: "status cancelled", "the city of Oslo"."""
    for k in (draft.before(part.first), part.last + 1):
        column = draft.name(k, "dimension")
        if column is not None and column.name == part.name and draft.value(k) is None and k not in draft.used:
            return widened(part, k, k)
    return part


def _alternative(draft: Draft, part: Part) -> Part | None:
    """What stands behind "or" beside it; behind "and" only another value of the same column."""
    k = part.last + 1
    if draft.kind(k) != "joining" or not draft.says(k, "or", "and"):
        return None
    other = read_pick(draft, k + 1)
    if other is None or other.last in draft.used or (draft.says(k, "and") and other.name != part.name):
        return None
    return other


def _add_values(draft: Draft, part: Part, others: list[Part]) -> None:
    if not others:
        draft.add(part)
        return
    if all(one.name == part.name and one.operator == part.operator for one in others):
        values = [one.value for one in (part, *others)]
        operator = {"==": "in", "!=": "not in", **dict(zip(_SEARCHES, _SEARCHES, strict=True))}.get(str(part.operator))
        if operator is not None:
            draft.add(Part("filter", part.first, others[-1].last, part.name, operator, values, owner=part.owner))
            return
    if part.operator in ("!=", "is not"):  # "not A or B" may be both, or one: it is not told here
        draft.add(part)
        return
    draft.add(Part("filter", part.first, others[-1].last, any_of=[part, *others], owner=part.owner))
