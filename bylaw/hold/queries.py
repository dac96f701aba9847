"""What a data question may say: numbers, groups, filters, conditions on groups, spans, comparison, order, limit."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from fractions import Fraction

from bylaw.hold import cases
from bylaw.hold.bearing import Bearing
from bylaw.hold.item import Item
from bylaw.hold.targets import FUNCTIONS, Target, read_target
from bylaw.hold.values import amount_of, grains_in, interval_of, written_interval
from bylaw.hold.words import Name, stems_of
from bylaw.language.lexicon import closed, lexicon
from bylaw.language.text import words_of

_TOTALS = frozenset(("count", "count_distinct", "sum"))  # may be meant where no word says which


def _target(one: Bearing, kinds: str) -> Target | None:
    target = read_target(one.index, one.item.named or "")
    if target.unknown is not None:
        one.refuse(f"`{target.unknown}` is no {kinds} that you can ask for")
        return None
    return target


def _name_parts(one: Bearing, target: Target) -> None:
    """The words of each part stand in the quote; what is asked of several parts needs a word of each."""
    for k, part in enumerate(target.parts):
        others = (*target.beside, *target.parts[:k], *target.parts[k + 1 :])
        one.bear_name(part, *others)


def bear_number(one: Bearing) -> None:
    """A number, a list or a share that is asked for: its parts are named, and the words say what is made of them."""
    target = _target(one, "number")
    if target is None:
        return
    _bear_functions(one, target)
    _name_parts(one, target)
    _bear_parts(one, one.item.of)
    one.take_classes("question_words")
    if one.is_negated(*(token for part in target.parts for token in one.own_mention(part.name))):
        one.weaken("words", "the words deny it")


def _bear_functions(one: Bearing, target: Target) -> None:
    """Words of another aggregate than the one that is claimed refuse it: "median" is not the average."""
    said = {name: spans for name in sorted(FUNCTIONS) if (spans := [*lexicon()[f"aggregating_{name}"].find(one.words)])}
    metric = [part for part in target.parts if part.kind == "metric"]
    own = {
        k
        for part in metric
        for k, token in enumerate(one.tokens)
        if not stems_of(token.word).isdisjoint(one.index.own(part))
    }
    named = {name for name, spans in said.items() if any(not own.issuperset(range(*span)) for span in spans)}
    for function in target.functions:
        for span in said.get(function, ()):
            one.take(one.tokens[span[0] : span[1]])
    mine = set(target.functions) | (
        {"list", "values", "count", "count_distinct", "sum", "share"} if not target.functions else set()
    )
    others = {name for name in named if not _shares_a_word(name, mine, one)}
    strict = sorted(others & {"avg", "median", "min", "max", "sum"})
    if strict and not named & set(target.functions):
        one.refuse(f"the words say {' or '.join(strict)}")
    outer = target.function
    if outer is not None and outer not in named and outer not in _TOTALS | {"list", "values"}:
        one.weaken("words", f"no word of it says {outer}")
    if not target.functions:
        one.take_classes("aggregating_count", "aggregating_sum", "aggregating_list")


def _shares_a_word(name: str, mine: set[str], one: Bearing) -> bool:
    """Does a word that says one aggregate say one of *mine* as well ("how many" counts rows, or different ones)?"""
    spans = [tuple(one.words[a:b]) for a, b in lexicon()[f"aggregating_{name}"].find(one.words)]
    return any(" ".join(span) in closed(f"aggregating_{other}") for span in spans for other in mine)


def bear_group(one: Bearing) -> None:
    """What the rows are grouped by; a date by a unit that the words name."""
    target = _target(one, "group")
    if target is None:
        return
    one.take_classes("grouping")
    name = target.parts[0]
    if name.kind == "date":
        _bear_grain(one, target)
        return
    if one.item.unit is not None:
        one.refuse(f"`{name.name}` is no date, and has no unit")
        return
    _name_parts(one, target)


def _bear_grain(one: Bearing, target: Target) -> None:
    unit, said = one.item.unit, grains_in(one.tokens)
    if unit not in ("day", "week", "month", "quarter", "year"):
        one.refuse("a date is grouped by `unit`: day, week, month, quarter or year")
        return
    one.take(token for token in one.tokens if token.word in closed(f"grain_{unit}"))
    if said and unit not in said:
        one.refuse(f"the words say {' and '.join(sorted(said))}")
    elif not said:
        _name_parts(one, target)
        one.weaken("value", f"no word of it says {unit}")
    else:
        called = frozenset[str]().union(*(one.index.own(part) for part in (*target.parts, *target.beside)))
        one.take(token for token in one.tokens if not stems_of(token.word).isdisjoint(called))


def bear_filter(one: Bearing) -> None:
    """A condition on the rows: a declared value, a number, a day, a named filter, or one of several."""
    item = one.item
    if item.any_of:
        _bear_any(one)
        return
    target = _target(one, "filter")
    if target is None:
        return
    name, operator = target.parts[0], item.operator or "=="
    one.take(
        token
        for part in target.beside
        for token in one.tokens
        if not stems_of(token.word).isdisjoint(one.index.own(part))
    )
    if name.kind == "filter":
        _bear_named_filter(one, name)
    elif operator in ("is null", "not null"):
        _bear_emptiness(one, target, operator)
    elif name.type == "enum":
        _bear_listed(one, name)
    elif name.kind == "date":
        _bear_moment(one, name)
    elif name.type in ("integer", "decimal"):
        cases.bear_amount(one, name)
    elif name.type == "boolean" and len(item.values) == 1 and isinstance(item.values[0], bool):
        cases.bear_value(one, name)
    else:
        _bear_text(one, name)
    one.take_classes("relating")


def _bear_any(one: Bearing) -> None:
    """Each of the items that one quote holds, any of which is enough."""
    _bear_parts(one, one.item.any_of)
    one.take(token for token in one.tokens if token.word in ("or", "and", "either"))


def _bear_parts(one: Bearing, parts: Sequence[Item]) -> None:
    """The items inside an item, in quotes of their own or in its quote: they account for their words there."""
    for part in parts:
        whole = part if part.quote is not None else part.model_copy(update={"quote": one.item.quote})
        inner = replace(one, item=whole, flaws=[], own=set())
        KINDS_OF_DATA.get(part.kind, _refuse_kind)(inner)
        one.flaws += inner.flaws
        one.own |= inner.own


def _refuse_kind(one: Bearing) -> None:
    one.refuse(f"`{one.item.kind}` is no condition")


def _bear_named_filter(one: Bearing, name: Name) -> None:
    operator = one.item.operator or "is"
    if operator not in ("is", "is not", "==", "!="):
        one.refuse(f"`{operator}` does not fit the named filter `{name.name}`")
        return
    one.bear_name(name)
    is_negated = one.is_negated(*one.own_mention(name.name))
    one.take_classes("negation")
    if is_negated is not (operator in ("is not", "!=")):
        one.refuse("the words say the opposite")


def _bear_emptiness(one: Bearing, target: Target, operator: str) -> None:
    _name_parts(one, target)
    is_empty = one.holds_any("emptiness")
    one.take_classes("emptiness")
    if is_empty is not (operator == "is null"):
        one.refuse("the words say the opposite" if not is_empty else "the words say that there is none")


def _bear_listed(one: Bearing, name: Name) -> None:
    """A value that the catalogue lists; one that it does not list must stand in the quote as it is written."""
    unlisted = [value for value in map(str, one.item.values) if value not in name.values]
    if unlisted:
        _bear_text(one, name)
    else:
        cases.bear_value(one, name)


def _bear_text(one: Bearing, name: Name) -> None:
    """A value of an open column: verbatim, whatever its case."""
    operator = one.item.operator or "=="
    if operator not in ("==", "!=", "in", "not in", "contains") or not one.item.values:
        one.refuse(f"`{operator}` does not fit `{name.name}`")
        return
    for value in map(str, one.item.values):
        row = words_of(value)
        at = next((i for i in range(len(one.words)) if row and tuple(one.words[i : i + len(row)]) == row), None)
        if at is None:
            one.refuse(f"the words do not say `{value}`")
        else:
            one.take(one.tokens[at : at + len(row)])
    own = one.index.own(name)
    one.take(token for token in one.tokens if not stems_of(token.word).isdisjoint(own))
    is_negated = one.is_negated()
    one.take_classes("negation")
    if is_negated is not (operator in ("!=", "not in")):
        one.refuse("the words say the opposite")


def _bear_moment(one: Bearing, name: Name) -> None:
    """A side of a day: the span that the words say begins or ends there."""
    operator = one.item.operator or "=="
    spans = one.values.spans_at(*one.place)
    ends: dict[str, set[str]] = {}
    for span in spans:
        written = written_interval(span).split("/")
        for sign, day in (("<", written[1]), (">=", written[0])):
            ends.setdefault(sign, set()).add(day)
    wanted = str(one.item.value)
    if left := one.values.cut_off(*one.place):
        one.refuse(f"“{left}” belongs to the time as well")
    elif operator not in ("<", ">=") or wanted not in ends.get(operator, set()):
        one.refuse(f"the words do not say {operator} {wanted}")
    for span in spans:
        one.take(one.seen.words(span.begins, span.ends))
    called = one.index.own(name)
    one.take(token for token in one.tokens if not stems_of(token.word).isdisjoint(called))


def bear_having(one: Bearing) -> None:
    """A number of each row or group, and its side: none is `= 0`, some is `>= 1`."""
    target = _target(one, "number")
    if target is None:
        return
    _bear_functions(one, target)
    value, operator = amount_of(one.item.value), one.item.operator or ">="
    is_none = value == 0 and operator == "=="
    is_some = (value, operator) in ((Fraction(1), ">="), (Fraction(0), ">"))
    figures = one.values.figures_at(*one.place)
    if is_none and not figures:
        if not one.holds_any("emptiness"):
            one.refuse("the words do not say that there is none")
        one.take_classes("emptiness", "negation")
    elif is_some and not figures:
        if one.is_negated():
            one.refuse("the words say that there is none")
        one.take_classes("relating")
    else:
        number = target.parts[0]
        cases.bear_amount(one, number, is_named=False)
    one.take_classes("relating")
    _name_parts(one, target)
    _bear_parts(one, one.item.of)


def bear_time(one: Bearing) -> None:
    """A span of time, as the one grammar reads the whole phrase; the value, where it is given, is what it reads."""
    item = one.item
    spans = [span for span in one.values.spans_at(*one.place) if not span.is_untold]
    if not spans:
        one.refuse("these words are no time that is read here")
        return
    if len(spans) > 1:
        one.refuse("these words are more than one time")
        return
    if left := one.values.cut_off(*one.place):
        one.refuse(f"“{left}” belongs to the time as well")
    written = written_interval(spans[0])
    if item.value is not None and interval_of(item.value) != interval_of(written):
        one.refuse(f"the words say {written}")
    one.value = written
    one.take(one.seen.words(spans[0].begins, spans[0].ends))
    _bear_date_name(one)


def _bear_date_name(one: Bearing) -> None:
    if one.item.name is None:
        return
    target = _target(one, "date")
    if target is not None and target.parts[0].kind != "date":
        one.refuse(f"`{one.item.name}` is no date")
    elif target is not None:
        _name_parts(one, target)


def bear_comparison(one: Bearing) -> None:
    """What a span is compared with: the one before it, or one that the words say."""
    one.take_classes("comparing")
    if one.item.value == "previous":
        if not one.holds_any("comparing"):
            one.refuse("the words compare nothing")
        one.take(token for span in one.values.spans_at(*one.place) for token in one.seen.words(span.begins, span.ends))
        one.take(token for token in one.tokens if grains_in((token,)))
        return
    bear_time(one)


def bear_order(one: Bearing) -> None:
    """The side that a superlative puts first."""
    side = one.item.value
    if side not in ("asc", "desc"):
        one.refuse("`order` is `asc` or `desc`")
        return
    other = "asc" if side == "desc" else "desc"
    if not one.holds_any(f"ranking_{side}"):
        one.refuse(
            "the words put the other side first" if one.holds_any(f"ranking_{other}") else "the words rank nothing"
        )
    elif one.holds_any(f"ranking_{other}") and not _shared_side(one):
        one.refuse("the words say both sides")
    one.take_classes(f"ranking_{side}")
    if one.item.name is not None and (target := _target(one, "number")) is not None:
        _name_parts(one, target)


def _shared_side(one: Bearing) -> bool:
    return all(
        one.words[a:b] == one.words[c:d]
        for a, b in lexicon()["ranking_asc"].find(one.words)
        for c, d in lexicon()["ranking_desc"].find(one.words)
    )


def bear_limit(one: Bearing) -> None:
    """How many rows: a number in the quote, or the one of a superlative."""
    value = amount_of(one.item.value)
    figures = one.values.figures_at(*one.place)
    said = [figure for figure in figures if value in figure.values]
    is_superlative = value == 1 and not figures and (one.holds_any("ranking_desc") or one.holds_any("ranking_asc"))
    if not said and not is_superlative:
        one.refuse(f"the words do not say {one.item.value}")
    for figure in said:
        one.take(one.seen.words(figure.start, figure.end))
    one.take_classes("ranking_desc", "ranking_asc", "grouping")
    if one.item.name is not None and (target := _target(one, "group")) is not None:
        _name_parts(one, target)


def bear_course(one: Bearing) -> None:
    """A number that runs on, ranks or grows over the rows."""
    kind = str(one.item.value or one.item.name or "")
    if kind not in ("running", "rank", "growth"):
        one.refuse("`over` is `running`, `rank` or `growth`")
        return
    if not one.holds_any(f"over_{kind}"):
        one.refuse(f"the words do not say {kind}")
    one.take_classes(f"over_{kind}")


Check = Callable[[Bearing], None]
KINDS_OF_DATA: Mapping[str, Check] = {
    "asks": bear_number,
    "group": bear_group,
    "filter": bear_filter,
    "having": bear_having,
    "time": bear_time,
    "compare": bear_comparison,
    "order": bear_order,
    "limit": bear_limit,
    "over": bear_course,
}
