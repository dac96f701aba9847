"""How far the bounded loop goes: `rules/refinement.yaml` (seed 003)."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import Field, StrictInt

from bylaw.authored.machines.amounts import Positive
from bylaw.authored.record import AuthoredFile


class Refinement(AuthoredFile):
    """`rules/refinement.yaml`. A proposer that makes more errors than it mends over `judged_runs` is asked no more."""

    max_iterations: Annotated[StrictInt, Field(ge=0, le=10)]  # seed 003, 8
    refusal_policy: Literal["fail_fast", "auto_retry", "fallback_to_v1"]  # seed 003, 10
    seconds: Positive  # of all rewrites of one run
    judged_runs: Positive


# what a bundle says that says nothing of it: the packaged file
AS_PACKAGED = Refinement(max_iterations=3, refusal_policy="auto_retry", seconds=120, judged_runs=50)
