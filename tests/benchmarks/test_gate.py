"""How long a decision for an agent takes: tables. `pytest -m benchmark -s tests/benchmarks/test_gate.py` prints them.

In process at 1,000 policies with 1,000 events in the session, beside Cedar on the same cases (Cedar is given the facts
of history, which the gate computes); over HTTP to eight clients, each decision kept and synced before it is said; and
what the MCP proxy adds to a call. Nothing here fails for being slow.
"""

from __future__ import annotations

import asyncio
import gc
import json
import os
import random
import subprocess
import sys
import time
from collections.abc import Mapping
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest

from bylaw.bundle import read
from bylaw.cli import bundle_for_root
from bylaw.gate.decision_point import MemoryDecisionPoint, call_of
from bylaw.gate.engine import Gate
from tests.benchmarks.generate import generate
from tests.benchmarks.test_decide import as_context, cases, cedar
from tests.benchmarks.test_http import CLIENT, CLIENTS, SECONDS, cpu_of, serving
from tests.gate.doors import SERVER, environ, free_port, in_front_of, on_pipes, started, wait_for

pytestmark = pytest.mark.benchmark

START = datetime(2026, 11, 20, 12, tzinfo=UTC)
EVENTS, CALLS, PROXIED = 1_000, 2_000, 500
HISTORY = """
  acts_today: {type: integer, minimum: 0, history: {count: [act_0_0, notify], within: 24 hours}}
  amount_today: {type: decimal, unit: USD, minimum: 0, history: {sum: amount, of: [notify], within: 24 hours}}
  was_notified: {type: boolean, history: {happened: notify, within: 1 hour, not_after: [act_0_1]}}
  last_was_notify: {type: boolean, history: {previous: notify, within: 1 hour}}
"""
POLICY = """
policy_id: POL-LIMIT-{n:03}
conditions: [{{type: fact, parameter: {fact}, operator: "{operator}", value: {value}}}]
actions: [{{type: prohibited, action: act_0_{n}}}]
metadata: {{source: s, owner: o, domain: limit, regulatory_linkage: [law]}}
"""


NOTIFY = """
policy_id: POL-LIMIT-100
conditions: []
actions: [{type: permitted, action: notify}]
metadata: {source: s, owner: o, domain: limit}
"""
TOOLS = "tools: {verify: {action: notify, keys: {customer_id: customer_id}}}\n"


def repository(root: Path) -> Path:
    """A thousand policies, four facts of history and the rules that ask for them."""
    generate(root, 1_000, "shared")
    path = root / "policies" / "vocabulary.yaml"
    words = path.read_text().replace("facts:", f"facts:{HISTORY.rstrip()}", 1)
    for fact in (
        "has_receipt",
        "is_member",
        "is_gift",
        "product",
        "tier",
        "channel",
        "region",
        "days",
        "age",
        "amount",
        "price",
        "visits",
        "topic",
    ):
        words = words.replace(f"  {fact}: {{", f"  {fact}: {{assertable: true, ", 1)
    path.write_text(words)
    (root / "policies" / "limit").mkdir()
    tests = [
        ("acts_today", ">", 100_000),
        ("amount_today", ">", 10_000_000),
        ("was_notified", "==", "false"),
        ("last_was_notify", "==", "true"),
    ]
    for n, (fact, operator, value) in enumerate(tests):
        text = POLICY.format(n=n, fact=fact, operator=operator, value=value)
        (root / "policies" / "limit" / f"POL-LIMIT-{n:03}.yaml").write_text(text)
    text = NOTIFY
    (root / "policies" / "limit" / "POL-LIMIT-100.yaml").write_text(text)
    (root / "rules").mkdir(exist_ok=True)
    (root / "rules" / "tools.yaml").write_text(TOOLS)
    return bundle_for_root(root)


