"""The words that a name of a column, a table or a heading is put together from, and those that people say for them."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Final

# How columns are cut short, and the word that people say.
SHORT: Final[Mapping[str, str]] = {
    "nm": "name", "dt": "date", "ts": "time", "cd": "code", "amt": "amount", "qty": "quantity", "addr": "address",
    "tel": "telephone", "cust": "customer", "pct": "percent", "hrs": "hours", "mins": "minutes", "desc": "description",
    "prio": "priority", "dept": "department", "cat": "category", "inv": "invoice", "acct": "account", "emp": "employee",
    "mgr": "manager", "cnt": "count", "avg": "average", "typ": "type", "val": "value", "nr": "number", "nbr": "number",
    "lang": "language", "org": "organisation", "loc": "location", "prod": "product", "ord": "order",
    "tot": "total", "chnl": "channel", "rgn": "region", "ctry": "country", "pmt": "payment", "txn": "transaction",
    "yr": "year", "mth": "month", "wk": "week",
}  # fmt: skip
_SAID: Final = frozenset(("avg", "cat", "org", "tel"))  # people say these, too


def words(name: str) -> tuple[str, ...]:
    """The words of a name, in small letters: `startStationID` is start, station, id."""
    spaced = re.sub(r"(?<=[a-z0-9])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z])|[^A-Za-z0-9]+", " ", name)
    return tuple(word.lower() for word in spaced.split())


def spoken(name: str) -> tuple[str, ...]:
    """The words of a name as people say them: `birth_dt` is birth, date."""
    return tuple(SHORT.get(word, word) for word in words(name))


def spaced(label: str) -> str:
    """A heading as people write it: `RiskCategory` is `risk category`, `Approval Status` stays."""
    return " ".join(words(label)) if re.fullmatch(r"[A-Za-z]*[a-z][A-Z][A-Za-z0-9]*|\w+_\w+", label) else label


def is_said(name: str) -> bool:
    """Do people say this name as it is? A word that is cut short (`cust_nm`) or a lone letter is none of theirs."""
    found = words(name)
    return any(len(word) > 2 and word.isalpha() for word in found) and not any(
        (word in SHORT and word not in _SAID) or (len(word) == 1 and word.isalpha()) for word in found
    )
