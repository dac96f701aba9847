"""A yes to a plan, from the terminal, over HTTP and in process: it counts for who asked, once, and is on record."""

from __future__ import annotations

import json
import threading
from dataclasses import replace
from datetime import timedelta

import pytest
from starlette.testclient import TestClient

from bot.analytics.plan import plans
from bot.answerers import answerers
from bot.app import open_bot
from bot.conversation import Actor
from bot.delivery.http import api
from bot.evidence.store.tables import audit, querylog, requests
from bot.lifecycle import State
from bot.operate.replay import replay
from bot.request.confirmation import settling
from bot.request.orchestrator import handle
from bot.settings import Settings
from bylaw.audit.verify import verify
from bylaw.llm.guarded import Guard
from bylaw.warehouses.registry import open_warehouse
from tests.bylaw.llm.scripted import Clock, Scripted
from tests.conftest import call_bylaw
from tests.fakes.frame import NOON, question

ASKED = "What was the revenue last month by region?"
CAREFUL = {"autonomy_override": 2}


@pytest.fixture
def settings(repository_with_data, tmp_path):
    store = f"sqlite:///{tmp_path}/store.db"
    url = f"duckdb:///{repository_with_data}/data.duckdb"
    return Settings(repository_with_data, warehouse=url, store_url=store, artifacts=str(tmp_path / "artifacts"))


@pytest.fixture
def bundle(repository_with_data):
    return repository_with_data / ".bylaw" / "compiled_policy_bundle.json"


@pytest.fixture
def bot(settings, bundle):
    opened = open_bot(settings, bundle)
    yield opened
    opened.close()


@pytest.fixture
def say(bot):
    def _say(name, text, **others):
        return handle(question(name, text, **others), bot.services())

    return _say


def chain(bot):
    with bot.services().store.reading() as connection:
        entries = list(audit.entries(connection))
    assert verify(entries).is_intact
    return [(entry.body["event"], entry.body["request_id"]) for entry in entries if entry.body["event"] != "served"]


def standing(bot, request_id):
    with bot.services().store.reading() as connection:
        return requests.load(connection, request_id)


def accepted(bot):
    with bot.services().store.reading() as connection:
        return {row["request_id"]: row["user_accepted"] for row in querylog.rows(connection)}


def test_the_figures_beside_several_readings_are_rebuilt(bot, say):
    shown = say("r1", "What were the takings in October 2026?")
    assert shown.status == "needs_choice"
    assert [choice.label.rpartition(": ")[2] for choice in shown.choices] == ["19.1 USD", "0.1 USD"]
    services = bot.services()
    assert replay("r1", services.store, services.artifacts).is_same
    assert say("r2", "2").rows == ((0.1,),)


def test_a_yes_runs_the_plan_and_is_on_record(bot, say):
    shown = say("r1", ASKED, options=CAREFUL)
    assert (shown.status, shown.rows) == ("recommended", ())
    assert standing(bot, "r1").state == State.ACCEPT
    reply = say("r2", "yes")
    assert (reply.status, len(reply.rows), reply.sql) == ("answered", 2, shown.sql)
    assert standing(bot, "r1").state == State.CLOSE
    assert chain(bot) == [("reply", "r1"), ("confirmed", "r1"), ("reply", "r2")]
    assert accepted(bot) == {"r1": None, "r2": None}  # to run a plan is not to take its rows as they are
    assert standing(bot, "r2").state == State.ACCEPT
    services = bot.services()
    assert replay("r2", services.store, services.artifacts).is_same


def test_the_same_yes_sent_again_gets_the_same_reply(bot, say):
    say("r1", ASKED, options=CAREFUL)
    assert say("r2", "yes") == say("r2", "yes")
    assert [event for event, _ in chain(bot)].count("confirmed") == 1


def test_a_second_yes_finds_nothing_that_waits(bot, say):
    say("r1", ASKED, options=CAREFUL)
    say("r2", "yes")
    assert say("r3", "yes").text == plans.GONE
    assert [event for event, _ in chain(bot)].count("confirmed") == 1


@pytest.mark.parametrize("other", [{"actor": Actor(id="bob")}, {"session_id": "elsewhere"}], ids=["person", "session"])
def test_a_yes_from_elsewhere_does_not_count(bot, say, other):
    say("r1", ASKED, options=CAREFUL)
    assert say("r2", "yes", **other).rows == ()
    assert standing(bot, "r1").state == State.ACCEPT
    assert say("r3", "yes").status == "answered"


def test_a_no_closes_the_request_and_accepts_nothing(bot, say):
    say("r1", ASKED, options=CAREFUL)
    assert say("r2", "no").text == plans.DROPPED
    assert standing(bot, "r1").state == State.CLOSE
    assert accepted(bot) == {"r1": None, "r2": None}
    assert ("declined", "r1") in chain(bot)


def test_a_yes_that_comes_too_late_finds_the_plan_expired(bot, say):
    say("r1", ASKED, options=CAREFUL)
    assert say("r2", "yes", asked_at=NOON + timedelta(days=8)).status == "refused"
    assert standing(bot, "r1").state == State.EXPIRED


def test_a_plan_that_was_taken_as_it_is_does_not_run_any_more(bot, say):
    from bot.request.acceptance import accept

    say("r1", ASKED, options=CAREFUL)
    assert accept("r1", Actor(id="ana"), bot.services()).is_accepted
    reply = say("r2", "yes")
    assert (reply.status, reply.rows) == ("refused", ())
    assert reply.text == plans.SECOND
    assert replay("r2", bot.services().store, bot.services().artifacts).is_same


