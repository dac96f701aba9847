"""Open questions with one hand-written formula behind them: one finding, which stands at it and counts them."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING

from bylaw.language.counting import count
from ci.findings import Finding, Place
from ci.proofs.grounds import place_of
from ci.proofs.inquiry import Inquiry

if TYPE_CHECKING:
    from bylaw.logic.solver.retrying import Suspect


def told_once(inquiry: Inquiry, findings: Iterable[Finding]) -> list[Finding]:
    """*findings*, with the questions that are open because of one hand-written formula put together.

    The others stay as they are, in their order; what is put together stands where its first question stood.
    """
    beyond = inquiry.theory.beyond
    every = list(findings)
    open_: dict[str, list[Finding]] = {reason: [] for reason in beyond}
    for finding in every:
        reason = _reason(finding, beyond)
        if reason is not None:
            open_[reason].append(finding)
    kept = []
    for finding in every:
        reason = _reason(finding, beyond)
        if reason is None or len(open_[reason]) == 1:
            kept.append(finding)
        elif finding is open_[reason][0]:
            kept.append(_together(inquiry, beyond[reason], reason, open_[reason]))
    return kept


def _reason(finding: Finding, reasons: Iterable[str]) -> str | None:
    if finding.id != "unknown-answer":
        return None
    return next((reason for reason in reasons if finding.message.endswith(f": {reason}")), None)


def _together(inquiry: Inquiry, suspect: Suspect, reason: str, open_: list[Finding]) -> Finding:
    ending = f" could not be decided: {reason}"
    questions = [finding.message.removesuffix(ending) for finding in open_]
    most = inquiry.workspace.rules.ci.report.per_group
    return Finding(
        "unknown-answer",
        f"{reason}; left open by it: {count(len(open_), 'question')}, for instance {questions[0]}",
        _place(inquiry, suspect),
        policies=(suspect.policy_id,),
        rules=(suspect.id,),
        help="simplify what was written by hand, or raise the budget under `proofs` in rules/ci.yaml",
        related=tuple((finding.at, what) for finding, what in zip(open_[1 : most + 1], questions[1:], strict=False)),
        status="UNKNOWN",
        members=tuple(finding.fingerprint for finding in open_),
    )


def _place(inquiry: Inquiry, suspect: Suspect) -> Place:
    if suspect.is_axiom:
        return place_of(inquiry, suspect.policy_id, suspect.id)
    return inquiry.place(inquiry.theory.evaluator.index_of(suspect.id))
