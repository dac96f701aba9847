"""An MCP server behind the gate, with the official client and server: hidden, denied, large, and one that dies."""

import asyncio
import os
import sys
from pathlib import Path

from mcp import Client, StdioServerParameters

from bot.store import audit
from bot.store.engine import connect
from tests.gate.conftest import HOME
from tests.gate.shop import REFUND, SHOP

SERVER = Path(__file__).with_name("server.py")


def proxied(bundle, folder):
    words = ["-m", "bylaw.cli", "guard", "--mcp", "--as", "bot", "--session-facts", '{"confirmed": true}']
    words += ["--bundle", str(bundle), "--", sys.executable, str(SERVER)]
    kept = {name: value for name, value in os.environ.items() if not name.startswith("BYLAW_")}
    return StdioServerParameters(command=sys.executable, args=words, cwd=folder, env={**kept, "PYTHONPATH": str(HOME)})


def test_calls_go_through_the_gate_and_are_kept(bundle_file, tmp_path):
    async def conversation():
        async with Client(proxied(bundle_file(SHOP), tmp_path)) as client:
            assert sorted(tool.name for tool in (await client.list_tools()).tools) == ["issue_refund", "verify"]
            denied = await client.call_tool("issue_refund", REFUND)
            assert denied.is_error and "POL-REFUND-003.yaml:" in denied.content[0].text
            hidden = await client.call_tool("tell", {})
            assert hidden.is_error and "a secret" not in str(hidden.content)
            assert (await client.call_tool("verify", {"customer_id": "c1"})).content[0].text == "verified c1"
            large = await client.call_tool("issue_refund", {**REFUND, "order_id": "large"})
            assert not large.is_error and len(large.content[0].text) > 300_000
            many = await asyncio.gather(*(client.call_tool("issue_refund", REFUND) for _ in range(5)))
            assert all(one.is_error for one in many)

    asyncio.run(conversation())
    store = connect("sqlite:///.bylaw/store.db", tmp_path)
    with store.reading() as connection:
        assert not audit.verify(connection).breaks
        said = [entry.body for entry in audit.entries(connection)]
    store.close()
    assert [body["decision"] for body in said if body["event"] == "gate"] == [
        "deny",
        "deny",
        "allow",
        "allow",
        *["deny"] * 5,
    ]
    assert [body["ok"] for body in said if body["event"] == "gate-event"] == [True, True]


def test_a_server_that_dies_ends_its_calls_as_failed(bundle_file, tmp_path):
    async def conversation():
        async with Client(proxied(bundle_file(SHOP), tmp_path)) as client:
            await client.call_tool("verify", {"customer_id": "c1"})
            try:
                told = await asyncio.wait_for(client.call_tool("issue_refund", {**REFUND, "order_id": "boom"}), 20)
                assert told.is_error
            except Exception as error:
                assert "ended before it answered" in str(error) or "closed" in str(error).lower()

    asyncio.run(conversation())
    store = connect("sqlite:///.bylaw/store.db", tmp_path)
    with store.reading() as connection:
        said = [entry.body for entry in audit.entries(connection)]
    store.close()
    assert [body["ok"] for body in said if body["event"] == "gate-event"] == [True, False]
