"""Who proposes a rewrite: the axioms of the ontology, of which the smallest that helps is taken, or nobody."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Protocol

from bylaw.refine.guardrail import Refusal
from bylaw.refine.machine import Mark
from bylaw.refine.program import Axiom
from bylaw.refine.subjects import Candidate, Subject

MOST_AXIOMS = 60  # that are tried, each with a check


@dataclass(frozen=True)
class Proposal:
    """What is proposed, and what led to it: papers by name, to be kept."""

    content: Mapping[str, Any] | None
    papers: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True)
class Attempt:
    """One step of the history: what was proposed, and the form it gave or the reasons against it."""

    mark: Mark
    proposed: Mapping[str, Any] | None
    candidate: Candidate | None = None
    problems: tuple[str, ...] = ()
    papers: Mapping[str, Any] = field(default_factory=dict)


class Proposer(Protocol):
    """Proposes rewrites. `name` says which; `version` is that of what it is told."""

    @property
    def name(self) -> str:
        """Such as `axioms`, or the model's name."""
        ...

    @property
    def version(self) -> str:
        """The version of its prompts."""
        ...

    def propose(self, subject: Subject, history: Sequence[Attempt]) -> Proposal:
        """What to try after *history*; a proposal without content where there is nothing."""
        ...


@dataclass(frozen=True)
class AxiomProposer:
    """Takes the smallest rule that is missing from the ontology's axioms, and nothing else."""

    axioms: tuple[Axiom, ...] = ()
    name: str = "axioms"
    version: str = "1"

    def propose(self, subject: Subject, history: Sequence[Attempt]) -> Proposal:
        """The last program with the axiom that helps most; of equal ones the shortest."""
        last = next((one.candidate for one in reversed(history) if one.candidate is not None), None)
        if last is None or "rules" not in last.document:
            return Proposal(None)
        rules = list(last.document["rules"])
        taken = {rule.get("axiom") for rule in rules}
        tried: list[tuple[tuple[Any, ...], Mapping[str, Any]]] = []
        for axiom in sorted(self.axioms, key=lambda one: (len(one.formula), one.id or ""))[:MOST_AXIOMS]:
            if axiom.id is None or axiom.id in taken:
                continue
            content = {"rules": [*rules, {"definition": axiom.formula, "axiom": axiom.id, "id": f"from-{axiom.id}"}]}
            judged = subject.judge(content)
            if not isinstance(judged, Refusal) and judged.mark.key > last.mark.key:
                tried.append((judged.mark.key, content))
        if not tried:
            return Proposal(None)
        most = max(key for key, _ in tried)
        return Proposal(next(content for key, content in tried if key == most))
