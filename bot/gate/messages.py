"""JSON-RPC messages as the proxy reads and writes them: one text says one thing to everybody who reads it."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

Message = dict[str, Any]

INVALID, NO_PARAMS, INTERNAL = -32600, -32602, -32603
OURS = "bylaw-"  # how the ids of our own requests begin
MOST_ID = 200  # characters
_MOST_WHOLE = 2**53 - 1  # beyond it some readers take two numbers for one


def error(asked: Any, message: str, code: int = INTERNAL) -> Message:
    """The answer to a request that goes no further."""
    return {"jsonrpc": "2.0", "id": asked, "error": {"code": code, "message": message}}


def read(text: str | bytes) -> Message | None:
    """One message; None for what is none, a batch among it."""
    try:
        found = json.loads(text)
    except (ValueError, RecursionError):
        return None
    return found if isinstance(found, dict) else None


def spelled(message: Mapping[str, Any]) -> str:
    """*message* spelled anew: nobody reads two things into one text."""
    return json.dumps(message, ensure_ascii=True)


def object_of(value: Any) -> dict[str, Any]:
    """*value*, where it is an object; else an empty one."""
    return value if isinstance(value, dict) else {}


def is_id(value: Any) -> bool:
    """Is it the id of a request, which every server gives back as it was?"""
    if isinstance(value, str):
        return 0 < len(value) <= MOST_ID and value.isprintable()
    return isinstance(value, int) and not isinstance(value, bool) and abs(value) <= _MOST_WHOLE


def key_of(asked: object) -> str:
    """The JSON of a request's id: 1 and "1" are two."""
    return json.dumps(asked)
