"""A session belongs to one person, and two who continue it at once do not overwrite each other."""

from __future__ import annotations

from dataclasses import replace
from datetime import timedelta

import pytest

from bot.conversation import Actor, Choice
from bot.evidence.store.tables import sessions
from bot.evidence.store.tables.sessions import Session
from tests.fakes.frame import NOON

ANA, BOB = Actor(id="ana"), Actor(id="bob")
SAID = Session(
    "s1", "ana", 0, "policy", "needs_choice", (Choice(value="true", label="Yes"),), {"policy": {"facts": {"days": 20}}}
)


def load(store, actor=ANA, session_id="s1"):
    with store.reading() as connection:
        return sessions.load(connection, session_id, actor)


def save(store, session):
    with store.writing() as connection:
        return sessions.save(connection, session, NOON)


def test_a_session_starts_empty(store):
    assert load(store) == Session("s1", "ana")


def test_what_was_said_is_there_the_next_time(store):
    assert save(store, SAID)
    assert load(store) == replace(SAID, version=1)


def test_two_people_in_one_session_id_do_not_share_it(store):
    save(store, SAID)
    assert load(store, BOB) == Session("s1", "bob")
    assert load(store, ANA, "s2") == Session("s2", "ana")


def test_the_second_of_two_first_turns_is_told_that_the_session_moved_on(store):
    assert save(store, SAID)
    assert not save(store, replace(SAID, last_kind="data"))
    assert load(store).last_kind == "policy"


def test_the_second_of_two_later_turns_is_told_that_the_session_moved_on(store):
    save(store, SAID)
    seen = load(store)
    assert save(store, replace(seen, last_kind="data"))
    assert not save(store, replace(seen, last_kind="decision"))
    assert load(store).last_kind == "data"
    assert load(store).version == 2


def test_an_exact_number_in_the_state_stays_exact(store):
    save(store, replace(SAID, states={"policy": {"amount": "0.10", "half": 0.5, "none": None, "flag": False}}))
    assert load(store).states == {"policy": {"amount": "0.10", "half": 0.5, "none": None, "flag": False}}


HERE = "slack:T1:D1:"
WITH = replace(SAID, session_id=f"{HERE}100.1", last_request="r1")


def gone_on(store, later=timedelta(0), actor=ANA, beside=HERE, session_id=f"{HERE}200.1"):
    with store.reading() as connection:
        session = sessions.load(connection, session_id, actor)
        return sessions.go_on(connection, session, beside, NOON + later)


CARRIED = Session(f"{HERE}200.1", "ana", 0, "policy", "needs_choice", SAID.offered, SAID.states)


@pytest.mark.parametrize(
    ("later", "goes_on"),
    [(0, True), (29 * 60, True), (30 * 60, True), (30 * 60 + 1, False), (86_400, False), (-1, False)],
)
def test_a_direct_message_goes_on_with_the_last_conversation_for_half_an_hour(store, later, goes_on):
    save(store, WITH)
    assert gone_on(store, timedelta(seconds=later)) == (CARRIED if goes_on else Session(f"{HERE}200.1", "ana"))


def test_it_goes_on_with_nobody_else_and_with_no_other_room(store):
    for other in ("slack:T1:D12:100.1", "slack:T1:C1:100.1", "slack:T2:D1:100.1", "slack:T1:D_:100.1", "s1"):
        save(store, replace(WITH, session_id=other))
    save(store, replace(WITH, actor_id="bob"))
    assert gone_on(store) == Session(f"{HERE}200.1", "ana")
    assert gone_on(store, beside="slack:T1:D%:").states == {}
    assert gone_on(store, actor=BOB).states == SAID.states


def test_it_goes_on_with_the_last_of_several_and_keeps_its_own(store):
    save(store, WITH)
    with store.writing() as connection:
        sessions.save(connection, replace(WITH, session_id=f"{HERE}150.1", states={}), NOON + timedelta(minutes=1))
    assert gone_on(store, timedelta(minutes=2)).states == {}
    begun = gone_on(store, timedelta(minutes=2))
    with store.writing() as connection:
        assert sessions.save(connection, replace(begun, states={"data": {}}), NOON + timedelta(minutes=2))
        assert not sessions.save(connection, replace(begun, states={}), NOON + timedelta(minutes=2))  # two at once
    assert gone_on(store, timedelta(minutes=3)) == replace(begun, states={"data": {}}, version=1)
    assert load(store, ANA, WITH.session_id) == replace(WITH, version=1)


@pytest.mark.parametrize("waits", ["pending", "recommended"])
def test_a_plan_that_waits_for_a_yes_waits_where_it_was_made(store, waits):
    save(store, replace(WITH, pending=waits))
    assert gone_on(store) == replace(CARRIED, pending=None, offered=())
