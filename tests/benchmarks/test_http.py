"""How many answers a second the server gives to eight clients at 1,000 policies, each kept and synced before it leaves.

A real `bylaw serve` on loopback; the clients share its processors. Printed, not asserted: machines differ.
"""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from itertools import cycle
from pathlib import Path

import psutil
import pytest

from bylaw.cli import bundle_for_root
from tests.benchmarks.generate import generate

pytestmark = pytest.mark.benchmark

ROOT = Path(__file__).parents[2]
CLIENTS, SECONDS = 8, 10

CLIENT = """
import http.client, json, sys, time
port, seconds, bodies, path = int(sys.argv[1]), float(sys.argv[2]), json.loads(sys.argv[3]), sys.argv[4]
connection = http.client.HTTPConnection("127.0.0.1", port)
def ask(body):
    connection.request("POST", path, body, {"Content-Type": "application/json"})
    response = connection.getresponse()
    told = response.read()
    assert response.status == 200, told
ask(bodies[0])
print("ready", flush=True)
sys.stdin.readline()
spent, until, n = [], time.perf_counter() + seconds, 0
while (start := time.perf_counter()) < until:
    ask(bodies[n % len(bodies)])
    spent.append(time.perf_counter() - start)
    n += 1
print(json.dumps(spent))
"""

QUESTIONS = [
    {
        "text": f"Can I get act {n % 3} {n % 6}? I bought it {7 + 3 * n} days ago for ${n * 37 % 991}, and I have the "
        "receipt."
    }
    for n in range(100)  # so many that nothing is gained by knowing the last few
]
VERDICTS = [
    {"query": asked["text"], "response": said, "facts": {"tier": "gold"}}
    for asked, said in zip(
        QUESTIONS,
        cycle(
            ("You get act 0 1.", "Act 1 2 is not possible.", "We always promise act 2 3.", "It depends on your case.")
        ),
        strict=False,
    )
]


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


@pytest.mark.parametrize(
    "path, bodies", [("/v2/query", QUESTIONS), ("/v2/enforce", VERDICTS)], ids=["query", "enforce"]
)
def test_answers_a_second(
    path: str, bodies: list[dict[str, object]], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    generate(tmp_path / "set", 1_000, "shared")
    with serving(bundle_for_root(tmp_path / "set"), tmp_path) as (port, server):
        command = [sys.executable, "-c", CLIENT, str(port), str(SECONDS)]
        asked = [json.dumps(body) for body in bodies]
        clients = [
            subprocess.Popen(
                [*command, json.dumps(asked[n * 12 :] + asked[: n * 12]), path],
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                text=True,
            )
            for n in range(CLIENTS)
        ]
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
        print(f"\n{path}: {len(spent) / took:,.0f} answers a second to {CLIENTS} clients; ", end="")
        print("p50 {:.1f} ms, p95 {:.1f} ms, p99 {:.1f} ms; ".format(*at), end="")
        print(f"{1_000 * used / len(spent):.2f} ms of CPU an answer; load {os.getloadavg()[0]:.1f}")
