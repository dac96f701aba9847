"""Exceptions to `none`: those that never hold, and those that lift less than they did before `replaces` was heard."""

from __future__ import annotations

from collections.abc import Iterator

from bylaw.logic.boxes.truth import truth
from bylaw.logic.formula.ir import Facts, conj, disj
from ci.findings import Finding, Place
from ci.loading.derived.record import Lifting, PolicyRecord
from ci.proofs.answers import Reply, of_policies
from ci.proofs.inquiry import Inquiry
from ci.proofs.questions.dead import never_holds, satisfiable
from ci.proofs.theory import Verdict


def lifting_exception(inquiry: Inquiry) -> Iterator[Reply]:
    """An exception to `none` makes no rule, and still it holds in some case."""
    for policy_id, record in inquiry.each_policy("looking for exceptions that never hold"):
        for lifting in record.liftings if record.in_logic else ():
            at, verdict = Place(record.path, lifting.route), satisfiable(inquiry.theory, lifting.guard)
            told: tuple[Finding, ...] = ()
            if verdict.status == "UNKNOWN":
                what = f"whether an exception of `{policy_id}` can hold"
                told = (inquiry.unanswered(what, at, verdict, (policy_id,)),)
            elif verdict.status == "PROVEN":
                told = (never_holds(policy_id, "none", at, _id(record, lifting)),)
            elif lifting.is_named and lifting.kept:
                told = tuple(_lifts_less(inquiry, record, lifting))
            yield Reply(of_policies(policy_id), verdict.status, told, verdict.reason)


def _lifts_less(inquiry: Inquiry, record: PolicyRecord, lifting: Lifting) -> Iterator[Finding]:
    """A case in which something holds that the exception once lifted; nothing where there is none, or none is found."""
    verdict = _still_holding(inquiry, record, lifting)
    case = inquiry.counterexample(verdict)
    if case is None:
        return
    kept = [rule for rule in record.rules if rule.rule_id in lifting.kept]
    holding = [rule.effect.action for rule in kept if truth(rule.guard, verdict.facts or {}) is True]
    actions = ", ".join(f"`{action}`" for action in dict.fromkeys(holding))
    yield Finding(
        "changed-meaning",
        f"policy `{record.policy.policy_id}` has an exception to `none` that lifts what its `replaces` names and "
        f"nothing else: {case['words'] or 'in every case'}: {actions} stays (bylaw before 0.1.0 lifted everything)",
        Place(record.path, (*lifting.route, "replaces")),
        policies=(record.policy.policy_id,),
        rules=(_id(record, lifting),),
        help="nothing to do where that is meant; else name in `replaces` all that it shall lift",
        counterexample=case,
    )


def _still_holding(inquiry: Inquiry, record: PolicyRecord, lifting: Lifting) -> Verdict:
    everyone = inquiry.theory.ruleset.rules
    kept = [
        i
        for i, rule in enumerate(everyone)
        if rule.policy_id == record.policy.policy_id and rule.rule_id in lifting.kept
    ]
    holds = conj([lifting.where, disj([everyone[i].guard for i in kept])])

    def is_shown(facts: Facts) -> bool:
        return truth(holds, facts) is True

    return inquiry.theory.solve([holds], inquiry.theory.at, kept, is_shown)


def _id(record: PolicyRecord, lifting: Lifting) -> str:
    return f"{record.policy.policy_id}{''.join(f'.{step}' for step in lifting.route)}"
