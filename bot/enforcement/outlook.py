"""Whether a rule holds in a case: its conditions do, nothing goes before it, and nothing unknown could."""

from __future__ import annotations

from typing import Literal

from bylaw.logic.boxes.truth import truth
from bylaw.logic.decide.evaluate import Decision, Evaluator
from bylaw.logic.decide.firing import as_bits, bits
from bylaw.logic.formula.ir import ConditionalRule, Facts

Outlook = Literal["holds", "open", "overruled", "does not hold"]


def outlook(rule: ConditionalRule, facts: Facts, decision: Decision) -> Outlook:
    """What *decision* leaves of the rule. One that contradicts another, and neither wins, is open."""
    fires = truth(rule.guard, facts)
    if fires is False:
        return "does not hold"
    if any(fired.rule_id == rule.rule_id for fired in decision.lost):
        return "overruled"
    return "holds" if fires and _is_followed(rule, decision) else "open"


def _is_followed(rule: ConditionalRule, decision: Decision) -> bool:
    effect = rule.effect
    if effect.takes:
        return all(
            decision.outcomes[name].action == action for name, action in effect.takes if name in decision.outcomes
        )
    followed = {"required": decision.required, "prohibited": decision.prohibited, "permitted": decision.permitted}
    return effect.action in followed.get(effect.kind, ())


def winner_over(rule: ConditionalRule, decision: Decision, evaluator: Evaluator) -> ConditionalRule | None:
    """The strongest rule that fires and goes before *rule*; None where none does."""
    rules = evaluator.ruleset.rules
    fires = as_bits(evaluator.index_of(fired.rule_id) for fired in decision.fired)
    lost = as_bits(evaluator.index_of(fired.rule_id) for fired in decision.lost)
    beaters = evaluator.conflicts.rank_of[evaluator.index_of(rule.rule_id)].beaters & fires
    found = [rules[j] for j in bits(beaters & ~lost or beaters)]
    return min(found, key=lambda one: (one.level, one.rule_id), default=None)
