"""The words that the name of a column or a table is put together from."""

from __future__ import annotations

import re


def words(name: str) -> tuple[str, ...]:
    """The words of a name, in small letters: `startStationID` is start, station, id."""
    spaced = re.sub(r"(?<=[a-z0-9])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z])|[^A-Za-z0-9]+", " ", name)
    return tuple(word.lower() for word in spaced.split())
