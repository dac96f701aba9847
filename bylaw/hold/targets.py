"""The names that a data question uses: `count(orders)`, `avg(orders.amount)`, `orders@seller.region`, `ratio(a, b)`.

A name is an expression over declared names. `parse_expression` gives its shape, `read_target` what is declared in it;
assembling a query reads the same shape, so that what is held is what is meant.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass

from bylaw.hold.words import Index, Name

AGGREGATES = ("count", "count_distinct", "sum", "avg", "min", "max", "median")
BETWEEN = frozenset(("days", "hours", "minutes", "seconds"))  # of two dates
AGAIN = ("weekday", "hour_of_day", "day_of_month", "month_of_year")  # of one date: what comes again
# The functions that words of the lexicon ask for, and all that a name may be made of.
SAID = frozenset((*AGGREGATES, "list", "values", "share", "ratio", "difference", "growth", "days", "hours", "minutes"))
FUNCTIONS = SAID | {*BETWEEN, *AGAIN, "after", "first", "last"}
_CALL = re.compile(r"(?:([\w@]+)\.)?([a-z_]+)\((.*)\)", re.DOTALL)
_BETWEEN_TWO = re.compile(r"\s([/-])\s")
_DAY = re.compile(r"\d{4}-\d\d-\d\d")
_MOST_NESTED = 6


@dataclass(frozen=True, slots=True)
class Expression:
    """A name, or a function of others. `owner` is the entity that a function is said to be a part of; `/` and `-` are
    functions of the two that they stand between.
    """

    text: str
    function: str | None = None
    arguments: tuple[Expression, ...] = ()
    owner: str | None = None


@dataclass(frozen=True, slots=True)
class Target:
    """A name of a data question: the functions around it, the outermost first, and what stands inside."""

    functions: tuple[str, ...]
    parts: tuple[Name, ...]
    beside: tuple[Name, ...]  # entities and roles of the parts: their words may stand in the quote
    unknown: str | None = None  # the name inside that nothing declares

    @property
    def function(self) -> str | None:
        """The outermost function."""
        return self.functions[0] if self.functions else None


def parse_expression(text: str, depth: int = 0) -> Expression:
    """*text* as functions of names. What is no function that there is stays a name, as it is written."""
    text = text.strip()
    call = _CALL.fullmatch(text)
    if depth > _MOST_NESTED:
        return Expression(text)
    if call is not None and call[2] in FUNCTIONS:
        inside = call[3]
        two = _BETWEEN_TWO.split(inside) if call[2] in AGGREGATES and "(" not in inside else [inside]
        if len(two) == 3:
            ends = tuple(parse_expression(part, depth + 1) for part in (two[0], two[2]))
            return Expression(text, call[2], (Expression(inside, two[1], ends),), call[1])
        return Expression(text, call[2], tuple(parse_expression(one, depth + 1) for one in _arguments(inside)), call[1])
    return Expression(text)


def _arguments(text: str) -> Iterator[str]:
    depth = start = 0
    for i, char in enumerate(text):
        depth += (char == "(") - (char == ")")
        if char == "," and depth == 0:
            yield text[start:i]
            start = i + 1
    yield text[start:]


def read_target(index: Index, text: str) -> Target:
    """*text* as functions of declared names; `unknown` says which name nothing declares."""
    functions, parts, beside, unknown = [], [], [], None
    for kind, word in _walk(parse_expression(text)):
        if kind == "function":
            functions.append(word)
            continue
        name, others = _look_up(index, word)
        if name is None:
            unknown = unknown or word
        else:
            parts.append(name)
            beside += others
    return Target(tuple(functions), tuple(parts), tuple(beside), unknown if parts or unknown else text)


def _walk(one: Expression) -> Iterator[tuple[str, str]]:
    """The functions and the plain names of an expression, from the outside in."""
    if one.function is None:
        if not _DAY.fullmatch(one.text):  # a day needs no declaration
            yield "name", one.text
        return
    if one.function not in ("/", "-"):
        yield "function", one.function
    for k, part in enumerate(one.arguments):
        is_of_owner = one.owner is not None and one.function in AGAIN and k == 0 and "." not in part.text
        yield from _walk(Expression(f"{one.owner}.{part.text}") if is_of_owner else part)


def _look_up(index: Index, word: str) -> tuple[Name | None, list[Name]]:
    """The declared name of *word*, and its entity and role."""
    place, _, part = word.partition(".")
    entity = place.partition("@")[0]
    found = index.get("number", word) if not part and "@" not in word else None
    if found is None:
        found = index.get("part", f"{entity}.{part}") if part else index.get("part", place) or index.get("part", entity)
    beside = [index.get("part", one) for one in dict.fromkeys((entity, place)) if part or "@" in place]
    return found, [one for one in beside if one is not None]
