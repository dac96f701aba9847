"""What a warehouse can do, whatever its driver: say what a statement would cost, run it, name the columns of a table.

Nothing here checks a statement; that is the gate's, and it comes first.
"""

from __future__ import annotations

from dataclasses import dataclass
from threading import Event
from typing import Any, Protocol

from bylaw.errors import BylawError


class WarehouseError(BylawError):
    """The warehouse did not answer: it cannot be reached, the statement fails there, or a limit was hit.

    `detail` is what the driver said. It may hold values of rows that nobody may see: never show it to who asks.
    """

    detail: str | None = None
    reference: str | None = None  # under which the operator's log has it

    @property
    def lasting(self) -> str:
        """The message as it is the same every time, for what is kept or compared."""
        return self.message.removesuffix(f" (reference {self.reference})")


@dataclass(frozen=True, slots=True)
class Estimate:
    """What a plan says before anything runs. Figures are orders of magnitude; None where the plan is silent."""

    rows: int | None = None
    scan_bytes: int | None = None
    runtime_ms: int | None = None
    warnings: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Rows:
    """A result, in the statement's order. `truncated`: there were more rows than were asked for."""

    columns: tuple[str, ...]
    rows: tuple[tuple[Any, ...], ...]
    truncated: bool = False


class Warehouse(Protocol):
    """A read-only source of rows. Safe to use from several threads."""

    @property
    def dialect(self) -> str:
        """The dialect of SQL that it speaks, by its sqlglot name."""
        ...

    def explain(self, sql: str) -> Estimate:
        """What running *sql* would take. Raises WarehouseError where it cannot be planned."""
        ...

    def run(self, sql: str, limit: int, stop: Event | None = None) -> Rows:
        """The first *limit* rows of *sql*, fewer where they are very large. Raises WarehouseError.

        Any thread may set *stop*: the statement then ends in the warehouse too, and this raises.
        """
        ...

    def columns(self, schema: str, table: str) -> tuple[str, ...]:
        """The names of the table's columns in order; empty where there is no such table."""
        ...

    def close(self) -> None:
        """Stop what still runs and let go of the connection. Nothing may be asked afterwards."""
        ...
