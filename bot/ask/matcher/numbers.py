"""The numbers that a data question asks for: metrics, counts, aggregates of columns, shares and ratios."""

from __future__ import annotations

from collections.abc import Iterator

from bot.ask.matcher.parts import Draft, Part, is_numeric, widened
from bylaw.hold.words import Name
from bylaw.language.lexicon import closed

_AGGREGATES = ("avg", "median", "min", "max", "sum")


def read_number(draft: Draft, i: int, is_counted: bool = False) -> Part | None:
    """The number that begins at mark *i*; None where none does. *is_counted*: the rows of an entity are one."""
    functions = [one for one in _AGGREGATES if draft.says(i, one)]
    if (metric := draft.name(i, "metric")) is not None:
        return Part("asks", i, i, metric.name)
    if is_counted and (entity := draft.name(i, "entity")) is not None:
        return Part("asks", i, i, number_of(draft, i, entity), owner=entity.name)
    if is_counted and (amount := _amount(draft, i)) is not None:
        return Part("asks", i, i, f"sum({amount.name})", owner=amount.owner)
    if draft.says(i, "count") and (counted := _read_count(draft, i)) is not None:
        return counted
    return next((found for one in functions if (found := _read_aggregate(draft, i, one)) is not None), None)


def _read_count(draft: Draft, i: int) -> Part | None:
    """ "How many active customers": the rows that are named behind what narrows them; "how many cities" are values."""
    k = draft.after(i)
    is_distinct = draft.says(i, "values")
    while draft.says(k, "sum", "values") or _narrows(draft, k):
        is_distinct |= draft.says(k, "values")
        k = draft.after(k)
    if (metric := draft.name(k, "metric")) is not None and k == draft.after(i):
        return Part("asks", i, k, metric.name)
    if (entity := draft.name(k, "entity")) is not None:
        return Part("asks", i, k, number_of(draft, k, entity), owner=entity.name)
    amount = _amount(draft, k)
    is_narrowed = any(draft.says(one, "with", "have", "has", "that", "who", "which") for one in range(i))
    if amount is not None and not (is_distinct or is_narrowed):
        return Part("asks", i, k, f"sum({amount.name})", owner=amount.owner)  # "how many tickets" rows are of
    column = draft.name(k, "dimension") if is_distinct or draft.says(i, "count") else None
    if column is None or (is_numeric(column) and not is_distinct):
        return None
    return Part("asks", i, k, f"count_distinct({column.name})", owner=column.owner)


def _amount(draft: Draft, k: int) -> Name | None:
    """What is counted in every row, in the plural and to the letter: "how many tickets", of bookings."""
    amount = draft.name(k, "number")
    is_plural = any(word.endswith("s") for word in draft.word(k).split())
    is_thing = amount is None or draft.name(k, "entity", "metric") is not None
    if amount is None or is_thing or amount.unit is not None or not is_plural:
        return None
    return amount if draft.is_literal(k, amount) else None


def number_of(draft: Draft, i: int, entity: Name) -> str:
    """How many there are of a thing: the metric that is called like it, else its rows."""
    return draft.marks[i].counted or f"count({entity.name})"


def _narrows(draft: Draft, k: int) -> bool:
    """Does a value or a named filter stand there, and no number and no entity?"""
    if not draft.is_before_thing(k):
        return False
    return draft.value(k) is not None or draft.name(k, "filter") is not None


def narrowing(draft: Draft, first: int, last: int) -> Iterator[int]:
    """The marks of a number that narrow it, and are conditions of their own."""
    return (k for k in range(first, last + 1) if _narrows(draft, k))


def _read_aggregate(draft: Draft, i: int, function: str) -> Part | None:
    """ "Average weight", "total revenue", "average number of orders per customer"."""
    k = draft.after(i)
    column = draft.column_of(k) if draft.name(k, "metric") is None else None
    if column is not None and is_numeric(column):  # "average customer age"
        return Part("asks", i, k + 1, f"{function}({column.name})", owner=column.owner)
    column = draft.name(k, "number", "dimension")
    if column is not None and is_numeric(column) and draft.name(k, "metric") is None:
        return Part("asks", i, k, f"{function}({column.name})", owner=column.owner)
    counted = draft.after(k)
    amount = _amount(draft, counted) if draft.says(k, "count") else None
    if amount is not None:  # "average number of tickets"
        return Part("asks", i, counted, f"{function}({amount.name})", owner=amount.owner)
    inner = read_number(draft, k) if not draft.says(k, *_AGGREGATES) else None
    if inner is None:
        return None
    if function == "sum":
        if draft.name(inner.last + 1, "metric") is not None:  # the sum of several numbers, which no item says
            return None
        return widened(inner, i, inner.last)
    return _read_summary(draft, i, function, inner)


