"""A record as it was imported, as a person edited it since, and as the source says it now: one record of the three.

What the source did not change stays as the person has it; what the person did not touch follows the source; where both
changed, the person's stays and is told. Items of a list are known by their names, words by themselves. The edits are
made in the text of the file, so comments and order stay.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from bylaw.authoring import add_item, add_key, remove, set_value
from bylaw.errors import UsageError
from ci.findings import Route

_NOTHING = object()


@dataclass(slots=True)
class Merge:
    """The edits that follow the source, in the order to be made, and what was kept against it.

    A route is one in the file as the person has it. Removals come last, from the end backwards.
    """

    force: bool = False
    edits: list[tuple[str, Route, Any]] = field(default_factory=list)
    removals: list[Route] = field(default_factory=list)
    kept: list[tuple[Route, Any]] = field(default_factory=list)
    changed: list[str] = field(default_factory=list)

    def apply(self, text: str) -> str:
        """*text* with every edit. One that cannot be made where the value stands is kept as it is, and told."""
        for kind, route, value in self.edits:
            try:
                match kind:
                    case "set":
                        text = set_value(text, route, value)
                    case "key":
                        text = add_key(text, route[:-1], str(route[-1]), value)
                    case _:
                        text = add_item(text, route, value)
                self.changed.append(spoken(route))
            except UsageError:
                self.kept.append((route, value))
        for route in sorted(self.removals, key=_backwards):
            try:
                text = remove(text, route)
                self.changed.append(f"{spoken(route)} (gone)")
            except UsageError:
                self.kept.append((route, None))
        return text


def merge(base: Any, mine: Any, theirs: Any, force: bool = False) -> Merge:
    """How *mine*, which was *base*, becomes what *theirs* is now. *force*: what both changed is theirs."""
    found = Merge(force)
    _values(found, (), base, mine, theirs)
    return found


def _values(found: Merge, route: Route, base: Any, mine: Any, theirs: Any) -> None:
    if theirs in (base, mine) and not found.force:
        return
    if same(mine, theirs):
        return
    if isinstance(mine, dict) and isinstance(theirs, dict):
        _mappings(found, route, base if isinstance(base, dict) else {}, mine, theirs)
    elif isinstance(mine, list) and isinstance(theirs, list) and (kind := _kind(mine, theirs)):
        _lists(found, route, base if isinstance(base, list) else [], mine, theirs, kind)
    elif same(mine, base) or found.force:
        found.edits.append(("set", route, theirs))
    else:
        found.kept.append((route, theirs))


def _mappings(
    found: Merge, route: Route, base: Mapping[str, Any], mine: Mapping[str, Any], theirs: Mapping[str, Any]
) -> None:
    for key in theirs:
        if key in mine:
            _values(found, (*route, key), base.get(key, _NOTHING), mine[key], theirs[key])
        elif key not in base or found.force:
            found.edits.append(("key", (*route, key), theirs[key]))
        elif not same(base[key], theirs[key]):
            found.kept.append(((*route, key), theirs[key]))
    for key in mine:
        if key in base and key not in theirs:
            _gone(found, (*route, key), same(mine[key], base[key]))


def _lists(found: Merge, route: Route, base: list[Any], mine: list[Any], theirs: list[Any], kind: str) -> None:
    def name(item: Any) -> Any:
        return item["name"] if kind == "named" and isinstance(item, dict) else item

    before, now = {str(name(item)): item for item in base}, {str(name(item)): item for item in theirs}
    held = {str(name(item)) for item in mine}
    for i, item in enumerate(mine):
        key = str(name(item))
        if key in now:
            if kind == "named":
                _values(found, (*route, i), before.get(key, _NOTHING), item, now[key])
        elif key in before:
            _gone(found, (*route, i), same(item, before[key]))
    for key, item in now.items():
        if key not in held:
            if key not in before or found.force:
                found.edits.append(("item", route, item))
            elif not same(before[key], item):
                found.kept.append((route, item))


def _gone(found: Merge, route: Route, is_untouched: bool) -> None:
    """The source says it no longer."""
    if is_untouched or found.force:
        found.removals.append(route)
    else:
        found.kept.append((route, None))


def _kind(mine: list[Any], theirs: list[Any]) -> str | None:
    """How the items of two lists are told apart; None where they are not."""
    items = [*mine, *theirs]
    if all(isinstance(item, dict) and "name" in item for item in items):
        return "named"
    return "words" if not any(isinstance(item, dict | list) for item in items) else None


def same(one: Any, other: Any) -> bool:
    """Are two values equal, true not being 1?"""
    if isinstance(one, dict) and isinstance(other, dict):
        return one.keys() == other.keys() and all(same(one[key], other[key]) for key in one)
    if isinstance(one, list) and isinstance(other, list):
        return len(one) == len(other) and all(map(same, one, other))
    return isinstance(one, bool) == isinstance(other, bool) and bool(one == other)


def spoken(route: Route) -> str:
    """A route for people: `dimensions[2].synonyms`."""
    return "".join(f"[{step}]" if isinstance(step, int) else f".{step}" for step in route).lstrip(".") or "the record"


def _backwards(route: Route) -> list[tuple[int, str]]:
    return [(-step, "") if isinstance(step, int) else (0, str(step)) for step in route]
