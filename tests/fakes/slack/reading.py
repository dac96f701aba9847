"""How a test reads what the bot posted."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any


def shown(post: Mapping[str, Any]) -> str:
    """Everything a person reads in a post."""
    return "\n".join(_texts(post["blocks"]))


def _texts(value: Any) -> Iterator[str]:
    if isinstance(value, Mapping):
        for key, inner in value.items():
            if key == "text" and isinstance(inner, str):
                yield inner
            elif key not in ("value", "action_id"):
                yield from _texts(inner)
    elif isinstance(value, list):
        for inner in value:
            yield from _texts(inner)
