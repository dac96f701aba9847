"""A number with the word that it counts: `1 finding`, `2 findings`."""

from __future__ import annotations


def count(number: int, noun: str, plural: str | None = None) -> str:
    """`1 error`, `2 errors`, `1,000 policies`; *plural* where it is not the noun with an s."""
    return f"{number:,} {noun if number == 1 else plural or noun + 's'}"
