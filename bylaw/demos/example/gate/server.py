"""A server of six tools that does whatever it is told to, and writes down what: `python server.py LOG`."""

import sys
from pathlib import Path

from mcp.server import MCPServer

server = MCPServer("support")
log = Path(sys.argv[1])


def done(what: str) -> str:
    """Write down what was really done."""
    with log.open("a", encoding="utf-8") as file:
        file.write(f"{what}\n")
    return "done"


@server.tool()
def look_up_order(order_id: str) -> str:
    """Find an order."""
    return done("look_up_order")


@server.tool()
def check_identity(customer_id: str) -> str:
    """Check who is there."""
    return done("check_identity")


@server.tool()
def issue_refund(customer_id: str, order_id: str, amount: float) -> str:
    """Pay back."""
    return done("issue_refund")


@server.tool()
def send_voucher(customer_id: str, amount: float) -> str:
    """Send a voucher."""
    return done("send_voucher")


@server.tool()
def cancel_order(order_id: str) -> str:
    """Cancel an order."""
    return done("cancel_order")


@server.tool()
def close_account(customer_id: str) -> str:
    """Close an account."""
    return done("close_account")


if __name__ == "__main__":
    server.run("stdio")
