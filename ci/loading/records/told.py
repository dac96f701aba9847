"""What is found in one document: the fields of a decision, the line of each, and what a reader should be told."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from bylaw.authored.decisions import slug_of
from ci.loading.records.names import Names


@dataclass(slots=True)
class Told:
    """The fields as they are found, the line of each, and notes: (finding id, words, line)."""

    names: Names
    fields: dict[str, Any] = field(default_factory=dict)
    extra: dict[str, Any] = field(default_factory=dict)
    lines: dict[str, int] = field(default_factory=dict)
    notes: list[tuple[str, str, int]] = field(default_factory=list)

    def put(self, name: str, value: Any, line: int) -> None:
        """Keep *value*, unless the field is filled already: what stands first counts, lists are joined."""
        self.lines.setdefault(name, line)
        if isinstance(value, list):
            before = self.fields.get(name, [])
            self.fields[name] = [*before, *(one for one in value if one not in before)]
        elif value not in (None, ""):
            self.fields.setdefault(name, value)

    def keep(self, name: str, value: Any, line: int) -> None:
        """Keep *value* beside the fields."""
        key = slug_of(name, "_").replace("-", "_") or "text"
        if value not in (None, "", []):
            self.extra[key] = f"{self.extra[key]}\n\n{value}" if isinstance(self.extra.get(key), str) else value
            if key not in ("status", "status_links"):
                self.lines.setdefault("x-extra", line)
