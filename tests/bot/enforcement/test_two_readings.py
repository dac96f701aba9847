"""Where a model reads a question otherwise than the declared words, the person says which is meant: on every door."""

from __future__ import annotations

import asyncio
import json
import os
import sys
from pathlib import Path
from typing import Any

import pytest
from fastapi.testclient import TestClient

from bot import app
from bot.clock import new_id
from bot.delivery.http import api
from bot.settings import Settings
from bylaw.llm.wanted import Given, Wanted
from tests.fakes.llm import KEY, MODEL, FakeLLM
from tests.fakes.slack.house import house
from tests.fakes.slack.payloads import BOT
from tests.fakes.slack.reading import shown
from tests.fakes.slack.rooms import slack
from tests.fakes.voltmark import compiled

__all__ = ["slack"]
ROOT = Path(__file__).parents[3]
SAID = "I bought a TV 20 days ago for $600 and lost the receipt. Can I get a refund?"
DECLARED = "The customer gets store credit."
ASKS = {"kind": "asks", "quote": "Can I get a refund?", "name": "refund"}
TV = {"kind": "fact", "quote": "TV", "name": "product_category", "value": "electronics"}
BOUGHT = {
    "kind": "fact",
    "quote": "bought a TV 20 days ago",
    "name": "days_since_purchase",
    "value": 20,
    "unit": "days",
}
LOST = {"kind": "fact", "quote": "lost the receipt", "name": "has_receipt", "value": False}
PRICE = {"kind": "fact", "quote": "$600", "name": "purchase_amount", "value": 600, "unit": "USD"}
# What each character reads, and how the question is answered then: at once, by one of two readings, or by the only one.
CHARACTERS: dict[str, tuple[list[dict[str, Any]], str]] = {
    "careful": ([ASKS, TV, BOUGHT, LOST, PRICE], "at once"),
    "careless": ([ASKS, TV, BOUGHT], "two"),
    "mistaken": ([ASKS, TV, BOUGHT, LOST, PRICE, {**LOST, "name": "customer_tier", "value": "VIP"}], "two"),
    "asks for something else": ([{**ASKS, "name": "discount"}, TV, BOUGHT, LOST, PRICE], "two"),
    "says the opposite": ([ASKS, TV, {**LOST, "value": True}, PRICE, {**BOUGHT, "value": 2}], "two"),
    "reads nothing that is asked": ([TV, BOUGHT], "one"),
    "asks for more": ([{**ASKS, "name": "full_refund"}, TV, BOUGHT, LOST, PRICE], "two"),
}


@pytest.fixture(scope="module")
def voltmark(tmp_path_factory):
    return compiled(tmp_path_factory.mktemp("voltmark"))


@pytest.fixture
def fake():
    with FakeLLM() as server:
        yield server


def say_so(fake: FakeLLM, items: list[dict[str, Any]]) -> None:
    """The model reads so, and says of the rest what nobody can use."""
    fake.says = lambda call: json.dumps({"items": items} if "You read one message" in call.system else {})


class Terminal:
    """`bylaw ask --session`."""

    def __init__(self, call, bundle: Path, folder: Path, fake: FakeLLM, patch: pytest.MonkeyPatch) -> None:
        self.call, self.bundle, self.patch = call, bundle, patch
        self.environ = {
            "BYLAW_STORE_URL": f"sqlite:///{folder}/store.db",
            "BYLAW_ARTIFACTS": str(folder / "artifacts"),
            "BYLAW_LLM": "model",
            "BYLAW_LLM_MODEL": f"openai:{MODEL}",
            "BYLAW_LLM_URL": fake.openai,
            "BYLAW_LLM_KEY": KEY,
        }

    def __call__(self, text: str) -> dict[str, Any]:
        with self.patch.context() as patch:
            for name, value in self.environ.items():
                patch.setenv(name, value)
            said = ("ask", text, "--session", "s", "--bundle", self.bundle, "--at", "2026-11-20", "--json")
            return dict(self.call(*said).json)


class Http:
    """`POST /v2/query`."""

    def __init__(self, bundle: Path, folder: Path, fake: FakeLLM) -> None:
        wanted = Wanted("model", Given(f"openai:{MODEL}", fake.openai, KEY))
        self.bot = app.open_bot(Settings(root=folder, llm=wanted), bundle)
        self.client = TestClient(api.build(self.bot, Settings(root=folder), new_id), "http://localhost")

    def __call__(self, text: str) -> dict[str, Any]:
        return dict(self.client.post("/v2/query", json={"text": text, "session_id": "s", "at": "2026-11-20"}).json())


