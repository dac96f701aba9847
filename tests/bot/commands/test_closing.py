"""The verbs that end a request, on a real bundle and a real store: by who may, told once, with exit codes."""

from __future__ import annotations

import json
from datetime import timedelta

import pytest

from bot.evidence.store.engine import connect
from bot.evidence.store.tables import deliveries
from tests.conftest import call_bylaw
from tests.fakes.frame import NOON


@pytest.fixture
def bylaw(repository_with_data, tmp_path):
    store = {"BYLAW_STORE_URL": f"sqlite:///{tmp_path}/store.db", "BYLAW_ARTIFACTS": str(tmp_path / "artifacts")}
    bundle = repository_with_data / ".bylaw" / "compiled_policy_bundle.json"
    data = f"duckdb:///{repository_with_data}/data.duckdb"

    def run(verb, *words, warehouse=False):
        given = ("--warehouse", data) if warehouse else ()
        return call_bylaw(*verb.split(), *words, "--bundle", bundle, *given, **store)

    return run


@pytest.fixture
def asked(bylaw):
    """The id of an answer of ana's."""
    words = ("What was the revenue by region?", "--as", "ana", "--session", "s1", "--json")
    reply = bylaw("ask", *words, warehouse=True).json
    assert reply["status"] == "answered" and reply["level"]
    return reply["request_id"]


def test_an_answer_is_accepted_by_its_asker_and_nobody_else(bylaw, asked):
    refused = bylaw("accept", asked, "--as", "bob", "--json")
    unknown = bylaw("accept", "nothing", "--as", "bob", "--json")
    assert (refused.code, refused.json["text"]) == (1, unknown.json["text"])  # to bob there is no such answer
    for _ in range(2):
        done = bylaw("accept", asked, "--as", "ana", "--json")
        assert (done.code, done.json["accepted"]) == (0, True)
    assert bylaw("accept", asked, "--as", "ana").out == "Accepted.\n"


def test_a_question_in_other_words_goes_on_with_its_conversation(bylaw, asked):
    again = bylaw("revise", asked, "revenue in October 2026", "--as", "ana", "--json", warehouse=True).json
    assert (again["status"], again["session_id"]) == ("answered", "s1")
    assert bylaw("accept", asked, "--as", "ana").code == 1
    assert bylaw("revise", asked, "revenue", "--as", "bob").code == 2
    assert "north" not in bylaw("revise", again["request_id"], "revenue", "--as", "ana", warehouse=True).out


def test_feedback_is_kept_with_the_answer(bylaw, asked):
    said = bylaw("feedback", asked, "--bad", "--text", "the test shops are in it", "--as", "ana", "--json")
    assert (said.code, said.json["new"]) == (0, True)
    assert bylaw("feedback", asked, "--bad", "--as", "bob").code == 2
    assert bylaw("feedback", asked, "--as", "ana").code == 2  # neither good nor bad
    figures = bylaw("stats", "--quality", "--json").json["quality"]["figures"]
    assert (figures["incorrect_first_answers"]["value"], figures["acceptance"]["value"]) == (1, 0)


def test_what_somebody_has_to_hear_is_shown_once(bylaw, asked, tmp_path):
    store = connect(f"sqlite:///{tmp_path}/store.db", tmp_path)
    with store.writing() as connection:
        deliveries.notify(connection, "grace", asked, "answered", "ana was answered.", NOON)
    store.close()
    assert bylaw("requests notices", "--as", "ana").out == "nothing new\n"
    (told,) = json.loads(bylaw("requests notices", "--as", "grace", "--json").out)
    assert (told["text"], told["about"]) == ("ana was answered.", asked)
    assert bylaw("requests notices", "--as", "grace").out == "nothing new\n"


@pytest.fixture
def refused(bylaw, asked, tmp_path):
    """A notice to grace that Slack refuses for good."""
    store = connect(f"sqlite:///{tmp_path}/store.db", tmp_path)
    with store.writing() as connection:
        deliveries.notify(connection, "grace", asked, "answered", "ana was \x1b[31manswered.", NOON)
        ((name, _),) = deliveries.notices(connection, NOON)
        held = deliveries.claim(connection, name, "a", NOON, timedelta(minutes=1))
        deliveries.block(connection, held, NOON, "user_not_found")
    store.close()
    return name


def test_what_slack_refuses_is_shown_with_what_to_do_and_by_nobody_else_ended(bylaw, refused):
    shown = bylaw("requests undelivered", "--as", "grace").out
    assert refused in shown and "user_not_found" in shown and "rules/roles.yaml" in shown
    (one,) = bylaw("requests undelivered", "--as", "grace", "--json").json["undelivered"]
    assert (one["delivery"], one["waits_for"]) == (refused, "a person")
    assert bylaw("requests undelivered", "--as", "ana").out == "nothing waits\n"
    for words in (("retry", refused), ("close", refused, "--reason", "no")):
        assert bylaw(f"requests {words[0]}", *words[1:], "--as", "ana").code == 2
    assert bylaw("requests retry", "--as", "grace").code == 2
    assert bylaw("requests retry", refused, "--all", "--as", "grace").code == 2
    assert bylaw("requests retry", "--all", "--as", "grace").out == "1 will be sent again\n"
    assert bylaw("requests close", refused, "--reason", "told her", "--as", "grace").out == f"closed {refused}\n"
    assert bylaw("requests notices", "--as", "grace").out == "nothing new\n"


def test_what_slack_refuses_is_told_in_the_terminal(bylaw, refused):
    told = bylaw("requests notices", "--as", "grace").out
    assert "ana was " in told and "\x1b" not in told
    assert bylaw("requests undelivered", "--as", "grace").out == "nothing waits\n"


def test_a_queue_that_is_empty_says_so(bylaw, asked):
    assert bylaw("requests list", "--as", "ana").out == "nothing waits\n"
    assert bylaw("requests list", "--as", "ana", "--json").json == []
    assert bylaw("requests take", asked, "--as", "ana").code == 2
    assert bylaw("requests answer", asked, "41 %", "--as", "ana").code == 2