def _read_summary(draft: Draft, i: int, function: str, inner: Part) -> Part | None:
    """An aggregate of what each of something has: the thing stands behind "per"."""
    by = draft.after(inner.last)
    entity = draft.name(by + 1, "entity") if draft.says(by, "by") else None
    if entity is None:
        return widened(inner, i, inner.last)  # whoever holds it says that no word of its name is an average
    group = Part("group", by, by + 1, entity.name)
    return Part("asks", i, by + 1, f"{function}({inner.name})", of=[group])


def read_picks(draft: Draft, k: int) -> tuple[list[Part], int]:
    """The conditions that narrow the thing behind them, from mark *k* on, and the place of the thing."""
    picks: list[Part] = []
    while k not in draft.used and (pick := read_pick(draft, k)) is not None and draft.is_before_thing(k):
        picks.append(pick)
        k = draft.after(pick.last)
    return picks, k


def read_pick(draft: Draft, i: int) -> Part | None:
    """The declared value, flag or named filter there, turned by a negation before it."""
    first = i
    is_denied = draft.says(i, "not", "none") and draft.kind(i) == "operator"
    if is_denied:
        i = draft.after(i)
    told, named = draft.value(i), draft.name(i, "filter")
    is_dated = draft.name(i, "date") is not None and draft.kind(i + 1) == "time"
    if told is not None and named is None and (is_dated or _is_verb(draft, i)):
        return None
    if draft.name(i, "metric") is not None or (told is None and named is None):
        return None
    if named is not None:
        return Part("filter", first, i, named.name, "is not" if is_denied else "is", owner=named.owner)
    assert told is not None
    name, value = told
    if name.type == "boolean":
        return Part("filter", first, i, name.name, "==", not is_denied, owner=name.owner)
    return Part("filter", first, i, name.name, "!=" if is_denied else "==", value, owner=name.owner)


def _is_verb(draft: Draft, i: int) -> bool:
    """May the value there as well be what was done: "orders placed in May", "who placed no orders"?"""
    mark, tokens = draft.marks[i], draft.sentence.tokens
    before = tokens[mark.first - 1].word if mark.first else ""
    if before in ("their", "its", "his", "her"):
        return True
    if not tokens[mark.first].word.endswith("ed") or mark.last > mark.first:
        return False
    column = draft.name(i - 1, "dimension")
    if column is not None and column.name == draft.value(i)[0].name:  # type: ignore[index]  # it is a value
        return False
    if before in ("not", "no") and mark.first > 1:
        before = tokens[mark.first - 2].word
    if before in closed("copula"):
        return draft.word(i + 1) == "by"  # "per" names nobody who did it
    if before in ("have", "has", "had"):
        return True
    is_spoken = any(draft.name(k, "entity", "metric") is not None for k in range(i))
    is_bare = before not in closed("preposition") | closed("determining") | closed("negation")
    return is_spoken and is_bare


def read_summaries(draft: Draft) -> None:
    """ "Average number of orders per customer", before "per customer" is taken for what the answer is by."""
    for i in list(draft.free("operator")):
        part = read_number(draft, i) if draft.says(i, *_AGGREGATES) else None
        if (
            part is not None and part.of and draft.word(part.last + 1) != "per"
        ):  # of each of two: of which, no item says
            draft.add(part)


def read_numbers(draft: Draft) -> None:
    """Every other number that is asked for."""
    for i in list(draft.free("name", "operator")):
        if i in draft.used:
            continue
        part = read_number(draft, i)
        if part is not None and (_is_defining(draft, part) or _is_beside(draft, part)):
            continue
        if part is not None and not draft.used & set(range(part.first, part.last + 1)):
            draft.add(part)
            draft.used -= set(narrowing(draft, part.first, part.last))


def _is_beside(draft: Draft, part: Part) -> bool:
    """Does it say of something else which one is meant ("orders with the highest amount"), or stand in its clause?"""
    is_end = any(draft.says(part.first, one) for one in ("min", "max"))
    if is_end and draft.says(part.first - 1, "with", "have", "has", "having", "that", "who"):
        return True
    tokens, marks = draft.sentence.tokens, draft.marks
    for one in draft.parts:
        if one.kind == "asks" and one.last < part.first:
            is_joined = any(draft.says(k, "and", "or") for k in range(one.last, part.first))
            if not is_joined and tokens[marks[one.last].last].clause == tokens[marks[part.first].first].clause:
                return True
    return False


def _is_defining(draft: Draft, part: Part) -> bool:
    """Does it only say what the number before it is: "revenue, which is the sum of …"?"""
    before = [one for one in draft.parts if one.kind == "asks" and one.last < part.first]
    tokens = draft.sentence.tokens
    for one in before:
        between = {t.word for t in tokens[draft.marks[one.last].last + 1 : draft.marks[part.first].first]}
        if between & closed("copula") and not between & {"what", "how"}:
            return True
    return False
