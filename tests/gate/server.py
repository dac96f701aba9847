"""A real MCP server that refunds whatever it is told to. `python server.py stdio|http|json PORT LOG`.

Who `waits` is let go by a file `go-on` beside LOG.
"""

import asyncio
import os
import sys
from pathlib import Path

from mcp.server import MCPServer
from mcp.server.mcpserver import Context

server = MCPServer("shop")
transport, port, log = ([*sys.argv[1:], "stdio", "0", ""] if len(sys.argv) < 4 else sys.argv[1:])[:3]


def done(what: str) -> None:
    """Write down what was really done."""
    if log:
        with Path(log).open("a") as file:
            file.write(what + "\n")


@server.tool()
def verify(customer_id: str) -> str:
    """Check who is there."""
    done(f"verify {customer_id}")
    return f"verified {customer_id}"


@server.tool()
def issue_refund(kind: str, amount: float, days: int, order_id: str, customer_id: str) -> str:
    """Pay back."""
    if order_id == "boom":
        os._exit(3)
    done(f"refund {customer_id}")
    return "paid " + "x" * (300_000 if order_id == "large" else 1)


@server.tool()
def tell() -> str:
    """Tell a secret."""
    done("secret")
    return "a secret"


@server.tool()
def hurry(order_id: str) -> str:
    """Move an order to the front."""
    done(f"hurry {order_id}")
    return "hurried"


@server.tool()
async def sign_out(customer_id: str, context: Context) -> str:
    """Take a while, and say how far it is."""
    for step in range(1, 4):
        await context.report_progress(step, 3)
        await asyncio.sleep(30 if customer_id == "hangs" else 0.01)
    if customer_id == "waits":
        Path(log).with_name("begun").touch()
        while not Path(log).with_name("go-on").exists():
            await asyncio.sleep(0.02)
    done(f"sign_out {customer_id}")
    return "gone"


@server.tool()
def trial_refund(customer_id: str) -> str:
    """Pay back on trial."""
    done(f"trial {customer_id}")
    return "paid"


if transport == "stdio":
    server.run("stdio")
else:
    server.run("streamable-http", host="127.0.0.1", port=int(port), json_response=transport == "json")
