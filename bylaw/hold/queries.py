"""What a data question may say: numbers, groups, conditions on rows and on groups, and the table of all its kinds."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from fractions import Fraction
from functools import cache

from bylaw.hold import cases, columns, sequence
from bylaw.hold.bearing import Bearing
from bylaw.hold.columns import look_up, name_parts
from bylaw.hold.item import Item
from bylaw.hold.targets import AGAIN, BETWEEN, SAID, Target
from bylaw.hold.values import amount_of, comparisons_at, grains_in, operators_in
from bylaw.hold.words import stems_of
from bylaw.language.lexicon import closed, lexicon, stem
from bylaw.language.text import Token
from bylaw.language.units import unit_named

_TOTALS = frozenset(("count", "count_distinct", "sum"))  # may be meant where no word says which


def bear_number(one: Bearing) -> None:
    """A number, a list or a share that is asked for: its parts are named, and the words say what is made of them."""
    target = look_up(one, "number")
    if target is None:
        return
    _bear_functions(one, target)
    narrowing = (one.index.get("part", name) for name in _named_within(one.item))
    name_parts(one, replace(target, beside=(*target.beside, *(name for name in narrowing if name is not None))))
    _bear_sides(one, target)
    _bear_count(one, target)
    _leave_groups(one, target)
    _bear_parts(one, one.item.of)
    one.take_classes("question_words")
    _bear_unit(one, target)
    named = [token for part in target.parts for token in one.own_mention(part.name)]
    if one.is_negated(*named, *(token for token in one.tokens if one.item.of and token.start in one.own)):
        one.weaken("words", "the words deny it")


def _named_within(item: Item) -> Iterator[str]:
    """The names of the conditions that narrow it: their words may hold its own ("open orders")."""
    for part in item.of:
        if part.kind == "filter" and part.name is not None:
            yield part.name
        yield from _named_within(part)


def _bear_sides(one: Bearing, target: Target) -> None:
    """Of a ratio the number that is divided is said first: "A per B", "B, which is A divided by C"."""
    if target.function != "ratio" or len(target.parts) != 2 or target.parts[0] is target.parts[1]:
        return
    upper, lower = (one.index.own(part) for part in target.parts)
    upper, lower = upper - _making(), lower - _making()
    sides = [
        (token.start, not stems_of(token.word).isdisjoint(lower - upper))
        for token in one.tokens
        if not stems_of(token.word).isdisjoint(upper ^ lower)
    ]
    if len({is_lower for _, is_lower in sides}) == 2 and _begins_below(one, sides):
        one.refuse("the words divide the other way round")


@cache
def _making() -> frozenset[str]:
    """The stems of words that say what is made of rows: "total number of"."""
    texts = (text for name in SAID for text in closed(f"aggregating_{name}"))
    return frozenset(stem(word) for text in texts for word in text.split())


def _begins_below(one: Bearing, sides: Sequence[tuple[int, bool]]) -> bool:
    """Do the words say the number that divides first? What stands right behind "divided by" is that number."""
    places = [one.tokens[behind].start for _, behind in lexicon()["aggregating_ratio"].find(one.words[:-1])]
    between = [place for place in places if sides[0][0] < place <= sides[-1][0]]
    if not between:
        return sides[0][1]
    return not next(is_lower for start, is_lower in sides if start >= between[-1])


def _bear_count(one: Bearing, target: Target) -> None:
    """ "How many payments" asks for their number, and not for a sum of theirs, unless a metric is called so."""
    if target.functions or target.parts[0].kind != "metric" or one.own_mention(target.parts[0].name):
        return
    for _, behind in lexicon()["aggregating_count"].find(one.words):
        for mention, words in one.mentions:
            if behind < len(one.tokens) and words[0].start == one.tokens[behind].start:
                entities = [name for owner in mention.owners if (name := one.index.get("part", owner.name))]
                counted = [name for name in entities if name.kind == "entity"]
                if counted and not any(target.parts[0].name in name.kin for name in counted):
                    one.refuse(f"the words count {counted[0].name}")


def _leave_groups(one: Bearing, target: Target) -> None:
    """What "by" or "each" hands over belongs to a group, and to no number; of a list "each" is every row of it."""
    mine = {part.name for part in (*target.parts, *target.beside)}
    for first, behind in lexicon()["grouping"].find(one.words):
        for mention, words in one.mentions:
            is_behind = behind < len(one.tokens) and words[0].start == one.tokens[behind].start
            if is_behind and mine.isdisjoint(owner.name for owner in mention.owners):
                one.own.difference_update(token.start for token in words)
            elif is_behind and target.function in ("list", "values"):
                one.take(one.tokens[first:behind])


def _bear_unit(one: Bearing, target: Target) -> None:
    """A unit that the number is to be told in is said."""
    unit = one.item.unit
    own = {unit_named(part.unit) for part in target.parts if part.unit}
    spelled = [*_units_in(one)]
    one.take(token for name, tokens in spelled if name in own for token in tokens)
    if unit is None:
        return
    said = [token for name, tokens in spelled if name == unit_named(unit) for token in tokens]
    said += [token for token in one.tokens if token.word.rstrip("s") == unit.rstrip("s")]
    if unit == "percent":
        said += [one.tokens[k] for a, b in lexicon()["aggregating_share"].find(one.words) for k in range(a, b)]
    one.take(said)
    if not said:
        one.refuse(f"the words do not say {unit}")


def _units_in(one: Bearing) -> Iterator[tuple[str, Sequence[Token]]]:
    """The units that the quote spells, the longest at each place, and their words."""
    k = 0
    while k < len(one.tokens):
        unit, length = lexicon().unit(one.words, k) or ("", 1)
        if unit:
            yield unit, one.tokens[k : k + length]
        k += length


def _bear_functions(one: Bearing, target: Target) -> None:
    """Words of another aggregate than the one that is claimed refuse it: "median" is not the average."""
    is_bounding = bool(one.values.figures_at(*one.place))  # "at least 3"; "the maximum range" bounds nothing
    bounding = {k for first, behind, _ in comparisons_at(one.words) if is_bounding for k in range(first, behind)}
    longer = {token.start for mention, words in one.mentions if mention.size > 1 for token in words}  # "first name"
    inside = {k for k, token in enumerate(one.tokens) if token.start in longer}
    said = {name: spans for name in sorted(SAID) if (spans := _spans_of(name, one, bounding))}
    metric = [part for part in target.parts if part.kind == "metric"]
    own = {
        k
        for part in metric
        for k, token in enumerate(one.tokens)
        if not stems_of(token.word).isdisjoint(one.index.own(part))
    }
    own |= inside
    if not one.item.of and (not target.functions or target.function == "values"):  # "first", of the first name
        called = frozenset[str]().union(*(one.index.own(part) for part in target.parts))
        own |= {k for k, token in enumerate(one.tokens) if not stems_of(token.word).isdisjoint(called)}
    named = {name for name, spans in said.items() if any(not own.issuperset(range(*span)) for span in spans)}
    for function in target.functions:
        for span in said.get(function, ()):
            one.take(one.tokens[span[0] : span[1]])
    mine = set(target.functions) | (
        {"list", "values", "count", "count_distinct", "sum", "share"} if not target.functions else set()
    )
    others = {name for name in named if not _shares_a_word(name, mine, one)}
    if not mine.isdisjoint(("count", "count_distinct")):  # the total of rows is their number
        one.take_classes("aggregating_sum")
        if target.parts[0].kind == "entity":  # no row of a thing is there twice
            one.take_classes("aggregating_count_distinct")
        others -= {"sum"}
        others -= {name for name in ("max", "min") if _only_ranks(name, one)}  # an order or a limit carries the words
    if "number" in {part.kind for part in target.parts} and all(part.unit is None for part in target.parts):
        one.take_classes("aggregating_count")  # "number of tickets", of which each row has some
    strict = sorted(others & {"avg", "median", "min", "max", "sum"})
    if strict and not named & set(target.functions):
        one.refuse(f"the words say {' or '.join(strict)}")
    outer = target.function
    if outer is not None and outer not in named and outer not in _TOTALS | {"list", "values"}:
        one.weaken("words", f"no word of it says {outer}")
    if not BETWEEN.isdisjoint(target.functions):
        one.take_classes("apart")
    one.take_classes("aggregating_list", "doing")  # "return the number of …" only asks to see it
    if not target.functions:
        one.take_classes("aggregating_count", "aggregating_sum")


def _only_ranks(name: str, one: Bearing) -> bool:
    """Do the words of an aggregate only say which of many has most of a count: "the most orders"?"""
    spans = lexicon()[f"aggregating_{name}"].find(one.words)
    return all(set(one.words[a:b]) <= closed("ranking_counts") for a, b in spans)


def _spans_of(name: str, one: Bearing, bounding: set[int]) -> list[tuple[int, int]]:
    """Where words of the quote ask for the function *name*."""
    found = lexicon()[f"aggregating_{name}"].find(one.words)
    return [span for span in found if bounding.isdisjoint(range(*span))]


def _shares_a_word(name: str, mine: set[str], one: Bearing) -> bool:
    """Does a word that says one aggregate say one of *mine* as well ("how many" counts rows, or different ones)?"""
    spans = [tuple(one.words[a:b]) for a, b in lexicon()[f"aggregating_{name}"].find(one.words)]
    return any(" ".join(span) in closed(f"aggregating_{other}") for span in spans for other in mine)


def bear_group(one: Bearing) -> None:
    """What the rows are grouped by; a date by a unit that the words name."""
    one.take_classes("grouping", "doing", "aggregating_list")
    for wish in map(str, one.item.values):
        _bear_members(one, wish)
    if one.item.name is None:
        if one.item.unit is not None:
            _bear_grain(one, None)
        return
    target = look_up(one, "group")
    if target is None:
        return
    name = target.parts[0]
    if name.kind == "date" and target.function is None:
        _bear_grain(one, target)
    elif one.item.unit is not None:
        one.refuse(f"`{name.name}` is no date, and has no unit")
    else:
        one.take_classes("aggregating_values")
        if target.function in AGAIN:
            _bear_cycle(one, target)
        else:
            name_parts(one, target)


def _bear_cycle(one: Bearing, target: Target) -> None:
    """What comes again of a date: the words name it; they may name the date as well."""
    cycle = f"cycle_{target.function}"
    behind = [token for token in one.around if token.start >= one.place[1]][:1]
    is_dated = any(span.begins == token.start for token in behind for span in one.values.spans if token.is_number)
    if not one.holds_any(cycle) or is_dated:  # "each month of the year 2025"
        one.refuse(f"the words speak of no {str(target.function).replace('_', ' ')}")
    one.take_classes(cycle)
    called = frozenset[str]().union(*(one.index.own(part) for part in (*target.parts, *target.beside)))
    one.take(token for token in one.tokens if not stems_of(token.word).isdisjoint(called))


def _bear_members(one: Bearing, wish: str) -> None:
    """Groups that no row belongs to stand there, or rows of no group are left out, where the words say so."""
    if wish == "each":
        return
    if wish not in ("all", "members"):
        one.refuse(f"`{wish}` is no way to group")
    elif not one.holds_any(f"grouping_{wish}"):
        one.refuse("the words do not speak of what has none" if wish == "all" else "the words leave nothing out")
    else:
        one.take_classes(f"grouping_{wish}")


def _bear_grain(one: Bearing, target: Target | None) -> None:
    unit, said = one.item.unit, grains_in(one.tokens)
    if unit not in ("day", "week", "month", "quarter", "year"):
        one.refuse("a date is grouped by `unit`: day, week, month, quarter or year")
        return
    one.take(token for token in one.tokens if token.word in closed(f"grain_{unit}"))
    if said and unit not in said:
        one.refuse(f"the words say {' and '.join(sorted(said))}")
    elif not said:
        if target is not None:
            name_parts(one, target)
        one.weaken("value", f"no word of it says {unit}")
    elif target is not None:
        called = frozenset[str]().union(*(one.index.own(part) for part in (*target.parts, *target.beside)))
        one.take(token for token in one.tokens if not stems_of(token.word).isdisjoint(called))
        one.take(token for part in target.parts for token in one.own_mention(part.name))


def bear_filter(one: Bearing) -> None:
    """A condition on the rows: a declared value, a number, a day, a named filter, or one of several."""
    if one.item.any_of:
        _bear_any(one)
    elif (target := look_up(one, "filter")) is not None:
        columns.bear_column(one, target)
        _bear_parts(one, one.item.of)


def _bear_any(one: Bearing) -> None:
    """Each of the items that one quote holds, any of which is enough."""
    _bear_parts(one, one.item.any_of)
    one.take(token for token in one.tokens if token.word in ("or", "and", "either"))


def _bear_parts(one: Bearing, parts: Sequence[Item]) -> None:
    """The items inside an item, in quotes of their own or in its quote: they account for their words there."""
    for part in parts:
        place = _place_of_part(one, part)
        if place is None:
            one.refuse("the sentence does not say this")
            continue
        quote = part.quote if part.quote is not None else one.item.quote
        inner = replace(one, item=part.model_copy(update={"quote": quote}), place=place, flaws=[], own=set())
        KINDS_OF_DATA.get(part.kind, _refuse_kind)(inner)
        is_each = part.quote is None and part.kind == "group" and part.unit is None
        one.flaws += [] if is_each and _speaks_of(inner) else inner.flaws
        one.own |= inner.own


def _speaks_of(one: Bearing) -> bool:
    """Does the sentence name what a number is of each of, be it by a column of it ("patient IDs")?"""
    name = one.index.get("part", one.item.name or "")
    owners = [found for m, _ in one.mentions for o in m.owners if (found := one.index.get("part", o.name)) is not None]
    return name is not None and any(name in (found, one.index.get("part", found.owner or "")) for found in owners)


def _place_of_part(one: Bearing, part: Item) -> tuple[int, int] | None:
    """Where the words of a part stand: its quote in the same sentence; what a number is of each of, anywhere in it."""
    if part.quote is None:
        return (one.passage.start, one.passage.end) if part.kind == "group" else one.place
    places = [
        place for place in one.seen.find(part.quote) if one.passage.start <= place[0] and place[1] <= one.passage.end
    ]
    inside = [place for place in places if one.place[0] <= place[0] and place[1] <= one.place[1]]
    return next(iter((*inside, *places)), None)


def _refuse_kind(one: Bearing) -> None:
    one.refuse(f"`{one.item.kind}` is no condition")


def _bear_side(one: Bearing, operator: str) -> None:
    """The side of another number that the words say."""
    said = operators_in(one.tokens) or {
        side for side, name in ((">", "exceeding"), ("<", "undercutting")) if one.holds_any(name)
    }
    one.take_classes("exceeding", "undercutting")
    if said != {operator}:
        one.refuse(f"the words say {' and '.join(sorted(said))}, not {operator}" if said else "the words bound nothing")
    one.take_comparisons()


def bear_having(one: Bearing) -> None:
    """A number of each row or group, and its side: none is `= 0`, some is `>= 1`."""
    target = look_up(one, "number")
    if target is None:
        return
    _bear_functions(one, target)
    value, operator = amount_of(one.item.value), one.item.operator or ">="
    is_none = value == 0 and operator == "=="
    is_some = (value, operator) in ((Fraction(1), ">="), (Fraction(0), ">"))
    figures = one.values.figures_at(*one.place)
    if any(part.kind == "asks" for part in one.item.of):
        _bear_side(one, operator)
    elif is_none and not figures:
        if not one.holds_any("emptiness"):
            one.refuse("the words do not say that there is none")
        one.take_classes("emptiness")
        one.take_negations()
        one.denying = one.tokens
    elif is_some and not figures:
        if one.is_negated():
            one.refuse("the words say that there is none")
    else:
        cases.bear_amount(one, target.parts[0], is_named=False)
    one.take_classes("relating")
    one.take(token for token in one.tokens if token.word in ("both", "and"))
    name_parts(one, target)
    _bear_parts(one, one.item.of)


Check = Callable[[Bearing], None]


def _with_parts(check: Check) -> Check:
    """*check*, and that of the items inside."""

    def bear(one: Bearing) -> None:
        check(one)
        _bear_parts(one, one.item.of)

    return bear


KINDS_OF_DATA: Mapping[str, Check] = {
    "asks": bear_number,
    "group": bear_group,
    "filter": bear_filter,
    "having": bear_having,
    "time": sequence.bear_time,
    "compare": sequence.bear_comparison,
    "order": _with_parts(sequence.bear_order),
    "limit": _with_parts(sequence.bear_limit),
    "over": sequence.bear_course,
}
