"""What a data question may say of one column: a value, a number, a day, nothing at all, how far two dates lie apart."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction

from bylaw.hold import cases
from bylaw.hold.bearing import Bearing
from bylaw.hold.targets import BETWEEN, Target, read_target
from bylaw.hold.values import amount_of, grains_in, operators_in, written_interval
from bylaw.hold.words import Name, stems_of
from bylaw.language.lexicon import closed, lexicon
from bylaw.language.text import words_of

_SEARCHES = {"contains": "containing", "starts with": "starting", "ends with": "ending"}


def look_up(one: Bearing, kinds: str) -> Target | None:
    """What the item is named after; None, and refused, where nothing declares it."""
    target = read_target(one.index, one.item.named or "")
    if target.unknown is not None:
        one.refuse(f"`{target.unknown}` is no {kinds} that you can ask for")
        return None
    return target


def name_parts(one: Bearing, target: Target) -> None:
    """The words of each part stand in the quote; what is asked of several parts needs a word of each."""
    for k, part in enumerate(target.parts):
        others = (*target.beside, *target.parts[:k], *target.parts[k + 1 :])
        bear_part(one, part, *others)


def bear_part(one: Bearing, part: Name, *others: Name) -> None:
    """What a column is called stands in the quote: the word for its rows alone names none of their columns."""
    one.bear_name(part, *others)
    one.take(one.own_mention(part.name))
    if part.kind == "date":
        one.take_classes("date_nouns")
    behind = "labelling" if part.type in ("text", "enum") and part.kind == "dimension" else "amounting"
    mine = one.own_mention(part.name)
    one.take(t for k, t in enumerate(one.tokens[1:]) if mine and one.tokens[k] == mine[-1] and t.word in closed(behind))
    entity = one.index.get("part", part.owner) if part.owner else None
    rest = one.index.own(part) - (one.index.own(entity) if entity is not None else frozenset())
    said = frozenset[str]().union(*(stems_of(token.word) for token in one.tokens))
    is_told_by = not one.index.near(part).isdisjoint(said)  # a label: "which ships" asks for their names
    is_called = any(owner.name == part.name and owner.value is None for m, _ in one.mentions for owner in m.owners)
    if rest and not is_called and not is_told_by and rest.isdisjoint(said) and not one.index.own(part).isdisjoint(said):
        one.weaken("name", f"its words say which rows, and not which {part.name.rpartition('.')[2]}")


def _refuse_other_filter(one: Bearing, name: Name) -> None:
    """The words are called so of another condition of the same rows: "still employed" is not "no longer employed"."""
    own = len(one.own_mention(name.name))
    for mention, words in one.mentions:
        names = [one.index.get("part", owner.name) for owner in mention.owners]
        others = [other for other in names if other is not None and other.kind == "filter" and other is not name]
        if others and len(words) > own and name not in names:
            one.refuse(f"its words are those of {others[0].name}")


def bear_column(one: Bearing, target: Target) -> None:
    """A condition on a column, by its kind and type. One value is one, in whatever brackets."""
    if isinstance(one.item.value, list) and len(one.item.value) == 1:
        one.item = one.item.model_copy(update={"value": one.item.value[0]})
    item, name, operator = one.item, target.parts[0], one.item.operator or "=="
    one.take(
        token
        for part in target.beside
        for token in one.tokens
        if not stems_of(token.word).isdisjoint(one.index.own(part))
    )
    if target.function in ("after", "first", "last"):
        _bear_moments(one, target)
    elif name.kind == "filter":
        _bear_named_filter(one, name)
    elif operator in ("is null", "not null"):
        _bear_emptiness(one, target, operator)
    elif operator in ("is weekend", "not weekend"):
        _bear_weekend(one, operator)
        one.take(token for token in one.tokens if not stems_of(token.word).isdisjoint(one.index.own(name)))
    elif target.function is not None:
        _bear_computed(one, target)
    elif name.type == "enum":
        _bear_listed(one, name)
    elif name.kind == "date":
        _bear_moment(one, name)
    elif name.type in ("integer", "decimal"):
        cases.bear_amount(one, name)
    elif name.type == "boolean" and (operator in ("is", "is not") or isinstance(item.value, bool)):
        _bear_flag(one, name)
    else:
        _bear_text(one, name)
    one.take_classes("relating", *(("between",) if operator == "between" else ()))
    if len(item.values) > 1:
        one.take(token for token in one.tokens if token.word in ("or", "and", "either", "neither", "nor"))


def _bear_named_filter(one: Bearing, name: Name) -> None:
    operator = one.item.operator or "is"
    if operator not in ("is", "is not", "==", "!="):
        one.refuse(f"`{operator}` does not fit the named filter `{name.name}`")
        return
    bear_part(one, name)
    _refuse_other_filter(one, name)
    is_negated = one.is_negated(*one.own_mention(name.name))
    one.take_negations()
    if is_negated is not (operator in ("is not", "!=")):
        one.refuse("the words say the opposite")


def _bear_emptiness(one: Bearing, target: Target, operator: str) -> None:
    name_parts(one, target)
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
    search = operator.removeprefix("not ")
    if (operator not in ("==", "!=", "in", "not in") and search not in _SEARCHES) or not one.item.values:
        one.refuse(f"`{operator}` does not fit `{name.name}`")
        return
    if search in _SEARCHES:
        if not one.holds_any(_SEARCHES[search]):
            one.refuse(f"the words do not say {search}")
        one.take_classes(_SEARCHES[search], "lettering", "caseless")
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
    one.take_negations()
    if is_negated is not (operator == "!=" or operator.startswith("not ")):
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


def _bear_flag(one: Bearing, name: Name) -> None:
    """A column that is true or false; `is` and `is not` say it without a value."""
    operator = one.item.operator or "=="
    value = one.item.value if isinstance(one.item.value, bool) else True
    plain = {"is": "==", "is not": "!=", "in": "==", "not in": "!="}.get(operator, operator)
    asked, one.item = one.item, one.item.model_copy(update={"operator": plain, "value": value})
    cases.bear_value(one, name)
    one.item = asked


def _bear_weekend(one: Bearing, operator: str) -> None:
    """Days of the weekend are said, or denied."""
    one.take_classes("weekend", "cycle_weekday")
    is_said = one.holds_any("weekend") or one.holds_any("cycle_weekday")
    is_working = one.holds_any("cycle_weekday") is not one.is_negated()
    one.take_negations()
    if not is_said:
        one.refuse("the words speak of no weekend")
    elif is_working is not (operator == "not weekend"):
        one.refuse("the words say the opposite")


def _bear_computed(one: Bearing, target: Target) -> None:
    """What is computed of a date: the time between two, or a weekday, which is said as it is called."""
    if target.function in BETWEEN:
        name = Name(one.item.named or "", "number", type="decimal", unit=target.function)
        cases.bear_amount(one, name, is_named=False)
        one.take_classes(f"aggregating_{target.function}" if target.function != "seconds" else "measure_words")
        name_parts(one, target)
        return
    if target.function == "weekday" and one.holds_any("days_of_week"):
        _bear_weekdays(one)
        one.take(token for token in one.tokens if not stems_of(token.word).isdisjoint(one.index.own(target.parts[0])))
    else:
        _bear_text(one, target.parts[0])


def _bear_weekdays(one: Bearing) -> None:
    """Every one of some days of the week: all that the words say, and no other."""
    days = one.seen.words(*one.place)
    said = {token.word.removesuffix("s") for token in days if token.word in lexicon()["days_of_week"]}
    one.take_classes("days_of_week")
    is_denied, operator = one.is_negated(), one.item.operator or "=="
    one.take_negations()
    if said != {str(value).casefold() for value in one.item.values}:
        one.refuse(f"the words say {' and '.join(sorted(said))}")
    elif operator not in (("!=", "not in") if is_denied else ("==", "in")):
        one.refuse("the words say the opposite")


def _bear_apart(one: Bearing) -> None:
    """How many days a date lies behind another, or before it, and on which side of that number."""
    figures = one.values.figures_at(*one.place, beside_time=True)
    said = {abs(value) for figure in figures for value in figure.values if isinstance(value, Fraction)}
    amounts = [amount for value in one.item.values if isinstance(amount := amount_of(value), Fraction)]
    missing = [str(amount) for amount in amounts if amount and abs(amount) not in said]
    if missing:
        one.refuse(f"the words do not say {missing[0]}")
    for figure in figures:
        one.take(one.seen.words(figure.start, figure.end))
    if one.is_negated() is not (one.item.operator or "").startswith("not "):
        one.refuse("the words say the opposite")
    one.take_negations()
    behind = [token.word for token in one.tokens if not figures or token.start >= figures[-1].core]
    is_before = bool({"before", "prior", "earlier"} & set(behind)) and not {"after", "later"} & set(behind)
    operator = (one.item.operator or "==").removeprefix("not ")
    if amounts and figures and is_before is not (min(amounts) < 0):
        one.refuse("the words say the other side of the date")
    bounds = operators_in([token for token in one.tokens if figures and token.end <= figures[0].core])
    mine = operator if not is_before else _MIRROR.get(operator, operator)
    if amounts == [0] and not figures and operators_in(one.tokens) != {operator}:
        one.refuse(f"the words do not say {operator}")
    elif bounds and (mine not in bounds if len(amounts) == 1 else not bounds.isdisjoint((">", ">="))):
        one.refuse(f"the words say {' and '.join(sorted(bounds))}, not {operator}")
    one.take_comparisons()
    one.take(token for token in one.tokens if grains_in((token,)))
    one.take_classes("comparing", "same")


_MIRROR = {"<": ">", "<=": ">=", ">": "<", ">=": "<="}  # of numbers below zero


def _bear_moments(one: Bearing, target: Target) -> None:
    """How far a date lies behind another, in numbers that are said; the first or the last rows by one."""
    if target.function == "after":
        _bear_apart(one)
    elif not one.holds_any(f"moment_{target.function}"):
        one.refuse(f"the words do not say {target.function}")
    one.take_classes("moment_first", "moment_last", "grouping")
    name_parts(one, replace(target, parts=target.parts[1:]) if _is_told_by(one, target) else target)


def _is_told_by(one: Bearing, target: Target) -> bool:
    """Is the first of two dates the one that its rows are told by where nobody says which, and none is said?"""
    if target.function != "after" or len(target.parts) != 2:
        return False
    first, other = target.parts
    owner = one.index.get("part", first.owner or "")
    said = frozenset[str]().union(*(stems_of(token.word) for token in one.tokens))
    is_said = not said.isdisjoint(one.index.own(first) - one.index.own(other))
    return owner is not None and owner.dated == first.name and not is_said
