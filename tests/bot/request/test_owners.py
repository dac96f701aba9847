"""What only a person may answer: seen by who may handle it, taken, handed on, answered, and then accepted."""

from __future__ import annotations

import pytest

from bot.conversation import Actor
from bot.evidence.store.tables import audit, deliveries, remarks, requests
from bot.lifecycle import Outcome, State
from bot.request import acceptance, owners
from bot.request.orchestrator import handle
from bylaw.audit.verify import verify
from bylaw.errors import UsageError
from tests.fakes.frame import NOON, question
from tests.fakes.levels import level_services

ANA, BEN, IDA, GRACE, JO = (Actor(id=name) for name in ("ana", "ben", "ida", "grace", "jo"))


@pytest.fixture
def served(tmp_path):
    made = level_services(tmp_path)
    handle(question("r1", "level 1"), made)
    yield made
    made.store.close()


def standing(served):
    with served.store.reading() as connection:
        return requests.load(connection, "r1")


def notices(served, person):
    with served.store.reading() as connection:
        return [one["text"] for _, one in deliveries.notices(connection, NOON) if one["to"] == person]


@pytest.mark.parametrize(
    ("actor", "count"), [(BEN, 1), (IDA, 1), (GRACE, 1), (JO, 0), (ANA, 0)], ids=lambda one: getattr(one, "id", one)
)
def test_owners_and_stewards_see_it_and_nobody_else(served, actor, count):
    assert len(owners.waiting(actor, served)) == count


def test_owners_are_told_without_any_figure(served):
    assert notices(served, "ben") == ["ana asked what only a person may answer: “level 1” (r1)."]
    assert notices(served, "jo") == []


def test_it_is_taken_handed_on_and_handed_on_again(served):
    owners.assign("r1", "ben", BEN, served)
    assert (standing(served).assigned_to, len(notices(served, "ben"))) == ("ben", 1)
    owners.assign("r1", "jo", BEN, served)  # now it is jo's, though jo owns nothing of it
    assert [one.assigned_to for one in owners.waiting(JO, served)] == ["jo"]
    assert "ben handed you a question of ana" in notices(served, "jo")[0]
    owners.assign("r1", "ida", JO, served)
    assert owners.waiting(JO, served) == []
    with served.store.reading() as connection:
        notes = [note for _, _, note in requests.steps(connection, "r1") if note]
    assert notes == ["assigned to ben by ben", "assigned to jo by ben", "assigned to ida by jo"]


def test_its_answer_reaches_who_asked_and_is_accepted_like_any_other(served):
    owners.answer("r1", "41 %", GRACE, served)
    assert standing(served).state == State.ACCEPT
    assert notices(served, "ana")[0].startswith("grace answers your question “level 1”: 41 %")
    assert owners.waiting(GRACE, served) == []
    assert acceptance.accept("r1", ANA, served).is_accepted
    assert (standing(served).state, standing(served).outcome) == (State.CLOSE, Outcome.ACCEPTED)
    with served.store.reading() as connection:
        entries = list(audit.entries(connection))
        (remark,) = remarks.of(connection, "r1")
    assert verify(entries).is_intact
    assert [entry.body["event"] for entry in entries] == ["reply", "handled", "accepted"]
    assert (remark["kind"], remark["actor_id"], remark["text"]) == ("handled", "grace", "41 %")


@pytest.mark.parametrize(
    ("do", "says"),
    [
        (lambda served: owners.assign("r1", "jo", JO, served), "waits for `jo`"),
        (lambda served: owners.assign("r9", "ben", BEN, served), "waits for `ben`"),
        (lambda served: owners.assign("r1", "finance", BEN, served), "lists"),  # a role is nobody in particular
        (lambda served: owners.assign("r1", "stranger", BEN, served), "lists"),
        (lambda served: owners.answer("r1", "mine!", ANA, served), "waits for `ana`"),
        (lambda served: owners.answer("r1", "  ", GRACE, served), "empty"),
    ],
)
def test_what_cannot_be_done_changes_nothing(served, do, says):
    before = standing(served)
    with pytest.raises(UsageError, match=says):
        do(served)
    assert standing(served) == before


def test_what_is_answered_is_not_taken_any_more(served):
    owners.answer("r1", "41 %", GRACE, served)
    for late in (lambda: owners.assign("r1", "ben", BEN, served), lambda: owners.answer("r1", "42 %", BEN, served)):
        with pytest.raises(UsageError, match="does not wait for a person any more"):
            late()
