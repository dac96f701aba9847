"""The name of a question in the body of a request: `text`. Older names are read in this version, and said to be old."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated, Any

from pydantic import AliasChoices, BaseModel, Field

from bot.conversation import MAX_TEXT

NAME = "text"
OLD_NAMES = ("question", "query")
_SINCE = "@1795824000"  # RFC 9745: the day from which a name is old, 2026-11-28

QuestionText = Annotated[
    str,
    Field(
        min_length=1,
        max_length=MAX_TEXT,
        validation_alias=AliasChoices(NAME, *OLD_NAMES),
        description="The question, in words. `question` and `query` are older names for it: version 0.2 refuses them.",
    ),
]


def deprecation(body: BaseModel, given: Any) -> dict[str, str]:
    """The headers of an answer to the JSON *given*, read as *body*: empty where its question is called `text`."""
    if NAME not in type(body).model_fields or not isinstance(given, Mapping) or NAME in given:
        return {}
    old = next((name for name in OLD_NAMES if name in given), None)
    if old is None:
        return {}
    advice = f"write `{NAME}` instead of `{old}`: version 0.2 refuses the old name"
    return {"Deprecation": _SINCE, "Warning": f'299 bylaw "{advice}"'}
