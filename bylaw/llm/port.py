"""What is said to a language model and what comes back: prompts by fingerprint, one deadline, a typed answer or none.

A provider gives text. That text counts only when it is exactly what was asked for; everything else is no answer.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, Generic, Literal, Protocol, TypeVar

from pydantic import BaseModel, ValidationError

from bylaw.canonical import fingerprint
from bylaw.errors import BylawError

# Why there is no answer; people read `WORDS`.
Reason = Literal[
    "off",
    "unfit",
    "unopened",
    "late",
    "busy",
    "resting",
    "unreachable",
    "overloaded",
    "refused",
    "unreadable",
    "unrecorded",
]
WORDS: Mapping[Reason, str] = {
    "off": "no language model is configured",
    "unfit": "no language model that is registered can do this in time",
    "unopened": "the language model cannot be used as this process is set up",
    "late": "the language model did not answer in time",
    "busy": "too many questions wait for the language model",
    "resting": "the language model failed several times and is left alone for a while",
    "unreachable": "the language model cannot be reached",
    "overloaded": "the language model's server is overloaded or down",
    "refused": "the language model's server refused the request",
    "unreadable": "the language model's answer was not what was asked for",
    "unrecorded": "no answer of the language model is recorded for this",
}

T = TypeVar("T", bound=BaseModel)


@dataclass(frozen=True)
class PassedOver:
    """A registered model that could have taken a task, and why it did not."""

    agent: str
    reason: Reason


@dataclass(frozen=True)
class Choice:
    """Which registered model took a task (None: nobody), and who was passed over before it."""

    task: str
    agent: str | None
    model: str | None
    passed_over: tuple[PassedOver, ...] = ()

    def document(self) -> dict[str, Any]:
        """The choice as JSON."""
        passed = [{"agent": one.agent, "reason": one.reason} for one in self.passed_over]
        return {"task": self.task, "agent": self.agent, "model": self.model, "passed_over": passed}


class NoAnswer(BylawError):
    """The model did not answer. `detail` is for the log: a class or a status, never a body or a key."""

    def __init__(self, reason: Reason, detail: str = "") -> None:
        super().__init__(WORDS[reason])
        self.reason = reason
        self.detail = detail
        self.choice: Choice | None = None


@dataclass(frozen=True)
class Prompt:
    """Everything that is said. `id` is the template's versioned name, `schema` what the answer must look like."""

    id: str
    system: str
    user: str
    schema: Mapping[str, Any]
    max_tokens: int

    @cached_property
    def fingerprint(self) -> str:
        """The name under which the prompt and its completion are kept."""
        return fingerprint(self.document())

    def document(self) -> dict[str, Any]:
        """The prompt as JSON. Temperature is not a choice."""
        said = {"id": self.id, "system": self.system, "user": self.user, "schema": dict(self.schema)}
        return {**said, "max_tokens": self.max_tokens, "temperature": 0}


@dataclass(frozen=True)
class Completion:
    """What the model *model* said, to the letter; `choice` where it was chosen among several."""

    text: str
    model: str
    choice: Choice | None = None

    def document(self) -> dict[str, str]:
        """The completion as JSON."""
        return {"text": self.text, "model": self.model}


@dataclass(frozen=True)
class Deadline:
    """The moment at which a whole stage must be over, on a clock that only goes forward."""

    at: float
    clock: Callable[[], float]

    @classmethod
    def after(cls, seconds: float, clock: Callable[[], float]) -> Deadline:
        """*seconds* from now."""
        return cls(clock() + seconds, clock)

    @property
    def left(self) -> float:
        """Seconds; zero or less when it has passed."""
        return self.at - self.clock()


class LLM(Protocol):
    """A language model. `name` says which: a model that answers differently has another name."""

    @property
    def name(self) -> str:
        """Such as `openai:gpt-5`."""
        ...

    def complete(self, prompt: Prompt, deadline: Deadline) -> Completion:
        """What the model says to *prompt*. Raises NoAnswer, at the latest when *deadline* has passed."""
        ...

    def close(self) -> None:
        """Let go of connections and threads."""
        ...


@dataclass(frozen=True)
class Exchange(Generic[T]):
    """One question to the model and how it ended: a `value`, or the error that says why there is none."""

    prompt: Prompt
    completion: Completion | None = None
    value: T | None = None
    error: NoAnswer | None = field(default=None, compare=False)

    @property
    def choice(self) -> Choice | None:
        """Which of several models took it; None where there was no choice."""
        spoke = self.completion or self.error
        return None if spoke is None else spoke.choice

    def paper(self) -> dict[str, Any]:
        """What is kept of it, as JSON: the same exchange has the same bytes."""
        return {
            **({} if self.choice is None else {"choice": self.choice.document()}),
            "fingerprint": self.prompt.fingerprint,
            "prompt": self.prompt.document(),
            "completion": None if self.completion is None else self.completion.document(),
            "error": None if self.error is None else self.error.reason,
        }


def ask(llm: LLM, prompt: Prompt, answer: type[T], deadline: Deadline) -> Exchange[T]:
    """Ask *llm* once for an *answer*. Never raises NoAnswer: the exchange carries it."""
    if deadline.left <= 0:
        return Exchange(prompt, error=NoAnswer("late"))
    try:
        completion = llm.complete(prompt, deadline)
    except NoAnswer as error:
        return Exchange(prompt, error=error)
    try:
        value = answer.model_validate_json(_unfenced(completion.text), strict=True)
    except ValidationError as error:
        fields = sorted({".".join(map(str, one["loc"])) or "-" for one in error.errors(include_input=False)})
        return Exchange(prompt, completion, error=NoAnswer("unreadable", ", ".join(fields)[:200]))
    return Exchange(prompt, completion, value)


def in_words(schema: Mapping[str, Any]) -> str:
    """The demand for an answer of that *schema*, for models that cannot be held to one."""
    text = json.dumps(schema, sort_keys=True, ensure_ascii=False)
    return f"Answer with one JSON object and nothing else. It must match this JSON Schema:\n{text}"


def _unfenced(text: str) -> str:
    """*text* without the code fence that many models put around JSON."""
    first, _, rest = text.strip().partition("\n")
    return rest.removesuffix("```") if first in ("```", "```json") and rest.endswith("```") else text
