"""The execution layer: a statement is validated, planned, and run within limits. The gate's word is the last."""

from __future__ import annotations

import time as clocks
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from datetime import datetime, time
from decimal import Decimal
from typing import Any

from bot.analytics.plan.interfaces import ExecutionRequest, ExecutionResponse, Plan, Results, Validation
from bylaw.sql.catalogue import Catalogue
from bylaw.sql.gate import check_statement
from bylaw.sql.rows import Visible
from bylaw.warehouses.port import Estimate, Rows, Warehouse

_GIGABYTE = 1_000_000_000
_PLACES = 10


@dataclass(frozen=True)
class Execution:
    """What executes statements. Without a warehouse they are validated and nothing else.

    `visible` names the tables of which the asker may read only some rows.
    """

    catalogue: Catalogue
    warehouse: Warehouse | None
    dialect: str
    masked: Callable[[Rows], Rows]
    visible: Visible | None = None
    monotonic: Callable[[], float] = field(default=clocks.monotonic)

    def planned(self, request: ExecutionRequest) -> ExecutionResponse:
        """The gate's verdict, and the plan where it may run. Raises WarehouseError."""
        schemas = None if request.schema_whitelist is None else frozenset(request.schema_whitelist)
        verdict = check_statement(
            request.sql, catalogue=self.catalogue, schemas=schemas, dialect=self.dialect, visible=self.visible
        )
        return ExecutionResponse(
            request_id=request.request_id,
            status="success" if verdict.is_allowed else "rejected",
            rejection_reason=verdict.reason,
            next_step=None if verdict.is_allowed else _next_step(verdict.schemas_blocked),
            validation=Validation(
                sql_type=verdict.sql_type,
                is_allowed=verdict.is_allowed,
                schemas_referenced=verdict.schemas_referenced,
                schemas_blocked=verdict.schemas_blocked,
            ),
            sql=verdict.sql,
            plan=self._plan(verdict.sql) if verdict.sql is not None and self.warehouse is not None else None,
        )

    def executed(self, request: ExecutionRequest, planned: ExecutionResponse, limit: int) -> ExecutionResponse:
        """*planned* with its rows, at most *limit*. Raises WarehouseError."""
        if self.warehouse is None or planned.sql is None:
            return planned
        started = self.monotonic()
        found = self.warehouse.run(planned.sql, limit)
        elapsed = round((self.monotonic() - started) * 1000)
        rows = self.masked(found)
        columns = [_cells(column) for column in zip(*rows.rows, strict=True)]
        results = Results(
            columns=rows.columns,
            rows=tuple(zip(*columns, strict=True)),
            row_count=len(rows.rows),
            truncated=rows.truncated,
        )
        return planned.model_copy(update={"results": results, "execution_time_ms": elapsed})

    def _plan(self, sql: str) -> Plan:
        assert self.warehouse is not None
        return plan_of(self.warehouse.explain(sql))


def plan_of(estimate: Estimate) -> Plan:
    """A driver's estimate in the words of the interface."""
    scanned = estimate.scan_bytes
    return Plan(
        estimated_scan_gb=None if scanned is None else scanned / _GIGABYTE,
        estimated_runtime_ms=estimate.runtime_ms,
        estimated_rows=estimate.rows,
        warnings=estimate.warnings,
    )


def _next_step(blocked: Sequence[str]) -> str:
    """What would work, where the gate does not let a statement through."""
    if blocked:
        return f"ask who grants {', '.join(f'`{name}`' for name in blocked)} in `rules/roles.yaml`"
    return "ask for it in the words of the catalogue"


def _cells(column: Sequence[Any]) -> list[Any]:
    """A column of cells as JSON can carry them. One of midnights alone is one of days: not all databases know days."""
    moments = [value for value in column if value is not None]
    if moments and all(isinstance(value, datetime) and value.time() == time() for value in moments):
        return [value and value.date().isoformat() for value in column]
    return [_cell(value) for value in column]


def _cell(value: Any) -> Any:
    """A cell as JSON can carry it; exact where JSON has no such number.

    A decimal with more places than any amount has is a quotient: it is no more exact than a float.
    """
    if isinstance(value, Decimal) and _places(value) > _PLACES:
        return float(value)
    if value is None or isinstance(value, bool | int | float | str | Decimal):
        return value
    if isinstance(value, bytes | bytearray | memoryview):
        return bytes(value).hex()
    return value.isoformat() if hasattr(value, "isoformat") else str(value)


def _places(value: Decimal) -> int:
    exponent = value.as_tuple().exponent
    return -exponent if isinstance(exponent, int) else 0
