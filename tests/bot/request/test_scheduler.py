"""Time settles what people leave: exactly when its level says, as its level says, once, whoever ticks."""

from __future__ import annotations

import json
import threading
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from datetime import timedelta
from types import SimpleNamespace

import pytest

from bot.conversation import Actor
from bot.evidence.store.tables import audit, deliveries, querylog, requests
from bot.lifecycle import Outcome, State
from bot.request import acceptance, scheduler
from bot.request.orchestrator import handle
from bot.request.scheduler import tick, ticking
from bylaw.audit.verify import verify
from bylaw.errors import BylawError
from tests.bot.evidence.store.conftest import store, store_url  # noqa: F401  # the same on both databases
from tests.conftest import call_bylaw
from tests.fakes.frame import NOON, question
from tests.fakes.levels import Index, level_services

MOMENT = timedelta(microseconds=1)


@pytest.fixture
def served(store_url, tmp_path):  # noqa: F811
    made = level_services(tmp_path, store_url)
    yield made
    made.store.close()


def ask(served, text="level 3", name="r1", **others):
    return handle(question(name, text, **others), served)


def standing(served, name="r1"):
    with served.store.reading() as connection:
        return requests.load(connection, name)


def notices(served):
    with served.store.reading() as connection:
        return [letter for _, letter in deliveries.notices(connection, NOON)]


def events(served):
    with served.store.reading() as connection:
        entries = list(audit.entries(connection))
    assert verify(entries).is_intact
    return [(entry.body["event"], entry.body["request_id"]) for entry in entries]


@pytest.mark.parametrize(
    ("text", "hours", "state", "outcome", "accepted"),
    [
        ("level 5", 24, State.CLOSE, Outcome.TIMEOUT, True),
        ("level 4", 48, State.CLOSE, Outcome.TIMEOUT, True),
        ("level 3", 72, State.ABANDONED, Outcome.ABANDONED, None),
        ("level 2", 168, State.EXPIRED, Outcome.EXPIRED, None),
        ("plan 5", 24, State.EXPIRED, Outcome.EXPIRED, None),  # nothing ran that could be accepted
        ("plan 3", 72, State.ABANDONED, Outcome.ABANDONED, None),
    ],
)
def test_each_level_is_settled_at_its_time_and_not_a_moment_before(served, text, hours, state, outcome, accepted):
    ask(served, text)
    due = NOON + timedelta(hours=hours)
    assert tick(served, due - MOMENT)["timers"] == 0
    assert standing(served).state == State.ACCEPT
    assert tick(served, due)["timers"] == 1
    kept = standing(served)
    assert (kept.state, kept.outcome, kept.settled_at, kept.due_at) == (state, outcome, due, None)
    with served.store.reading() as connection:
        (row,) = querylog.rows(connection)
    assert (row["outcome"], row["user_accepted"], row["settled_at"]) == (outcome, accepted, due)
    assert tick(served, due + timedelta(days=400))["timers"] == 0
    assert events(served) == [("reply", "r1"), (outcome, "r1")]


def test_what_only_a_person_may_handle_never_times_out(served):
    ask(served, "level 1")
    assert tick(served, NOON + timedelta(days=4000))["timers"] == 0
    assert standing(served).state == State.ESCALATED


@pytest.mark.parametrize(
    ("text", "told"),
    [
        (
            "level 3",
            "Your query from 2026-11-20 timed out without confirmation. Results were not finalized. "
            "Please resubmit if still needed.",  # seed 004, 8.2, word for word
        ),
        ("level 2", "What I recommended on 2026-11-20 expired without a decision. Nothing ran."),
    ],
)
def test_who_asked_is_told_once(served, text, told):
    ask(served, text)
    for days in (8, 9):
        tick(served, NOON + timedelta(days=days))
    (notice,) = notices(served)
    assert (notice["to"], notice["about"]) == ("ana", "r1")
    assert notice["text"].startswith(told)


@pytest.mark.parametrize("text", ["level 5", "level 4"])
def test_what_counts_as_accepted_needs_no_word(served, text):
    ask(served, text)
    tick(served, NOON + timedelta(days=3))
    assert [one for one in notices(served) if one["to"] == "ana"] == []


def test_what_was_accepted_in_time_stays_accepted(served):
    ask(served)
    acceptance.accept("r1", Actor(id="ana"), served)
    assert tick(served, NOON + timedelta(days=4))["timers"] == 0
    assert (standing(served).outcome, notices(served)) == (Outcome.ACCEPTED, [])


def test_a_clock_that_goes_back_settles_nothing_early(served):
    ask(served)
    assert tick(served, NOON - timedelta(days=400))["timers"] == 0
    assert tick(served, NOON + timedelta(days=3))["timers"] == 1


