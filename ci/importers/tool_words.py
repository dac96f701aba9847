"""The words that the tools of an MCP server need and no vocabulary has: an action a tool, a fact an argument.

They are proposals, in a vocabulary of their own beside the others: people give them labels, or take them out.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import yaml
from pydantic import TypeAdapter, ValidationError

from bylaw.authored.vocabulary import Fact, FactName, Identifier
from bylaw.authoring import dump
from ci.importers.draft import identifier
from ci.importers.write import schema_line

WORDS = "policies/tools/vocabulary.yaml"
SCHEMA = "vocabulary"
_HEAD = "# Proposed from a server's list of tools: give each its label, and write the policies that permit it.\n"
_MOST_VALUES = 50
_FACT_NAME = TypeAdapter(FactName)
_ACTION_NAME = TypeAdapter(Identifier)


@dataclass
class Words:
    """What is proposed: actions with what the server says of them, facts with what their schemas say."""

    actions: dict[str, dict[str, Any]] = field(default_factory=dict)
    facts: dict[str, dict[str, Any]] = field(default_factory=dict)

    def written(self, root: Path) -> tuple[str | None, list[str]]:
        """The file with these words in it, None where none is new; what has to be declared by hand where a person
        wrote into it.
        """
        if not self.actions and not self.facts:
            return None, []
        path, head = root / WORDS, schema_line(root, WORDS, SCHEMA) + _HEAD
        before = path.read_text(encoding="utf-8") if path.is_file() else ""
        held = _held(before, head)
        if held is None:
            lines = [f"`{name}: {said}`" for name, said in {**self.facts, **self.actions}.items()]
            return None, [f"declare {line} in {WORDS}, which was edited" for line in lines]
        new = {"facts": self.facts, "actions": self.actions}
        both = {section: {**held.get(section, {}), **words} for section, words in new.items()}
        return head + dump({"schema_version": "1.0", **{name: said for name, said in both.items() if said}}), []


def _held(text: str, head: str) -> dict[str, Any] | None:
    """What the file holds where nobody wrote into it; None where somebody did."""
    if not text:
        return {}
    try:
        found = yaml.load(text, Loader=yaml.CSafeLoader)
    except yaml.YAMLError:
        return None
    if not isinstance(found, dict) or text != head + dump(found):
        return None
    return found


def fact_of(argument: str, schema: Any) -> tuple[str, dict[str, Any]] | None:
    """The fact that an argument could say, as its schema tells it; None where that tells of none."""
    name, said = identifier(argument), dict(_typed(schema))
    if name is None or not said:
        return None
    try:
        _FACT_NAME.validate_python(name)
        Fact.model_validate(said)
    except ValidationError:
        return None
    return name, said


def _typed(schema: Any) -> Iterator[tuple[str, Any]]:
    if not isinstance(schema, dict):
        return
    kind, listed = schema.get("type"), schema.get("enum")
    if kind == "boolean":
        yield "type", "boolean"
    elif kind in ("integer", "number"):
        yield "type", "integer" if kind == "integer" else "decimal"
        for bound in ("minimum", "maximum"):
            value = schema.get(bound)
            if isinstance(value, int) and not isinstance(value, bool):
                yield bound, value
    elif kind == "string" and isinstance(listed, list) and 0 < len(listed) <= _MOST_VALUES:
        if all(isinstance(one, str) and re.fullmatch(r"[A-Za-z_][\w -]{0,99}", one) for one in listed):
            yield "type", "enum"
            yield "values", {one: [] for one in listed}
    elif kind == "string" and schema.get("format") == "date":
        yield "type", "date"


def is_action(name: str) -> bool:
    """Can an action be called so?"""
    try:
        _ACTION_NAME.validate_python(name)
    except ValidationError:
        return False
    return True
