"""Each reason to stop, by a run of the whole loop: what was proposed, where it ended, and what was kept."""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import pytest

from bylaw.refine.evidence import Evidence
from bylaw.refine.loop import Run, run
from bylaw.refine.machine import Limits
from bylaw.refine.outcome import answer
from bylaw.refine.program import Ontology, read_program
from bylaw.refine.proposers import Attempt, AxiomProposer, Proposal
from bylaw.refine.subjects import ProgramSubject, Subject
from tests.bylaw.refine.test_characters import ARREARS, GIVEN, PROGRAM, TEXT, WARNED


@dataclass(frozen=True)
class Listed:
    """Proposes one after the other; nothing once the list is over."""

    proposals: Sequence[Any]
    name: str = "listed"
    version: str = "1"

    def propose(self, subject: Subject, history: Sequence[Attempt]) -> Proposal:
        place = len(history) - 1
        return Proposal({"rules": self.proposals[place]} if place < len(self.proposals) else None)


UNQUOTED = {key: value for key, value in ARREARS.items() if key != "quote"}
ONE = [*GIVEN, ARREARS]
USUAL, SLOW = Limits(), Limits(seconds=1)
RUNS = [
    ("entailed", [ONE, [*ONE, WARNED]], USUAL, 2),
    ("no_improvement", [GIVEN], USUAL, 0),
    ("regression", [ONE, [*GIVEN, UNQUOTED]], USUAL, 1),
    ("oscillation", [ONE, GIVEN], USUAL, 1),
    ("max_iterations", [ONE], Limits(max_iterations=1), 1),
    ("max_iterations", [ONE], Limits(max_iterations=0), 0),
    ("budget", [ONE, [*ONE, WARNED]], SLOW, 1),
    ("refused", [[{"condition": "", "conclusion": "Warned(ben)"}]] * 3, USUAL, 0),
    ("no_proposal", [ONE], USUAL, 1),
]


def of(program: dict[str, Any], proposals: Sequence[Any], limits: Limits) -> Run:
    subject = ProgramSubject(read_program(program), Evidence(TEXT))
    return run(subject, Listed(proposals), limits, itertools.count().__next__)


@pytest.mark.parametrize(("stop", "proposals", "limits", "best"), RUNS)
def test_it_stops_and_keeps_the_best(stop: str, proposals: Sequence[Any], limits: Limits, best: int) -> None:
    found = of(PROGRAM, proposals, limits)
    assert found.stop == stop, [mark.key for mark in found.marks]
    assert found.best is found.history[best].candidate


def test_what_is_refuted_stops_at_once() -> None:
    denied = {**PROGRAM, "rules": [{"condition": "PaysLate(?t)", "conclusion": "not GivenNotice(?t)"}]}
    found = of(denied, [ONE], USUAL)
    assert (found.stop, len(found.history)) == ("refuted", 1)
    assert answer(found) == "NO: it follows from `fact:PaysLate(ben)` and `rule:0`."


def test_the_smallest_missing_axiom_is_taken_and_no_other() -> None:
    axioms = [
        {"id": "long", "formula": "PaysLate(?t) and LetterSent(?t) -> InArrears(?t)"},
        {"id": "arrears", "formula": "PaysLate(?t) -> InArrears(?t)"},
        {"id": "away", "formula": "GivenNotice(?t) -> Warned(?t)"},
        {"id": "letter", "formula": "LetterSent(?t) -> Warned(?t)"},
        {"id": "all", "formula": "GivenNotice(ben)"},
    ]
    ontology = Ontology.model_validate({"axioms": axioms})
    subject = ProgramSubject(read_program(PROGRAM), Evidence("", ontology))
    found = run(subject, AxiomProposer(ontology.axioms), USUAL, itertools.count().__next__)
    assert found.has_converged
    assert [rule.get("axiom") for rule in found.best.document["rules"]] == [None, "letter", "arrears"]
    assert found.best.assumptions == ()


def test_two_at_once_do_not_disturb_each_other() -> None:
    from concurrent.futures import ThreadPoolExecutor

    with ThreadPoolExecutor(4) as pool:
        runs = [*pool.map(lambda _: of(PROGRAM, [ONE, [*ONE, WARNED]], USUAL), range(8))]
    assert {answer(one) for one in runs} == {answer(runs[0])}
    assert all(one.stop == "entailed" for one in runs)
