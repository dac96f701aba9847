"""A model that says what is written for each prompt, and recordings of it that a test plays back."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from bylaw.llm.guarded import Guard
from bylaw.llm.port import Completion, Deadline, NoAnswer, Prompt
from bylaw.llm.recorded import Recorded


@dataclass
class ByPrompt:
    """Says the next answer of those for a prompt's id; without one it says nothing."""

    answers: Mapping[str, Sequence[Any]]
    name: str = "scripted"
    asked: list[Prompt] = field(default_factory=list)

    def complete(self, prompt: Prompt, deadline: Deadline) -> Completion:
        before = sum(one.id == prompt.id for one in self.asked)
        self.asked.append(prompt)
        listed = self.answers.get(prompt.id, ())
        if before >= len(listed):
            raise NoAnswer("unrecorded")
        return Completion(json.dumps(listed[before], ensure_ascii=False), self.name)

    def close(self) -> None:
        """Nothing is held."""


def played(folder: Path, answers: Mapping[str, Sequence[Any]], is_writing: bool) -> Guard:
    """The recordings in *folder*; written anew from *answers* where somebody says so."""
    if is_writing:
        for path in folder.glob("*.json"):
            path.unlink()
    return Guard(Recorded(folder, ByPrompt(answers) if is_writing else None), lambda: 0.0)
