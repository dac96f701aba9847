"""Small wrong edits of a policy: one part taken away, or one bound moved. Good cases notice each."""

from __future__ import annotations

import copy
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from decimal import Decimal
from fractions import Fraction
from typing import Any

from pydantic import ValidationError

from bylaw.authored.policies import Policy
from ci.coverage.goals import last_place
from ci.findings import Route
from ci.loading.load import PolicyFile

# The lists of a policy whose items each change what holds; the texts, tags and steps beside them do not.
PARTS = frozenset(
    ("conditions", "actions", "exceptions", "requires", "replaces", "when", "any_of", "all_of", "overrides",
     "logic_rules", "constraints")
)  # fmt: skip
BOUNDS = frozenset(("value", "between"))
WHOLE = frozenset(("actions", "exceptions", "logic_rules"))


@dataclass(frozen=True, slots=True)
class Mutation:
    """A policy with one wrong edit: where it was made, and what it was."""

    path: str
    route: Route
    said: str
    policy: Policy

    @property
    def is_whole(self) -> bool:
        """Is a whole rule or exception gone, or a bound moved? The other edits take a part of a guard away."""
        step, key = self.route[-1], next(one for one in reversed(self.route) if isinstance(one, str))
        return key in BOUNDS or (key in WHOLE and isinstance(step, int))


def mutations(file: PolicyFile, data: Any) -> Iterator[Mutation]:
    """Every wrong edit of the policy that still is one; *data* is its file as it was read."""
    for route, said, edited in _edits(data, data, ()):
        try:
            policy = Policy.model_validate(edited)
        except ValidationError:
            continue
        if policy != file.policy:
            yield Mutation(file.path, route, said, policy)


def _edits(whole: Any, part: Any, route: Route) -> Iterator[tuple[Route, str, Any]]:
    """Each edit somewhere below *route*: its place, what it is, and the whole data with it."""
    for step, inner in list(part.items() if isinstance(part, dict) else enumerate(part)):
        here = (*route, step)
        if isinstance(part, list) and route[-1] in PARTS:
            yield here, f"without {_named(str(route[-1]), inner)}", _without(whole, here)
        if isinstance(part, list) and route[-1] == "value" and len(part) > 1:
            yield here, f"without `{inner}` in `value`", _without(whole, here)
        if route == ("scope",):
            yield here, f"without the scope `{step}`", _without(whole, here)
        is_bound = step in BOUNDS or (len(route) > 0 and route[-1] == "between")
        if is_bound and isinstance(inner, int | Decimal) and not isinstance(inner, bool):
            for moved in _steps(inner):
                yield here, f"with {moved} for {inner}", _with(whole, here, moved)
        if isinstance(inner, dict | list):
            yield from _edits(whole, inner, here)


def _named(key: str, item: Any) -> str:
    """What is taken away, in the words of its key."""
    noun = {"any_of": "branch", "all_of": "branch", "logic_rules": "rule", "when": "condition"}.get(key)
    noun = noun or key.removesuffix("s")
    if isinstance(item, str):
        return f"`{item}` in `{key}`"
    name = (
        next((item[one] for one in ("action", "parameter", "id", "type", "rule_id") if one in item), None)
        if isinstance(item, dict)
        else None
    )
    return f"the {noun} `{name}`" if isinstance(name, str) else f"one {noun}"


def _steps(value: int | Decimal) -> Sequence[int | Decimal]:
    """The value one in its last place lower and higher."""
    if isinstance(value, int):
        return value - 1, value + 1
    step = Decimal(last_place(Fraction(value)).numerator) / Decimal(last_place(Fraction(value)).denominator)
    return value - step, value + step


def _with(whole: Any, route: Route, value: Any) -> Any:
    edited = copy.deepcopy(whole)
    _at(edited, route[:-1])[route[-1]] = value
    return edited


def _without(whole: Any, route: Route) -> Any:
    edited = copy.deepcopy(whole)
    del _at(edited, route[:-1])[route[-1]]
    if not _at(edited, route[:-1]) and route[:-1] != ("actions",):
        parent = _at(edited, route[:-2])
        del parent[route[-2]]  # an empty list of branches or conditions is no list at all
    return edited


def _at(data: Any, route: Route) -> Any:
    for step in route:
        data = data[step]
    return data
