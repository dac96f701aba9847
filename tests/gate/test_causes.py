"""A verdict names the decision that its rule comes from, with its state, at every door."""

from __future__ import annotations

import asyncio
import json
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from bylaw.cli import main
from bylaw.guard import Denied, Guard
from tests.gate.conftest import Server, compiled, serving, write
from tests.gate.doors import environ
from tests.rows import each

OLD = "id: small-refunds-2020\nnumber: 4\noption: Refund small amounts without asking\nrationale: Asking costs more.\n"
NEW = "id: ask-first-2024\naliases: [ADR-9]\noption: Ask before every refund\nrationale: Too many false claims.\n"
BOARD = "id: keep-cash-2025\noption: Keep the cash\nrationale: The bank asked.\ndecided_on: 2025-01-02\n"
REPOSITORY: dict[str, Any] = {
    "vocabulary": {
        "facts": {"amount": {"type": "integer", "assertable": True, "label": "amount"}},
        "actions": {"refund": {}, "close": {}},
    },
    "policies": {
        "POL-REFUND-001": {
            "permitted": "refund",
            "when": [{"parameter": "amount", "operator": "<=", "value": 20}],
            "metadata": {"decision": "#4"},
        },
        "POL-REFUND-002": {
            "prohibited": "refund",
            "when": [{"parameter": "amount", "operator": ">", "value": 10}],
        },
        "POL-REFUND-003": {"permitted": "close"},
    },
    "files": {
        "context/decisions/decisions/small-refunds-2020.yaml": (
            f"{OLD}status: superseded\nsuperseded_by: [ADR-9]\ndecided_on: 2020-02-03\n"
        ),
        "context/decisions/decisions/ask-first-2024.yaml": f"{NEW}decided_on: 2024-03-04\n",
        "context/decisions/decisions/keep-cash-2025.yaml": (
            f"{BOARD}audience: [board]\naffects: {{policy: [POL-REFUND-002]}}\n"
        ),
        "rules/roles.yaml": {"roles": {"board": {}, "staff": {}}, "users": {"bea": ["board"]}},
    },
}
CAUSE = {
    "id": "small-refunds-2020",
    "title": "Refund small amounts without asking",
    "status": "superseded",
    "state": "Superseded by ADR-9 on 4 March 2024",
}
WORDS = "decided by `small-refunds-2020` (Refund small amounts without asking): Superseded by ADR-9 on 4 March 2024"


@pytest.fixture(scope="module")
def root(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return write(tmp_path_factory.mktemp("causes"), REPOSITORY)


@pytest.fixture(scope="module")
def bundle_path(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return compiled(tmp_path_factory.mktemp("causes"), REPOSITORY)


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory, bundle_path: Path) -> Iterator[Server]:
    with serving(tmp_path_factory.mktemp("served"), bundle_path) as server:
        yield server


@pytest.fixture
def run(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], root: Path) -> Callable[..., str]:
    def say(*words: str) -> str:
        monkeypatch.setattr(sys, "argv", ["bylaw", *words, "--root", str(root)])
        with pytest.raises(SystemExit) as ended:
            main()
        assert ended.value.code in (None, 0, 1)
        return capsys.readouterr().out

    return say


def test_over_http_and_in_a_guard_on_a_server(server: Server) -> None:
    told = server.decide(action="refund", facts={"amount": 5})
    assert told["decision"] == "allow" and told["reasons"][0]["decisions"] == [CAUSE]
    assert "decisions" not in server.decide(action="close")["reasons"][0]
    answer = Guard.open(server=server.address).decide("refund", facts={"amount": 5})
    assert [one.as_json() for one in answer.reasons[0].decisions] == [CAUSE]


def test_in_process_and_in_what_stops_a_call(bundle_path: Path) -> None:
    guard = Guard.open(bundle_path)
    assert guard.decide("refund", facts={"amount": 5}).reasons[0].told.endswith(WORDS)
    with (
        pytest.raises(Denied, match="decided by `keep-cash-2025`"),
        guard.call("refund", facts={"amount": 30}, actor="bea"),
    ):
        pytest.fail("it was made")


@each(("actor", "names"), [(None, []), ("amara", []), ("bea", ["keep-cash-2025"])])
def test_a_decision_that_is_for_some_is_told_to_them_alone(server: Server, actor: str | None, names: list[str]) -> None:
    told = server.decide(action="refund", facts={"amount": 15}, actor=actor)
    (prohibiting,) = [one for one in told["reasons"] if one["policy_id"] == "POL-REFUND-002"]
    assert [one["id"] for one in prohibiting.get("decisions", [])] == names


def test_over_authzen(server: Server) -> None:
    body = {
        "subject": {"type": "user", "id": "amara"},
        "action": {"name": "refund"},
        "resource": {"type": "order", "id": "17"},
        "context": {"facts": {"amount": 5}},
    }
    told = server.post("/access/v1/evaluation", body).json()
    assert told["context"]["reasons"][0]["decisions"] == [CAUSE], told


def test_over_mcp(bundle_path: Path, tmp_path: Path) -> None:
    from mcp import Client, StdioServerParameters

    command = ["-m", "bylaw.cli", "serve", "--mcp", "--bundle", str(bundle_path)]
    place = StdioServerParameters(command=sys.executable, args=command, cwd=tmp_path, env=environ())

    async def asked() -> list[Any]:
        async with Client(place) as client:
            calls = (("decide", {"action": "refund", "facts": {"amount": 5}}), ("explain", {"facts": {"amount": 5}}))
            return [json.loads((await client.call_tool(*call)).content[0].text) for call in calls]

    decided, explained = asyncio.run(asked())
    assert decided["reasons"][0]["decisions"] == [CAUSE]
    assert explained["why"]["decisions"] == [{"policy_id": "POL-REFUND-001", **CAUSE}]


def test_in_the_terminal(run: Callable[..., str]) -> None:
    assert WORDS in run("decide", "--action", "refund", "--facts", '{"amount": 5}')
    why = run("decide", "--facts", '{"amount": 5}', "--why")
    assert f"decided: POL-REFUND-001 comes from {WORDS.removeprefix('decided by ')}" in why
    asked = run("decide", "--facts", '{"amount": 5}', "--why", "--json")
    assert json.loads(asked)["why"]["decisions"] == [{"policy_id": "POL-REFUND-001", **CAUSE}]
    assert WORDS in run("explain", "POL-REFUND-001")
    decision = run("explain", "small-refunds-2020")
    assert CAUSE["state"] in decision and "policy: POL-REFUND-001" in decision


def test_in_a_finding(run: Callable[..., str]) -> None:
    found = json.loads(run("check", "--format", "json"))["findings"]
    (conflict,) = [one for one in found if one["id"] == "conflict"]
    assert f"`POL-REFUND-001` comes from {WORDS.removeprefix('decided by ')}" in conflict["help"]


def test_a_metric_says_the_decision_that_it_comes_from(root: Path, run: Callable[..., str]) -> None:
    entity = "name: refunds\nbase_table: {schema: s, table: refunds}\nprimary_key: {columns: [id]}\n"
    metric = 'name: refund_count\nentity: refunds\nagg: count\ndecision: "#4"\n'
    for path, text in {"entities/refunds": entity, "metrics/refund_count": metric}.items():
        (root / "context" / path).parent.mkdir(exist_ok=True)
        (root / "context" / f"{path}.yaml").write_text(text, encoding="utf-8")
    assert WORDS in run("explain", "refund_count")
