"""What a database says of a failure, kept from everybody but the operator: its words may hold values of hidden rows."""

from __future__ import annotations

import logging
import secrets

from bylaw.warehouses.port import WarehouseError

_LOG = logging.getLogger("bylaw.warehouse")
_LONGEST = 2_000  # letters of what the driver said that are logged

_REASONS = {
    "missing": "it names something that is not there",
    "syntax": "it cannot read the statement",
    "rights": "the user of the warehouse may not read this",
    "value": "a value does not allow what is asked of it",
}


def refused(kind: str, said: str) -> WarehouseError:
    """The error for who asked: of which kind it is, and the reference under which the log has the driver's words."""
    reference = secrets.token_hex(4)
    _LOG.info("warehouse error %s: %s", reference, " ".join(said.split())[:_LONGEST])
    why = _REASONS.get(kind, _REASONS["value"])
    error = WarehouseError(f"the warehouse refuses the statement: {why} (reference {reference})")
    error.detail, error.reference = said, reference
    return error
