"""What a model makes of "that's wrong, …" is held against answer, context and words; the person confirms it."""

from __future__ import annotations

import copy
import json
from dataclasses import replace
from pathlib import Path

import pytest
import yaml

from bot.conversation import CORRECTS, PROPOSED, Actor, Question
from bot.delivery.blocks import wrong as blocks
from bot.delivery.listeners import wrong as listener
from bot.memory import offered
from bot.memory.corrections import correct
from bot.operate.replay import replay
from bot.request.orchestrator import handle
from bylaw.authored.context import Context
from bylaw.bundle import dump
from bylaw.errors import UsageError
from bylaw.llm.guarded import Guard
from tests.bot.memory.conftest import CONTEXT, ONLINE
from tests.bylaw.llm.scripted import Clock, Scripted

CASES = yaml.safe_load(Path(__file__).with_name("proposed.yaml").read_text(encoding="utf-8"))
SAID = "that's wrong, only online orders count"
GOOD = {**ONLINE, "words": "only online orders count"}


@pytest.fixture
def objecting(shop):
    """Ask, then say what is wrong to a bot whose model says *script*."""
    context = copy.deepcopy(CONTEXT)
    orders = context["entities"]["orders"]
    orders["dimensions"][0]["sample_values"] = ["online", "store"]
    orders["filters"] = [{"name": "real_orders", "expr": "not is_test"}]
    shop.serve(Context.model_validate(context))

    def _objecting(*script, said=SAID, user="ada"):
        shop.model = Scripted(list(script))
        shop.services = shop.services.under(shop.services.index.rules.autonomy)
        shop.services = replace(shop.services, llm=Guard(shop.model, Clock()))

        def say(text, name):
            asked = Question(text=text, actor=Actor(id=user), asked_at=shop.now, session_id="talk", request_id=name)
            return handle(asked, shop.services)

        say("revenue", "first")
        return say(said, "second")

    return _objecting


@pytest.mark.parametrize("row", CASES["holds"], ids=lambda row: row["title"])
def test_what_holds_is_shown_and_changes_nothing_before_a_yes(row, shop, objecting):
    heard = objecting(json.dumps({name: row[name] for name in ("object", "field", "new", "words")}), said=row["said"])
    new = row.get("becomes", row["new"])
    assert heard.meta == {CORRECTS: "first", PROPOSED: {"object": row["object"], "field": row["field"], "new": new}}
    assert new in heard.text and "Nothing has changed yet" in heard.text
    assert shop.kept("ada") == ()
    meant = offered.meant("second", Actor(id="ada"), shop.services)
    made = correct(offered.confirmed(meant), Actor(id="ada"), shop.services).correction
    assert (made.new, made.reason, made.request_id) == (new, row["said"], "first")


@pytest.mark.parametrize("row", CASES["falls"], ids=lambda row: row["title"])
def test_what_does_not_hold_is_not_even_shown(row, shop, objecting):
    said = {**GOOD, **{name: row[name] for name in GOOD if name in row}}
    said["new"] = "total > 0 and " * 40_000 if said["new"] == "long" else said["new"]
    heard = objecting(*[json.dumps(said)] * 3)
    assert heard.meta == {CORRECTS: "first"}
    assert len(shop.model.seen) == (1 if said["new"].endswith("and ") else 2), "the same objection is not put twice"
    assert row["because"] in json.dumps([one.user for one in shop.model.seen])


def test_an_objection_is_mended(objecting):
    careless = json.dumps({**GOOD, "new": "chanel = 'online'"})
    assert objecting(careless, json.dumps(GOOD)).meta[PROPOSED]["new"] == "channel = 'online'"


def test_what_is_unclear_is_left_to_the_person(objecting):
    assert PROPOSED not in objecting(json.dumps({"unclear": "Which orders do you mean?"}), said="that's wrong").meta


@pytest.mark.parametrize("script", ["late", "{", '{"object": 1}', json.dumps({**GOOD, "more": 1})])
def test_without_an_answer_of_a_model_it_is_as_without_a_model(script, objecting):
    assert objecting(script).meta == {CORRECTS: "first"}


def test_nobody_confirms_for_somebody_else(shop, objecting):
    objecting(json.dumps(GOOD))
    meant = offered.meant("second", Actor(id="ada"), shop.services)
    with pytest.raises(UsageError):
        offered.confirmed(offered.Meant("first"))
    correct(offered.confirmed(meant), Actor(id="bo"), shop.services)
    assert "online" not in shop.ask("ada").sql


def test_the_form_in_slack_opens_filled_in(shop, objecting):
    objecting(json.dumps(GOOD))
    ada = Actor(id="ada")
    meant = offered.meant("second", ada, shop.services)
    found = offered.of(meant.request_id, ada, shop.services)
    view = blocks.form("first", listener.options(found), *listener.filled_in(meant, found))
    shown = {block.get("block_id"): block.get("element") for block in view["blocks"]}
    assert shown[blocks.WHAT]["initial_option"]["value"] == "metrics/revenue#filter"
    assert (shown[blocks.NEW]["initial_value"], shown[blocks.REASON]["initial_value"]) == ("channel = 'online'", SAID)
    assert "It says now: nothing" in json.dumps(view)


def test_it_can_be_replayed(shop, objecting):
    kept = shop.services.artifacts.put_text(dump(shop.services.index.bundle))
    shop.services = replace(shop.services, bundle_artifact=kept)
    assert PROPOSED in objecting(json.dumps(GOOD)).meta
    assert replay("second", shop.services.store, shop.services.artifacts).is_same
