"""Two models are registered and one is down: the other answers, and the reply, the trace and the record say so."""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest

from bylaw.cli import bundle_for_root
from tests.bot.conftest import Repository
from tests.bot.enforcement.test_with_a_model import QUESTION, obedient, reply_of
from tests.conftest import Command
from tests.fakes.llm import KEY, MODEL, FakeLLM

AGENTS = f"""\
agents:
  small: {{model: "vllm:{MODEL}", capabilities: [text], cost: 0, latency_ms: 900}}
  large: {{model: "openai:{MODEL}", capabilities: [text, query], cost: 12.5, latency_ms: 3000}}
  huge: {{model: "openai:huge", capabilities: [text], cost: 1, latency_ms: 60000}}
tasks: {{write: {{latency_ms: 50000}}, judge: {{latency_ms: 50000}}}}  # a busy machine is no matter of this test
"""


@pytest.fixture
def servers() -> Iterator[tuple[FakeLLM, FakeLLM]]:
    with FakeLLM(obedient) as small, FakeLLM(obedient) as large:
        yield small, large


@pytest.fixture(scope="module")
def root(repository: Repository, tmp_path_factory: pytest.TempPathFactory) -> Path:
    root = tmp_path_factory.mktemp("registry") / "repository"
    shutil.copytree(repository.root, root, ignore=shutil.ignore_patterns(".bylaw"))
    (root / "rules" / "agents.yaml").write_text(AGENTS, encoding="utf-8")
    (root / "rules" / "enforcement.yaml").write_text("generation_seconds: 200\n", encoding="utf-8")
    bundle_for_root(root)
    return root


@pytest.fixture
def ask(call: Command, root: Path, servers, monkeypatch: pytest.MonkeyPatch):
    small, large = servers

    def _ask(*more: str, **environ: str):
        shutil.rmtree(root / ".bylaw" / "artifacts", ignore_errors=True)
        given = {
            "BYLAW_LLM": "agents",
            "BYLAW_LLM_KEY": KEY,
            "BYLAW_LLM_URLS": f"small={small.openai} large={large.openai}",
            **environ,
        }
        with monkeypatch.context() as patch:
            for name, value in given.items():
                patch.setenv(name, value)
            return call("ask", QUESTION, "--root", root, "--at", "2026-11-20", "--json", *more)

    return _ask


def test_the_cheapest_writes(ask, servers):
    reply = reply_of(ask())
    assert reply["meta"] == {"author": f"vllm:{MODEL}", "fallback_used": False}
    assert servers[1].calls == []


def test_another_writes_where_the_cheapest_is_down_and_that_is_on_record(ask, servers, call, root):
    servers[0].fail("down", times=9)
    reply = reply_of(ask())
    assert reply["meta"] == {"author": f"openai:{MODEL}", "fallback_used": False}
    story = call("trace", reply["request_id"], "--root", root).out
    assert f"  model      large (openai:{MODEL}) for write; passed over: small overloaded" in story
    told = call("trace", reply["request_id"], "--root", root, "--json").json
    (entry,) = told["audit"]
    (first, *_) = entry["recorded"]["models"]
    assert (first["task"], first["agent"], first["model"]) == ("write", "large", f"openai:{MODEL}")
    assert first["passed_over"] == [{"agent": "small", "reason": "overloaded"}]


def test_the_plain_writer_answers_where_nobody_does(ask, servers):
    for server in servers:
        server.fail("down", times=9)
    reply = reply_of(ask())
    assert reply["meta"]["fallback_used"] is True
    assert "overloaded or down" in reply["meta"]["fallback_reason"]


def test_an_answer_of_the_second_can_be_rebuilt(ask, servers, call, root):
    servers[0].fail("down", times=9)
    reply = reply_of(ask())
    done = call("replay", reply["request_id"], "--root", root, "--json")
    assert done.code == 0, done.out
