"""What a stranger may send: text and values at the edges of what can be kept, counted, nested or written down."""

from __future__ import annotations

import copy
from collections.abc import Iterator
from typing import Any

Path = tuple[str | int, ...]

TEXTS = (
    "",
    " ",
    "\0",
    "return\0 a TV?",
    "\ud800",
    "can I\udcff return a TV?",
    "\u202ereturn",
    "\ufeff",
    "\u2028",
    "a" + "\u0301" * 500,
    "a" * 8_000,
    "a" * 9_000,
    "(" * 2_000,
    "|a|b|\n" * 200,
    "- x\n" * 300,
    "%s{}{0}${x}",
    "'; DROP TABLE x; --",
    "9999-12-31",
    "0000-00-00",
    "2026-99-99",
    "1e999999999",
    "9" * 5_000,
    "I bought a TV 99999999999 days ago. May I return it?",
    "I bought it " + "9" * 400 + " years ago",
    "a full refund of 1e999999 USD",
    "net revenue in the last 99999999 weeks",
    "net revenue since 9999-12-31",
    "top ٣ regions by net revenue, ½ of Ⅷ",
    "POL-REFUND-" + "1" * 200,
)


def _nested(depth: int) -> list[Any]:
    found: list[Any] = []
    for _ in range(depth):
        found = [found]
    return found


VALUES: tuple[Any, ...] = (
    *TEXTS,
    None,
    True,
    0,
    -1,
    10**300,
    1e308,
    float("nan"),
    float("inf"),
    [],
    {},
    [[]],
    _nested(30),
    _nested(200),
    {"\ud800": 1},
    {"\0": 1},
    {"": 1},
    [1] * 1_000,
    "1/0",
    "1e5",
    "NaN",
)


def leaves(body: Any, path: Path = ()) -> Iterator[Path]:
    """The way to every part of *body*, the whole first."""
    yield path
    parts = body.items() if isinstance(body, dict) else enumerate(body) if isinstance(body, list) else ()
    for name, part in parts:
        yield from leaves(part, (*path, name))


def replaced(body: Any, path: Path, value: Any) -> Any:
    """*body* with *value* at the end of *path*."""
    if not path:
        return value
    changed = copy.deepcopy(body)
    at = changed
    for name in path[:-1]:
        at = at[name]
    at[path[-1]] = value
    return changed
