"""The SQL of context/lookups/ is one statement that the gate lets through, with its parameters where values stand."""

from __future__ import annotations

from collections.abc import Iterator

from bylaw.gate.lookups import BadLookup, bound_sql, literal
from bylaw.sql.gate import check_statement
from ci.findings import Finding
from ci.loading.load import Workspace


def lookups(workspace: Workspace) -> Iterator[Finding]:
    """Every lookup could run, with the examples of its parameters."""
    for name, lookup in workspace.context.lookups.items():
        at = workspace.place(workspace.context.paths[f"lookups/{name}"], "sql")
        try:
            sql = bound_sql(lookup, {key: literal(value, value) for key, value in lookup.parameters.items()})
        except BadLookup as problem:
            yield Finding("invalid-sql", f"the lookup `{name}` cannot be read: {problem}", at)
            continue
        verdict = check_statement(sql, catalogue=None, schemas=None)
        if not verdict.is_allowed:
            yield Finding("invalid-sql", f"the lookup `{name}` would not run: {verdict.reason}", at)
