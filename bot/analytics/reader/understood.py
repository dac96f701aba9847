"""What was understood of a question that was not read whole: the fields of the form that its words fill in."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from bot.analytics.reader import wording
from bot.analytics.reader.said import Narrowing, NumberSaid, Ref, Said

Understood = Mapping[str, tuple[str, ...]]
_SIGNS = ("<", "<=", ">", ">=")


def understood(said: Said, text: str) -> Understood:
    """The fields of the form. A word with several meanings fills in none: who fills in the form says which is meant."""
    numbers = [name for number in said.numbers for name in _number(number)]
    halves = (said.ratio.numerator, said.ratio.denominator) if said.ratio is not None else ()
    groups = said.groups
    if (each := _of_each(said, numbers)) is not None:
        numbers, groups = [each], []
    found: dict[str, list[str]] = {
        "metrics": numbers + [name for half in halves for name in _number(half)],
        "by": [
            name
            for ref in (*groups, said.subject, said.ranked, *said.outputs)
            if ref is not None
            for name in _column(ref)
        ],
        "filters": [name for one in said.conditions for name in _value(one)],
        "period": [text[one.span.begins : one.span.ends] for one in said.times[:1]],
        "compared_with": [text[one.span.begins : one.span.ends] for one in said.times[1:2]],
        "grain": [said.grain] if said.grain else [],
        "limit": [str(said.limit)] if said.limit else [],
        "order": ["descending" if said.descending else "ascending"] if said.descending is not None else [],
    }
    return {name: tuple(dict.fromkeys(values)) for name, values in found.items() if values}


def _of_each(said: Said, numbers: list[str]) -> str | None:
    """ "How many visits per member on average": an aggregate that nobody read, of one number, of each of one thing."""
    aggs = {wording.AGGREGATES[word.lower()] for word in said.unknown if word.lower() in wording.AVERAGES}
    things = [ref.entities[0] for ref in said.groups if len(ref.entities) == 1 and not ref.of("dimension")]
    if len(aggs) != 1 or len(numbers) != 1 or len(things) != 1 or len(said.groups) != 1:
        return None
    return f"{aggs.pop()}({numbers[0]}) per {things[0]}"


def _number(number: NumberSaid) -> Iterator[str]:
    metrics, facts = number.ref.of("metric"), number.ref.of("fact")
    if len(metrics) == 1:
        yield metrics[0].name
    elif len(facts) == 1 and not metrics and number.agg is not None:
        yield f"{number.agg}({facts[0].name})"
    elif len(number.ref.entities) == 1 and not metrics:
        yield f"count({number.ref.entities[0]})"


def _column(ref: Ref) -> Iterator[str]:
    columns = ref.of("dimension")
    if len(columns) == 1:
        yield columns[0].name
    elif len(ref.entities) == 1 and not columns:
        yield ref.entities[0]


def _value(one: Narrowing) -> Iterator[str]:
    values, named, facts = one.ref.of("value"), one.ref.of("condition"), one.ref.of("fact")
    if one.operator in _SIGNS and len(facts) == len(one.values) == 1 and not one.negated and one.unit is None:
        yield f"{facts[0].name}{one.operator}{one.values[0]}"
    if one.negated or one.operator != "in":
        return
    if len(values) == 1:
        yield f"{values[0].name}={values[0].value}"
    elif len(named) == 1 and not values:
        yield named[0].name
