"""Personal data by its shape, as `rules/pii.yaml` describes it: found in a text, or hidden behind the mask.

The house's own addresses are nobody's; a number that could be a payment card must also pass its check sum.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from bylaw.authored.machines.enforcement import Pii
    from bylaw.warehouses.port import Rows


@dataclass(frozen=True, slots=True)
class Found:
    """A piece of personal data: its kind in words, and where it stands."""

    label: str
    text: str
    start: int


class Mask:
    """Finds and hides personal data."""

    def __init__(self, rules: Pii) -> None:
        self._patterns = [
            (re.compile(pattern.regex), pattern.luhn, pattern.label) for _, pattern in sorted(rules.patterns.items())
        ]
        self._allowed = frozenset(text.casefold() for text in rules.allowed)
        self._mask = rules.mask

    def find(self, text: str) -> Iterator[Found]:
        """Everything in *text* that looks personal."""
        for pattern, needs_sum, label in self._patterns:
            for match in pattern.finditer(text):
                if self._is_personal(match[0], needs_sum):
                    yield Found(label, match[0], match.start())

    def text(self, text: str) -> str:
        """*text* with everything that looks personal replaced."""
        for found in sorted({one.text for one in self.find(text)}, key=lambda piece: (-len(piece), piece)):
            text = text.replace(found, self._mask)
        return text

    def rows(self, rows: Rows) -> Rows:
        """*rows* with every text cell masked."""
        masked = tuple(tuple(self.text(cell) if isinstance(cell, str) else cell for cell in row) for row in rows.rows)
        return replace(rows, rows=masked)

    def _is_personal(self, found: str, needs_sum: bool) -> bool:
        return found.casefold() not in self._allowed and (not needs_sum or _passes_luhn(found))


def _passes_luhn(text: str) -> bool:
    """The check sum of payment cards over the digits of *text*."""
    digits = [int(char) for char in reversed(text) if char.isdigit()]
    doubled = [digit if i % 2 == 0 else sum(divmod(2 * digit, 10)) for i, digit in enumerate(digits)]
    return sum(doubled) % 10 == 0
