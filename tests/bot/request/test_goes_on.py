"""How a turn goes on from the answer before it: takes it, puts it right, answers what it asked."""

from __future__ import annotations

from dataclasses import replace
from datetime import timedelta

import pytest

from bot.conversation import Actor, Choice, Turn
from bot.evidence.store.tables import audit, deliveries, querylog, requests
from bot.lifecycle import Outcome, State
from bot.request import acceptance
from bot.request.orchestrator import ACCEPTED, REVISES, handle, is_addressed
from bot.router import Answerer
from bylaw.audit.verify import verify
from tests.fakes.frame import NOON, question, said
from tests.fakes.levels import at_level, level_services

CHOICES = (Choice(value="level 4", label="Net: what is left"), Choice(value="level 5", label="Gross: all of it"))


def answer(asked, state, index):
    if "which" in asked.text:
        return Turn(said(asked, "data", "needs_choice", "which?", choices=CHOICES), {})
    text = asked.text.removeprefix("actually ").removeprefix("Actually, ")
    return at_level(asked.model_copy(update={"text": text}), state, index)


@pytest.fixture
def served(tmp_path):
    data = Answerer("data", lambda text, _: 1.0, answer, continues=lambda text, state, _: text == "by region")
    made = replace(level_services(tmp_path), answerers=(data,))
    yield made
    made.store.close()


def tell(served, name, text, **others):
    return handle(question(name, text, **others), served)


def standing(served, name):
    with served.store.reading() as connection:
        return requests.load(connection, name)


def logged(served, name):
    with served.store.reading() as connection:
        return next(row for row in querylog.rows(connection) if row["request_id"] == name)


@pytest.mark.parametrize(
    "words", ["looks good", "Looks good!", "thanks, that's it", "Thank you, that’s it.", "perfect"]
)
def test_a_word_takes_the_last_answer_as_it_is(served, words):
    tell(served, "r1", "level 3")
    reply = tell(served, "r2", words)
    assert (reply.text, reply.status) == (ACCEPTED, "answered")
    assert (standing(served, "r1").state, standing(served, "r1").outcome) == (State.CLOSE, Outcome.ACCEPTED)
    with served.store.reading() as connection:
        entries = list(audit.entries(connection))
    assert verify(entries).is_intact
    assert [(entry.body["event"], entry.body["request_id"]) for entry in entries][1:] == [
        ("accepted", "r1"),
        ("reply", "r2"),
    ]


@pytest.mark.parametrize("words", ["level 5 looks good", "thanks", "that's it for level 3"])
def test_what_says_more_or_less_takes_nothing(served, words):
    tell(served, "r1", "level 3")
    if words == "thanks":
        assert tell(served, "r2", words).text == "You are welcome."
    assert standing(served, "r1").state == State.ACCEPT


@pytest.mark.parametrize("other", [{"actor": Actor(id="bob")}, {"session_id": "elsewhere"}], ids=["person", "channel"])
def test_nobody_takes_the_answer_of_another_or_of_another_place(served, other):
    tell(served, "r1", "level 3")
    assert not is_addressed("looks good", other.get("session_id", "s1"), other.get("actor", Actor(id="ana")), served)
    assert is_addressed("looks good", "s1", Actor(id="ana"), served)


@pytest.mark.parametrize(
    ("text", "user", "outcome"),
    [
        ("level 5", "ana", Outcome.IMPLICIT),
        ("level 4", "ana", Outcome.IMPLICIT),
        ("level 3", "ana", None),  # seed 004, C.1: never closed without a word
        ("level 4", "grace", None),  # a steward who looks at it makes no use of it
    ],
)
def test_who_fetches_the_result_makes_use_of_it(served, text, user, outcome):
    tell(served, "r1", text)
    found = acceptance.standing_for("r1", Actor(id=user), served)
    assert acceptance.use(found, Actor(id=user), served) is (outcome is not None)
    assert standing(served, "r1").outcome == outcome
    assert logged(served, "r1")["user_accepted"] is (True if outcome else None)


def test_a_question_in_other_words_revises_the_answer_before_it(served):
    tell(served, "r1", "level 3")
    tell(served, "r2", "Actually, level 4")
    assert (standing(served, "r1").state, standing(served, "r2").revises) == (State.REVISED, "r1")
    assert (logged(served, "r1")["user_accepted"], logged(served, "r2")["revises"]) == (False, "r1")


def test_a_refused_revision_leaves_the_answer_before_it(tmp_path, served):
    tell(served, "r1", "level 3")
    refusing = Answerer("data", lambda *_: 1.0, lambda asked, *_: Turn(said(asked, "data", "refused", "no"), {}))
    tell(replace(served, answerers=(refusing,)), "r2", "actually level 4", options={REVISES: "r1"})
    assert (standing(served, "r1").state, standing(served, "r2").revises) == (State.ACCEPT, None)


def test_nobody_revises_what_another_was_answered(served):
    tell(served, "r1", "level 3")
    tell(served, "r2", "level 4", actor=Actor(id="bob"), options={REVISES: "r1"})
    assert standing(served, "r1").state == State.ACCEPT


@pytest.mark.parametrize(("words", "choice"), [("1", 0), ("gross", 1), ("level 5", 1), ("Net: what is left", 0)])
def test_what_was_picked_is_on_record(served, words, choice):
    tell(served, "r1", "which level")
    tell(served, "r2", words if words != "gross" else "level 5")
    assert standing(served, "r2").clarifies == "r1"
    assert logged(served, "r2")["choice"] == choice


def test_an_answer_of_level_4_is_told_once_to_whom_the_rules_name(served):
    for _ in range(2):
        tell(served, "r1", "level 4")
    with served.store.reading() as connection:
        found = [one for _, one in deliveries.notices(connection, NOON)]
    assert [(one["to"], one["text"]) for one in found] == [("grace", "ana was answered at level 4: “level 4” (r1).")]


def test_a_conversation_that_rested_too_long_begins_anew(served):
    tell(served, "r1", "level 3")
    later = replace(served, clock=lambda: NOON + timedelta(hours=24))
    assert is_addressed("by region", "s1", Actor(id="ana"), served)
    assert not is_addressed("by region", "s1", Actor(id="ana"), later)
    assert tell(later, "r2", "level 5").status == "answered"  # and goes on, in the same place


def test_a_plan_keeps_its_conversation_alive(served):
    tell(served, "r1", "plan 3")
    later = replace(served, clock=lambda: NOON + timedelta(hours=60))
    with later.store.reading() as connection:
        from bot.evidence.store.tables import sessions

        kept = sessions.load(connection, "s1", Actor(id="ana"), later.clock(), later.session_life)
    assert kept.last_request == "r1"


@pytest.mark.parametrize(("text", "is_ours"), [("by region", True), ("lunch?", False), ("looks good", True)])
def test_in_a_thread_only_what_goes_on_is_for_the_bot(served, text, is_ours):
    tell(served, "r1", "level 3")
    assert is_addressed(text, "s1", Actor(id="ana"), served) is is_ours
    assert not is_addressed(text, "s2", Actor(id="ana"), served)
