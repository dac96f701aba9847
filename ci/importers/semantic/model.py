"""One semantic model of MetricFlow as it was read, before its metrics are."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from ci.importers.draft import Record

GRAINS = ("day", "week", "month", "quarter", "year")


@dataclass(slots=True)
class Model:
    """One semantic model as it was read. `keys`: its entities with their columns; `dims`: the SQL of each dimension."""

    name: str
    where: str
    record: Record
    default_time: str | None
    primary: str | None = None
    keys: dict[str, tuple[str, str]] = field(default_factory=dict)  # entity -> type, SQL
    dims: dict[str, str] = field(default_factory=dict)
    times: set[str] = field(default_factory=set)
    measures: dict[str, dict[str, Any]] = field(default_factory=dict)
