"""The tools as another assistant meets them: a real process, spoken to by the official client."""

from __future__ import annotations

import asyncio
import contextlib
import json
import os
import socket
import subprocess
import sys
import time
from importlib.metadata import version
from pathlib import Path
from typing import Any

import pytest

pytestmark = pytest.mark.slow

ROOT = Path(__file__).parents[3]


@pytest.fixture(scope="module")
def told(company: Any, tmp_path_factory: pytest.TempPathFactory) -> dict[str, Any]:
    """What one session was told: the tools, and the answer to each call."""
    return asyncio.run(_session(company.bundle, tmp_path_factory.mktemp("mcp")))


CLAIMED: dict[str, Any] = {
    "query": "My city bike is 5 hours late. What do I pay?",
    "facts": {"hours_late": 5, "is_member": False, "bike_type": "city"},
    "claims": [
        {"kind": "courtesy", "quote": "Thanks for asking!"},
        {"kind": "gives", "quote": "An hourly fee applies.", "action": "hourly_fee"},
    ],
}
CALLS: dict[str, tuple[str, dict[str, Any]]] = {
    "asked": ("ask_policy", {"question": "the bike came back 5 hours late, what is the late fee?", "session_id": "s"}),
    "again": ("ask_policy", {"question": "and what about the deposit?", "session_id": "s"}),
    "empty": ("ask_policy", {"question": ""}),
    "decided": ("ask_decision", {"question": "why did we move to PostgreSQL?"}),
    "itemised": (
        "ask_policy",
        {
            "question": "late fee for 5 hours",
            "items": [
                {"kind": "asks", "name": "late_fee", "quote": "late fee"},
                {"kind": "fact", "name": "hours_late", "value": 5, "unit": "hours", "quote": "5 hours"},
                {"kind": "fact", "name": "bike_type", "value": "cargo", "quote": "cargo"},
            ],
        },
    ),
    "sought": (
        "ask_decision",
        {
            "question": "why did we move to PostgreSQL?",
            "items": [
                {"kind": "asks", "name": "why_decision", "quote": "why did we"},
                {"kind": "anchor", "name": "no-such-record", "quote": "PostgreSQL"},
            ],
        },
    ),
    "unheld": ("ask_decision", {"question": "why?", "items": [{"kind": "asks", "quoted": "why"}]}),
    "granted": (
        "check_answer",
        {
            "query": "is there a late fee?",
            "response": "There is no fee.",
            "claims": [{"kind": "gives", "action": "no_fee", "quote": "There is no fee."}],
        },
    ),
    "governed": ("decisions_for", {"path": "src/app.py"}),
    "right": ("explain", {"facts": {"hours_late": 5, "bike_type": "city", "is_member": True}, "at": "2026-06-01"}),
    "wanted": ("explain", {"facts": {"hours_late": 5}, "want": "no_fee", "at": "2026-06-01"}),
    "wrong": ("explain", {"facts": {"hours_lat": 5}}),
    "checked": (
        "check_answer",
        {
            "query": "the bike came back late",
            "response": "There is no fee.",
            "facts": {"hours_late": 9, "is_member": True, "bike_type": "city"},
        },
    ),
    "claimed": ("check_answer", {**CLAIMED, "response": "Thanks for asking! An hourly fee applies."}),
    "claimed more": (
        "check_answer",
        {**CLAIMED, "response": "Thanks for asking! An hourly fee applies. A tour is free."},
    ),
    "misclaimed": ("check_answer", {**CLAIMED, "response": "Hi!", "claims": [{"kind": "gives", "quote": "Hi!"}]}),
    "guided": ("guidance", {"question": "what does a late rider pay?", "facts": {"hours_late": 0}}),
    "odd": ("explain", {"facts": {"x" * 100_000: 1}}),
    "too long": ("check_answer", {"query": "late?", "response": "x" * 30_000}),
    "misnamed": ("check_answer", {"query": "late?", "response": "There is no fee.", "fact": {"hours_late": 9}}),
}


def _command(bundle: Path) -> tuple[list[str], dict[str, str]]:
    words = ["-m", "bylaw.cli", "serve", "--mcp", "--as", "desk", "--bundle", str(bundle)]
    kept = {name: value for name, value in os.environ.items() if not name.startswith("BYLAW_")}
    return words, {**kept, "PYTHONPATH": str(ROOT)}


async def _session(bundle: Path, folder: Path) -> dict[str, Any]:
    from mcp import Client, StdioServerParameters  # a second, of which collecting tests has no need

    words, environment = _command(bundle)
    server = StdioServerParameters(command=sys.executable, args=words, cwd=folder, env=environment)
    async with Client(server) as client:
        tools = (await client.list_tools()).tools
        found: dict[str, Any] = {
            "tools": {tool.name: tool for tool in tools},
            "errors": set(),
            "server": client.server_info,
        }
        for name, (tool, arguments) in CALLS.items():
            said = await client.call_tool(tool, arguments)
            found[name] = json.loads(text) if (text := said.content[0].text).startswith("{") else text
            found["errors"] |= {name} if said.is_error else set()
    return found