@pytest.fixture(scope="module")
def bundle(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return repository(tmp_path_factory.mktemp("gate") / "set")


def asked(gate: Gate, unknown: float, count: int) -> list[dict[str, Any]]:
    """The facts of calls as callers give them."""
    variables = gate.authorizer.evaluator.ruleset.variables
    drawn = cases(gate.authorizer.evaluator.ruleset, unknown, count)
    return [
        {name: variables[name].show(value) for name, value in case.items() if name not in gate.history}
        for case in drawn
    ]


def test_in_process_beside_cedar(bundle: Path, capsys: Any) -> None:
    import cedarpy

    gate = Gate(read(bundle))
    point = MemoryDecisionPoint(lambda: gate, clock=lambda: START)
    rng, rows = random.Random(5), []
    for n in range(EVENTS):
        answer = point.decide(
            call_of(action="notify", facts={"amount": n % 90}, session="s", at=START - timedelta(seconds=EVENTS - n))
        )
        point.ended(answer.decision_id, True)
    gate.prepare()
    gc.collect()
    gc.freeze()
    for title, unknown in (("all known", 0.0), ("half unknown", 0.5)):
        laps, kinds = [], {}
        for facts in asked(gate, unknown, CALLS):
            call = call_of(action=f"act_0_{rng.randrange(6)}", facts=facts, session="s", at=START)
            start = time.thread_time()
            answer = point.decide(call)
            laps.append((time.thread_time() - start) * 1000)
            kinds[answer.ruling] = kinds.get(answer.ruling, 0) + 1
            if answer.is_allowed:
                point.ended(answer.decision_id, False)
        rows.append(("bylaw", title, sorted(laps), kinds))
    ruleset = gate.authorizer.evaluator.ruleset
    policies = "\n".join(
        f'@id("{r.rule_id}") {"forbid" if r.effect.kind == "prohibited" else "permit"} '
        f'(principal, action == Action::"{r.effect.action}", resource) when {{ {cedar(r.guard)} }};'
        for r in ruleset.rules
    )
    laps, kinds = [], {}
    for case in cases(ruleset, 0.0, CALLS // 100):
        request = {
            "principal": 'User::"u"',
            "action": f'Action::"act_0_{rng.randrange(6)}"',
            "resource": 'Case::"c"',
            "context": as_context(case),
        }
        start = time.thread_time()
        told = cedarpy.is_authorized(request, policies, [])
        laps.append((time.thread_time() - start) * 1000)
        kinds[str(told.decision)] = kinds.get(str(told.decision), 0) + 1
    rows.append(("cedarpy", "all known, one by one", sorted(laps), kinds))
    batch = [
        {
            "principal": 'User::"u"',
            "action": f'Action::"act_0_{rng.randrange(6)}"',
            "resource": 'Case::"c"',
            "context": as_context(case),
        }
        for case in cases(ruleset, 0.0, CALLS)
    ]
    start = time.thread_time()
    cedarpy.is_authorized_batch(batch, policies, [])
    each = (time.thread_time() - start) * 1000 / len(batch)
    gc.unfreeze()
    with capsys.disabled():
        print(f"\n{'engine':<10}{'facts':<24}{'p50':>9}{'p95':>9}{'p99':>9}  ms of CPU; load {os.getloadavg()[0]:.1f}")
        for name, title, times, kinds in rows:
            at = "".join(f"{times[int(len(times) * share)]:>9.3f}" for share in (0.5, 0.95, 0.99))
            print(f"{name:<10}{title:<24}{at}  {kinds}")
        print(
            f"{'cedarpy':<10}{'all known, in one batch':<24}{each:>9.3f}{'':>18}  a case on average, policies read once"
        )


def test_decisions_a_second_over_http(bundle: Path, tmp_path: Path, capsys: Any) -> None:
    gate = Gate(read(bundle))
    rng = random.Random(7)
    bodies = [
        json.dumps(
            {
                "action": f"act_0_{rng.randrange(6)}",
                "facts": facts,
                "session": f"s{n % 400}",
                "keys": {"k": str(n % 999)},
            }
        )
        for n, facts in enumerate(asked(gate, 0.0, 4_000))
    ]
    with serving(bundle, tmp_path) as (port, server):
        command = [sys.executable, "-c", CLIENT, str(port), str(SECONDS), "/v2/decide"]
        clients = [
            subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) for _ in range(CLIENTS)
        ]
        for n, client in enumerate(clients):
            begins = n * len(bodies) // CLIENTS
            client.stdin.write(json.dumps(bodies[begins:] + bodies[:begins]) + "\n")
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
        print(f"\n/v2/decide: {len(spent) / took:,.0f} decisions a second to {CLIENTS} clients; ", end="")
        print("p50 {:.1f} ms, p95 {:.1f} ms, p99 {:.1f} ms; ".format(*at), end="")
        print(f"{1_000 * used / len(spent):.2f} ms of CPU a decision; load {os.getloadavg()[0]:.1f}")


@pytest.mark.parametrize("kind", ["pipes", "http"])
def test_what_the_proxy_adds_to_a_call(kind: str, bundle: Path, tmp_path: Path, capfd: Any) -> None:
    from mcp import Client, StdioServerParameters

    laps: dict[str, list[float]] = {"direct": [], "proxied": []}

    async def asked_in_turns(places: Mapping[str, Any]) -> None:
        async with Client(places["direct"]) as direct, Client(places["proxied"]) as proxied:
            for n in range(PROXIED + 50):
                for name, client in (("direct", direct), ("proxied", proxied)):
                    started = time.perf_counter()
                    found = await client.call_tool("verify", {"customer_id": f"c{n % 40}"})
                    if n >= 50:
                        laps[name].append(1_000 * (time.perf_counter() - started))
                    assert not found.is_error

    if kind == "pipes":
        server = [str(SERVER), "stdio", "0", str(tmp_path / "done")]
        plain = StdioServerParameters(command=sys.executable, args=server, cwd=tmp_path, env=environ())
        asyncio.run(asked_in_turns({"direct": plain, "proxied": on_pipes(bundle, tmp_path, "auto").place}))
    else:
        port = free_port()
        with started(["-m", "tests.gate.server", "http", str(port), str(tmp_path / "done")], tmp_path):
            wait_for(port)
            url = f"http://127.0.0.1:{port}/mcp"
            with in_front_of(url, bundle, tmp_path) as (address, _):
                asyncio.run(asked_in_turns({"direct": url, "proxied": address}))
    direct, proxied = (sorted(laps[name]) for name in ("direct", "proxied"))
    with capfd.disabled():
        told = ", ".join(
            f"p{int(100 * share)} {one[int(len(one) * share)]:.2f} ms {name}"
            for share in (0.5, 0.95)
            for name, one in (("without", direct), ("with it", proxied))
        )
        added = proxied[int(len(proxied) * 0.95)] - direct[int(len(direct) * 0.95)]
        print(f"\nproxy on {kind}, a call: {told}; it adds {added:.2f} ms at p95", end="; ")
        print(f"load {os.getloadavg()[0]:.1f}")