@pytest.fixture(params=["terminal", "http"])
def ask(request, call, voltmark, tmp_path, fake, monkeypatch):
    if request.param == "terminal":
        yield Terminal(call, voltmark, tmp_path, fake, monkeypatch)
    else:
        opened = Http(voltmark, tmp_path, fake)
        yield opened
        opened.bot.close()


def offered(reply: dict[str, Any]) -> list[str]:
    return [one["value"] for one in reply["choices"]]


@pytest.mark.parametrize("character", CHARACTERS)
def test_two_readings_are_both_shown_and_the_picked_one_counts(character, ask, fake):
    items, how = CHARACTERS[character]
    say_so(fake, items)
    first = ask(SAID)
    if how == "at once":
        assert first["status"] == "answered" and DECLARED in first["text"]
        return
    assert first["status"] == "needs_choice" and first["outcomes"] == {}
    if "instead" in offered(first):
        assert offered(first) == ["confirm", "instead", "other"]
        assert first["text"].startswith("I can read this in two ways: ") and "“lost the receipt”" in first["text"]
        last = ask("instead")
    else:
        assert how == "one" and offered(first) == ["confirm", "other"]
        last = ask("confirm")
    assert last["status"] == "answered" and DECLARED in last["text"], last["text"]
    assert "From before" not in last["text"], "nothing of the reading that was not picked is left"
    assert last["facts"]["has_receipt"] is False and last["facts"]["days_since_purchase"] == 20
    assert "customer_tier" not in last["facts"]


def test_what_was_read_and_not_meant_is_forgotten(ask, fake):
    say_so(fake, CHARACTERS["mistaken"][0])
    ask(SAID)
    assert ask("other")["facts"] == {}


def test_a_number_picks_a_reading_in_the_terminal(call, voltmark, tmp_path, fake, monkeypatch):
    asked = Terminal(call, voltmark, tmp_path, fake, monkeypatch)
    say_so(fake, CHARACTERS["careless"][0])
    asked(SAID)
    assert DECLARED in asked("2")["text"]


def test_the_first_of_two_is_what_the_model_reads(ask, fake):
    say_so(fake, CHARACTERS["careless"][0])
    ask(SAID)
    last = ask("confirm")
    assert last["status"] == "needs_fact" and last["facts"] == {
        "days_since_purchase": 20,
        "product_category": "electronics",
    }


def test_in_slack_each_reading_is_a_button(tmp_path, slack, voltmark, fake):
    say_so(fake, CHARACTERS["careless"][0])
    wanted = Wanted("model", Given(f"openai:{MODEL}", fake.openai, KEY))
    with house(tmp_path, slack, bundle=voltmark, answerers=None, llm=wanted) as bot:
        slack.say("UANA", "C1", f"<@{BOT}> {SAID}")
        bot.settle()
        (post,) = slack.posts("C1", "UANA")
        assert [label for one in slack.elements(post) for label in slack.labels(one)][:3] == [
            "The first", "The second", "No, something else",
        ]  # fmt: skip
        assert "in two ways" in shown(post) and "lost the receipt" in shown(post)
        slack.click("UANA", post, "The second")
        bot.settle()
        assert DECLARED in shown(slack.posts("C1", "UANA")[-1])
    assert slack.defects == []


@pytest.mark.slow
def test_an_assistant_is_given_both_and_picks_one(tmp_path, voltmark, fake):
    say_so(fake, CHARACTERS["careless"][0])
    first, last = asyncio.run(_talk(voltmark, tmp_path, fake))
    assert first["status"] == "needs_choice" and offered(first) == ["confirm", "instead", "other"]
    assert "in two ways" in first["text"]
    assert DECLARED in last["text"] and "From before" not in last["text"]


async def _talk(bundle: Path, folder: Path, fake: FakeLLM) -> list[dict[str, Any]]:
    from mcp import Client, StdioServerParameters

    kept = {name: value for name, value in os.environ.items() if not name.startswith("BYLAW_")}
    model = {
        "BYLAW_LLM": "model",
        "BYLAW_LLM_MODEL": f"openai:{MODEL}",
        "BYLAW_LLM_URL": fake.openai,
        "BYLAW_LLM_KEY": KEY,
    }
    words = ["-m", "bylaw.cli", "serve", "--mcp", "--as", "desk", "--bundle", str(bundle)]
    server = StdioServerParameters(
        command=sys.executable, args=words, cwd=folder, env={**kept, **model, "PYTHONPATH": str(ROOT)}
    )
    async with Client(server) as client:
        said = [
            await client.call_tool("ask_policy", {"question": text, "session_id": "s", "at": "2026-11-20"})
            for text in (SAID, "instead")
        ]
        return [json.loads(one.content[0].text) for one in said]
