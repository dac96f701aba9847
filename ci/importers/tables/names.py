"""Identifiers from the words of others: the same words always give the same identifier."""

from __future__ import annotations

import hashlib
import re
import unicodedata

LONGEST = 80


def snake(text: str) -> str:
    """*text* as a lower-case identifier: `isAffordable` is `is_affordable`, `Years of Service` `years_of_service`.

    What no identifier holds is replaced; where nothing would be left, or a lot was cut, a short hash tells apart.
    """
    spaced = re.sub(r"(?<=[a-z0-9])(?=[A-Z])", " ", text)
    plain = unicodedata.normalize("NFKD", spaced).encode("ascii", "ignore").decode()
    cut = re.sub(r"[^A-Za-z0-9]+", "_", plain).strip("_").lower()
    lost = sum(character.isalnum() and not unicodedata.normalize("NFKD", character)[0].isascii() for character in text)
    if not cut or lost or len(cut) > LONGEST:
        cut = f"{cut[:LONGEST].strip('_')}_{digest(text)}".strip("_")
    return f"n_{cut}" if cut[0].isdigit() else cut


def digest(text: str) -> str:
    """A few letters that stand for *text*."""
    return hashlib.sha256(text.encode()).hexdigest()[:6]


def value_slug(text: str) -> str:
    """A value as a part of an identifier; the sign of a number is kept."""
    sign = "minus_" if re.fullmatch(r"-\d.*", text) else ""
    slug = snake(text.removeprefix("-") if sign else text)
    return sign + slug.removeprefix("n_")


class Distinct:
    """Identifiers for texts: of two texts that would be one, the later carries a hash of its own."""

    def __init__(self) -> None:
        self._owners: dict[str, str] = {}

    def name(self, wanted: str, text: str) -> str:
        """*wanted*, unless another text than *text* has it."""
        if self._owners.setdefault(wanted, text) == text:
            return wanted
        own = f"{wanted}_{digest(text)}"
        self._owners.setdefault(own, text)
        return own
