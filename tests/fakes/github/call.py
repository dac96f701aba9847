"""What a handler is given, and what it gives back."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

from tests.fakes.github.access import Token
from tests.fakes.github.description import Json
from tests.fakes.github.state import Refused
from tests.fakes.github.world import World

LONGEST_BODY = 65_536


@dataclass(frozen=True)
class Call:
    """One request that is well-formed and allowed."""

    world: World
    params: Mapping[str, str]
    query: Mapping[str, str]
    body: Any
    token: Token

    def number(self, name: str) -> int:
        """A number in the path. Raises Refused when it is none: there is nothing there."""
        try:
            return int(self.params[name])
        except ValueError:
            raise Refused.missing() from None


@dataclass(frozen=True)
class Answer:
    """Status and body; a list is cut into pages later, of the list under `paged` when the body is a mapping."""

    status: int
    body: Any = None
    paged: str | None = None
    headers: Mapping[str, str] = field(default_factory=dict)


Handler = Callable[[Call], Answer]
Table = dict[tuple[str, str], Handler]


def not_too_long(resource: str, body: Json, name: str = "body", longest: int = LONGEST_BODY) -> None:
    """Raise Refused for a text beyond GitHub's limit."""
    if len(body.get(name) or "") > longest:
        raise Refused.invalid(resource, name, "custom", f"{name} is too long (maximum is {longest} characters)")


def not_blank(resource: str, body: Json, name: str = "body") -> None:
    """Raise Refused for a text that says nothing."""
    if not (body.get(name) or "").strip():
        raise Refused.invalid(resource, name, "missing_field")
