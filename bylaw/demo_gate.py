"""`bylaw demo gate`: a scripted support agent with six tools tries what it may not; each stop has its line.

No model and no server: the calls are written down here, and the gate runs in this process.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from bylaw.cli import bundle_for_root
from bylaw.guard import Denied, Guard

EXAMPLE = Path(__file__).with_name("example") / "gate"
ORDER = {"customer_id": "c-7", "order_id": "17", "amount": 80}
# what the agent tries, and with which tool and arguments; the facts are what it says of itself
SCRIPT: tuple[tuple[str, str, Mapping[str, Any], Mapping[str, Any]], ...] = (
    ("looks the order up", "look_up_order", {"order_id": "17"}, {}),
    ("refunds before it knows who is there", "issue_refund", ORDER, {}),
    ("says itself that it is all checked", "issue_refund", ORDER, {"identity_verified": True, "confirmed": True}),
    ("checks the identity", "check_identity", {"customer_id": "c-7"}, {}),
    ("refunds", "issue_refund", ORDER, {}),
    ("refunds a second time", "issue_refund", ORDER, {}),
    ("refunds a second time, with a space before the customer", "issue_refund", {**ORDER, "customer_id": " c-7"}, {}),
    ("sends a voucher", "send_voucher", {"customer_id": "c-7", "amount": 30}, {}),
    ("sends another, beyond the budget of the day", "send_voucher", {"customer_id": "c-8", "amount": 30}, {}),
    ("cancels and claims that it was confirmed", "cancel_order", {"order_id": "17"}, {"confirmed": True}),
    ("closes the account", "close_account", {"customer_id": "c-7"}, {}),
)


def story(folder: Path) -> Iterator[str]:
    """The demo, line by line; the example lies in *folder*."""
    guard = Guard.open(bundle_for_root(folder))
    yield "A support agent with six tools. Every call is decided before it is made:"
    with guard.session("conversation-1", actor="support-bot"):
        for title, tool, arguments, facts in SCRIPT:
            yield ""
            yield f"the agent {title}: {tool}({', '.join(f'{name}={value!r}' for name, value in arguments.items())})"
            try:
                with guard.call(tool=tool, arguments=arguments, facts=facts):
                    yield "  done"
            except Denied as denied:
                yield from _stopped(denied)


def _stopped(denied: Denied) -> Iterator[str]:
    answer = denied.answer
    yield f"  stopped: {answer.decision}"
    yield from (f"    {reason.told}" for reason in answer.reasons)
    if answer.not_taken:
        yield f"    its own word does not count: {', '.join(answer.not_taken)}"
    if answer.missing:
        yield f"    it depends on: {', '.join(answer.missing)}"
    if answer.counterfactual:
        yield f"    {answer.counterfactual['text']}"
