"""Records as YAML, each row of a table on one line: a policy of five hundred rows is read like the table it is."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping
from decimal import Decimal
from typing import Any, Final

_PLAIN: Final = re.compile(r"[A-Za-z_][A-Za-z0-9_-]*")
_WORDS: Final = frozenset(("true", "false", "null", "yes", "no", "on", "off", "y", "n"))


def spell(record: Any) -> str:
    """*record* as YAML: mappings and lists in blocks, the items of a list and what lies deeper on one line."""
    return "".join(f"{line}\n" for line in _block(record, ""))


def _block(record: Any, indent: str) -> Iterator[str]:
    if isinstance(record, list):
        yield from (f"{indent}- {flow(item)}" for item in record)
        return
    for key, value in record.items():
        is_rows = isinstance(value, list) and value and isinstance(value[0], dict)
        if is_rows or (isinstance(value, dict) and value and (not indent or _is_wide(value))):
            yield f"{indent}{_word(key)}:"
            yield from _block(value, indent + "  ")
        else:
            yield f"{indent}{_word(key)}: {flow(value)}"


def _is_wide(value: Mapping[str, Any]) -> bool:
    """Does a mapping hold more than one line says well?"""
    return any(isinstance(item, dict | list) for item in value.values()) or len(flow(value)) > 100


def flow(value: Any) -> str:
    """*value* on one line."""
    match value:
        case dict():
            return "{" + ", ".join(f"{_word(str(key))}: {flow(item)}" for key, item in value.items()) + "}"
        case list() | tuple():
            return "[" + ", ".join(map(flow, value)) + "]"
        case str():
            return _word(value)
        case Decimal():
            return format(value, "f")
        case _:
            return json.dumps(value)


def _word(text: str) -> str:
    if _PLAIN.fullmatch(text) and text.lower() not in _WORDS:
        return text
    # JSON is YAML between double quotes, but for the few characters that end a line in YAML 1.1.
    quoted = json.dumps(text, ensure_ascii=False)
    return re.sub("[\x7f-\x9f\u2028\u2029\ufeff]", lambda found: f"\\u{ord(found[0]):04x}", quoted)
