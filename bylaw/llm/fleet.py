"""Several models, and which of them takes a task: the first that is able, quick enough and not resting; then the next.

Each has a guard of its own, so that one that fails is left alone while the others answer. What was said to a prompt
once is said again, by whomever.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

from bylaw.errors import UsageError
from bylaw.llm.guarded import Candidate, Errand, Guard, Limits
from bylaw.llm.port import LLM, Choice, Completion, Deadline, NoAnswer, PassedOver, Prompt


class Fleet(Guard):
    """Opens a model when it is first asked. Safe to use from several threads."""

    def __init__(self, open_agent: Callable[[Candidate], LLM], clock: Callable[[], float]) -> None:
        super().__init__(_Nobody(), clock)
        self._open = open_agent
        self._guards: dict[tuple[str, str], Guard] = {}
        self._opening = threading.Lock()

    def under(self, limits: Limits, errand: Errand | None = None) -> LLM:
        """Whoever takes *errand*, under these limits."""
        return _Chosen(self, limits, errand) if errand is not None else super().under(limits)

    def guard_of(self, candidate: Candidate) -> Guard:
        """The guard around a model. Raises UsageError where it cannot be opened."""
        key = candidate.agent, candidate.model
        with self._opening:
            if key not in self._guards:
                self._guards[key] = Guard(self._open(candidate), self.clock)
            return self._guards[key]

    def said_by(self, candidate: Candidate, prompt: Prompt) -> Completion | None:
        """What a model said to *prompt* before."""
        guard = self._guards.get((candidate.agent, candidate.model))
        return None if guard is None else guard.said(prompt)

    def close(self) -> None:
        """Close every model that was opened."""
        for guard in self._guards.values():
            guard.close()


@dataclass(frozen=True)
class _Nobody:
    name: str = "nobody"

    def complete(self, prompt: Prompt, deadline: Deadline) -> Completion:
        raise NoAnswer("unfit")

    def close(self) -> None:
        """Nothing is held."""


@dataclass(frozen=True)
class _Chosen:
    """The models of one errand as one. Which of them spoke stands in the completion."""

    fleet: Fleet
    limits: Limits
    errand: Errand
    name: str = "agents"

    def complete(self, prompt: Prompt, deadline: Deadline) -> Completion:
        """What the first of them says that answers. Raises NoAnswer, with everybody who was passed over."""
        passed: list[PassedOver] = []
        for candidate in self.errand.candidates:
            if (said := self.fleet.said_by(candidate, _fitted(prompt, candidate))) is not None:
                return self._signed(said, candidate, passed)
        for candidate in self.errand.candidates:
            try:
                return self._signed(self._asked(candidate, prompt, deadline), candidate, passed)
            except NoAnswer as error:
                passed.append(PassedOver(candidate.agent, error.reason))
        last = NoAnswer(passed[-1].reason if passed else "unfit")
        last.choice = Choice(self.errand.task, None, None, tuple(passed))
        raise last

    def close(self) -> None:
        """Nothing: the fleet outlives its uses."""

    def _asked(self, candidate: Candidate, prompt: Prompt, deadline: Deadline) -> Completion:
        """What one model says, in the time that the task gives it. Raises NoAnswer."""
        if candidate.latency_ms / 1000 > deadline.left:
            raise NoAnswer("late")
        try:
            guard = self.fleet.guard_of(candidate)
        except UsageError as error:
            raise NoAnswer("unopened", error.message) from error
        seconds = candidate.seconds or self.errand.latency_ms / 1000
        own = Deadline(min(deadline.at, deadline.clock() + seconds), deadline.clock)
        return guard.complete(_fitted(prompt, candidate), own, self.limits)

    def _signed(self, said: Completion, candidate: Candidate, passed: Sequence[PassedOver]) -> Completion:
        choice = Choice(self.errand.task, candidate.agent, said.model, tuple(passed))
        return replace(said, choice=choice)


def _fitted(prompt: Prompt, candidate: Candidate) -> Prompt:
    """*prompt* with as long an answer as this model may give."""
    return prompt if candidate.answer_tokens is None else replace(prompt, max_tokens=candidate.answer_tokens)
