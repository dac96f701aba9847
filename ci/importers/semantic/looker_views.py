"""Views of Looker that extend others: what they have of them, and what they say anew."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from ci.importers.draft import listed

View = Mapping[str, Any]
_FIELDS = ("dimensions", "dimension_groups", "measures")
_DEEPEST = 8  # a view that extends a view that extends a view


def named_views(files: Iterable[Mapping[str, Any]]) -> dict[str, dict[str, Any]]:
    """Every view of the files by its name."""
    views = [view for data in files for view in listed(data.get("views")) if isinstance(view, dict)]
    return {str(view.get("name")): view for view in views}


def as_extended(view: View, known: Mapping[str, View], depth: int = 0) -> dict[str, Any]:
    """*view* with what the views that it extends say, where it says nothing else of the same name."""
    made: dict[str, Any] = {}
    for name in _extended(view) if depth < _DEEPEST else ():
        if name in known and name != view.get("name"):
            made = _over(made, as_extended(known[name], known, depth + 1))
    return _over({key: said for key, said in made.items() if key != "extension"}, view)


def _extended(view: View) -> list[str]:
    return [str(name) for names in listed(view.get("extends__all")) for name in listed(names)]


def _over(below: View, above: View) -> dict[str, Any]:
    made = {**below, **{key: said for key, said in above.items() if key not in _FIELDS}}
    for kind in _FIELDS:
        fields: dict[str, Any] = {}
        for field in (*listed(below.get(kind)), *listed(above.get(kind))):
            if isinstance(field, dict):
                name = str(field.get("name"))
                fields[name] = {**fields.get(name, {}), **field}
        if fields:
            made[kind] = list(fields.values())
    return made
