"""A prompt, the answer it asks for, a clock that is moved by hand, and models that say what they are told."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field

from pydantic import BaseModel, ConfigDict, Field

from bylaw.llm.port import Completion, Deadline, NoAnswer, Prompt, Reason


class Answer(BaseModel):
    model_config = ConfigDict(extra="forbid")

    text: str = Field(max_length=20)
    sure: bool


SAID = '{"text": "yes", "sure": true}'


def prompt(user: str = "Is it so?") -> Prompt:
    return Prompt("test_v1", "Be brief.", user, Answer.model_json_schema(), 100)


@dataclass
class Clock:
    at: float = 100.0

    def __call__(self) -> float:
        return self.at


@dataclass
class Scripted:
    """A model that says the next line of its script; a reason in it is one not to answer."""

    script: list[str | Reason]
    name: str = "scripted"
    seen: list[Prompt] = field(default_factory=list)
    meanwhile: Callable[[], object] = lambda: None
    is_closed: bool = False

    def complete(self, prompt: Prompt, deadline: Deadline) -> Completion:
        self.seen.append(prompt)
        self.meanwhile()
        line = self.script.pop(0) if len(self.script) > 1 else self.script[0]
        if line.startswith("{"):
            return Completion(line, self.name)
        raise NoAnswer(line)

    def close(self) -> None:
        self.is_closed = True
