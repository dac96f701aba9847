"""How one sees that a decision is kept: words for people, and checks that CI makes."""

from __future__ import annotations

from collections.abc import Mapping
from decimal import Decimal
from typing import Annotated, Any, Self

from pydantic import BeforeValidator, Field, StringConstraints, model_validator

from bylaw.authored.record import Authored, Word, misfit
from bylaw.authored.recorded import Content

# What a check is about, and how a person says that it holds.
CHECKS: Mapping[str, str] = {
    "policy": "the policy `{}` is in force",
    "case": "the case `{}` ends as it expects",
    "metric": "the metric `{}` is defined as it was",
    "query": "the verified query `{}` returns what it did",
    "path": "`{}` is there",
    "no_path": "`{}` is not there",
    "no_finding": "a check finds no `{}`",
}
_BESIDE: Mapping[str, str] = {"defined_as": "metric", "returns": "query"}

FindingId = Annotated[str, StringConstraints(pattern=r"^[a-z]+(-[a-z]+)*$", max_length=60)]

_NOTHING: Any = Field(None, exclude_if=lambda value: value is None)


def _written(value: object) -> object:
    """A number as it is written."""
    return str(value) if isinstance(value, int | float | Decimal) and not isinstance(value, bool) else value


class Confirmation(Authored):
    """One way to see that a decision is kept: a `text` for people, or one check.

    A `policy` is in force; a `case` of cases.yaml ends as it expects; a `metric` is still `defined_as` it was; a
    verified `query` still `returns` that value (asked where there is a warehouse); a `path` is there, or no `no_path`
    is; a check finds nothing of the id `no_finding`.
    """

    text: Content | None = _NOTHING
    policy: Word | None = _NOTHING
    case: Word | None = _NOTHING
    metric: Word | None = _NOTHING
    defined_as: Content | None = _NOTHING
    query: Word | None = _NOTHING
    returns: Annotated[Content | None, BeforeValidator(_written, json_schema_input_type=Content | float)] = _NOTHING
    path: Word | None = _NOTHING
    no_path: Word | None = _NOTHING
    no_finding: FindingId | None = _NOTHING

    @model_validator(mode="after")
    def _says_one_thing(self) -> Self:
        given = [name for name in ("text", *CHECKS) if getattr(self, name) is not None]
        if len(given) != 1:
            said = "names nothing that can be seen" if not given else f"says {' and '.join(given)} at once"
            raise misfit(f"the confirmation {said}", help=f"write one of {', '.join(CHECKS)}, or a text, for each")
        for name, about in _BESIDE.items():
            if (getattr(self, name) is not None) != (about in given):
                message = f"`{about}` and `{name}` belong together"
                raise misfit(message, help=f"write both, like `{{{about}: NAME, {name}: …}}`, or neither")
        return self

    @property
    def check(self) -> tuple[str, str] | None:
        """What CI checks, and of what: `("policy", "POL-JOBS-001")`; None for words."""
        return next(((name, str(value)) for name in CHECKS if (value := getattr(self, name)) is not None), None)

    @property
    def words(self) -> str:
        """It in a sentence."""
        kind, name = self.check or ("text", "")
        return self.text or CHECKS[kind].format(name)


def _text_is_one(value: object) -> object:
    return {"text": value} if isinstance(value, str) else value


def _one_is_a_list(value: object) -> object:
    return [] if value is None else [value] if isinstance(value, str | dict) else value


One = Annotated[Confirmation, BeforeValidator(_text_is_one, json_schema_input_type=Confirmation | Content)]
Confirmations = Annotated[
    list[One],
    BeforeValidator(_one_is_a_list, json_schema_input_type=list[One] | One),
    Field(max_length=100),
]
