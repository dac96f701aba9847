"""The table of warehouses: which address is served by which class. A driver is imported when its address is used."""

from __future__ import annotations

import importlib
from collections.abc import Mapping

from bylaw.errors import UsageError
from bylaw.warehouses.limits import STATEMENT_SECONDS
from bylaw.warehouses.port import Warehouse

_SQL = "bylaw.warehouses.sql:SQLWarehouse"

WAREHOUSES: Mapping[str, str] = {
    "duckdb": "bylaw.warehouses.duckdb:DuckDBWarehouse",
    "postgresql": _SQL,
    "redshift": _SQL,
    "mysql": _SQL,
    "mariadb": _SQL,
    "sqlite": _SQL,
    "snowflake": _SQL,
    "bigquery": _SQL,
    "databricks": _SQL,
    "trino": _SQL,
}


def open_warehouse(url: str, *, statement_seconds: int = STATEMENT_SECONDS) -> Warehouse:
    """The warehouse at *url* (`duckdb:///data/shop.duckdb`, `postgresql://reader@host/shop`).

    `KIND+DRIVER://` names a driver of SQLAlchemy's. Raises UsageError for an address nobody serves.
    """
    scheme, separator, _ = url.partition("://")
    target = WAREHOUSES.get(scheme.partition("+")[0])
    if not separator or target is None:
        known = ", ".join(f"`{name}://`" for name in sorted(WAREHOUSES))
        raise UsageError(
            f"no warehouse serves the address `{_without_password(url)}`", f"known addresses begin {known}"
        )
    module, _, name = target.partition(":")
    opened: Warehouse = getattr(importlib.import_module(module), name).open(url, statement_seconds=statement_seconds)
    return opened


def _without_password(url: str) -> str:
    scheme, separator, rest = url.partition("://")
    credentials, at, host = rest.rpartition("@")
    return f"{scheme}{separator}{credentials.partition(':')[0]}{at}{host}" if at else url
