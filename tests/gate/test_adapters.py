"""The guard in three frameworks, each the real package with a scripted model: the same calls come to the same end."""

import asyncio
import subprocess
import sys
import threading
from contextlib import suppress
from typing import Annotated

import pytest

from bylaw.guard import Guard
from tests.gate.frameworks import ASYNC, FRAMEWORKS
from tests.gate.shop import REFUND, SHOP

pytestmark = pytest.mark.slow

VERIFY = ("verify", {"customer_id": "c1"})
PAY = ("issue_refund", REFUND)
WORLD = {
    **SHOP,
    "tools": {
        **SHOP["tools"],
        "close": {"action": "close_account", "facts": {"has_receipt": {"from": "argument", "name": "receipt"}}},
    },
}


class Desk:
    """Tools, and what they did."""

    def __init__(self, fails: int = 0) -> None:
        self.paid: list[str] = []
        self.fails = fails

    def sync(self):
        def issue_refund(kind: str, amount: float, days: int, order_id: str, customer_id: str) -> str:
            """Pay it back."""
            if self.fails:
                self.fails -= 1
                raise RuntimeError("the bank is closed")
            self.paid.append(order_id)
            return "paid"

        def verify(customer_id: str) -> str:
            """See who it is."""
            return "verified"

        def close(receipt: bool | None = None) -> str:
            """Close the account."""
            self.paid.append("closed")
            return "closed"

        def tell() -> str:
            """Tell a secret."""
            self.paid.append("told")
            return "a secret"

        return {"issue_refund": issue_refund, "verify": verify, "close": close, "tell": tell}

    def coroutines(self):
        plain = self.sync()

        async def issue_refund(kind: str, amount: float, days: int, order_id: str, customer_id: str) -> str:
            """Pay it back."""
            return plain["issue_refund"](kind, amount, days, order_id, customer_id)

        async def verify(customer_id: str) -> str:
            """See who it is."""
            return plain["verify"](customer_id)

        async def close(receipt: bool | None = None) -> str:
            """Close the account."""
            return plain["close"](receipt)

        return {**plain, "issue_refund": issue_refund, "verify": verify, "close": close}


@pytest.fixture(params=sorted(FRAMEWORKS))
def run(request, bundle_file):
    guard = Guard.open(bundle_file(WORLD))

    def made(tools, *script):
        with guard.session("s", actor="bot", facts={"confirmed": True}):
            return FRAMEWORKS[request.param](guard, tools, script)

    return made


@pytest.mark.parametrize("kind", ["sync", "coroutines"])
def test_what_is_allowed_is_done_once_and_what_is_not_comes_back_with_its_line(run, kind):
    desk = Desk()
    found = run(getattr(desk, kind)(), [PAY], [VERIFY], [PAY], [PAY])
    assert desk.paid == ["17"]
    assert found.shown[0] == {"issue_refund", "verify", "close"}, "what may never be called is not shown"
    refused, verified, paid, again = found.told
    assert "policies/refund/POL-REFUND-003.yaml" in refused
    assert '"not_done": "issue_refund"' in refused
    assert "It would be allowed if" in refused
    assert (verified, paid) == ("verified", "paid")
    assert "policies/refund/POL-REFUND-002.yaml" in again


@pytest.mark.parametrize("kind", ["sync", "coroutines"])
def test_calls_made_at_once_do_not_pass_one_limit_together(run, kind):
    desk = Desk()
    found = run(getattr(desk, kind)(), [VERIFY], [PAY, PAY, PAY])
    assert desk.paid == ["17"]
    assert sum("not_done" in told for told in found.told) == 2


@pytest.mark.parametrize("kind", ["sync", "coroutines"])
def test_a_call_that_raises_has_failed_and_may_be_tried_again(run, kind):
    desk = Desk(fails=1)
    with suppress(RuntimeError):
        run(getattr(desk, kind)(), [VERIFY], [PAY])
    assert (desk.fails, desk.paid) == (0, [])
    run(getattr(desk, kind)(), [PAY], [PAY])
    assert desk.paid == ["17"]


