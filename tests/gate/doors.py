"""The real server of `server.py` behind `bylaw guard --mcp`, on pipes and over HTTP, and clients in front of it."""

from __future__ import annotations

import os
import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from bot.evidence.store.engine import connect
from bot.evidence.store.tables import audit
from tests.fakes.forked import Forked
from tests.gate.conftest import HOME
from tests.gate.shop import SHOP

if TYPE_CHECKING:
    from mcp import Client

SERVER = Path(__file__).with_name("server.py")
# the shop, where somebody in a hurry is asked whether it is urgent
DESK: dict[str, Any] = {
    **SHOP,
    "vocabulary": {
        **SHOP["vocabulary"],
        "facts": {
            **SHOP["vocabulary"]["facts"],
            "is_urgent": {"type": "boolean", "assertable": True, "ask": "Is it urgent?"},
        },
        "actions": {**SHOP["vocabulary"]["actions"], "hurry": {}},
    },
    "policies": {
        **SHOP["policies"],
        "POL-ORDER-001": {"when": [{"parameter": "is_urgent", "value": True}], "permitted": "hurry"},
    },
    "tools": {**SHOP["tools"], "hurry": {"action": "hurry", "keys": {"order_id": "order_id"}}},
}


@dataclass
class Door:
    """A proxied server: where it is, and what it did."""

    place: Any  # for a client
    root: Path
    mode: str  # which protocol a client speaks: "legacy" or "auto"
    kind: str = "pipes"

    def client(self, **options: Any) -> Client:
        from mcp import Client  # a second, of which collecting tests has no need

        return Client(self.place, mode=self.mode, **options)

    @property
    def done(self) -> list[str]:
        path = self.root / "done"
        return path.read_text().splitlines() if path.exists() else []

    def recorded(self) -> list[dict[str, Any]]:
        """What the chain says, in its order; it holds."""
        store = connect("sqlite:///.bylaw/store.db", self.root)
        try:
            with store.reading() as connection:
                assert not audit.verify(connection).breaks
                return [entry.body for entry in audit.entries(connection)]
        finally:
            store.close()

    def decisions(self) -> list[str]:
        return [body["decision"] for body in self.recorded() if body["event"] == "gate"]

    def ends(self) -> list[bool]:
        return [body["ok"] for body in self.recorded() if body["event"] == "gate-event"]


def words(bundle: Path) -> list[str]:
    """The command of a proxy whose host vouches that everything is confirmed."""
    said = ["-m", "bylaw.cli", "guard", "--mcp", "--as", "bot", "--session-facts", '{"confirmed": true}']
    return [*said, "--bundle", str(bundle)]


def environ(**given: str) -> dict[str, str]:
    kept = {name: value for name, value in os.environ.items() if not name.startswith("BYLAW_")}
    return {**kept, "PYTHONPATH": str(HOME), **given}


def on_pipes(bundle: Path, root: Path, mode: str) -> Door:
    """A proxy that starts its server; each client starts one."""
    command = [*words(bundle), "--", sys.executable, str(SERVER), "stdio", "0", str(root / "done")]
    from mcp import StdioServerParameters

    return Door(StdioServerParameters(command=sys.executable, args=command, cwd=root, env=environ()), root, mode)


def free_port() -> int:
    with socket.create_server(("127.0.0.1", 0)) as found:
        return int(found.getsockname()[1])


def wait_for(port: int) -> None:
    until = time.monotonic() + 60
    while time.monotonic() < until:
        try:
            socket.create_connection(("127.0.0.1", port), 1).close()
            return
        except OSError:
            time.sleep(0.05)
    pytest.fail("nobody listens")


@contextmanager
def started(command: list[str], root: Path, **given: str) -> Iterator[Forked]:
    """A process; what it says of errors stands in `log`."""
    root.mkdir(parents=True, exist_ok=True)
    with (root / "log").open("a") as log:
        process = Forked(*command, cwd=root, env=environ(**given), stdout=subprocess.PIPE, stderr=log)
    try:
        yield process
    finally:
        process.terminate()
        try:
            process.communicate(20)
        except subprocess.TimeoutExpired:
            process.kill()


@contextmanager
def in_front_of(url: str, bundle: Path, root: Path, *more: str, **given: str) -> Iterator[tuple[str, Any]]:
    """The address of a proxy in front of *url*, and its process."""
    command = [*words(bundle), "--upstream", url, "--listen", "127.0.0.1:0", *more]
    with started(command, root, **given) as proxy:
        assert proxy.stdout is not None
        told = proxy.stdout.readline().strip()
        if not told:
            pytest.fail((root / "log").read_text()[-3_000:])
        yield told, proxy


@contextmanager
def over_http(bundle: Path, root: Path, kind: str = "http", *more: str, mode: str = "auto") -> Iterator[Door]:
    """A server, and a proxy in front of it for all clients."""
    port = free_port()
    with started(["-m", "tests.gate.server", kind, str(port), str(root / "done")], root):
        wait_for(port)
        with in_front_of(f"http://127.0.0.1:{port}/mcp", bundle, root, *more) as (address, _):
            yield Door(address, root, mode, kind)
