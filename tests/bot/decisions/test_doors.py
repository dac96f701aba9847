"""Decisions at the other doors: the terminal, MCP, a model's server, trace and replay, each as a process meets them."""

from __future__ import annotations

import asyncio
import json
import os
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.bot.decisions.repository import HIDDEN, PARTNER, build
from tests.conftest import Command
from tests.fakes.llm import KEY, MODEL, Call, FakeLLM

BOOTH = "joinery-spray-booth-2021"
ROOT = Path(__file__).resolve().parents[3]
STATE = "Accepted on 15 February 2021"
Ask = Callable[..., dict[str, Any]]


@pytest.fixture(scope="module")
def bundle(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The joinery's repository, compiled."""
    return build(tmp_path_factory.mktemp("joinery") / "repository")


@pytest.fixture
def kept(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Where requests and papers of this test are kept."""
    monkeypatch.setenv("BYLAW_STORE_URL", f"sqlite:///{tmp_path}/store.db")
    monkeypatch.setenv("BYLAW_ARTIFACTS", str(tmp_path / "artifacts"))
    return tmp_path


@pytest.fixture
def ask(call: Command, bundle: Path, kept: Path) -> Ask:
    def asked(text: str, *more: str) -> dict[str, Any]:
        done = call("ask", text, "--bundle", bundle, "--at", "2026-11-20", "--json", *more)
        assert done.code in (0, 1), done.err
        reply: dict[str, Any] = done.json
        return reply

    return asked


@pytest.fixture
def model(monkeypatch: pytest.MonkeyPatch) -> Iterator[FakeLLM]:
    """A model's server that reads and words as a careful model does."""

    def careful(seen: Call) -> str:
        if "You read one question" in seen.system:
            anchor = {"kind": "anchor", "quote": "spray booth", "name": BOOTH}
            return json.dumps(
                {"items": [{"kind": "asks", "quote": "why", "name": "why_decision"}, anchor], "unknown": []}
            )
        said = f"{STATE}: Lease a spray booth. Buying one would have tied up the cash."
        return json.dumps({"short_answer": said, "supporting_ids": [BOOTH]})

    with FakeLLM(careful) as server:
        for name, value in {
            "BYLAW_LLM": "model",
            "BYLAW_LLM_MODEL": f"openai:{MODEL}",
            "BYLAW_LLM_URL": server.openai,
            "BYLAW_LLM_KEY": KEY,
        }.items():
            monkeypatch.setenv(name, value)
        yield server
        assert server.defects == []


def test_items_at_the_terminal_are_held(ask: Ask) -> None:
    items = [{"kind": "asks", "name": "who_decided"}, {"kind": "anchor", "name": BOOTH, "quote": "booth"}]
    reply = ask("that booth of ours", "--items", json.dumps(items))
    assert (reply["status"], reply["intent"], reply["reading"]["by"]) == ("answered", "who_decided", "given")
    lie = [{"kind": "anchor", "name": BOOTH, "quote": "hovercraft"}]
    assert ask("that hovercraft", "--items", json.dumps(lie))["status"] != "answered"


def test_a_person_hears_only_of_what_is_for_them(ask: Ask) -> None:
    mine = ask("decision: what replaced oak only?", "--as", PARTNER)
    assert "Allow ash beside oak" in mine["text"]
    assert "Allow ash" not in json.dumps(ask("decision: what replaced oak only?", "--as", "UOTHER"))
    assert HIDDEN not in json.dumps(ask("decision: why did we allow ash?", "--as", "UOTHER"))


def test_a_model_reads_and_words_and_trace_counts_it(ask: Ask, call: Command, model: FakeLLM) -> None:
    reply = ask("decision: why did we lease the spray booth?")
    assert reply["answer"]["short_answer"].endswith("Buying one would have tied up the cash.")
    assert (reply["meta"]["author"], reply["reading"]["by"]) == (f"openai:{MODEL}", "both")
    told = call("trace", reply["request_id"], "--json").json
    assert told["model"]["calls"] == len(model.calls) == 2
    assert 0 < told["model"]["tokens_in"] < 8_000
    words = call("trace", reply["request_id"]).out
    assert "2 call(s), about" in words


def test_an_answer_of_a_model_is_replayed_without_it(ask: Ask, call: Command, model: FakeLLM) -> None:
    reply = ask("decision: why did we lease the spray booth?")
    before = len(model.requests)
    done = call("replay", reply["request_id"], "--json")
    assert done.code == 0, done.out
    assert len(model.requests) == before


@pytest.mark.parametrize("with_model", [False, True])
def test_an_envelope_that_was_edited_in_the_store_is_seen(
    with_model: bool, ask: Ask, call: Command, kept: Path, request: pytest.FixtureRequest
) -> None:
    if with_model:
        request.getfixturevalue("model")
    reply = ask("decision: why did we lease the spray booth?")
    edited = 0
    for path in sorted((kept / "artifacts").rglob("*")):
        if path.is_file() and b'"prompt_version"' in path.read_bytes() and b'"completion"' not in path.read_bytes():
            path.write_bytes(path.read_bytes().replace(b"tied up the cash", b"earned us the cash"))
            edited += 1
    assert edited == 1
    done = call("replay", reply["request_id"], "--json")
    assert done.code == 1
    assert "envelope" in done.out + done.err


def test_mcp_takes_items(bundle: Path, tmp_path: Path) -> None:
    told = asyncio.run(_over_mcp(bundle, tmp_path))
    assert told["held"]["intent"] == "who_decided"
    assert told["held"]["answer"]["supporting_ids"] == [BOOTH]
    assert told["lie"]["status"] != "answered"
    assert told["by ref"]["intent"] == "alternatives"


async def _over_mcp(bundle: Path, folder: Path) -> dict[str, Any]:
    from mcp import Client, StdioServerParameters

    words = ["-m", "bylaw.cli", "serve", "--mcp", "--as", "desk", "--bundle", str(bundle)]
    environ = {name: value for name, value in os.environ.items() if not name.startswith("BYLAW_")}
    server = StdioServerParameters(
        command=sys.executable, args=words, cwd=folder, env={**environ, "PYTHONPATH": str(ROOT)}
    )
    asks = {"kind": "asks", "name": "who_decided"}
    calls: dict[str, dict[str, Any]] = {
        "held": {
            "question": "that booth of ours",
            "items": [asks, {"kind": "anchor", "name": BOOTH, "quote": "booth"}],
        },
        "lie": {
            "question": "that hovercraft",
            "items": [asks, {"kind": "anchor", "name": BOOTH, "quote": "hovercraft"}],
        },
        "by ref": {"question": "what else was there?", "decision": BOOTH, "intent": "alternatives"},
    }
    async with Client(server) as client:
        return {
            name: json.loads((await client.call_tool("ask_decision", given)).content[0].text)
            for name, given in calls.items()
        }
