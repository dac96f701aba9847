"""One rule in three engines: fewer than so many payments of this customer within a day. A table, and nothing fails for
being slow. `pytest -m benchmark -s tests/benchmarks/test_limits.py` prints it.

Beside the gate stand the reference engine of the temporal policy language Dogwood, which keeps history itself, and
Cedar, which keeps none and is told the count. All three see the same calls, and have to answer alike.
"""

from __future__ import annotations

import os
import time
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest

from bylaw.bundle import read
from bylaw.gate.decision_point import MemoryDecisionPoint, call_of
from bylaw.gate.engine import Gate
from tests.gate.conftest import compiled

pytestmark = pytest.mark.benchmark

CUSTOMERS, EVENTS, CALLS, LIMIT = 7, 1_000, 600, 200
NOON = datetime(2026, 11, 20, 12, tzinfo=UTC)
SHOP: dict[str, Any] = {
    "vocabulary": {
        "facts": {
            "paid_today": {
                "type": "integer",
                "minimum": 0,
                "history": {"count": ["pay"], "within": "24 hours", "same": ["customer"]},
            }
        },
        "actions": {"pay": {}},
    },
    "policies": {
        "POL-PAY-001": {
            "when": [{"parameter": "paid_today", "operator": "<", "value": LIMIT}],
            "permitted": "pay",
        }
    },
}
# the request that is asked about is one of those that are counted
DOGWOOD = f"""
@id("fewer_within_a_day")
permit (principal, action == Shop::Action::"Pay", resource)
when temporal {{
    exists (n: Long). (
        (count for (t: Timepoint). where (
            formerly within 1d (Shop::Action::"Pay"::request{{ input.customer: context.input.customer }} && tp(t))
        )) == n
        && n <= {LIMIT}
    )
}};
"""
SCHEMA = """
namespace Shop {
  type PayInput = { customer: String };
  entity Desk;
  entity Agent;
  action "Pay" appliesTo { principal: [Agent], resource: [Desk], context: { input: PayInput } };
}
"""
CEDAR = f'permit (principal, action == Action::"pay", resource) when {{ context.paid_today < {LIMIT} }};'

Pays = Callable[[str], bool]


def ours(root: Path) -> Pays:
    clock = [NOON]
    gate = Gate(read(compiled(root, SHOP))).prepare()
    point = MemoryDecisionPoint(lambda: gate, clock=lambda: clock[0])

    def pays(customer: str) -> bool:
        clock[0] += timedelta(milliseconds=1)
        answer = point.decide(call_of(action="pay", keys={"customer": customer}))
        if answer.is_allowed:
            point.ended(answer.decision_id, True)
        return answer.is_allowed

    return pays


def dogwood() -> Pays:
    from dogwood import native

    engine = native.NativeAuthorizer(DOGWOOD, SCHEMA)

    def pays(customer: str) -> bool:
        given = ("Shop::Action::Pay", 'Shop::Agent::"bot"', 'Shop::Desk::"one"', {"customer": customer})
        return bool(engine.authorize_request(*given) == "Allow")

    return pays


def cedar() -> Pays:
    import cedarpy

    counts: dict[str, int] = {}

    def pays(customer: str) -> bool:
        request = {
            "principal": 'Agent::"bot"',
            "action": 'Action::"pay"',
            "resource": 'Desk::"one"',
            "context": {"paid_today": counts.get(customer, 0)},
        }
        is_allowed = bool(cedarpy.is_authorized(request, CEDAR, []).allowed)
        counts[customer] = counts.get(customer, 0) + is_allowed
        return is_allowed

    return pays


def test_fewer_than_so_many_within_a_day(tmp_path: Path, capsys: Any) -> None:
    engines = {
        "bylaw": (ours(tmp_path), "1,000 events of seven customers"),
        "dogwood-py": (dogwood(), "the same; native, stateful"),
        "cedarpy": (cedar(), "is told the count"),
    }
    asked = [f"c{n % CUSTOMERS}" for n in range(EVENTS + CALLS)]
    said, laps = {}, {}
    for name, (pays, _) in engines.items():
        said[name], laps[name] = [], []
        for n, customer in enumerate(asked):
            start = time.perf_counter()
            said[name].append(pays(customer))
            if n >= EVENTS:
                laps[name].append((time.perf_counter() - start) * 1_000)
    assert said["bylaw"] == said["dogwood-py"] == said["cedarpy"]
    assert True in said["bylaw"][EVENTS:] and False in said["bylaw"][EVENTS:]
    with capsys.disabled():
        print(f"\n{'engine':<12}{'p50':>9}{'p95':>9}{'p99':>9}  ms a call; load {os.getloadavg()[0]:.1f}")
        for name, times in laps.items():
            ordered = sorted(times)
            at = "".join(f"{ordered[int(len(ordered) * share)]:>9.3f}" for share in (0.5, 0.95, 0.99))
            print(f"{name:<12}{at}  {engines[name][1]}")