def test_a_level_that_by_now_waits_for_ever_is_kept_open(served):
    ask(served)
    rules = served.index.rules.autonomy
    row = rules.levels["confirm"].model_copy(update={"timeout_hours": None, "on_timeout": "keep"})
    patient = rules.model_copy(update={"levels": {**rules.levels, "confirm": row}})
    today = replace(served, index=Index(SimpleNamespace(autonomy=patient)))
    assert tick(today, NOON + timedelta(days=30))["timers"] == 0
    assert (standing(served).state, standing(served).due_at) == (State.ACCEPT, None)


def test_many_replicas_settle_everything_once(served):
    count = 40
    for n in range(count):
        ask(served, f"level {2 + n % 4}", f"r{n}", session_id=f"s{n}")
    with ThreadPoolExecutor(8) as replicas:
        done = list(replicas.map(lambda _: tick(served, NOON + timedelta(days=8))["timers"], range(8)))
    assert sum(done) == count
    ended = [name for event, name in events(served) if event != "reply"]
    assert sorted(ended) == sorted(f"r{n}" for n in range(count))
    assert len([one for one in notices(served) if one["to"] == "ana"]) == count / 2


def died_over(served, at, name="r1"):
    with served.store.writing() as connection:
        requests.claim(connection, question(name, "level 3"), "dead", at, served.lease)
    return replace(served, clock=lambda: at + served.lease)


def test_what_a_process_died_over_is_answered_once_its_lease_is_over(served):
    later = died_over(served, NOON)
    assert tick(served, NOON, scheduler.SERVED) == {"resumed": 0}
    with ThreadPoolExecutor(4) as replicas:
        list(replicas.map(lambda _: tick(later, later.clock(), scheduler.SERVED), range(4)))
    assert standing(served).reply.status == "answered"
    assert events(served) == [("reply", "r1")]
    assert tick(later, later.clock(), scheduler.SERVED) == {"resumed": 0}


def test_what_ends_every_process_is_left_to_a_person(served):
    at = NOON
    for _ in range(served.max_attempts):
        at = died_over(served, at).clock()
    later = replace(served, clock=lambda: at)
    assert tick(later, at, scheduler.SERVED) == {"resumed": 1}
    assert standing(served).state == State.ESCALATED


def test_a_question_that_breaks_keeps_no_other_from_being_answered(served, monkeypatch):
    died_over(served, NOON, "r1")
    later = died_over(served, NOON, "r2")

    def broken(asked, services):
        if asked.request_id == "r1":
            raise RuntimeError("boom")
        return handle(asked, services)

    monkeypatch.setattr(scheduler, "handle", broken)
    assert tick(later, later.clock(), scheduler.SERVED) == {"resumed": 2}
    assert standing(served, "r2").reply is not None


def test_a_batch_that_dies_is_done_again_whole(served, monkeypatch):
    ask(served)

    def killed(*_):
        raise KeyboardInterrupt

    with monkeypatch.context() as patch:
        patch.setattr(deliveries, "notify", killed)
        with pytest.raises(KeyboardInterrupt):
            tick(served, NOON + timedelta(days=3))
    assert (standing(served).state, events(served)) == (State.ACCEPT, [("reply", "r1")])
    assert tick(served, NOON + timedelta(days=3))["timers"] == 1
    assert len(notices(served)) == 1


def test_a_job_that_fails_keeps_none_of_the_others_from_being_done(served, monkeypatch):
    def broken(*_):
        raise BylawError("the world is not there")

    monkeypatch.setattr(scheduler, "JOBS", {"broken": broken, **scheduler.JOBS})
    ask(served)
    assert tick(served, NOON + timedelta(days=3)) == {
        "broken": 0,
        "timers": 1,
        "consensus": 0,
        "followed": 0,
        "retired": 0,
    }


def test_a_server_ticks_in_the_background_until_it_ends(served, monkeypatch):
    ticked = threading.Event()
    monkeypatch.setattr(scheduler, "JOBS", {"seen": lambda *_: ticked.set() or 1})
    with ticking(SimpleNamespace(services=lambda: served), 0.01):
        assert ticked.wait(10)
    assert "scheduler" not in {thread.name for thread in threading.enumerate()}
    ticked.clear()
    with ticking(SimpleNamespace(services=lambda: served), 0):
        assert not ticked.wait(0.05)


def test_the_command_ticks_once(repository, tmp_path):
    place = {"BYLAW_STORE_URL": f"sqlite:///{tmp_path}/store.db", "BYLAW_ARTIFACTS": str(tmp_path / "artifacts")}
    done = call_bylaw("tick", "--bundle", repository.bundle, "--json", **place)
    assert (done.code, json.loads(done.out)) == (0, {"timers": 0, "consensus": 0, "followed": 0, "retired": 0})
    told = call_bylaw("tick", "--bundle", repository.bundle, **place).out
    assert told == "timers: 0\nconsensus: 0\nfollowed: 0\nretired: 0\n"
