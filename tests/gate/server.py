"""A real MCP server that refunds whatever it is told to. `python server.py`."""

import os

from mcp.server import MCPServer

server = MCPServer("shop")


@server.tool()
def verify(customer_id: str) -> str:
    """Check who is there."""
    return f"verified {customer_id}"


@server.tool()
def issue_refund(kind: str, amount: float, days: int, order_id: str, customer_id: str) -> str:
    """Pay back."""
    if order_id == "boom":
        os._exit(3)
    return "paid " + "x" * (300_000 if order_id == "large" else 1)


@server.tool()
def tell() -> str:
    """Tell a secret."""
    return "a secret"


server.run("stdio")
