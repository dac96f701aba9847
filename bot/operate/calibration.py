"""Weights of the error likelihood that follow the errors that were seen (seed 004, 6.2), within their bounds.

Nothing here changes a rule: what comes out is proposed in a pull request, and people decide.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from decimal import ROUND_HALF_EVEN, Decimal
from math import sqrt

_STEP = Decimal("0.0001")


@dataclass(frozen=True)
class Sums:
    """Of one factor x over answers of which some failed (f is 1 or 0): how many, and the sums of f, x, x·x and x·f."""

    count: int
    failures: int
    x: float
    xx: float
    xf: float

    @property
    def correlation(self) -> float | None:
        """How the factor moves with failing, from -1 to 1; None where one of them never moves."""
        n, f = self.count, self.failures
        spread = (n * self.xx - self.x**2) * (n * f - f**2)
        if n < 2 or spread <= 1e-12:
            return None
        return max(-1.0, min(1.0, (n * self.xf - self.x * f) / sqrt(spread)))


def proposed(
    weights: Mapping[str, Decimal], sums: Mapping[str, Sums], rate: Decimal, bounds: tuple[Decimal, Decimal]
) -> dict[str, Decimal]:
    """normalize(weight + rate × correlation), each within *bounds*, together exactly 1."""
    raw = {
        name: max(Decimal(0), weight + rate * Decimal(str(sums[name].correlation or 0)))
        for name, weight in sorted(weights.items())
    }
    return within(raw, bounds)


def within(raw: Mapping[str, Decimal], bounds: tuple[Decimal, Decimal]) -> dict[str, Decimal]:
    """*raw* in the same proportions as far as the *bounds* let it, together exactly 1.

    What a bound cuts off is shared by those that have room; the bounds have to admit a sum of 1.
    """
    low, high = bounds
    fixed: dict[str, Decimal] = {}
    while len(fixed) < len(raw):
        left = Decimal(1) - sum(fixed.values(), Decimal(0))
        free = {name: value for name, value in raw.items() if name not in fixed}
        total = sum(free.values(), Decimal(0))
        scaled = {name: left * value / total if total else left / len(free) for name, value in free.items()}
        over = sum((value - high for value in scaled.values() if value > high), Decimal(0))
        under = sum((low - value for value in scaled.values() if value < low), Decimal(0))
        if not over and not under:
            fixed |= scaled
            break
        # the side that is further out is held first: the other may come right when the rest is shared anew
        fixed |= {name: high for name, value in scaled.items() if over >= under and value > high}
        fixed |= {name: low for name, value in scaled.items() if over < under and value < low}
    rounded = {name: fixed[name].quantize(_STEP, ROUND_HALF_EVEN) for name in sorted(raw)}
    return _summed_to_one(rounded, low, high)


def _summed_to_one(rounded: dict[str, Decimal], low: Decimal, high: Decimal) -> dict[str, Decimal]:
    """*rounded*, with what rounding left over given to weights that have room."""
    left = Decimal(1) - sum(rounded.values(), Decimal(0))
    for name in sorted(rounded, key=lambda name: rounded[name]):
        moved = min(max(rounded[name] + left, low), high)
        left -= moved - rounded[name]
        rounded[name] = moved
    return rounded
