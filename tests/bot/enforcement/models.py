"""A model to write answers in tests: it reads the prompt as a model would, and says what the test tells it to."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

from bylaw.llm.port import Completion, Deadline, NoAnswer, Prompt, Reason

GOOD = {"accuracy": 1, "action": 1, "constraints": 1, "tone": 1, "completeness": 1}


def decided(prompt: Prompt) -> list[dict[str, str]]:
    """What the prompt says is decided."""
    lines = prompt.user.partition("DECIDED:\n")[2].splitlines()
    return [json.loads(line) for line in lines if line.startswith('{"action"')]


def obedient(prompt: Prompt) -> dict[str, Any]:
    """The answer of a model that does what it is asked to."""
    found = decided(prompt)
    text = " ".join(f"You get {one['in words']} ({one['policy']})." for one in found)
    return {"text": text, "actions": [one["action"] for one in found], "policies": [one["policy"] for one in found]}


@dataclass
class Author:
    """A model whose answers are functions of the prompt, one after the other; the last one stays."""

    script: list[Callable[[Prompt], Any]] = field(default_factory=lambda: [obedient])
    marks: Any = field(default_factory=lambda: dict(GOOD))
    name: str = "test:author"
    prompts: list[Prompt] = field(default_factory=list)
    judged: list[Prompt] = field(default_factory=list)
    reading: Any = field(default_factory=lambda: NoAnswer("off"))
    read: list[Prompt] = field(default_factory=list)
    claims: Any = field(default_factory=lambda: NoAnswer("off"))  # what it reads in an answer
    held: list[Prompt] = field(default_factory=list)

    def complete(self, prompt: Prompt, deadline: Deadline) -> Completion:
        if prompt.id.startswith("read_question"):
            self.read.append(prompt)
            said = self.reading(prompt) if callable(self.reading) else self.reading
        elif prompt.id.startswith("read_answer"):
            self.held.append(prompt)
            said = self.claims
        elif prompt.id.startswith("judge"):
            self.judged.append(prompt)
            said = self.marks
        else:
            self.prompts.append(prompt)
            said = (self.script.pop(0) if len(self.script) > 1 else self.script[0])(prompt)
        if isinstance(said, NoAnswer):
            raise said
        return Completion(said if isinstance(said, str) else json.dumps(said), self.name)

    def close(self) -> None: ...


def fails(reason: Reason) -> Callable[[Prompt], NoAnswer]:
    return lambda _: NoAnswer(reason)
