"""The guard around a provider: it rests after failures, never queues without bound, and says the same thing twice."""

from __future__ import annotations

import threading

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bylaw.llm.guarded import Guard, Limits
from bylaw.llm.port import Deadline, NoAnswer
from tests.bylaw.llm.scripted import SAID, Clock, Scripted, prompt

LIMITS = Limits(failures=3, rest_seconds=30, at_once=2)
OTHER = '{"text": "no", "sure": true}'


def outcomes(guard: Guard, clock: Clock, count: int, start: int = 0, limits: Limits = LIMITS) -> list[str]:
    """What *count* different prompts get: `yes`, or the reason for no answer."""
    found = []
    for number in range(start, start + count):
        try:
            guard.under(limits).complete(prompt(f"question {number}"), Deadline.after(5, clock))
            found.append("yes")
        except NoAnswer as error:
            found.append(error.reason)
    return found


def test_after_three_failures_it_rests_and_then_one_tries():
    clock, model = Clock(), Scripted(["unreachable"])
    guard = Guard(model, clock)
    assert outcomes(guard, clock, 5) == ["unreachable"] * 3 + ["resting"] * 2
    assert len(model.seen) == 3
    clock.at += 30
    assert outcomes(guard, clock, 2, start=5) == ["unreachable", "resting"]
    model.script = [SAID]
    clock.at += 30
    assert outcomes(guard, clock, 3, start=7) == ["yes"] * 3


def test_a_success_forgets_the_failures():
    clock, model = Clock(), Scripted(["late", "late", SAID, "late", "late", SAID])
    assert outcomes(Guard(model, clock), clock, 6) == ["late", "late", "yes", "late", "late", "yes"]


def test_while_one_tries_after_a_rest_the_others_wait_for_how_it_ends():
    clock, model = Clock(), Scripted(["late"])
    guard = Guard(model, clock)
    outcomes(guard, clock, 3)
    clock.at += 30
    model.script = [SAID]
    seen: list[str] = []
    model.meanwhile = lambda: seen.extend(outcomes(guard, clock, 1, start=50)) if len(model.seen) == 4 else None
    assert outcomes(guard, clock, 1, start=60) == ["yes"]
    assert seen == ["resting"]


def test_the_limits_are_those_of_the_rules_in_force():
    clock, model = Clock(), Scripted(["late"])
    guard = Guard(model, clock)
    assert outcomes(guard, clock, 2, limits=Limits(1, 10, 2)) == ["late", "resting"]
    clock.at += 10
    assert outcomes(guard, clock, 1, start=2, limits=Limits(1, 10, 2)) == ["late"]


def test_never_more_than_so_many_wait():
    clock, model = Clock(), Scripted([SAID])
    guard = Guard(model, clock)
    entered, go = threading.Semaphore(0), threading.Event()

    def hold() -> None:
        entered.release()
        assert go.wait(30)

    model.meanwhile = hold
    threads = [threading.Thread(target=outcomes, args=(guard, clock, 1, start)) for start in (1, 2)]
    for thread in threads:
        thread.start()
        assert entered.acquire(timeout=30)
    assert outcomes(guard, clock, 1, start=3) == ["busy"]
    go.set()
    for thread in threads:
        thread.join()
    assert outcomes(guard, clock, 1, start=4) == ["yes"]


def test_a_model_that_changes_its_mind_is_heard_once():
    clock, model = Clock(), Scripted([SAID, OTHER])
    llm = Guard(model, clock).under(LIMITS)
    said = [llm.complete(prompt(), Deadline.after(5, clock)).text for _ in range(3)]
    assert said == [SAID] * 3
    assert len(model.seen) == 1


def test_two_who_ask_the_same_at_once_hear_the_same():
    clock, model = Clock(), Scripted([SAID, OTHER])
    llm = Guard(model, clock).under(LIMITS)
    both = threading.Barrier(2, timeout=30)
    model.meanwhile = both.wait
    said: list[str] = []
    threads = [
        threading.Thread(target=lambda: said.append(llm.complete(prompt(), Deadline.after(5, clock)).text))
        for _ in range(2)
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(model.seen) == 2
    assert len(set(said)) == 1


def test_what_a_resting_provider_said_before_is_still_known():
    clock, model = Clock(), Scripted([SAID, "late"])
    llm = Guard(model, clock).under(LIMITS)
    llm.complete(prompt(), Deadline.after(5, clock))
    assert outcomes(llm.guard, clock, 4)[-1] == "resting"
    assert llm.complete(prompt(), Deadline.after(5, clock)).text == SAID


def test_an_error_of_ours_counts_as_a_failure_and_goes_on():
    clock, model = Clock(), Scripted([SAID])
    model.meanwhile = lambda: 1 / 0
    llm = Guard(model, clock).under(Limits(1, 10, 1))
    with pytest.raises(ZeroDivisionError):
        llm.complete(prompt(), Deadline.after(5, clock))
    assert outcomes(llm.guard, clock, 1) == ["resting"]


def test_closing_the_guard_closes_the_provider_and_closing_a_use_does_not():
    model = Scripted([SAID])
    guard = Guard(model, Clock())
    guard.under(LIMITS).close()
    assert not model.is_closed
    guard.close()
    assert model.is_closed


@given(st.lists(st.tuples(st.booleans(), st.sampled_from([0, 1, 5, 29, 30, 31])), max_size=30))
def test_it_rests_exactly_after_so_many_failures_in_a_row(steps):
    clock, model = Clock(), Scripted([SAID])
    guard = Guard(model, clock)
    failures, rests_until = 0, None
    for number, (is_good, passes) in enumerate(steps):
        clock.at += passes
        model.script = [SAID if is_good else "late"]
        (found,) = outcomes(guard, clock, 1, start=number)
        if rests_until is not None and clock.at < rests_until:
            assert found == "resting"
            continue
        assert found == ("yes" if is_good else "late")
        failures = 0 if is_good else failures + 1
        rests_until = clock.at + 30 if failures >= 3 else None
