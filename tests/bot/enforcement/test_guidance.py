"""What an answer may rest on, before anybody writes it."""

from __future__ import annotations

import json
from datetime import UTC, date, datetime
from pathlib import Path

import pytest
from fastapi.testclient import TestClient

from bot import app
from bot.clock import new_id
from bot.conversation import Actor, Question
from bot.delivery.http import api
from bot.delivery.mcp import Tools
from bot.enforcement.answer import answer
from bot.enforcement.guidance import Guidance, guide
from bot.enforcement.writing.unchecked import NOTE
from bot.index import BundleIndex
from bot.request.cases import read_facts
from bot.settings import Settings
from bylaw.bundle import parse
from ci import pipeline

NOW = datetime(2026, 11, 20, 9, tzinfo=UTC)
KENNEL = Path(__file__).with_name("trades") / "kennel"
# an expression that is no arithmetic: the policy cannot be formalized, and stays in force as text
AS_TEXT = """schema_version: "1.0"
policy_id: POL-BOARDING-003
actions:
  - {{type: required, action: call_vet, source_text: Parrots and other birds sleep in the quiet room.}}
formal:
  constraints: [{{constraint_id: C-1, expression: "import os"}}]
metadata: {{source: house rules 9, owner: Bird Keeper, domain: boarding, effective_date: "2025-01-01"}}
{audience}
"""

ROLES = """roles: {keepers: {schemas: []}, guests: {schemas: []}}
users: {kim: [keepers]}
default_role: guests
"""


def asked(text: str, index: BundleIndex, facts: dict | None = None, actor: str = "anna") -> Guidance:
    question = Question(text=text, actor=Actor(id=actor), asked_at=NOW, request_id="r")
    return guide(question, index, read_facts(facts or {}, index))


@pytest.fixture
def kennel(tmp_path: Path):
    def built(audience: str = "") -> BundleIndex:
        for file in KENNEL.rglob("*.yaml"):
            place = tmp_path / file.relative_to(KENNEL)
            place.parent.mkdir(parents=True, exist_ok=True)
            place.write_text(file.read_text())
        (tmp_path / "rules").mkdir()
        (tmp_path / "rules/roles.yaml").write_text(ROLES)
        (tmp_path / "policies/boarding/POL-BOARDING-003.yaml").write_text(AS_TEXT.format(audience=audience))
        return BundleIndex(parse(pipeline.bundle_text(pipeline.run(tmp_path, None, date(2026, 11, 20)))))

    return built


def test_the_policies_that_speak_come_with_their_lines_and_whether_they_hold(own: BundleIndex) -> None:
    found = asked("I bought a TV 20 days ago and lost the receipt. Can I get a refund?", own)
    assert found.uncovered is None
    assert found.facts["days_since_purchase"] == 20
    first = found.policies[0]
    assert (first.relevance, first.checked, first.owner) == (1.0, True, "Customer Service Dept.")
    rules = {rule.rule_id: rule for policy in found.policies for rule in policy.rules}
    assert all(rule.path.startswith("policies/") and rule.line > 0 and rule.text for rule in rules.values())
    assert {rule.status for rule in rules.values()} == {"open", "does not hold"}
    assert [one.fact for one in found.missing][:1] == ["purchase_amount"]
    assert found.scaffold["steps"]


def test_facts_that_are_given_count_and_decide(own: BundleIndex) -> None:
    facts = {"product_category": "gift_card", "is_california_resident": False, "gift_card_balance": 5}
    found = asked("Can I get a refund?", own, facts)
    assert found.outcomes["refund"]["action"] == "reject"
    assert not found.missing


def test_the_layers_are_read(own: BundleIndex) -> None:
    found = asked("Can I get a refund for a TV?", own)
    always = found.layers["system_prompt"]
    assert always.policies
    assert always == asked("What does delivery cost?", own).layers["system_prompt"]  # the question does not change it
    near = found.layers["prompt_context"]
    assert set(near.policies) <= {policy.policy_id for policy in found.policies}
    assert all(policy in near.text for policy in near.policies)


