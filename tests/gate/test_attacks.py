"""Ways to get a refund that nobody may have: none goes through. Each row is one attempt, on a customer of its own."""

import json
from datetime import UTC, datetime, timedelta
from uuid import uuid4

import pytest

from bylaw.errors import UsageError
from bylaw.gate.decision_point import MemoryDecisionPoint, call_of
from bylaw.gate.engine import Gate
from bylaw.guard import Guard
from tests.gate.shop import REFUND, SHOP

NOON = datetime(2026, 11, 20, 12, tzinfo=UTC)
HOST = {"id": "s", "facts": {"confirmed": True}}


@pytest.fixture(scope="module")
def gate(bundle):
    return Gate(bundle(SHOP))


@pytest.fixture
def point(gate):
    return MemoryDecisionPoint(lambda: gate, clock=lambda: NOON)


def refunded(point, customer="c1"):
    """A customer who is verified and has had the one refund of the day."""
    verified = point.decide(call_of(tool="verify", arguments={"customer_id": customer}, session=HOST))
    point.ended(verified.decision_id, True)
    first = point.decide(
        call_of(tool="issue_refund", arguments={**REFUND, "customer_id": customer}, session=HOST, actor="bot")
    )
    assert first.is_allowed
    point.ended(first.decision_id, True)
    return first


ARGUMENTS = [
    # another spelling of the same customer
    {"customer_id": " c1"},
    {"customer_id": "c1 "},
    {"customer_id": "ｃ１"},
    {"customer_id": "c\u200b1"},
    {"customer_id": "c1\x00"},
    {"customer_id": "c\u20601"},
    {"customer_id": "\ufeffc1"},
    # no customer at all, or one that is none
    {"customer_id": None},
    {"customer_id": ""},
    {"customer_id": "   "},
    {"customer_id": {"id": "c1"}},
    {"customer_id": ["c1"]},
    {"customer_id": True},
    {"customer_id": "x" * 10_000},
    {"customer_id": float("nan")},
    {"customer_id": "\ud800"},
    # an action that no value means
    {"kind": "FULL"},
    {"kind": "full "},
    {"kind": "ｆｕｌｌ"},
    {"kind": None},
    {"kind": ["full"]},
    {"kind": {"full": 1}},
    {"kind": "full_refund"},
    {"kind": 0},
    # values that no fact has
    {"amount": -1},
    {"amount": "1e999"},
    {"amount": float("inf")},
    {"amount": float("nan")},
    {"amount": "20; drop"},
    {"amount": 10**60},
    {"amount": True},
    {"days": -5},
    {"days": "3"},
    {"days": 2.5},
    {"days": []},
    {"days": {}},
    {"amount": 100_001},
    # numbers that nobody spells
    *({name: value} for name in ("kind", "amount", "days", "customer_id") for value in (10**5_000, [10**5_000])),
    # facts among the arguments
    {"confirmed": True, "identity_verified": True, "refunds_today": 0},
]


@pytest.mark.parametrize("changed", ARGUMENTS, ids=lambda one: next(iter(one)))
def test_no_argument_gets_a_second_refund(point, changed):
    refunded(point)
    answer = point.decide(call_of(tool="issue_refund", arguments={**REFUND, **changed}, session=HOST, actor="bot"))
    assert not answer.is_allowed, answer.as_json()
    assert json.loads(json.dumps(answer.as_json())), "it can be told"


CALLS = [
    {"facts": {"refunds_today": 0, "identity_verified": True, "confirmed": True}},
    {"session": {"id": "s", "facts": {"confirmed": True, "refunds_today": 0, "identity_verified": True}}},
    {"session": {"id": "another", "facts": {"confirmed": True}}},
    {"session": {"id": None, "facts": {"confirmed": True}}},
    {"actor": "another"},
    {"mode": "shadow"},
    {"keys": {"customer_id": "somebody"}},
    {"tool": "issue_refund "},
    {"tool": "Issue_Refund"},
    {"tool": "issue_refund\u200b"},
    {"tool": "ｉssue_refund"},
    {"tool": "issue_refunds"},
    {"tool": "x" * 200},
    {"tool": "issue_refund\nverify"},
]


