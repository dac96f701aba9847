"""Which rules no case can fire, those of exceptions too."""

from __future__ import annotations

from collections.abc import Iterator

from bylaw.logic.boxes.boxes import TooManyBoxes, boxes
from bylaw.logic.formula.ir import ConditionalRule, Formula
from ci.findings import Finding, Place
from ci.proofs.answers import Reply, of_policies
from ci.proofs.inquiry import Inquiry
from ci.proofs.theory import PROVEN, Theory, Verdict


def can_fire(theory: Theory, i: int) -> Verdict:
    """PROVEN iff the guard of rule *i* has no case within the facts' domains; invariants are not asked."""
    found = theory.evaluator.boxes_of(i)
    if found is not None:
        if not found:
            return PROVEN
        if any(box.is_exact for box in found):
            return Verdict("COUNTEREXAMPLE")
    return satisfiable(theory, theory.ruleset.rules[i].guard)


def satisfiable(theory: Theory, formula: Formula) -> Verdict:
    """PROVEN iff *formula* has no case within the facts' domains."""
    try:
        if any(box.is_exact for box in boxes(formula, theory.ruleset.variables)):
            return Verdict("COUNTEREXAMPLE")
    except TooManyBoxes:
        pass
    answer = theory.reasoner.check([formula])
    if answer.status == "unsat":
        return PROVEN
    return Verdict("UNKNOWN", reason=answer.reason) if answer.status == "unknown" else Verdict("COUNTEREXAMPLE")


# ---- findings -------------------------------------------------------------------------------------------------------


def dead_rule(inquiry: Inquiry) -> Iterator[Reply]:
    """Every rule can fire; an exception that gives an action can hold where it replaces something."""
    for i in inquiry.each_rule("looking for rules that never fire"):
        rule, at = inquiry.rule(i), inquiry.place(i)
        verdict = can_fire(inquiry.theory, i)
        told: tuple[Finding, ...] = ()
        if verdict.status == "UNKNOWN":
            what = f"whether the rule `{rule.rule_id}` can fire"
            told = (inquiry.unanswered(what, at, verdict, (rule.policy_id,)),)
        elif verdict.status == "PROVEN" and rule.origin == "exception":
            told = (never_holds(rule.policy_id, rule.effect.action, at, rule.rule_id),)
        elif verdict.status == "PROVEN":
            told = (_never_fires(rule, at),)
        yield Reply(of_policies(rule.policy_id), verdict.status, told, verdict.reason)


HELP = "the conditions contradict each other, the scope, or the facts' domains"


def _never_fires(rule: ConditionalRule, at: Place) -> Finding:
    return Finding(
        "dead-rule",
        f"policy `{rule.policy_id}` has a rule for `{rule.effect.action}` that can never fire: no case meets its "
        "conditions",
        at,
        policies=(rule.policy_id,),
        rules=(rule.rule_id,),
        help=HELP,
        status="PROVEN",
    )


def never_holds(policy_id: str, action: str, at: Place, rule_id: str) -> Finding:
    """The finding for an exception that no case meets."""
    return Finding(
        "unreachable-exception",
        f"policy `{policy_id}` has an exception ({action}) that can never hold: no case meets its conditions "
        "where an action it replaces would hold",
        at,
        policies=(policy_id,),
        rules=(rule_id,),
        help=HELP,
        status="PROVEN",
    )
