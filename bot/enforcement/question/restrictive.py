"""What is given to a person who will not say what would decide: the most restrictive outcome that is still possible.

Nothing is assumed of the case. Which actions are possible follows from its rules, which of them is the most restrictive
from the order that the vocabulary gives them.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from bot.enforcement.question.lookups import lookups
from bot.index import BundleIndex
from bylaw.logic.boxes.boxes import holds_in, point
from bylaw.logic.boxes.truth import truth
from bylaw.logic.decide.evaluate import Evaluator, OutcomeResult
from bylaw.logic.formula.ir import ConditionalRule, Value

_TRIALS = 200  # completions that are decided; a rule that is left then counts as possible


def most_restrictive(
    outcome: str, facts: Mapping[str, Value], day: int, index: BundleIndex, evaluator: Evaluator
) -> OutcomeResult | None:
    """The most restrictive action of *outcome* that some completion of *facts* gets, and the rule that gives it.

    None where no rule may give it an action, or where the bundle does not say what is restrictive.
    """
    left = iter(range(_TRIALS))
    rules = lookups(index).ranked(outcome, evaluator, day)
    for action in index.bundle.outcomes.get(outcome, {}).get("restrictive", ()):
        for rule in rules:
            if (outcome, action) in rule.effect.takes and truth(rule.guard, facts) is not False:
                for found in _given(rule, outcome, facts, day, evaluator, left):
                    if found.action == action:
                        return found
    return None


def _given(
    rule: ConditionalRule,
    outcome: str,
    facts: Mapping[str, Value],
    day: int,
    evaluator: Evaluator,
    left: Iterator[int],
) -> Iterator[OutcomeResult]:
    """What the cases get in which *rule* fires: one for each way in which it can."""
    action = next(taken for name, taken in rule.effect.takes if name == outcome)
    itself = OutcomeResult(action, rule.policy_id, rule.rule_id)
    for box in evaluator.boxes_of(evaluator.index_of(rule.rule_id)) or (None,):
        if box is None or not box.is_exact or next(left, None) is None:
            yield itself
        elif holds_in(box, facts):
            decided = evaluator.decide({**point(box, evaluator.ruleset.variables), **facts}, day)
            yield itself if outcome in decided.undecided else decided.outcomes[outcome]
