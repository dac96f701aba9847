"""The loop itself: a rewrite is asked for, guardrail and solver judge it, and the machine says what follows."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

from bylaw.refine.guardrail import Refusal
from bylaw.refine.machine import Limits, Mark, Stop, best, next_move, oscillations, rewrites
from bylaw.refine.proposers import Attempt, Proposal, Proposer
from bylaw.refine.subjects import Candidate, Subject


@dataclass(frozen=True)
class Run:
    """A finished loop. The best attempt counts, not the last."""

    history: tuple[Attempt, ...]
    stop: Stop
    proposer: str
    version: str

    @property
    def marks(self) -> list[Mark]:
        """What the machine saw."""
        return [one.mark for one in self.history]

    @property
    def best(self) -> Candidate:
        """The best form; it is the first one where no rewrite was better."""
        found = self.history[best(self.marks)].candidate
        assert found is not None  # what has a score was checked
        return found

    @property
    def first(self) -> Candidate:
        """The form that was given."""
        found = self.history[0].candidate
        assert found is not None
        return found

    @property
    def speaker(self) -> str:
        """Who proposed: the model that spoke, where one did, else the name of the proposer."""
        papers = (paper for one in self.history for paper in one.papers.values() if paper.get("completion"))
        return next((str(paper["completion"]["model"]) for paper in papers), self.proposer)

    @property
    def has_converged(self) -> bool:
        """Is the best form right?"""
        return self.best.mark.is_right

    @property
    def conditional(self) -> Candidate | None:
        """The first form that decides the query by assumptions, where no form does without."""
        if self.has_converged:
            return None
        decided = (one.candidate for one in self.history if one.candidate and one.candidate.assumptions)
        return next((one for one in decided if one.mark.status in ("consistent_entails", "refuted")), None)

    @property
    def metrics(self) -> dict[str, Any]:
        """The metrics of seed 003, 11."""
        marks, end = self.marks, self.best.mark
        times = [mark.seconds for mark in marks[1:]]
        return {
            "num_iters": rewrites(marks),
            "converged": self.has_converged,
            "oscillations": oscillations(marks),
            "stop": self.stop,
            "missing_links": {"before": marks[0].missing_links, "after": end.missing_links},
            "status": {"before": marks[0].status, "after": end.status},
            "mean_refinement_seconds": round(sum(times) / len(times), 3) if times else 0.0,
            "proposer": self.speaker,
            "prompt_version": self.version,
        }


def run(subject: Subject, proposer: Proposer, limits: Limits, clock: Callable[[], float]) -> Run:
    """Refine *subject* until the machine says stop. What is right before any rewrite asks nobody."""
    first = subject.first()
    history = [Attempt(first.mark, None, first)]
    while (move := next_move([one.mark for one in history], limits)) == "refine":
        started = clock()
        proposal = proposer.propose(subject, history)
        attempt = _judged(subject, proposal)
        history.append(replace(attempt, mark=replace(attempt.mark, seconds=max(0.0, clock() - started))))
    return Run(tuple(history), move, proposer.name, proposer.version)


def _judged(subject: Subject, proposal: Proposal) -> Attempt:
    if proposal.content is None:
        return Attempt(Mark(is_silent=True), None, papers=proposal.papers)
    found = subject.judge(proposal.content)
    if isinstance(found, Refusal):
        return Attempt(Mark(is_refused=True), proposal.content, problems=found.problems, papers=proposal.papers)
    return Attempt(found.mark, proposal.content, found, papers=proposal.papers)
