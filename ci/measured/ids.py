"""What only a warehouse can find: accepted or not, without one nothing is said of it."""

from __future__ import annotations

MEASURED = frozenset(
    ("missing-table", "missing-column", "column-type", "untagged-pii", "key-violated", "relationship-cardinality")
) | frozenset(("orphaned-rows", "enum-drift", "empty-filter", "stale-data", "schema-drift", "unmeasured"))
