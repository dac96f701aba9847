"""A case as an entry of `cases.yaml`, ready to paste: the text that a reviewer adds when they have decided."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from typing import Any

_PLAIN = re.compile(r"[A-Za-z_][A-Za-z0-9_-]*")
_WORDS = frozenset(("true", "false", "null", "True", "False", "Null", "TRUE", "FALSE", "NULL"))


def entry(name: str, facts: Mapping[str, Any], expect: Mapping[str, Any], note: str = "") -> str:
    """The YAML of one case. *facts* and *expect* are JSON values; *note* stands as a comment behind `expect`."""
    comment = f"  # {note}" if note else ""
    return f"- name: {_scalar(name)}\n  facts: {flow(facts)}\n  expect: {flow(expect)}{comment}\n"


def flow(mapping: Mapping[str, Any]) -> str:
    """*mapping*, of JSON values, as YAML on one line."""
    return "{" + ", ".join(f"{_scalar(key)}: {_value(value)}" for key, value in mapping.items()) + "}"


def _value(value: Any) -> str:
    if isinstance(value, Mapping):
        return flow(value)
    if isinstance(value, list | tuple):
        return "[" + ", ".join(map(_value, value)) + "]"
    return _scalar(value) if isinstance(value, str) else json.dumps(value)


def _scalar(text: str) -> str:
    """A plain word where YAML reads it back as the same text, else in quotes."""
    is_plain = _PLAIN.fullmatch(text) and text not in _WORDS
    return text if is_plain else json.dumps(text, ensure_ascii=False)
