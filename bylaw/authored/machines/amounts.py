"""The kinds of number that the rules for machines are made of, and what a set of weights must add up to."""

from __future__ import annotations

from collections.abc import Mapping
from decimal import Decimal
from typing import Annotated

from pydantic import Field, StrictInt

from bylaw.authored.record import Number, misfit

Share = Annotated[Number, Field(ge=0, le=1)]  # a score, a weight, a probability
Shift = Annotated[Number, Field(ge=-1, le=1)]  # what a feature adds to a score
Amount = Annotated[Number, Field(ge=0)]
Count = Annotated[StrictInt, Field(ge=0)]
Positive = Annotated[StrictInt, Field(ge=1)]
Level = Annotated[StrictInt, Field(ge=1, le=5)]  # of autonomy and of priority alike


def sums_to_one(weights: Mapping[str, Decimal], *route: str | int) -> None:
    """Raise a misfit at *route* unless the weights add up to exactly 1."""
    total = sum(weights.values(), Decimal(0))
    if total != 1:
        raise misfit(f"the weights add up to {total.normalize():f}, not to 1", *route)
