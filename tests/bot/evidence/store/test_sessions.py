"""A session belongs to one person, and two who continue it at once do not overwrite each other."""

from __future__ import annotations

from dataclasses import replace

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
