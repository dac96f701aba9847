"""A claim: one thing that an answer says, in declared words, with the words of the answer that say it.

Claims are proposed (by the plain writer, a caller, a model or the plain reader) and never trusted: `bearing` holds
them against the text, `judge` against the rules.
"""

import json
from collections.abc import Mapping, Sequence
from decimal import Decimal
from typing import Annotated, Any, Literal, Self

from pydantic import (
    AfterValidator,
    BaseModel,
    ConfigDict,
    Field,
    StringConstraints,
    TypeAdapter,
    ValidationError,
    model_validator,
)

from bylaw.canonical import is_text
from bylaw.errors import UsageError
from bylaw.hold.item import parse_number

MOST_CLAIMS = 300  # of one answer
Kind = Literal["gives", "denies", "fact", "limit", "figure", "source", "asks", "outside", "courtesy"]
Operator = Literal["==", "!=", "<", "<=", ">", ">=", "in", "between"]
Status = Literal["valid", "satisfiable", "unread", "uncovered", "impossible", "invalid"]
Verdict = Literal["valid", "incomplete", "unread", "uncovered", "impossible", "invalid"]
By = Literal["template", "given", "model", "plain"]


def _check_text(value: str) -> str:
    if not is_text(value):
        raise ValueError("it holds characters that are not text")
    return value


Text = Annotated[str, AfterValidator(_check_text)]
Scalar = bool | int | Decimal | float | Text
Name = Annotated[Text, StringConstraints(min_length=1, max_length=120)]
Quote = Annotated[Text, StringConstraints(min_length=1)]  # as long as what it is quoted from

_NEEDS: Mapping[str, tuple[str, ...]] = {
    "gives": ("action",),
    "denies": ("action",),
    "figure": ("action", "value"),
    "fact": ("fact", "value"),
    "limit": ("fact", "value"),
    "asks": ("fact",),
    "source": ("policy_id",),
}
SEVERITY: Sequence[Verdict] = ("valid", "incomplete", "unread", "uncovered", "impossible", "invalid")


class _Said(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid", defer_build=True)


class Condition(_Said):
    """A condition that the answer itself states. Without a quote the text as a whole has to bear it."""

    fact: Name
    operator: Operator = "=="
    value: Scalar | list[Scalar]
    unit: Name | None = None
    quote: Quote | None = None


class Claim(_Said):
    """One thing that an answer says. `quote` is verbatim, within one sentence, table row or bullet."""

    kind: Kind
    quote: Quote
    action: Name | None = None
    fact: Name | None = None
    operator: Operator | None = None
    value: Scalar | list[Scalar] | None = None
    unit: Name | None = None
    policy_id: Name | None = None
    when: tuple[Condition, ...] = ()

    @model_validator(mode="after")
    def _is_whole(self) -> Self:
        for needed in _NEEDS.get(self.kind, ()):
            if getattr(self, needed) is None:
                raise ValueError(f"a claim of kind `{self.kind}` needs `{needed}`")
        return self

    @property
    def is_about_action(self) -> bool:
        """Does it name an action?"""
        return self.kind in ("gives", "denies", "figure")


class Judged(_Said):
    """A claim with what became of it; `policy_id`, `path` and `line` name the rule that decides."""

    kind: Kind
    quote: str
    action: str | None = None
    fact: str | None = None
    operator: Operator | None = None
    value: Any = None
    unit: str | None = None
    when: tuple[Condition, ...] = ()
    status: Status
    why: str = ""
    policy_id: str | None = None
    path: str | None = None
    line: int | None = None


class Unread(_Said):
    """A stretch of the text that the claims do not bear, or that does not bear its claim.

    `start` up to, not including, `end` are code points of the answer as it was sent, where the text holds the quote.
    """

    quote: str
    why: str
    start: int | None = None
    end: int | None = None


class Reading(_Said):
    """How an answer was read: by whom, each claim, and what nobody could read."""

    by: By
    claims: tuple[Judged, ...] = ()
    unread: tuple[Unread, ...] = ()


_CLAIMS = TypeAdapter(Annotated[tuple[Claim, ...], Field(max_length=MOST_CLAIMS)])


def read_claims(given: object) -> tuple[Claim, ...]:
    """The claims in a JSON value (a list, or a mapping with `claims`). Raises UsageError for anything else."""
    told = given.get("claims") if isinstance(given, Mapping) and "claims" in given else given
    try:
        return _CLAIMS.validate_python(told, strict=False)
    except ValidationError as error:
        first = error.errors(include_url=False, include_input=False)[0]
        place = ".".join(map(str, first["loc"])) or "claims"
        raise UsageError(f"`{place}` is no claim: {first['msg'].removeprefix('Value error, ')}") from None


def parse_claims(text: str) -> tuple[Claim, ...]:
    """The claims that a JSON text holds. Raises UsageError."""
    try:
        return read_claims(json.loads(text, parse_float=parse_number))
    except (ValueError, RecursionError):
        raise UsageError("the claims are not JSON") from None


def drop_separators(value: object) -> object:
    """A value without the signs that part thousands."""
    if isinstance(value, list):
        return [drop_separators(one) for one in value]
    plain = value.replace(",", "") if isinstance(value, str) else value
    return plain if isinstance(plain, str) and plain.replace(".", "", 1).isdigit() else value


def worst(verdicts: Sequence[Verdict]) -> Verdict:
    """The worst of them; valid for none."""
    return max(verdicts, key=SEVERITY.index, default="valid")
