"""A request is claimed by one attempt at a time, walks allowed roads only, and keeps its reply for good."""

from __future__ import annotations

import threading
from dataclasses import replace
from datetime import timedelta

import pytest

from bot.conversation import Actor, Reply
from bot.evidence.store.columns import Written
from bot.evidence.store.tables import requests
from bot.evidence.store.tables.requests import Busy, Claim, RequestConflict
from bot.lifecycle import ForbiddenStep, State, road
from bylaw.canonical import canonical_json
from tests.fakes import stored
from tests.fakes.frame import LEASE, NOON, question, reply

LATER = NOON + LEASE + timedelta(seconds=1)


def claim(store, asked=None, owner="a1", now=NOON, begun=(State.INTAKE, State.SCOPE)):
    with store.writing() as connection:
        return requests.claim(connection, asked or question(), owner, now, LEASE, begun, "policy")


def finish(store, held, said=None, now=NOON):
    said = said or reply()
    with store.writing() as connection:
        return requests.finish(connection, held, said, road(said), {"reply": "f" * 64}, now)


def standing(store, request_id="r1"):
    with store.reading() as connection:
        return requests.load(connection, request_id)


def states(store, request_id="r1"):
    with store.reading() as connection:
        return [state.value for state, _, _ in requests.steps(connection, request_id)]


def test_the_first_to_ask_gets_the_request_and_the_next_finds_it_busy(store):
    assert claim(store) == Claim("r1", "a1", 1)
    assert claim(store, owner="a2") == Busy("r1")
    assert standing(store).is_held(NOON)


def test_a_reply_whose_json_is_known_is_kept_like_any_other(store):
    said = reply(rows=((1, "a", None, 0.1),), level=4, kind="data")
    for name, told in (("r1", None), ("r2", Written(canonical_json(said)))):
        held = claim(store, question(name))
        with store.writing() as connection:
            assert requests.finish(connection, held, said, road(said), {}, NOON, told)
    assert standing(store, "r1").reply == standing(store, "r2").reply == said


def test_a_finished_request_gives_its_reply_again(store):
    held = claim(store)
    assert finish(store, held, reply(rows=((1, "a", None, 0.1),), level=4, kind="data"))
    again = claim(store, question(asked_at=LATER), owner="a2", now=LATER)
    assert isinstance(again, Reply)
    assert again == reply(rows=((1, "a", None, 0.1),), level=4, kind="data")
    kept = standing(store)
    assert (kept.state, kept.kind, kept.artifacts, kept.question) == (
        State.ACCEPT, "data", {"reply": "f" * 64}, question(),
    )  # fmt: skip


@pytest.mark.parametrize(
    "other",
    [
        {"said": "something else"},
        {"actor": Actor(id="bob")},
        {"session_id": "s2"},
        {"options": {"mode": "iter"}},
        {"actor": Actor(id="ana", type="agent")},
    ],
)
def test_a_request_id_belongs_to_one_question(store, other):
    held = claim(store)
    with pytest.raises(RequestConflict, match="`r1` was used for another question"):
        claim(store, question(**other))
    finish(store, held)
    with pytest.raises(RequestConflict):  # nobody reads another person's reply by guessing its id
        claim(store, question(**other))


def test_a_lease_that_ran_out_is_taken_over_and_its_old_holder_keeps_nothing(store):
    first = claim(store)
    second = claim(store, owner="a2", now=LATER)
    assert second == Claim("r1", "a2", 2)
    assert not finish(store, first, reply(text="from the first"), now=LATER)
    with store.writing() as connection:
        assert not requests.fail(connection, first, "too late", LATER)
    assert standing(store).reply is None
    assert finish(store, second, reply(text="from the second"), now=LATER)
    assert standing(store).reply.text == "from the second"


def test_a_failed_attempt_frees_the_request_and_stays_on_record(store):
    held = claim(store)
    with store.writing() as connection:
        assert requests.fail(connection, held, "KeyError: 'x'", NOON)
    kept = standing(store)
    assert (kept.state, kept.failure, kept.reply) == (State.ESCALATED, "KeyError: 'x'", None)
    assert claim(store, owner="a2") == Claim("r1", "a2", 2)
    assert states(store) == ["INTAKE", "SCOPE", "ESCALATED", "INTAKE", "SCOPE"]


def test_the_road_is_kept_step_by_step(store):
    held = claim(store)
    finish(store, held, reply(level=3))
    assert states(store) == ["INTAKE", "SCOPE", "PLAN", "EXECUTE", "DELIVER", "ACCEPT"]
    with store.reading() as connection:
        assert [at for _, at, _ in requests.steps(connection, "r1")] == [NOON] * 6


def test_a_request_kept_with_its_reply_is_as_if_it_had_been_claimed(store):
    said = reply(level=3)
    finish(store, claim(store), said)
    with store.writing() as connection:
        keep = (said, (State.INTAKE, State.SCOPE), road(said), {"reply": "f" * 64}, NOON, Written(canonical_json(said)))
        assert requests.keep(connection, question("r2"), *keep)
        assert not requests.keep(connection, question("r1", "something else"), *keep)  # taken: nothing is written
    one, other = standing(store), standing(store, "r2")
    assert other == replace(one, request_id="r2", question=question("r2"))
    assert states(store, "r2") == states(store)


def test_a_request_is_not_kept_at_the_end_of_a_forbidden_road(store):
    with pytest.raises(ForbiddenStep), store.writing() as connection:
        requests.keep(connection, question(), reply(), (State.INTAKE,), road(reply()), {}, NOON, Written("{}"))
    assert standing(store) is None


def test_a_forbidden_step_leaves_the_request_as_it_was(store):
    held = claim(store, begun=(State.INTAKE,))
    with pytest.raises(ForbiddenStep):
        finish(store, held)  # not without SCOPE
    assert states(store) == ["INTAKE"]


def test_a_request_nobody_made_is_not_known(store):
    assert standing(store, "never") is None
    assert states(store, "never") == []


def test_what_dead_processes_left_behind_can_be_listed(store):
    for n in range(4):
        claim(store, question(f"r{n}"), owner=f"a{n}")
    finish(store, Claim("r1", "a1", 1), reply("r1"))
    with store.writing() as connection:
        requests.fail(connection, Claim("r2", "a2", 1), "broke", NOON)
    with store.reading() as connection:
        assert stored.unfinished(connection, NOON) == ["r2"]
        assert stored.unfinished(connection, LATER) == ["r0", "r2", "r3"]


def test_of_many_who_ask_at_once_one_gets_the_request(store):
    got = []
    barrier = threading.Barrier(6)

    def ask(n: int) -> None:
        barrier.wait()
        got.append(claim(store, owner=f"a{n}"))

    threads = [threading.Thread(target=ask, args=(n,)) for n in range(6)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert sorted(type(one).__name__ for one in got) == ["Busy"] * 5 + ["Claim"]
