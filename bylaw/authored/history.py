"""Facts about what happened before: how a `history:` fact is computed from recorded events (`bylaw.gate.history`).

To the logic such a fact is an ordinary declared fact with bounds; only who computes its value differs.
"""

import re
from fractions import Fraction
from typing import Annotated, Literal, Self

from pydantic import AfterValidator, Field, StrictBool, model_validator

from bylaw.authored.record import Authored, Word, misfit

HistoryKind = Literal["count", "sum", "happened", "since", "previous"]
KINDS: tuple[HistoryKind, ...] = ("count", "sum", "happened", "since", "previous")

_PERIOD = re.compile(r"(\d{1,9}(?:\.\d{1,6})?)\s+([A-Za-z]+(?: [A-Za-z]+)?)")


def seconds_of(period: str) -> Fraction:
    """How long `24 hours` is. Raises ValueError for text that is no period of whole or decimal units."""
    from bylaw.language.units import convert  # as below

    found = _PERIOD.fullmatch(period.strip())
    seconds = convert(Fraction(found[1]), found[2], "seconds") if found and seconds_in(found[2]) is not None else None
    if seconds is None:
        raise ValueError(f"`{period[:60]}` is no period of time: write it like `24 hours` or `30 days`")
    return seconds


def seconds_in(unit: str | None) -> int | None:
    """How many seconds one *unit* has; None for what is no unit of time."""
    from bylaw.language import units  # the readers of words are heavy, and few facts are of what happened

    return units.seconds_in(unit)


def _period(text: str) -> str:
    seconds_of(text)
    return text


Period = Annotated[Word, AfterValidator(_period)]
Names = Annotated[list[Word], Field(min_length=1)]


class History(Authored):
    """Exactly one of count, sum, happened, since and previous, and which events it is about.

    `within` is a closed window, `same` names the keys that must be equal; without `same` it is the session.
    """

    count: Names | None = None
    sum: Word | None = None
    of: Names | None = None
    happened: Word | None = None
    since: Word | None = None
    previous: Word | None = None
    within: Period | None = None
    same: Names | None = None
    other: list[Literal["actor"]] = Field(default_factory=list)
    not_after: list[Word] = Field(default_factory=list)
    including_failed: StrictBool = False

    @model_validator(mode="after")
    def _is_one_kind(self) -> Self:
        given = [kind for kind in KINDS if getattr(self, kind) is not None]
        if len(given) != 1:
            raise ValueError(f"a history fact is exactly one of {', '.join(KINDS)}")
        if (self.sum is None) != (self.of is None):
            raise misfit("`sum` names a fact and `of` the actions that it is summed over", "of")
        if self.previous is not None and self.not_after:
            raise misfit("`previous` looks at one event: it takes no `not_after`", "not_after")
        return self

    @property
    def kind(self) -> HistoryKind:
        """Which of the five it is."""
        return next(kind for kind in KINDS if getattr(self, kind) is not None)

    @property
    def actions(self) -> tuple[str, ...]:
        """The actions whose events it is about, as written."""
        single = self.happened or self.since or self.previous
        return tuple(self.count or self.of or ([single] if single else ()))

    @property
    def window(self) -> Fraction | None:
        """The seconds of `within`."""
        return None if self.within is None else seconds_of(self.within)
