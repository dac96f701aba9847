"""The judge behind the port: a model's opinion of an answer, as one number or as none."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from statistics import fmean
from typing import Annotated

from pydantic import BaseModel, ConfigDict, Field

from bylaw.llm.port import LLM, Deadline, Exchange, ask
from bylaw.llm.prompts import render

PROMPTS = Path(__file__).parent / "prompts"

Mark = Annotated[float, Field(ge=0, le=1, allow_inf_nan=False)]


class Judgement(BaseModel):
    """What the judge looks at (seed 001, judge check)."""

    model_config = ConfigDict(frozen=True, extra="forbid", defer_build=True)

    accuracy: Mark
    action: Mark
    constraints: Mark
    tone: Mark
    completeness: Mark

    @property
    def score(self) -> float:
        """The mean of the marks: the model gives them, it does not add them up."""
        return fmean((self.accuracy, self.action, self.constraints, self.tone, self.completeness))


def judge(
    llm: LLM, question: str, answer: str, rules: Sequence[str], deadline: Deadline, max_tokens: int
) -> tuple[float | None, Exchange[Judgement]]:
    """The judge's score for *answer*, None where there is no verdict, and the exchange it comes from.

    It is asked once: the guard around the model gives the same prompt the same verdict while the process lives.
    """
    values = {"question": question, "answer": answer, "rules": list(rules)}
    exchange = ask(llm, render(PROMPTS, "judge_v1", values, Judgement, max_tokens), Judgement, deadline)
    return (None if exchange.value is None else exchange.value.score), exchange
