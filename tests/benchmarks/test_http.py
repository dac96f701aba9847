"""How many answers a second the server gives to eight clients at 1,000 policies, each kept and synced before it leaves.

A real `bylaw serve` on loopback; the clients share its processors. Once with the hundred questions that all of them
ask, and once with questions that nobody asked before. Printed, not asserted: machines differ.
"""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import psutil
import pytest

from bylaw.cli import bundle_for_root
from tests.benchmarks.generate import generate

pytestmark = pytest.mark.benchmark

ROOT = Path(__file__).parents[2]
CLIENTS, SECONDS = 8, 10

# It does as little as a client can, so that the server is what is measured: what it sends was made before it began.
CLIENT = """
import json, socket, sys, time
port, seconds, path = int(sys.argv[1]), float(sys.argv[2]), sys.argv[3]
head = f"POST {path} HTTP/1.1\\r\\nHost: 127.0.0.1\\r\\nContent-Type: application/json\\r\\nContent-Length: "
bodies = [body.encode() for body in json.loads(sys.stdin.readline())]
requests = [head.encode() + b"%d\\r\\n\\r\\n%b" % (len(body), body) for body in bodies]
connection = socket.create_connection(("127.0.0.1", port))
connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
answers = connection.makefile("rb")
def ask(request):
    connection.sendall(request)
    status, length = answers.readline(), 0
    while (line := answers.readline()) not in (b"", b"\\r\\n"):
        name, _, value = line.partition(b":")
        if name.lower() == b"content-length":
            length = int(value)
    told = answers.read(length)
    assert status.startswith(b"HTTP/1.1 200 "), (status, told)
ask(requests[0])
print("ready", flush=True)
sys.stdin.readline()
spent, until, n = [], time.perf_counter() + seconds, 0
while (start := time.perf_counter()) < until:
    ask(requests[n % len(requests)])
    spent.append(time.perf_counter() - start)
    n += 1
print(json.dumps(spent))
"""

SAID = ("You get act 0 1.", "Act 1 2 is not possible.", "We always promise act 2 3.", "It depends on your case.")
COMMON, EVER = 100, 8_000  # questions that are asked over and over, and more than are asked in all


def question(n: int) -> dict[str, object]:
    """The *n*th question; all differ."""
    days, price = 7 + 3 * n % 400, f"{n * 37 % 991}.{n // 400:02}"
    return {"text": f"Can I get act {n % 3} {n % 6}? I bought it {days} days ago for ${price}, and I have the receipt."}


def verdict(n: int) -> dict[str, object]:
    """An answer to the *n*th question."""
    return {"text": question(n)["text"], "response": SAID[n % len(SAID)], "facts": {"tier": "gold"}}


@contextmanager
def serving(bundle: Path, root: Path, *options: str, **given: str) -> Iterator[tuple[int, subprocess.Popen[str]]]:
    """The port of a server on *bundle*, and its process; *given* is added to its environment."""
    command = [sys.executable, "-m", "bylaw.cli", "serve", "--port", "0", "--bundle", str(bundle), *options]
    with (root / "log").open("w") as log:
        process = subprocess.Popen(
            command,
            cwd=root,
            env={**os.environ, "PYTHONPATH": str(ROOT), **given},
            stdout=subprocess.PIPE,
            stderr=log,
            text=True,
        )
        try:
            told = re.search(r":(\d+)$", process.stdout.readline().strip())
            assert told, (root / "log").read_text()[-2_000:]
            yield int(told[1]), process
        finally:
            process.terminate()
            process.wait(30)


def cpu_of(process: subprocess.Popen[str]) -> float:
    """The seconds of processor that it and the processes it started have used."""
    known = psutil.Process(process.pid)
    spent = [one.cpu_times() for one in (known, *known.children(recursive=True))]
    return sum(one.user + one.system for one in spent)


@pytest.mark.parametrize("count", [COMMON, EVER], ids=["common", "new"])
@pytest.mark.parametrize("path, body", [("/v2/query", question), ("/v2/enforce", verdict)], ids=["query", "enforce"])
def test_answers_a_second(
    path: str, body: Callable[[int], object], count: int, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    generate(tmp_path / "set", 1_000, "shared")
    with serving(bundle_for_root(tmp_path / "set"), tmp_path) as (port, server):
        command = [sys.executable, "-c", CLIENT, str(port), str(SECONDS), path]
        asked = [json.dumps(body(n)) for n in range(count)]
        assert len(set(asked)) == count
        clients = [
            subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) for _ in range(CLIENTS)
        ]
        for n, client in enumerate(clients):  # each begins elsewhere
            begins = n * count // CLIENTS
            client.stdin.write(json.dumps(asked[begins:] + asked[:begins]) + "\n")
            client.stdin.flush()
        for client in clients:
            assert client.stdout.readline() == "ready\n"
        used, started = cpu_of(server), time.perf_counter()
        for client in clients:
            client.stdin.write("go\n")
            client.stdin.flush()
        spent = sorted(lap for client in clients for lap in json.loads(client.stdout.readline()))
        used, took = cpu_of(server) - used, time.perf_counter() - started
        assert all(client.wait() == 0 for client in clients)
    at = [1_000 * spent[int(len(spent) * share)] for share in (0.5, 0.95, 0.99)]
    with capsys.disabled():
        kind = "common" if count == COMMON else "new"
        print(f"\n{path}, {kind} questions: {len(spent) / took:,.0f} answers a second to {CLIENTS} clients; ", end="")
        print("p50 {:.1f} ms, p95 {:.1f} ms, p99 {:.1f} ms; ".format(*at), end="")
        print(f"{1_000 * used / len(spent):.2f} ms of CPU an answer; load {os.getloadavg()[0]:.1f}")
