"""Which rules no case can fire."""

from __future__ import annotations

from ci.proofs.theory import PROVEN, Theory, Verdict


def can_fire(theory: Theory, i: int) -> Verdict:
    """PROVEN iff the guard of rule *i* has no case within the facts' domains; invariants are not asked."""
    found = theory.evaluator.boxes_of(i)
    if found is not None:
        if not found:
            return PROVEN
        if any(box.is_exact for box in found):
            return Verdict("COUNTEREXAMPLE")
    answer = theory.reasoner.check([theory.ruleset.rules[i].guard])
    if answer.status == "unsat":
        return PROVEN
    return Verdict("UNKNOWN", reason=answer.reason) if answer.status == "unknown" else Verdict("COUNTEREXAMPLE")
