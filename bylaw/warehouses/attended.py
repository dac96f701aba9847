"""A warehouse for one question: what it runs ends, in the warehouse too, when nobody waits for the answer any more."""

from __future__ import annotations

from dataclasses import dataclass
from threading import Event

from bylaw.warehouses.port import Estimate, Rows, Warehouse, WarehouseError


class NobodyWaits(Exception):
    """Whoever asked has gone. There is nobody to tell, and nothing was answered."""


@dataclass(frozen=True)
class Attended:
    """*warehouse*, as long as nobody is *gone*."""

    warehouse: Warehouse
    gone: Event

    @property
    def dialect(self) -> str:
        """The warehouse's own."""
        return self.warehouse.dialect

    def explain(self, sql: str) -> Estimate:
        """What running *sql* would take."""
        return self.warehouse.explain(sql)

    def run(self, sql: str, limit: int, stop: Event | None = None) -> Rows:
        """The first rows of *sql*. Raises NobodyWaits."""
        try:
            return self.warehouse.run(sql, limit, self.gone if stop is None else stop)
        except WarehouseError:
            if self.gone.is_set():
                raise NobodyWaits from None
            raise

    def columns(self, schema: str, table: str) -> tuple[str, ...]:
        """The names of the table's columns."""
        return self.warehouse.columns(schema, table)

    def close(self) -> None:
        """Nothing: the warehouse outlives the question."""
