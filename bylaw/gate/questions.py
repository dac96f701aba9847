"""What a call waits for, as questions: those that whoever calls may answer itself, and a form for them.

An answer counts as an agent's own word does: for facts that the vocabulary opens and that nothing else is bound to.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from bylaw.gate.engine import Gate

_TYPES: Mapping[str, str] = {"boolean": "boolean", "integer": "integer", "decimal": "number"}


@dataclass(frozen=True, slots=True)
class Question:
    """One fact that is missing. `form` is what an answer looks like (JSON schema); None: the caller's word is none."""

    fact: str
    text: str
    form: Mapping[str, Any] | None


def questions(gate: Gate, tool: str, missing: Iterable[str]) -> tuple[Question, ...]:
    """The questions behind *missing* facts of a call of *tool*."""
    bound = gate.reader.tools.get(tool)
    facts = frozenset() if bound is None else bound.facts.keys()
    return tuple(_question(gate, name, name in facts) for name in missing)


def form(asked: Iterable[Question]) -> dict[str, Any]:
    """One form for all that the caller may answer."""
    fields = {one.fact: dict(one.form) for one in asked if one.form is not None}
    return {"type": "object", "properties": fields, "required": list(fields)}


def _question(gate: Gate, name: str, is_bound: bool) -> Question:
    vocabulary = gate.bundle.vocabulary
    fact = vocabulary.facts[name]
    label = fact.label or name.replace("_", " ")
    text = fact.ask or f"{label}?"
    if is_bound or not fact.assertable:
        return Question(name, text, None)
    found: dict[str, Any] = {"type": _TYPES.get(fact.type, "string"), "title": label, "description": text}
    if fact.values:
        found["enum"] = sorted(fact.values)
    return Question(name, text, found)