def test_what_no_rule_covers_has_no_policies_and_an_owner(own: BundleIndex) -> None:
    found = asked("What are the rules for sick leave?", own)
    assert found.policies == ()
    assert found.outcomes == {}
    assert found.uncovered is not None
    assert found.uncovered.owners


def test_a_policy_that_is_text_alone_is_quoted_and_marked(kennel) -> None:
    index = kennel()
    (found,) = asked("Do you take parrots?", index).policies
    assert (found.policy_id, found.checked, found.note) == ("POL-BOARDING-003", False, "not checked by logic")
    assert found.texts == ("Parrots and other birds sleep in the quiet room.",)
    reply = answer(Question(text="Do you take parrots?", asked_at=NOW, request_id="r"), {}, index).reply
    assert "“Parrots and other birds sleep in the quiet room.” (POL-BOARDING-003, not checked by logic)" in reply.text
    assert [one.id for one in reply.citations] == ["POL-BOARDING-003"]


def test_who_may_not_read_a_text_is_not_shown_it(kennel) -> None:
    index = kennel("audience: [keepers]")
    assert asked("Do you take parrots?", index).policies == ()
    reply = answer(Question(text="Do you take parrots?", asked_at=NOW, request_id="r"), {}, index).reply
    assert "quiet room" not in reply.text
    assert asked("Do you take parrots?", index, actor="kim").policies[0].texts


def test_a_failed_policy_is_quoted_at_every_door(kennel, tmp_path: Path, call) -> None:
    """Over HTTP, as an MCP tool and in the terminal: the same words, with the file that they stand in."""
    kennel()
    out, question = tmp_path / "out", "Do you take parrots?"
    stopped = call("compile", "--root", tmp_path, "-o", out)
    assert stopped.code == 1 and "POL-BOARDING-003.yaml:" in stopped.err and not out.exists()
    assert call("compile", "--root", tmp_path, "-o", out, "--allow-errors").code == 0
    bundle = out / "compiled_policy_bundle.json"
    assert (
        json.loads(bundle.read_text())["policies"]["POL-BOARDING-003"]["processing_status"]["formalization"] == "failed"
    )
    bot = app.open_bot(Settings(root=tmp_path), bundle)
    client = TestClient(api.build(bot, Settings(root=tmp_path), new_id), "http://localhost")
    served = client.post("/v2/guidance", json={"text": question, "at": "2026-11-20"}).json()
    tooled = Tools(bot, "anna").guidance(question, at="2026-11-20")
    bot.close()
    words = ("guide", question, "--bundle", bundle, "--at", "2026-11-20")
    told, shown = call(*words, "--json").json, call(*words).out
    for found in (served, tooled, told):
        (policy,) = found["policies"]
        assert (policy["policy_id"], policy["checked"], policy["note"]) == ("POL-BOARDING-003", False, NOTE)
        assert policy["texts"] == ["Parrots and other birds sleep in the quiet room."]
        assert (policy["path"], policy["line"]) == ("policies/boarding/POL-BOARDING-003.yaml", 1)
        assert found["uncovered"] is None
        assert [one["policy_id"] for one in found["unproven"]] == ["POL-BOARDING-003"]
        assert "POL-BOARDING-003" in found["layers"]["prompt_context"]["policies"]
    assert "“Parrots and other birds sleep in the quiet room.”" in shown
    assert f"POL-BOARDING-003 (relevance 0.8, owner Bird Keeper, {NOTE})" in shown


def test_a_rule_that_compares_two_facts_has_its_way_in_the_scaffold(own: BundleIndex) -> None:
    found = asked("Do you match the price of another shop?", own)
    assert "price at the competitor is less than price of the item" in json.dumps(found.scaffold)
