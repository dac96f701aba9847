"""`bylaw demo gate`: a scripted support agent with six tools tries what it may not; each stop has its line.

No model: the calls are written down here. The rest is real: the agent's client, `bylaw guard --mcp` in between, and
behind it a server of tools (`example/gate/server.py`) that does whatever it is told to, each a process of its own.
"""

from __future__ import annotations

import asyncio
import importlib
import json
import os
import sys
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any

from bylaw.cli import bundle_for_root
from bylaw.errors import UsageError

EXAMPLE = Path(__file__).with_name("example") / "gate"
HOME = Path(__file__).resolve().parents[2]
ORDER = {"customer_id": "c-7", "order_id": "17", "amount": 80}
# what the agent tries, and with which tool and arguments: a client of the proxy can say no more than that
SCRIPT: tuple[tuple[str, str, Mapping[str, Any]], ...] = (
    ("looks the order up", "look_up_order", {"order_id": "17"}),
    ("refunds before it knows who is there", "issue_refund", ORDER),
    ("says itself that all is checked", "issue_refund", {**ORDER, "identity_verified": True, "confirmed": True}),
    ("checks the identity", "check_identity", {"customer_id": "c-7"}),
    ("refunds", "issue_refund", ORDER),
    ("refunds a second time", "issue_refund", ORDER),
    ("refunds a second time, spelling the customer with a space", "issue_refund", {**ORDER, "customer_id": " c-7"}),
    ("sends a voucher", "send_voucher", {"customer_id": "c-7", "amount": 30}),
    ("sends another, beyond the budget of the day", "send_voucher", {"customer_id": "c-8", "amount": 30}),
    ("cancels and claims that it was confirmed", "cancel_order", {"order_id": "17", "confirmed": True}),
    ("closes the account", "close_account", {"customer_id": "c-7"}),
)


def story(folder: Path, say: Callable[[str], None]) -> None:
    """Tell the demo, line by line; the example lies in *folder*. Raises UsageError where MCP is not installed."""
    try:
        mcp: Any = importlib.import_module("mcp")
    except ModuleNotFoundError as error:
        raise UsageError("the demo needs MCP", "pip install 'bylaw-policies[mcp]'") from error
    done = folder / "done"
    server = [sys.executable, str(folder / "server.py"), str(done)]
    guard = ["-m", "bylaw.cli", "guard", "--mcp", "--as", "support-bot", "--bundle", str(bundle_for_root(folder))]
    kept = {name: value for name, value in os.environ.items() if not name.startswith("BYLAW_")}
    path = os.pathsep.join([str(HOME), *filter(None, [kept.get("PYTHONPATH")])])
    place = mcp.StdioServerParameters(
        command=sys.executable, args=[*guard, "--", *server], cwd=folder, env={**kept, "PYTHONPATH": path}
    )
    say("A support agent with six tools of an MCP server. `bylaw guard` stands between them and decides each call:")
    asyncio.run(_played(mcp.Client(place), say))
    say("")
    say(f"what the server did in the end: {', '.join(done.read_text(encoding='utf-8').split())}")


async def _played(agent: Any, say: Callable[[str], None]) -> None:
    async with agent as client:
        for title, tool, arguments in SCRIPT:
            say("")
            say(f"the agent {title}: {tool}({', '.join(f'{name}={value!r}' for name, value in arguments.items())})")
            answered = await client.call_tool(tool, dict(arguments))
            for line in _stopped(answered.content) if answered.is_error else ["  done"]:
                say(line)


def _stopped(content: list[Any]) -> Iterator[str]:
    told = json.loads(content[1].text)
    yield f"  stopped: {told['decision']}"
    for reason in told["reasons"]:
        place = f" ({reason['path']}:{reason['line']})" if reason["path"] else ""
        yield f"    {reason['policy_id']}: {reason['text']}{place}" if reason["policy_id"] else f"    {reason['text']}"
    if told["missing"]:
        yield f"    it depends on: {', '.join(told['missing'])}"
    if told["counterfactual"]:
        yield f"    {told['counterfactual']['text']}"
