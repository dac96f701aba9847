"""The questions, in the order they are asked. A newcomer adds one line."""

from __future__ import annotations

from collections.abc import Callable, Iterable

from ci.findings import Finding
from ci.proofs import findings
from ci.proofs.inquiry import Inquiry

QUESTIONS: tuple[Callable[[Inquiry], Iterable[Finding]], ...] = (
    findings.dead_rule,
    findings.gap,
    findings.failing_case,
    findings.priority_mismatch,
)
