"""Where facts that are bound to a lookup come from."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Protocol

from bylaw.authored.tools import LookupFact


class LookUps(Protocol):
    """Where facts that are bound to a lookup come from."""

    def value(self, bound: LookupFact, arguments: Mapping[str, Any], actor: str | None, seen: dict[Any, Any]) -> Any:
        """The value of one column, None for unknown. *seen* are rows found for the same call."""
        ...


class NoLookups:
    """Without a warehouse every such fact is unknown."""

    def value(self, bound: LookupFact, arguments: Mapping[str, Any], actor: str | None, seen: dict[Any, Any]) -> Any:
        return None
