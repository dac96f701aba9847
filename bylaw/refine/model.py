"""A language model as the proposer: prompts 3.0 to 3.3 of seed 003, versioned, typed and kept.

A model that says nothing, or something else than what was asked for, has proposed nothing.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any, TypeVar

from pydantic import BaseModel, ConfigDict, Field

from bylaw.canonical import plain
from bylaw.llm.port import LLM, Deadline, Exchange, ask
from bylaw.llm.prompts import render
from bylaw.refine.history import MOST_CHARACTERS, digest, last_checked
from bylaw.refine.proposers import Attempt, Proposal
from bylaw.refine.subjects import Subject

PROMPTS = Path(__file__).with_name("prompts")
INITIAL, REFINE, SUMMARIZE, INSPECT = "initial_v3_0", "refine_v3_1", "summarize_v3_2", "inspect_v3_3"
T = TypeVar("T", bound=BaseModel)


class Summary(BaseModel):
    """What a model makes of the history."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    summary: Annotated[str, Field(max_length=MOST_CHARACTERS)]


class Inspection(BaseModel):
    """Whether a rewrite is worth its check. It can only end the loop: nothing is ever taken for right by it."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    goes_on: bool
    why: Annotated[str, Field(max_length=1_000)] = ""


@dataclass(frozen=True)
class ModelProposer:
    """Asks *llm*, for all rewrites together no longer than *seconds*. `is_inspecting`: prompt 3.3 is asked, too."""

    llm: LLM
    seconds: float
    clock: Callable[[], float]
    answer_tokens: int = 4_000
    is_inspecting: bool = False
    mask: Callable[[str], str] = str
    version: str = "3.1"

    @property
    def name(self) -> str:
        """The model's."""
        return self.llm.name

    def propose(self, subject: Subject, history: Sequence[Attempt]) -> Proposal:
        """A rewrite of the last form that was checked."""
        spent = sum(one.mark.seconds for one in history)
        deadline = Deadline.after(max(0.0, self.seconds - spent), self.clock)
        papers: dict[str, Any] = {}
        told = {**plain(subject.told()), **last_checked(history)}
        told["text"], told["question"] = self.mask(told.get("text", "")), self.mask(told.get("question", ""))
        if len(history) == 1:
            exchange = self._ask(INITIAL, told, subject.answer, deadline, papers)
        else:
            told["summary"] = self._summary(history, deadline, papers)
            exchange = self._ask(REFINE, told, subject.answer, deadline, papers)
        if exchange.value is None:
            return Proposal(None, papers)
        content: Mapping[str, Any] = exchange.value.model_dump(mode="json", exclude_none=True)
        if self.is_inspecting and not self._goes_on(told, content, deadline, papers):
            return Proposal(None, papers)
        return Proposal(content, papers)

    def _summary(self, history: Sequence[Attempt], deadline: Deadline, papers: dict[str, Any]) -> str:
        """The history in the model's words; where it has none, in ours."""
        own = digest(history)
        exchange = self._ask(SUMMARIZE, {"history": own}, Summary, deadline, papers)
        return own if exchange.value is None else exchange.value.summary

    def _goes_on(
        self, told: Mapping[str, Any], content: Mapping[str, Any], deadline: Deadline, papers: dict[str, Any]
    ) -> bool:
        exchange = self._ask(INSPECT, {**told, "proposed": content}, Inspection, deadline, papers)
        return exchange.value is None or exchange.value.goes_on

    def _ask(
        self, prompt_id: str, told: Mapping[str, Any], answer: type[T], deadline: Deadline, papers: dict[str, Any]
    ) -> Exchange[T]:
        exchange = ask(
            self.llm, render(PROMPTS, prompt_id, {"told": told}, answer, self.answer_tokens), answer, deadline
        )
        papers[prompt_id] = exchange.paper()
        return exchange