@pytest.mark.parametrize("changed", CALLS, ids=lambda one: json.dumps(one)[:60])
def test_no_word_around_the_call_gets_a_second_refund(point, changed):
    refunded(point)
    call = {"tool": "issue_refund", "arguments": REFUND, "session": HOST, "actor": "bot", **changed}
    assert not point.decide(call_of(**call)).is_allowed


@pytest.mark.parametrize(
    "given", [{"confirmed": True}, {"confirmed": "true"}, {"days_since_purchase": 1}, {"purchase_amount": 0}]
)
def test_no_agent_confirms_for_itself(point, given):
    verified = point.decide(call_of(tool="verify", arguments={"customer_id": "c1"}, session="s"))
    point.ended(verified.decision_id, True)
    answer = point.decide(call_of(tool="issue_refund", arguments=REFUND, facts=given, session="s"))
    assert answer.ruling == "ask" and "confirmed" in answer.missing


def test_no_clock_brings_an_hour_back(point):
    session = {"id": uuid4().hex, "facts": {"confirmed": True}}
    verified = point.decide(call_of(tool="verify", arguments={"customer_id": "c1"}, session=session, at=NOON))
    point.ended(verified.decision_id, True)
    late = NOON + timedelta(hours=2)
    assert not point.decide(call_of(tool="issue_refund", arguments=REFUND, session=session, at=late)).is_allowed
    with pytest.raises(UsageError, match="before the last decision"):
        point.decide(call_of(tool="issue_refund", arguments=REFUND, session=session, at=NOON))


def test_no_report_is_believed_twice_or_for_what_was_denied(point):
    first = refunded(point)
    denied = point.decide(call_of(tool="issue_refund", arguments=REFUND, session=HOST))
    for decision_id in (first.decision_id, denied.decision_id, "0" * 32, "", "\ud800"):
        with pytest.raises(UsageError):
            point.ended(decision_id, False)
    assert not point.decide(call_of(tool="issue_refund", arguments=REFUND, session=HOST)).is_allowed


def test_many_open_calls_open_no_door(point):
    verified = point.decide(call_of(tool="verify", arguments={"customer_id": "c1"}, session=HOST))
    point.ended(verified.decision_id, True)
    said = [point.decide(call_of(tool="issue_refund", arguments=REFUND, session=HOST)).ruling for _ in range(20)]
    assert said == ["allow"] + ["deny"] * 19


@pytest.mark.parametrize(
    "broken",
    [{}, {"action": "a", "tool": "b"}, {"tool": "verify", "session": 3}, {"tool": "verify", "session": {"user": "x"}},
     {"tool": "verify", "actor": ""}, {"tool": "verify", "actor": "a\nb"}, {"tool": "verify", "session": "\ud800"},
     {"tool": "verify", "at": "soon"}, {"tool": "verify", "mode": "off"}],
)  # fmt: skip
def test_what_is_no_call_is_refused(point, broken):
    with pytest.raises(UsageError):
        point.decide(call_of(**broken))


@pytest.mark.parametrize("place", ["facts", "keys", "arguments", "session_facts"])
@pytest.mark.parametrize("text", ["\ud800", "\0"])
def test_what_cannot_be_kept_is_refused_before_its_turn(bundle_file, tmp_path, place, text):
    """Calls are committed together: one that cannot be written down would take the others with it."""
    guard = Guard.open(bundle_file(SHOP), store=f"sqlite:///{tmp_path / 'store.db'}")
    given = {"arguments": {}} if place == "session_facts" else {place: {"note": text}}
    session = {"id": "s", "facts": {"note": text}} if place == "session_facts" else "s"
    with pytest.raises(UsageError, match="not text"):
        guard.decide(tool="issue_refund", session=session, **given)
    assert guard.decide(tool="issue_refund", session="s", arguments=REFUND).decision
