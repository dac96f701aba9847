"""Ways past a budget: what is let through, read as a tool would read it, stays within it. Each row is one attempt."""

import json
from datetime import UTC, datetime, timedelta
from decimal import Decimal, InvalidOperation
from uuid import uuid4

import httpx
import pytest

from bot.gate.decision_point import open_decision_point
from bylaw.gate.decision_point import MemoryDecisionPoint, NothingOpen, call_of
from bylaw.gate.engine import Gate
from tests.fakes import postgresql

NOON = datetime(2026, 11, 20, 12, tzinfo=UTC)
LIMIT = 100
PURSE = {
    "vocabulary": {
        "facts": {
            "amount": {"type": "decimal", "unit": "USD", "minimum": 0},
            "spent": {
                "type": "decimal",
                "unit": "USD",
                "minimum": 0,
                "history": {"sum": "amount", "of": ["pay"], "within": "1 day", "same": ["card"]},
            },
        },
        "actions": {"pay": {}},
    },
    "policies": {
        "POL-PURSE-001": {
            "permitted": "pay",
            "formal": {
                "logic_rules": [
                    {
                        "rule_id": "R-PURSE-001a",
                        "antecedent": f"spent + amount <= {LIMIT}",
                        "consequent": "pay",
                        "type": "permitted",
                    }
                ]
            },
        }
    },
    "tools": {
        "pay": {
            "action": "pay",
            "facts": {"amount": {"from": "argument", "name": "order.amount", "unit": "USD"}},
            "keys": {"card": "card"},
        }
    },
}


@pytest.fixture(scope="module")
def gate(bundle):
    return Gate(bundle(PURSE))


@pytest.fixture
def point(gate):
    return MemoryDecisionPoint(lambda: gate, clock=lambda: NOON)


def pay(point, amount, **others):
    arguments = {"order": {"amount": amount}, "card": "c", **others.pop("arguments", {})}
    return point.decide(call_of(tool="pay", arguments=arguments, session="s", **others))


def spent(point, amount=Decimal(60), **others):
    """A card of which *amount* is spent."""
    point.ended(pay(point, str(amount), **others).decision_id, True)


def worth(amount):
    """What a tool makes of an amount that it is sent, None where it refuses it."""
    try:
        found = Decimal(str(amount)) if not isinstance(amount, bool | list | dict | None) else None
    except (InvalidOperation, ValueError):
        return None
    return found if found is not None and found.is_finite() else None


AMOUNTS = [
    1e308, -1e308, 5e-324, 10**30, -(10**30), 10**400, float("nan"), float("-inf"), -0.0, "-0", "-60", "1e308", "1e2",
    "0x1", "1_000", "１００", "٤١", "41 ", "+41", "41,00", "40.000000000000000000000000000000000001", "4" * 5_000,
    40.00000000000001, Decimal("40.0000000001"), True, [41], [1], {"amount": 1}, {"value": 41}, [], None, "", "NaN",
    "Infinity", "sNaN", b"41", 1 + 0j, 10**5_000, [10**5_000],
]  # fmt: skip


@pytest.mark.parametrize("amount", AMOUNTS, ids=lambda one: type(one).__name__)
def test_no_amount_passes_the_budget(point, amount):
    spent(point)
    answer = pay(point, amount)
    assert json.loads(json.dumps(answer.as_json())), "it can be told"
    if answer.is_allowed:
        assert worth(amount) is not None and 0 <= worth(amount) <= 40, amount
        point.ended(answer.decision_id, True)
        assert not pay(point, "40.01").is_allowed
    assert pay(point, "0").is_allowed, "one that is refused leaves the budget as it was"


@pytest.mark.parametrize(
    ("paid", "asked", "text"),
    [
        (60, "41", "amount is at most 40"),
        (60, "100000", "amount is at most 40"),
        (100, "0.01", "amount is at most 0"),
    ],
)
def test_what_would_stay_within_the_budget_is_told(point, paid, asked, text):
    spent(point, Decimal(paid))
    told = pay(point, asked).counterfactual
    assert told is not None and text in told["text"], told
    assert pay(point, told["changes"][0]["to"]).is_allowed


