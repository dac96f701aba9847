"""The names that a data question uses: `count(orders)`, `avg(orders.amount)`, `orders@seller.region`, `ratio(a, b)`."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass

from bylaw.hold.words import Index, Name

_AGGREGATES = ("count", "count_distinct", "sum", "avg", "min", "max", "median")
FUNCTIONS = frozenset((*_AGGREGATES, "list", "values", "share", "ratio", "days", "hours", "minutes"))
_CALL = re.compile(r"([a-z_]+)\((.*)\)", re.DOTALL)
_MOST_NESTED = 6


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


def read_target(index: Index, text: str) -> Target:
    """*text* as functions of declared names; `unknown` says which name nothing declares."""
    functions, parts, beside, unknown = [], [], [], None
    for kind, word in _walk(text.strip(), 0):
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


def _walk(text: str, depth: int) -> Iterator[tuple[str, str]]:
    """The functions and the plain names of an expression, from the outside in."""
    call = _CALL.fullmatch(text)
    if call is None or call[1] not in FUNCTIONS or depth > _MOST_NESTED:
        yield "name", text
        return
    yield "function", call[1]
    for part in _arguments(call[2]):
        yield from _walk(part.strip(), depth + 1)


def _arguments(text: str) -> Iterator[str]:
    depth = start = 0
    for i, char in enumerate(text):
        depth += (char == "(") - (char == ")")
        if char == "," and depth == 0:
            yield text[start:i]
            start = i + 1
    yield text[start:]


def _look_up(index: Index, word: str) -> tuple[Name | None, list[Name]]:
    """The declared name of *word*, and its entity and role."""
    place, _, part = word.partition(".")
    entity = place.partition("@")[0]
    found = index.get("number", word) if not part and "@" not in word else None
    found = found or index.get("part", f"{entity}.{part}" if part else entity)
    beside = [index.get("part", one) for one in dict.fromkeys((entity, place)) if part or "@" in place]
    return found, [one for one in beside if one is not None]