class Gate:
    """A warehouse that holds every statement until it is told to go on, and counts them."""

    def __init__(self, warehouse):
        self.warehouse, self.dialect = warehouse, warehouse.dialect
        self.running, self.go, self.count = threading.Event(), threading.Event(), 0

    def explain(self, sql):
        return self.warehouse.explain(sql)

    def run(self, sql, limit, stop=None):
        if "SUM" in sql:
            self.count += 1
            self.running.set()
            assert self.go.wait(20)
        return self.warehouse.run(sql, limit)

    def columns(self, schema, table):
        return self.warehouse.columns(schema, table)

    def close(self):
        self.warehouse.close()


def test_of_two_yeses_at_once_one_runs(bot, settings):
    gate = Gate(open_warehouse(settings.warehouse, statement_seconds=10))
    services = bot.services()
    own = answerers(gate, None, settling(services.store, services.clock, services.anchor))
    services = replace(services, answerers=own)
    for one in own:
        one.prepare(services.index)
    handle(question("r1", ASKED, options=CAREFUL), services)
    replies = {}
    first = threading.Thread(target=lambda: replies.update(r2=handle(question("r2", "yes"), services)))
    first.start()
    assert gate.running.wait(20)
    second = handle(question("r3", "yes"), services)
    gate.go.set()
    first.join(20)
    gate.close()
    assert (second.status, second.rows) == ("refused", ())
    assert replies["r2"].status == "answered"
    assert gate.count == 1


def test_whoever_broke_down_after_the_yes_may_say_it_again(bot):
    seen = []
    settle = settling(bot.services().store, lambda: NOON, seen.append)
    handle(question("r1", ASKED, options=CAREFUL), bot.services())
    assert settle("r1", question("r2", "yes"), "confirmed")
    assert settle("r1", question("r2", "yes"), "confirmed")
    assert not settle("r1", question("r3", "yes"), "confirmed")
    assert not settle("r1", question("r2", "yes", actor=Actor(id="bob")), "confirmed")
    assert not settle("unknown", question("r2", "yes"), "confirmed")
    assert chain(bot) == [("reply", "r1"), ("confirmed", "r1")]
    assert [tail.count for tail in seen] == [3]


def test_a_yes_in_the_terminal_goes_on_with_its_session(repository_with_data, bundle, tmp_path, monkeypatch):
    monkeypatch.setenv("BYLAW_STORE_URL", f"sqlite:///{tmp_path}/store.db")
    monkeypatch.setenv("BYLAW_ARTIFACTS", str(tmp_path / "artifacts"))
    given = ["--bundle", bundle, "--warehouse", f"duckdb:///{repository_with_data}/data.duckdb", "--at", "2026-11-20"]
    shown = call_bylaw("ask", ASKED, "--level", 2, "--session", "s", *given)
    assert "1. Run it" in shown.out
    assert "answer with: bylaw ask --session s" in shown.err
    ran = json.loads(call_bylaw("ask", "1", "--session", "s", "--json", *given).out)
    assert (ran["status"], len(ran["rows"])) == ("answered", 2)


@pytest.fixture
def served(bot, settings):
    return TestClient(api.build(bot, settings, iter(["r1", "r2", "r3"]).__next__), "http://127.0.0.1")


def test_a_yes_over_http_goes_on_with_its_session(served):
    told = {"session_id": "s", "user": "ana", "at": "2026-11-20"}
    shown = served.post("/v2/query", json={"text": f"{ASKED[:-1]}, confirm first", **told}).json()
    assert (shown["status"], [choice["value"] for choice in shown["choices"]]) == ("pending", ["yes", "no"])
    assert served.post("/v2/query", json={"text": "yes", **told, "user": "bob"}).json()["rows"] == []
    ran = served.post("/v2/query", json={"text": "yes", **told}).json()
    assert (ran["status"], len(ran["rows"])) == ("answered", 2)


def test_an_agent_says_yes_in_the_session_of_its_plan(served):
    told = {"session_id": "s", "actor": {"id": "robot", "type": "agent"}}
    asked = {"query": {"natural_language": "revenue by region in October 2026"}, "preferences": CAREFUL}
    assert served.post("/v2/analytics", json={**asked, **told}).json()["status"] == "pending_acceptance"
    ran = served.post("/v2/analytics", json={"query": {"natural_language": "yes"}, **told}).json()
    assert len(ran["result"]["data"]) == 2


def test_what_a_model_read_is_on_record_and_is_replayed(bot, settings):
    said = {
        "items": [
            {"kind": "asks", "name": "revenue", "quote": "revenue"},
            {"kind": "group", "name": "orders.region", "quote": "by region"},
            {"kind": "time", "quote": "last month"},
        ]
    }
    model = Scripted([json.dumps(said)])
    services = bot.services()
    warehouse = open_warehouse(settings.warehouse, statement_seconds=10)
    own = answerers(warehouse, Guard(model, Clock()), settling(services.store, services.clock, services.anchor))
    services = replace(services, answerers=own)
    for one in own:
        one.prepare(services.index)
    ran = handle(question("r1", "revenue by region last month"), services)
    warehouse.close()
    assert (ran.status, len(ran.rows), ran.reading["by"]) == ("answered", 2, "both")
    with services.store.reading() as connection:
        (_, first, *_) = audit.entries(connection)  # the very first says what is served
    assert first.body["models"] == [{"model": "scripted", "prompt": model.seen[0].fingerprint}]
    assert services.artifacts.get(first.body["artifacts"]["proposal"])["proposal"]["items"] == said["items"]
    assert replay("r1", services.store, services.artifacts).is_same
