"""How far the bounded loop goes: `rules/refinement.yaml` (seed 003)."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import Field, StrictInt

from bylaw.authored.machines.amounts import Positive
from bylaw.authored.record import AuthoredFile


class Refinement(AuthoredFile):
    """`rules/refinement.yaml`. A proposer that makes more errors than it mends over `judged_runs` is asked no more."""

    max_iterations: Annotated[StrictInt, Field(ge=0, le=10)] = 3  # seed 003, 8
    refusal_policy: Literal["fail_fast", "auto_retry", "fallback_to_v1"] = "auto_retry"  # seed 003, 10: one retry
    seconds: Positive = 120  # of all rewrites of one run
    judged_runs: Positive = 50
