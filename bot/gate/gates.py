"""The gate and the decision point of what is being served: one gate a bundle, one point a store."""

from __future__ import annotations

from threading import Lock

from bot.gate.decision_point import StoreDecisionPoint
from bot.services import Services, Serving
from bylaw.gate.engine import Gate
from bylaw.gate.lookups import WarehouseLookups
from bylaw.gate.port import NoLookups


class Gates:
    """The gate of the bundle in force."""

    def __init__(self, serving: Serving) -> None:
        self._serving, self._turn = serving, Lock()
        self._gate: Gate | None = None

    def gate(self) -> Gate:
        """The gate of the newest bundle that holds."""
        services = self._serving.services()
        known = self._gate
        if known is not None and known.etag == services.bundle_etag:
            return known
        with self._turn:
            if self._gate is None or self._gate.etag != services.bundle_etag:
                self._gate = gate_of(services)
            return self._gate


def gate_of(services: Services) -> Gate:
    """The gate of one bundle, on the evaluator that everybody else asks."""
    index = services.index
    lookups = NoLookups()
    if services.warehouse is not None and index.bundle.context.lookups:
        found = WarehouseLookups(index.bundle.context, index.bundle.rules.roles, services.warehouse)
        return Gate(index.bundle, found, index.evaluator)
    return Gate(index.bundle, lookups, index.evaluator)


def decision_point_of(serving: Serving) -> StoreDecisionPoint:
    """The decision point on the store of what is being served."""
    services = serving.services()
    gates = Gates(serving)
    return StoreDecisionPoint(
        services.store, gates.gate, services.clock, services.anchor, lambda: serving.services().commit
    )
