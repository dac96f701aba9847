"""What is promised of the gate and stands in no other test, a promise each."""

from copy import deepcopy
from datetime import UTC, datetime, timedelta
from pathlib import Path

import duckdb
import pytest

import bylaw.adapters
from bylaw.gate.decision_point import MemoryDecisionPoint, call_of
from bylaw.gate.engine import Gate
from bylaw.guard import Guard
from tests.gate.shop import REFUND, SHOP

NOON = datetime(2026, 11, 20, 12, tzinfo=UTC)
HOST = {"id": "s", "facts": {"confirmed": True}}

PARCELS = {
    "vocabulary": {
        "facts": {
            "is_paid": {"type": "boolean"},
            "is_fragile": {"type": "boolean", "assertable": False},
            "is_gift": {"type": "boolean", "assertable": True},
        },
        "actions": {"send": {}, "wrap": {}},
    },
    "policies": {
        "POL-PARCEL-001": {"permitted": "send", "when": [{"parameter": "is_paid", "value": True}]},
        "POL-PARCEL-002": {
            "permitted": "wrap",
            "when": [{"parameter": "is_fragile", "value": True}, {"parameter": "is_gift", "value": True}],
        },
    },
    "tools": {
        "send_parcel": {
            "action": "send",
            "facts": {
                "is_paid": {"from": "lookup", "query": "parcel", "column": "is_paid", "key": {"number": "number"}}
            },
        }
    },
    "files": {
        "rules/roles.yaml": {
            "roles": {"point": {"schemas": ["shop"]}, "nobody": {"schemas": []}},
            "users": {"amara": ["point"]},
            "default_role": "nobody",
        },
        "context/entities/parcels.yaml": {
            "name": "parcels",
            "base_table": {"schema": "shop", "table": "parcels"},
            "dimensions": [{"name": name} for name in ("number", "is_paid")],
        },
        "context/lookups/parcel.yaml": {
            "name": "parcel",
            "sql": "select is_paid from shop.parcels where number = {number}",
            "parameters": {"number": "p1"},
        },
    },
}
NUMBERS = [  # (what the agent says, who asks) and what comes of it
    (("paid", "amara"), "allow"),
    (("open", "amara"), "deny"),
    (("lost", "amara"), "ask"),  # no row
    (("twice", "amara"), "ask"),  # two rows
    (("paid", "ben"), "ask"),  # who may not read the table
    (("x' or number = 'paid", "amara"), "ask"),
    (("x' union select true --", "amara"), "ask"),
    (("paid\\' --", "amara"), "ask"),
    ((["paid"], "amara"), "ask"),
    ((None, "amara"), "ask"),
]


@pytest.fixture(scope="module")
def parcels(bundle_file, tmp_path_factory):
    path = tmp_path_factory.mktemp("parcels") / "rows.duckdb"
    with duckdb.connect(str(path)) as shop:
        shop.execute("create schema shop")
        shop.execute("create table shop.parcels (number varchar, is_paid boolean)")
        rows = [("paid", True), ("open", False), ("twice", True), ("twice", True)]
        shop.executemany("insert into shop.parcels values (?, ?)", rows)
    return Guard.open(bundle_file(PARCELS), warehouse=f"duckdb:///{path}")


@pytest.fixture
def point(bundle):
    gate = Gate(bundle(SHOP))
    return MemoryDecisionPoint(lambda: gate, clock=lambda: NOON)


def decided(point, *, ok=None, **given):
    answer = point.decide(call_of(**{"session": HOST, **given}))
    if ok is not None:
        point.ended(answer.decision_id, ok)
    return answer


def test_a_lookup_answers_with_one_row_of_what_the_actor_may_read(parcels):
    for (number, actor), ruling in NUMBERS:
        answer = parcels.decide(tool="send_parcel", arguments={"number": number}, actor=actor)
        assert answer.ruling == ruling, (number, actor, answer)


def test_a_fact_is_an_agents_to_say_only_where_the_vocabulary_says_so(parcels):
    said = {"is_fragile": True, "is_gift": True}
    answer = parcels.decide("wrap", facts=said)
    assert (answer.ruling, answer.missing, answer.not_taken) == ("ask", ("is_fragile",), ("is_fragile",))
    assert parcels.decide("wrap", facts=said, session={"facts": {"is_fragile": True}}).ruling == "allow"


def test_what_is_to_be_done_first_stops_nothing_by_itself(point):
    answer = decided(point, tool="sign_out", arguments={"customer_id": "c"})
    assert (answer.ruling, answer.first, answer.duties) == ("allow", ("verify_identity",), ("log_call",))


def test_an_event_is_as_old_as_its_decision_however_late_its_report(point):
    answer = decided(point, tool="verify", arguments={"customer_id": "c1"}, at=NOON)
    point.clock = lambda: NOON + timedelta(minutes=50)
    point.ended(answer.decision_id, True)
    refund = {"tool": "issue_refund", "arguments": REFUND}
    hour = NOON + timedelta(hours=1)
    assert decided(point, ok=False, **refund, at=hour).ruling == "allow", "exactly an hour ago counts"
    assert decided(point, **refund, at=hour + timedelta(microseconds=1)).ruling == "deny"


def test_what_shadow_let_through_counts_and_is_reserved(point):
    decided(point, ok=True, tool="verify", arguments={"customer_id": "c1"})
    trial = decided(point, tool="trial_refund", arguments={"customer_id": "c1"})
    pending = decided(point, tool="issue_refund", arguments=REFUND)
    assert (trial.decision, pending.ruling, pending.is_pending) == ("allow", "deny", True)
    point.ended(trial.decision_id, True)
    after = decided(point, tool="issue_refund", arguments=REFUND)
    assert (after.ruling, after.is_pending) == ("deny", False)


def test_at_most_eight_facts_are_asked_for_the_most_deciding_first(bundle):
    world = deepcopy(SHOP)
    names = [f"paper_{n:02}" for n in range(12)]
    world["vocabulary"]["facts"] |= {name: {"type": "boolean", "assertable": True} for name in (*names, "is_open")}
    world["policies"] = {
        f"POL-PAPER-{n:03}": {
            "permitted": "log_call",
            "when": [{"parameter": name, "value": True}, {"parameter": "is_open", "value": True}],
        }
        for n, name in enumerate(names, 1)
    }
    gate = Gate(bundle(world))
    point = MemoryDecisionPoint(lambda: gate, clock=lambda: NOON)
    answer = decided(point, action="log_call")
    assert (answer.ruling, len(answer.missing), answer.missing[0]) == ("ask", 8, "is_open")


def test_each_adapter_is_a_page():
    for path in Path(bylaw.adapters.__file__).parent.glob("*.py"):
        assert len(path.read_text().splitlines()) < 100, path.name