SHAPES = {
    "the name with its point beside it": {"order.amount": 1, "order": {"amount": 500}},
    "an order that is a list": {"order": [{"amount": 1}]},
    "an order that is text": {"order": '{"amount": 1}'},
    "no order": {"order": None},
    "another card beside it": {"card": "c", "Card": "d"},
    "a card in a list": {"card": ["c"], "order": {"amount": 1}},
    "a card of many letters": {"card": "c" * 100_000, "order": {"amount": 1}},
    "thousands of arguments": {f"a{n}": n for n in range(10_000)},
}


@pytest.mark.parametrize("shape", SHAPES.values(), ids=list(SHAPES))
def test_no_shape_of_the_arguments_passes_the_budget(point, shape):
    spent(point)
    answer = pay(point, 41, arguments=shape)
    assert not answer.is_allowed


def test_no_clock_that_goes_back_forgets(gate):
    clock = [NOON]
    point = MemoryDecisionPoint(lambda: gate, clock=lambda: clock[0])
    spent(point)
    clock[0] = NOON - timedelta(days=30)
    for session in ("s", "t", None):
        assert not point.decide(
            call_of(tool="pay", arguments={"order": {"amount": 41}, "card": "c"}, session=session)
        ).is_allowed
    clock[0] = NOON + timedelta(days=1)
    assert not pay(point, 41).is_allowed, "exactly a day ago still counts"
    clock[0] += timedelta(microseconds=1)
    assert pay(point, 41).is_allowed


@pytest.fixture(scope="module")
def server():
    assert postgresql.missing() is None, postgresql.missing()
    with postgresql.cluster() as address:
        yield address


@pytest.fixture(params=["sqlite", "postgresql"])
def url(request, tmp_path):
    if request.param == "sqlite":
        return f"sqlite:///{tmp_path / 'store.db'}"
    server = request.getfixturevalue("server")
    postgresql.emptied(server, "gate")
    return f"{server}gate"


def test_what_a_dead_process_reserved_is_held_for_a_minute_and_its_late_report_counts(url, gate):
    clock = [NOON]
    dead, alive = (open_decision_point(url, lambda: gate, lambda: clock[0]) for _ in range(2))
    held = pay(dead, 60)
    dead.store.close()  # it never says how it ended
    clock[0] += timedelta(seconds=59, microseconds=999_999)
    assert pay(alive, 41).is_pending
    clock[0] += timedelta(microseconds=1)
    late = pay(alive, 41)
    assert late.is_allowed, "nobody waits for it any longer"
    alive.ended(late.decision_id, False)
    alive.ended(held.decision_id, True)
    assert not pay(alive, 41).is_allowed, "a late report still counts"
    for replayed in (held, late):
        with pytest.raises(NothingOpen):
            alive.ended(replayed.decision_id, False)
    alive.store.close()


TWICE = [
    '"tool": "verify", "tool": "tell"',
    '"tool": "tell", "arguments": {"a": 1, "a": 2}',
    '"mode": "shadow", "mode": "enforce", "tool": "tell"',
]


@pytest.mark.parametrize("said", TWICE)
@pytest.mark.parametrize("path", ["/v2/decide", "/access/v1/evaluation", "/access/v1/evaluations"])
def test_a_body_that_says_a_thing_twice_is_none(shop, said, path):
    subject = f'"subject": {{"type": "user", "id": "{uuid4().hex}"}}, "resource": {{"type": "r", "id": "1"}}'
    more = "" if path == "/v2/decide" else f', {subject}, "action": {{"name": "verify"}}'
    body = f"{{{said}{more}}}".encode()
    told = httpx.post(f"{shop.address}{path}", content=body, headers={"Content-Type": "application/json"}, timeout=30)
    assert told.status_code == 400 and "twice" in told.text
