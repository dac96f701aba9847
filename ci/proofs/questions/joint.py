"""Which rules are inconsistent together though no two of them are. With our effects: only one rule with itself.

Proof. In a case, effects say facts about single actions: `act` is demanded, `act` is prohibited or permitted, an
outcome is answered by `act`. Demands spread through `implies`, whose premise is one action, so what several rules
demand together is what each demands, put together. Every way to clash (two answers of one outcome, demanded and
prohibited, permitted and prohibited, demanded and excluded) speaks of two such facts. Each comes from one rule: a clash
needs two rules at most, and constraints speak of facts, not of actions, so they only take cases away. Two rules are the
question of `conflict`; invariants that exclude one another are that of `violated-invariant`. What is left is one.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import combinations

from bylaw.logic.boxes.boxes import point
from bylaw.logic.boxes.truth import truth
from bylaw.logic.formula.ir import Effect, Facts
from ci.findings import Finding
from ci.proofs.answers import Reply, of_policies
from ci.proofs.inquiry import Inquiry
from ci.proofs.theory import PROVEN, Theory, Verdict

JOINT = Verdict("SKIPPED", reason="a contradiction of effects needs two rules at most, and every pair is asked")


def at_odds(effect: Effect, excludes: frozenset[tuple[str, str]]) -> tuple[str, str] | None:
    """Two actions that *effect* demands and that may not both happen; None when it agrees with itself."""
    answers = {action: outcome for outcome, action in effect.takes}
    for one, other in combinations(effect.demands, 2):
        if (one, other) in excludes or (one in answers and answers[one] == answers.get(other)):
            return one, other
    return None


def fires(theory: Theory, i: int) -> Verdict:
    """PROVEN iff rule *i* fires in no existing case of any day from now on; else the fewest facts that make it fire."""
    rule = theory.ruleset.rules[i]
    for day in theory.days([rule]):
        if not rule.holds_on(day):
            continue

        def confirm(facts: Facts, day: int = day) -> bool:
            return truth(rule.guard, facts) is True and theory.exists(facts, day)

        for box in theory.evaluator.boxes_of(i) or ():
            facts = theory.completed(point(box, theory.ruleset.variables), day, [i])
            if confirm(facts):
                return Verdict("COUNTEREXAMPLE", theory.fewest(facts, confirm), day)
        verdict = theory.solve([rule.guard], day, [i], confirm)
        if verdict.status != "PROVEN":
            return verdict
    return PROVEN


def self_contradiction(inquiry: Inquiry) -> Iterator[Reply]:
    """No rule demands, through `implies`, what may not happen together."""
    theory = inquiry.theory
    for i in inquiry.each_rule("looking for rules that contradict themselves"):
        rule = inquiry.rule(i)
        pair = at_odds(rule.effect, theory.ruleset.excludes)
        verdict = PROVEN if pair is None else fires(theory, i)
        told: tuple[Finding, ...] = ()
        if verdict.status == "UNKNOWN":
            what = f"whether the rule `{rule.rule_id}`, which contradicts itself, can fire"
            told = (inquiry.unanswered(what, inquiry.place(i), verdict, (rule.policy_id,)),)
        if pair is not None and verdict.facts is not None:
            told = (_finding(inquiry, i, pair, verdict),)
        yield Reply(of_policies(rule.policy_id), verdict.status, told, verdict.reason)


def _finding(inquiry: Inquiry, i: int, pair: tuple[str, str], verdict: Verdict) -> Finding:
    rule, (one, other) = inquiry.rule(i), pair
    case = inquiry.counterexample(verdict) or {}
    brought = f"`{other}`" if one == rule.effect.action else f"`{one}` and `{other}`"
    excluded = pair in inquiry.theory.ruleset.excludes
    why = "the two exclude each other" if excluded else "both answer one outcome"
    return Finding(
        "conflict",
        f"policy `{rule.policy_id}` contradicts itself: {case['words'] or 'every case'}: `{rule.effect.action}` "
        f"brings {brought} with it, and {why}",
        inquiry.place(i),
        policies=(rule.policy_id,),
        rules=(rule.rule_id,),
        help="change `relations` in policies/vocabulary.yaml: no priority can solve this",
        counterexample=case,
        status="COUNTEREXAMPLE",
    )