@pytest.mark.parametrize("kind", sorted(ASYNC))
def test_a_cancelled_call_runs_to_its_end_and_counts(bundle_file, kind):
    desk, guard, gate = Desk(), Guard.open(bundle_file(WORLD)), threading.Event()
    begun, tools = threading.Event(), desk.sync()
    pay = tools["issue_refund"]

    def issue_refund(kind: str, amount: float, days: int, order_id: str, customer_id: str) -> str:
        """Pay it back."""
        begun.set()
        assert gate.wait(20)
        return pay(kind, amount, days, order_id, customer_id)

    async def conversation():
        running = asyncio.ensure_future(ASYNC[kind](guard, {**tools, "issue_refund": issue_refund}, [[VERIFY], [PAY]]))
        await asyncio.to_thread(begun.wait, 20)
        running.cancel()
        with suppress(asyncio.CancelledError):
            await running
        meanwhile = guard.decide(tool="issue_refund", arguments=REFUND)
        gate.set()
        while guard._running:
            await asyncio.sleep(0.01)
        return meanwhile, guard.decide(tool="issue_refund", arguments=REFUND)

    with guard.session("s", actor="bot", facts={"confirmed": True}):
        meanwhile, after = asyncio.run(conversation())
    assert (meanwhile.ruling, meanwhile.is_pending) == ("deny", True)
    assert (after.ruling, after.is_pending, desk.paid) == ("deny", False, ["17"])


def test_what_langgraph_puts_in_is_what_is_decided(bundle_file):
    from langchain_core.messages import AIMessage
    from langchain_core.tools import tool
    from langgraph.graph import END, START, MessagesState, StateGraph
    from langgraph.prebuilt import InjectedState

    from bylaw.adapters.langgraph import guarded

    paid, guard = [], Guard.open(bundle_file(WORLD))

    class State(MessagesState):
        who: str

    def issue_refund(
        kind: str, amount: float, days: int, order_id: str, customer_id: Annotated[str, InjectedState("who")]
    ) -> str:
        """Pay it back."""
        paid.append(customer_id)
        return "paid"

    graph = StateGraph(State)
    graph.add_node("tools", guarded([tool(issue_refund)], guard))
    graph.add_edge(START, "tools")
    graph.add_edge("tools", END)
    asked = graph.compile()
    with guard.session("s", actor="bot", facts={"confirmed": True}):
        for name in ("c1", "c2"):
            guard.ended(guard.decide(tool="verify", arguments={"customer_id": name}).decision_id)
        for forged in ("c1", "c2"):
            call = {"name": "issue_refund", "args": {**REFUND, "customer_id": forged}, "id": "1", "type": "tool_call"}
            asked.invoke({"who": "c1", "messages": [AIMessage("", tool_calls=[call])]})
    assert paid == ["c1"]


def test_what_is_missing_is_asked_for_and_what_a_person_does_is_left_to_one(run):
    desk = Desk()
    asked, escalated, denied = run(
        desk.sync(), [("close", {})], [("close", {"receipt": True})], [("close", {"receipt": False})]
    ).told
    assert '"decision": "ask"' in asked and '"missing": ["has_receipt"]' in asked
    assert '"decision": "escalate"' in escalated
    assert '"decision": "deny"' in denied
    assert desk.paid == []


def test_a_tool_under_another_name_is_none_that_is_bound(run):
    desk = Desk()
    tools = desk.sync()
    renamed = {"verify": tools["verify"], "issue_refund_v2": tools["issue_refund"]}
    found = None
    with suppress(Exception):  # a framework may end the run of a model that calls what it was not shown
        found = run(renamed, [VERIFY], [("issue_refund_v2", REFUND)])
    assert desk.paid == []
    assert found is None or found.shown[0] == {"verify"}


def test_no_framework_is_imported_by_the_guard():
    code = (
        "import sys, bylaw.guard, bylaw.adapters;"
        "print([name for name in ('agents', 'langgraph', 'langchain_core', 'pydantic_ai') if name in sys.modules])"
    )
    assert subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout == "[]\n"
