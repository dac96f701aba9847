"""Decisions that a verified query confirms: it still returns what it did."""

from __future__ import annotations

from collections.abc import Iterator
from decimal import Decimal, InvalidOperation
from typing import Any

import sqlglot
from sqlglot import exp
from sqlglot.errors import SqlglotError

from bylaw.authored.context import VerifiedQuery
from bylaw.semantic.catalogue import catalogue_of
from bylaw.sql.catalogue import Catalogue
from bylaw.sql.gate import check_statement
from bylaw.warehouses.port import WarehouseError
from ci.findings import Finding
from ci.lint.catalog import filled_sql
from ci.lint.confirmations import each_check, unkept
from ci.measured.survey import Survey, refused


def confirmations(survey: Survey) -> Iterator[Finding]:
    """The first value of the first row of what a query returns, held against what the decision says."""
    catalogue = catalogue_of(survey.context)
    for one, confirmation, place in each_check(survey.workspace, "query"):
        name, wanted = confirmation.query or "", confirmation.returns or ""
        query = survey.context.verified_queries.get(name)
        tree = _tree(filled_sql(query)) if query is not None else None
        if query is None or tree is None or _is_denied(query, catalogue):
            continue  # said of the query itself, or of its name
        try:
            rows = survey.ask(tree).rows
        except WarehouseError as problem:
            yield refused(
                f"what confirms the decision `{one.id}`", problem, survey.workspace.place(place.path, *place.route)
            )
            continue
        found = rows[0][0] if rows and rows[0] else None
        if not _is_same(found, wanted):
            why = f"the verified query `{name}` returns {_shown(found)} and not {wanted}"
            yield unkept(one, place, "query", name, why)


def _is_denied(query: VerifiedQuery, catalogue: Catalogue) -> bool:
    return check_statement(filled_sql(query), catalogue=catalogue, schemas=None).reason is not None


def _tree(sql: str) -> exp.Query | None:
    try:
        tree = sqlglot.parse_one(sql, dialect="duckdb")
    except SqlglotError:
        return None
    return tree if isinstance(tree, exp.Query) else None


def _is_same(found: Any, wanted: str) -> bool:
    """Numbers by value, everything else as it is written."""
    try:
        return Decimal(str(found)) == Decimal(wanted)
    except InvalidOperation:
        return found is not None and str(found) == wanted


def _shown(found: Any) -> str:
    return "nothing" if found is None else str(found)[:60]
