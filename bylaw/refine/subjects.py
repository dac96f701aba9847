"""What can be refined: a thing with a first form, words about it for whoever proposes, and a judge of proposals."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Protocol

from pydantic import BaseModel

from bylaw.refine.evidence import Evidence
from bylaw.refine.feedback import BOUNDS, Feedback, check
from bylaw.refine.guardrail import Accepted, ProposedProgram, Refusal, review
from bylaw.refine.machine import Mark
from bylaw.refine.program import Reading
from bylaw.refine.theory import Theory, ground


@dataclass(frozen=True)
class Candidate:
    """One form of what is refined, checked: what it says, what was found of it, and what it only assumes."""

    document: Mapping[str, Any]
    feedback: Mapping[str, Any]
    mark: Mark
    assumptions: tuple[str, ...] = ()


class Subject(Protocol):
    """What the loop works on. It never changes: every proposal is judged against the same first form."""

    @property
    def answer(self) -> type[BaseModel]:
        """What a proposal looks like."""
        ...

    def first(self) -> Candidate:
        """The form that was given."""
        ...

    def judge(self, proposed: Mapping[str, Any]) -> Candidate | Refusal:
        """The form that a proposal gives it, or why it is not looked at."""
        ...

    def told(self) -> Mapping[str, Any]:
        """What a proposer is told: the `task`, the `text` that may be quoted, the `words` that are declared."""
        ...


@dataclass(frozen=True)
class ProgramSubject:
    """A logic program with a query. The checks are remembered: the same rules are asked about once."""

    given: Reading
    evidence: Evidence
    question: str = ""
    _checked: dict[str, Feedback] = field(default_factory=dict, compare=False)

    @property
    def answer(self) -> type[BaseModel]:
        """All rules that shall hold."""
        return ProposedProgram

    def first(self) -> Candidate:
        """The program as it was given."""
        return self._candidate(self.given, ground(self.given), (), 1.0)

    def judge(self, proposed: Mapping[str, Any]) -> Candidate | Refusal:
        """The program with other rules, or why the guardrail stops them."""
        found = review(self.given, proposed, self.evidence)
        if isinstance(found, Refusal):
            return found
        return self._candidate_of(found)

    def told(self) -> Mapping[str, Any]:
        """The question, the text, and the words with what people call them."""
        words = {**self.evidence.ontology.predicates, **self.given.program.predicates}
        return {
            "task": "Complete the rules of this logic program so that its query follows where the text says so.",
            "question": self.question,
            "text": self.evidence.text,
            "words": {name: one.model_dump(mode="json", exclude_none=True) for name, one in sorted(words.items())},
            "axioms": [one.model_dump(mode="json", exclude_none=True) for one in self.evidence.ontology.axioms],
        }

    def _candidate_of(self, found: Accepted) -> Candidate:
        return self._candidate(found.reading, found.theory, found.assumptions, found.fidelity)

    def _candidate(self, reading: Reading, theory: Theory, assumptions: tuple[str, ...], fidelity: float) -> Candidate:
        feedback = self._checked.get(reading.meaning)
        if feedback is None:
            feedback = self._checked[reading.meaning] = check(theory, reading.notes, BOUNDS)
        mark = Mark(reading.meaning, feedback.status, fidelity, feedback.missing_links)
        return Candidate(reading.program.document(), feedback.document(), mark, assumptions)
