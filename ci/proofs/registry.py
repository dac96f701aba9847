"""The questions, in the order they are asked. A newcomer adds one line."""

from __future__ import annotations

from collections.abc import Callable, Iterable

from ci.findings import Finding
from ci.proofs import findings, idle, invariant, joint, reach, redundant
from ci.proofs.inquiry import Inquiry

QUESTIONS: tuple[Callable[[Inquiry], Iterable[Finding]], ...] = (
    reach.dead_rule,
    reach.unreachable_lifting,
    joint.self_contradiction,
    invariant.violated_invariant,
    reach.never_wins_rule,
    redundant.redundant_rule,
    idle.idle_override,
    findings.gap,
    findings.failing_case,
    findings.priority_mismatch,
)
