"""What stands between the product and any model: a circuit breaker, a bound on requests at once, one answer a prompt.

The state is a provider's and lives as long as the process; the limits come from the rules in force, with each use. The
same prompt is answered once: a model that would say something else the second time is never heard twice.
"""

from __future__ import annotations

import threading
from collections import OrderedDict
from collections.abc import Callable
from dataclasses import dataclass

from bylaw.llm.port import LLM, Completion, Deadline, NoAnswer, Prompt

_KEPT = 512  # completions that a process remembers; a page of text each


@dataclass(frozen=True)
class Limits:
    """After `failures` in a row a provider rests for `rest_seconds`; never more than `at_once` requests wait for it."""

    failures: int
    rest_seconds: float
    at_once: int


@dataclass(frozen=True)
class Candidate:
    """A model that may take a task, under the name by which the registry knows it.

    `seconds` and `answer_tokens` are its own for one answer, None where the task says how much.
    """

    agent: str
    model: str
    latency_ms: int
    seconds: float | None = None
    answer_tokens: int | None = None


@dataclass(frozen=True)
class Errand:
    """A task, the models that may take it in the order in which they are asked, and the time each one has."""

    task: str
    candidates: tuple[Candidate, ...]
    latency_ms: int


class Guard:
    """Around one provider. Safe to use from several threads."""

    def __init__(self, llm: LLM, clock: Callable[[], float]) -> None:
        self.llm = llm
        self.clock = clock
        self._lock = threading.Lock()
        self._kept: OrderedDict[str, Completion] = OrderedDict()
        self._failures = 0
        self._rests_until: float | None = None
        self._waiting = 0

    def under(self, limits: Limits, errand: Errand | None = None) -> LLM:
        """The provider under these limits, whatever the errand: there is no other."""
        return Guarded(self, limits)

    def said(self, prompt: Prompt) -> Completion | None:
        """What was said to *prompt* before, None where nothing was."""
        with self._lock:
            return self._kept.get(prompt.fingerprint)

    def close(self) -> None:
        """Close the provider."""
        self.llm.close()

    def complete(self, prompt: Prompt, deadline: Deadline, limits: Limits) -> Completion:
        """What was said to *prompt* before, or what the provider says now. Raises NoAnswer."""
        with self._lock:
            if (known := self._kept.get(prompt.fingerprint)) is not None:
                return known
            self._admit(limits)
            self._waiting += 1
        is_good = False
        try:
            completion = self.llm.complete(prompt, deadline)
            is_good = True
        finally:
            with self._lock:
                self._waiting -= 1
                self._count(is_good, limits)
        with self._lock:
            first = self._kept.setdefault(prompt.fingerprint, completion)
            while len(self._kept) > _KEPT:
                self._kept.popitem(last=False)
        return first

    def _admit(self, limits: Limits) -> None:
        """Let a request through, or raise why not. After a rest one tries, and the others wait for how it ends."""
        if self._rests_until is not None:
            if self.clock() < self._rests_until:
                raise NoAnswer("resting")
            self._rests_until = self.clock() + limits.rest_seconds
        if self._waiting >= limits.at_once:
            raise NoAnswer("busy")

    def _count(self, is_good: bool, limits: Limits) -> None:
        if is_good:
            self._failures, self._rests_until = 0, None
            return
        self._failures += 1
        if self._failures >= limits.failures:
            self._rests_until = self.clock() + limits.rest_seconds


@dataclass(frozen=True)
class Guarded:
    """A provider as a stage sees it: any model, under the limits of the rules in force."""

    guard: Guard
    limits: Limits

    @property
    def name(self) -> str:
        """The provider's."""
        return self.guard.llm.name

    def complete(self, prompt: Prompt, deadline: Deadline) -> Completion:
        """What the model says. Raises NoAnswer."""
        return self.guard.complete(prompt, deadline, self.limits)

    def close(self) -> None:
        """Nothing: the guard outlives its uses."""
