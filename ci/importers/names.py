"""What a table or a column is called by people, read off its name: `tblRentalTrx` is `rental trx`."""

from __future__ import annotations

from bylaw.language.words import singular
from ci.loading.spelling import spoken, words

# What builders of warehouses put around a name; it says nothing about the rows.
_AFFIXES = frozenset((
    "tbl", "tb", "t", "dim", "fct", "fact", "stg", "vw", "v", "mst", "mstr", "master", "tab", "ref", "lkp", "lu", "src",
    "source", "raw", "latest", "rows",
))  # fmt: skip
KEYS = frozenset(("id", "no", "nr", "num", "number", "code", "cd", "key", "uuid", "guid", "fk", "pk", "sk", "ref"))
CODES = KEYS | frozenset(("type", "typ", "status", "flag", "class", "level", "grade", "zip", "year", "month"))
CODED = CODES | {"by"}  # of a whole number: who did it, and no quantity
LABELS = ("name", "title", "label")
# Numbers whose sum says nothing: they are averaged.
LEVELS = frozenset((
    "pct", "percent", "percentage", "rate", "ratio", "score", "rating", "lat", "latitude", "lon", "lng", "longitude",
    "age", "year", "price", "temperature", "temp", "level", "share", "avg", "average", "mean", "min", "max", "limit",
))  # fmt: skip

# Before the name of a column that is true or false, and no part of what it says.
_HELD = frozenset(("is", "was", "are", "were", "be"))
# A name of one of these is no person's.
ORGANISATIONS = frozenset(
    ("company", "business", "organisation", "organization", "firm", "brand", "trade", "legal", "institution", "agency")
)
HUNDREDTHS = frozenset(("cents", "cent", "pence", "centimes"))  # of a sum of money, kept as whole numbers
PIECES = frozenset(("quantity", "qty", "pieces", "units"))
DELETED = frozenset(("deleted", "removed", "archived"))
_TALLIES = frozenset(("total", "sum", "average", "mean", "count", "number"))  # a word of counting, and no thing


def is_tally(name: tuple[str, ...]) -> bool:
    """Does a name say only how something is counted: `total`, `sum`?"""
    return set(name) <= _TALLIES


def held(column: str) -> tuple[str, ...]:
    """What a column that is true or false says of a row: `was_late` is late."""
    found = spoken(column)
    return found[1:] if len(found) > 1 and found[0] in _HELD else found


def of_table(name: str) -> tuple[str, ...]:
    """The words of a table's name without what its builders put around them."""
    found = words(name)
    while len(found) > 1 and found[0] in _AFFIXES:
        found = found[1:]
    while len(found) > 1 and found[-1] in _AFFIXES:
        found = found[:-1]
    return found


def one(found: tuple[str, ...]) -> tuple[str, ...]:
    """The words for a single one: `order items` is `order item`."""
    return (*found[:-1], singular(found[-1])) if found else found


def role(column: str) -> tuple[str, ...]:
    """What a column that refers to something says of it: `start_station_id` is `start station`."""
    found = words(column)
    while len(found) > 1 and (found[-1] in KEYS or found[0] in ("fk", "pk")):
        found = found[1:] if found[0] in ("fk", "pk") else found[:-1]
    return found
