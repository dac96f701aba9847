"""Status, cores and premises of random programs are what a look at every case says."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import pytest

from bylaw.refine.feedback import Feedback, check
from bylaw.refine.program import read_program
from bylaw.refine.theory import ground
from tests.bylaw.refine.worlds import COUNT, KINDS, World, read, world

WORLDS = [world(seed) for seed in range(COUNT)]


@pytest.fixture(scope="module")
def found() -> list[tuple[World, Feedback]]:
    return [(one, feedback_of(one)) for one in WORLDS]


def feedback_of(one: World) -> Feedback:
    reading = read_program(one.document())
    return check(ground(reading), reading.notes)


def test_every_kind_of_truth_is_there() -> None:
    assert {kind: sum(one.kind == kind for one in WORLDS) for kind in KINDS} == dict.fromkeys(
        KINDS, COUNT // len(KINDS)
    )


def test_the_status_is_that_of_every_case(found: list[tuple[World, Feedback]]) -> None:
    assert [feedback.status for _, feedback in found] == [one.status() for one, _ in found]


def test_what_is_missing_repairs_and_nothing_in_it_is_spare(found: list[tuple[World, Feedback]]) -> None:
    sets = 0
    for one, feedback in found:
        for missing in feedback.missing:
            if missing.blocked_by:
                assert not one.repairs([*map(read, missing.missing), *map(read, missing.blocked_by)])
                continue
            chosen = [*map(read, missing.missing)]
            assert one.query not in chosen
            assert one.repairs(chosen), (one, missing)
            assert not any(one.repairs([item for item in chosen if item != left]) for left in chosen)
            sets += 1
    assert sets > COUNT // 2


def test_all_smallest_premise_sets_are_listed(found: list[tuple[World, Feedback]]) -> None:
    complete = 0
    for one, feedback in found:
        listed = {frozenset(map(read, m.missing)) for m in feedback.missing if not m.blocked_by}
        if one.status() == "consistent_no_entailment" and feedback.is_complete:
            assert {chosen for chosen in listed if len(chosen) <= 2} == one.smallest_repairs(2), one
            complete += 1
    assert complete > COUNT // 4


def test_a_premise_that_was_taken_away_is_found_again(found: list[tuple[World, Feedback]]) -> None:
    for one, feedback in found:
        if one.kind.startswith("missing"):
            size = 1 if one.kind == "missing_one" else 2
            assert min(len(m.missing) for m in feedback.missing if not m.blocked_by) <= size


def of(one: World, kept: Callable[[str], bool]) -> World:
    """The statements of *one* that are *kept*, by their names in the program."""
    facts = tuple(fact for fact in one.facts if kept(f"fact:{fact[0]}"))
    return replace(one, facts=facts, rules=tuple(rule for i, rule in enumerate(one.rules) if kept(f"rule:{i}")))


def test_a_core_gives_the_answer_alone_and_nothing_in_it_is_spare(found: list[tuple[World, Feedback]]) -> None:
    for one, feedback in found:
        core = frozenset(feedback.core)
        assert bool(core) == (feedback.status in ("consistent_entails", "refuted", "inconsistent"))
        if core:
            assert of(one, core.__contains__).status() == feedback.status
            assert all(of(one, (core - {name}).__contains__).status() != feedback.status for name in core)


def test_a_correction_leaves_a_case_and_nothing_in_it_is_spare(found: list[tuple[World, Feedback]]) -> None:
    corrected = 0
    for one, feedback in found:
        names = {*(f"fact:{atom}" for atom, _ in one.facts), *(f"rule:{i}" for i in range(len(one.rules)))}
        for correction, case in zip(feedback.corrections, feedback.cases, strict=True):
            left = names - set(correction)
            assert of(one, left.__contains__).status() != "inconsistent"
            assert all(of(one, {*left, name}.__contains__).status() == "inconsistent" for name in correction)
            assert case
            corrected += 1
        assert bool(feedback.corrections) == (feedback.status == "inconsistent")
    assert corrected


def test_an_open_query_is_shown_by_a_case(found: list[tuple[World, Feedback]]) -> None:
    for one, feedback in found:
        if feedback.status == "consistent_no_entailment":
            assert feedback.case is not None
            told = dict(feedback.case)
            assert told[one.query[0]] is not one.query[1]
            assert any(all(case[atom] is value for atom, value in told.items()) for case in one.cases())
