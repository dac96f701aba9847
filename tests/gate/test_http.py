"""Decisions over HTTP, in two processes on one store: kept, raced and audited."""

import asyncio
import threading
from concurrent.futures import ThreadPoolExecutor
from datetime import UTC, datetime
from uuid import uuid4

import httpx
import pytest

from bot.evidence.store.engine import connect
from bot.evidence.store.tables import audit
from bot.gate.decision_point import open_decision_point
from bylaw.authored.tools import Tools
from bylaw.gate.decision_point import call_of
from bylaw.gate.engine import Gate
from bylaw.guard import Denied, Guard
from tests.gate.shop import REFUND, SHOP


def host(session=None):
    return {"id": session or uuid4().hex, "facts": {"confirmed": True}}


def refund(**others):
    return {"tool": "issue_refund", "arguments": {**REFUND, "customer_id": uuid4().hex, **others}}


def test_identity_first_then_one_refund(shop):
    session, call = host(), refund()
    customer = {"customer_id": call["arguments"]["customer_id"]}
    told = shop.decide(**call, session=session, actor="bot")
    assert (told["decision"], told["first"], told["duties"]) == ("deny", ["verify_identity"], ["log_call"])
    assert told["reasons"][0]["policy_id"] == "POL-REFUND-003" and told["reasons"][0]["line"] > 0
    assert told["counterfactual"]["changes"][0]["fact"] == "identity_verified"
    checked = shop.decide(tool="verify", arguments=customer, session=session, actor="bot")
    assert shop.ended(checked["decision_id"]) == 200
    first = shop.decide(**call, session=session, actor="bot")
    assert first["decision"] == "allow" and set(first) >= {"etag", "mode", "decision_id"} and first["mode"] == "enforce"
    assert shop.ended(first["decision_id"]) == 200
    assert [shop.ended(one) for one in (first["decision_id"], told["decision_id"], "nothing", "x" * 200)] == [
        409,
        409,
        409,
        422,
    ]
    assert shop.decide(**call, session=host(), actor="other")["decision"] == "deny"


def test_two_calls_at_once_never_pass_one_limit(shop):
    call, session = refund(), host()
    customer = {"customer_id": call["arguments"]["customer_id"]}
    checked = shop.decide(tool="verify", arguments=customer, session=session)
    shop.ended(checked["decision_id"])
    with ThreadPoolExecutor(12) as many:
        told = list(many.map(lambda _: shop.decide(**call, session=host()), range(36)))
    said = [one["decision"] for one in told]
    assert said.count("allow") == 1 and said.count("deny") == 35
    assert any("pending" in reason["text"] for one in told for reason in one["reasons"])


def test_an_agents_own_word_opens_nothing(shop):
    call = refund()
    told = shop.decide(**call, facts={"confirmed": True, "refunds_today": 0, "identity_verified": True, "nonsense": 1})
    assert told["decision"] != "allow" and set(told["not_taken"]) == {
        "confirmed",
        "refunds_today",
        "identity_verified",
        "nonsense",
    }
    told = shop.decide(
        action="full_refund", facts={"days_since_purchase": 1, "confirmed": True}, keys={"customer_id": "q"}
    )
    assert told["decision"] == "deny", "nobody verified that customer"


@pytest.mark.parametrize(
    ("body", "status"),
    [
        ({}, 422),
        ({"action": "full_refund", "tool": "issue_refund"}, 422),
        ({"action": "full_refund", "at": "yesterday"}, 422),
        ({"action": "full_refund", "session": {"id": 7}}, 422),
        ({"action": "full_refund", "surprise": 1}, 422),
        ({"action": "full_refund", "mode": "off"}, 422),
        ({"action": "full_refund", "facts": []}, 422),
        ({"action": "fly_to_the_moon"}, 200),
        ({"tool": "nothing"}, 200),
    ],
)
def test_only_a_malformed_body_is_refused(shop, body, status):
    told = shop.post("/v2/decide", body)
    assert told.status_code == status
    assert status != 200 or told.json()["decision"] == "deny"


def test_a_name_that_no_text_can_hold_harms_nobody(shop):
    body, headers = b'{"tool": "issue_refund\\ud800"}', {"Content-Type": "application/json"}
    told = httpx.post(f"{shop.address}/v2/decide", content=body, headers=headers, timeout=30)
    assert told.status_code == 422 or told.json()["decision"] == "deny", told.text