def test_these_tools_are_offered(told: dict[str, Any]) -> None:
    assert sorted(told["tools"]) == [
        "ask_decision",
        "ask_policy",
        "check_answer",
        "decide",
        "decisions_for",
        "explain",
        "guidance",
    ]
    assert told["server"].version == version("bylaw-policies")
    assert "\n   " not in told["tools"]["check_answer"].description


def test_a_decision_that_is_not_on_record_is_said_to_be_so(told: dict[str, Any]) -> None:
    assert told["decided"]["kind"] == "decision"
    assert told["decided"]["evidence"] is None
    assert told["governed"] == {"path": "src/app.py", "decisions": []}


def test_guidance_says_what_an_answer_may_rest_on(told: dict[str, Any]) -> None:
    assert told["guided"]["facts"] == {"hours_late": 0}
    assert told["guided"]["policies"][0]["rules"][0]["line"] > 0
    assert set(told["guided"]["layers"]) == {"system_prompt", "prompt_context", "guardrail"}


def test_a_question_gets_a_reply_with_its_sources(told: dict[str, Any]) -> None:
    assert told["asked"]["kind"] == "policy" and told["asked"]["facts"] == {"hours_late": 5}
    assert told["asked"]["session_id"] == told["again"]["session_id"] == "s"


def test_an_explanation_says_what_would_have_to_be_different(told: dict[str, Any]) -> None:
    assert told["right"]["outcomes"]["late_fee"]["action"] == "hourly_fee"
    assert any(other["action"] == "no_fee" for other in told["right"]["why"]["different"])
    assert told["wanted"]["why"]["different"][0]["changes"]


def test_a_wrong_answer_does_not_pass(told: dict[str, Any]) -> None:
    assert told["checked"]["action"] != "pass"
    assert told["checked"]["bundle_etag"].startswith("sha256:")


@pytest.mark.parametrize("name", ["empty", "wrong", "too long"])
def test_a_wrong_argument_is_told_and_ends_nothing(told: dict[str, Any], name: str) -> None:
    assert told[name]["error"] and told["tools"]


def test_whatever_is_refused_is_an_error_to_the_client_too(told: dict[str, Any]) -> None:
    assert told["errors"] == {"empty", "wrong", "odd", "too long", "misnamed", "unheld", "misclaimed"}


def test_an_argument_that_no_tool_has_is_refused_rather_than_left_out(told: dict[str, Any]) -> None:
    assert "fact\n" in told["misnamed"] and "not permitted" in told["misnamed"]
    assert told["tools"]["check_answer"].input_schema["additionalProperties"] is False


def test_an_error_repeats_no_more_than_a_person_reads(told: dict[str, Any]) -> None:
    assert told["odd"]["error"].startswith("`xxx") and len(told["odd"]["error"]) <= 1_000


def test_items_are_held_and_every_reply_to_words_says_how_they_were_read(told: dict[str, Any]) -> None:
    asked = told["itemised"]["reading"]
    assert asked["by"] == "given" and [one["name"] for one in asked["items"]] == ["late_fee", "hours_late"]
    assert [one["name"] for one in asked["refused"]] == ["bike_type"] and asked["refused"][0]["why"]
    sought = told["sought"]["reading"]
    assert [one["name"] for one in sought["refused"]] == ["no-such-record"]
    assert told["sought"]["status"] != "answered" and [one["text"] for one in sought["residue"]] == ["PostgreSQL"]
    assert told["granted"]["action"] != "pass"  # whether there is none depends on the hours
    for name in ("asked", "again", "decided", "guided", "checked", "granted"):
        assert told[name]["reading"]["by"] in ("matcher", "given", "template", "plain"), name


async def _over_http(port: int) -> list[str]:
    from mcp import Client

    async with Client(f"http://127.0.0.1:{port}/mcp") as client:
        said = await client.call_tool(
            "ask_policy", {"question": "the bike came back 5 hours late, what is the late fee?"}
        )
        return [tool.name for tool in (await client.list_tools()).tools] + [json.loads(said.content[0].text)["kind"]]


def test_the_same_tools_are_offered_over_http_on_this_machine_alone(company: Any, tmp_path: Path, told: Any) -> None:
    words, environment = _command(company.bundle)
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    refused = subprocess.run(
        [sys.executable, *words, "--host", "0.0.0.0"], cwd=tmp_path, env=environment, capture_output=True, text=True
    )
    assert refused.returncode == 2 and "only this machine is served" in refused.stderr
    server = subprocess.Popen([sys.executable, *words, "--port", str(port)], cwd=tmp_path, env=environment)
    try:
        for _ in range(120):
            with contextlib.suppress(OSError), socket.create_connection(("127.0.0.1", port)):
                break
            time.sleep(0.5)
        assert asyncio.run(_over_http(port)) == [*told["tools"], "policy"]
    finally:
        server.terminate()
        server.wait()


def test_claims_that_an_assistant_says_of_its_own_answer_are_held(told: dict[str, Any]) -> None:
    assert (told["claimed"]["verdict"], told["claimed"]["action"]) == ("valid", "pass")
    assert [one["status"] for one in told["claimed"]["reading"]["claims"]] == ["valid", "valid"]
    assert told["claimed more"]["verdict"] == "unread"
    assert [one["quote"] for one in told["claimed more"]["reading"]["unread"]] == ["tour", "free"]
    assert "needs `action`" in told["misclaimed"]["error"] and "misclaimed" in told["errors"]
