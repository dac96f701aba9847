"""Accepting closes what waits for it, once, and leaves its mark in the log and the chain."""

from __future__ import annotations

from dataclasses import replace
from types import SimpleNamespace

import pytest

from bot.conversation import Actor
from bot.evidence.store.tables import audit, querylog, requests
from bot.lifecycle import State
from bot.request.acceptance import accept
from bot.request.orchestrator import handle
from bylaw.audit.verify import verify
from bylaw.authored.machines.access import Roles
from tests.fakes.frame import question, services

ROLES = {"roles": {"all": {}, "boss": {"steward": True}}, "users": {"grace": ["boss"]}, "default_role": "all"}
INDEX = SimpleNamespace(rules=SimpleNamespace(roles=Roles.model_validate(ROLES)))


@pytest.fixture
def served(tmp_path):
    made = services(tmp_path, index=INDEX)
    yield made
    made.store.close()


def events(served):
    with served.store.reading() as connection:
        entries = list(audit.entries(connection))
    assert verify(entries).is_intact
    return [entry.body["event"] for entry in entries]


@pytest.mark.parametrize("user", ["ana", "grace"])
def test_the_asker_or_a_steward_closes_it(served, user):
    said = handle(question(said="revenue by region"), served)
    done = accept("r1", Actor(id=user), served)
    assert (done.is_accepted, done.reply, done.by) == (True, said, user)
    with served.store.reading() as connection:
        assert requests.load(connection, "r1").state == State.CLOSE
        assert requests.steps(connection, "r1")[-1][2] == f"accepted by {user}"
        assert [row["user_accepted"] for row in querylog.rows(connection)] == [True]
    assert events(served) == ["reply", "accepted"]


def test_accepting_twice_changes_nothing(served):
    seen = []
    anchored = replace(served, anchor=seen.append)
    handle(question(said="revenue by region"), anchored)
    assert [accept("r1", Actor(id="ana"), anchored).is_accepted for _ in range(2)] == [True, True]
    assert events(served) == ["reply", "accepted"]
    with served.store.reading() as connection:
        given, taken = (entry.body for entry in audit.entries(connection))
    assert taken["artifacts"] == given["artifacts"] != {}  # what was accepted
    assert [tail.count for tail in seen] == [1, 2]  # a checkpoint may fall on any entry


@pytest.mark.parametrize(
    ("text", "user", "says"),
    [
        ("revenue by region", "bob", "Only the person who asked"),
        ("why did we leave plasma?", "ana", "does not wait"),
        ("may I return it?", "ana", "does not wait"),
        ("sing me a song", "ana", "does not wait"),
    ],
)
def test_what_cannot_be_accepted_is_said_in_words(served, text, user, says):
    handle(question(said=text), served)
    done = accept("r1", Actor(id=user), served)
    assert not done.is_accepted
    assert says in done.text
    assert events(served) == ["reply"]


def test_an_answer_nobody_gave_is_not_accepted(served):
    assert "do not know" in accept("nothing", Actor(id="ana"), served).text


def test_a_question_that_is_still_being_answered_is_not_accepted(served):
    with served.store.writing() as connection:
        requests.claim(connection, question(), "o", served.clock(), served.lease)
    assert not accept("r1", Actor(id="ana"), served).is_accepted