def test_time_goes_on_in_a_session(shop):
    session = uuid4().hex
    assert (
        shop.post("/v2/decide", {"action": "logout", "session": session, "at": "2026-11-20T12:00:00Z"}).status_code
        == 200
    )
    assert (
        shop.post("/v2/decide", {"action": "logout", "session": session, "at": "2026-11-20T12:00:00Z"}).status_code
        == 200
    )
    assert (
        shop.post("/v2/decide", {"action": "logout", "session": session, "at": "2026-11-20T11:59:59Z"}).status_code
        == 422
    )


def test_shadow_lets_everything_through_and_says_what_it_would_have_said(shop):
    call = {"tool": "trial_refund", "arguments": {"customer_id": uuid4().hex}}
    told = shop.decide(**call, session=host())
    assert (told["decision"], told["would"], told["mode"]) == ("allow", "deny", "shadow")
    assert shop.ended(told["decision_id"]) == 200
    told = shop.decide(**call, session=host(), mode="enforce")
    assert (told["decision"], told["mode"], "would" in told) == ("deny", "enforce", False)
    assert shop.decide(**refund(), mode="shadow")["mode"] == "enforce"


def test_the_python_guard_asks_a_server_too(shop):
    guard = Guard.open(server=shop.address)
    customer = uuid4().hex

    @guard.protects("verify")
    def check(customer_id):
        return f"checked {customer_id}"

    @guard.protects("issue_refund")
    def pay(**order):
        return "paid"

    with guard.session(uuid4().hex, actor="bot", facts={"confirmed": True}):
        with pytest.raises(Denied) as stopped:
            pay(**{**REFUND, "customer_id": customer})
        assert stopped.value.answer.first == ("verify_identity",)
        assert check(customer) == f"checked {customer}"
        assert pay(**{**REFUND, "customer_id": customer}) == "paid"
        with pytest.raises(Denied):
            pay(**{**REFUND, "customer_id": customer})
        assert (guard.may_ever("tell"), guard.may_ever("issue_refund")) == (False, True)


def test_every_decision_is_in_the_chain(shop):
    told = shop.decide(**refund(), session=host(), actor="bot")
    store = connect("sqlite:///.bylaw/store.db", shop.root)
    with store.reading() as connection:
        (entry,) = audit.about(connection, told["decision_id"])
        assert not audit.verify(connection).breaks
    store.close()
    body = entry.body
    assert (body["event"], body["decision"], body["actor"], body["action"]) == ("gate", "deny", "bot", "full_refund")
    assert body["facts"]["confirmed"] is True and body["facts"]["purchase_amount"] == 20


class _Slow:
    """A warehouse that answers when it is told to."""

    def __init__(self):
        self.asked, self.may_answer = threading.Event(), threading.Event()

    def value(self, bound, arguments, actor, seen):
        self.asked.set()
        assert self.may_answer.wait(30)
        return 3


def test_a_slow_lookup_holds_up_nobody_else(bundle, tmp_path):
    days = {"from": "lookup", "query": "order", "column": "days", "key": "order_id"}
    refund = {**SHOP["tools"]["issue_refund"], "facts": {"days_since_purchase": days}}
    rules = {"tools": {**SHOP["tools"], "issue_refund": refund}}
    base, slow = bundle(SHOP), _Slow()
    base = base.model_copy(update={"rules": base.rules.model_copy(update={"tools": Tools.model_validate(rules)})})
    gate = Gate(base, slow)
    point = open_decision_point(f"sqlite:///{tmp_path / 'store.db'}", lambda: gate, lambda: datetime.now(UTC))

    async def asked():
        waiting = asyncio.create_task(point.answering(call_of(tool="issue_refund", arguments=REFUND, session="s")))
        while not slow.asked.is_set():
            await asyncio.sleep(0.001)
        other = await point.answering(call_of(tool="verify", arguments={"customer_id": "c1"}, session="s"))
        assert other.is_allowed and not waiting.done()
        slow.may_answer.set()
        return await waiting

    try:
        assert asyncio.run(asyncio.wait_for(asked(), 30)).reads.facts["days_since_purchase"] == 3
    finally:
        slow.may_answer.set()
        point.store.close()
