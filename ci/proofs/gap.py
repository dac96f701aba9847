"""Which cases of a complete outcome nobody decides."""

from __future__ import annotations

from dataclasses import replace

from bylaw.logic.boxes import EVERYTHING, Box, TooManyBoxes, point, uncovered
from bylaw.logic.evaluate import Evaluator
from bylaw.logic.ir import Facts, negate
from ci.proofs.theory import PROVEN, Theory, Verdict


def gap(theory: Theory, outcome: str) -> Verdict:
    """PROVEN iff every existing case, on every day worth asking about, gets an action or a clash for *outcome*."""
    takers = theory.rivals.taking(outcome)
    rules = [theory.ruleset.rules[i] for i in takers]
    stronger = [theory.ruleset.rules[k] for i in takers for k in theory.stronger(i)]
    for day in theory.days([*rules, *stronger]):
        verdict = _on(theory, outcome, [i for i in takers if theory.ruleset.rules[i].holds_on(day)], day)
        if verdict.status != "PROVEN":
            return verdict
    return PROVEN


def deciders(theory: Theory, outcome: str) -> Evaluator:
    """An evaluator that says the same about *outcome* as that of all rules, from those that can matter to it.

    They are the rules that answer it and, step by step, their rivals that do not give way.
    """
    reached: set[int] = set()
    todo = list(theory.rivals.taking(outcome))
    while todo:
        i = todo.pop()
        if i not in reached:
            reached.add(i)
            todo += [j for j in theory.rivals.of(i) if j not in reached and not theory.rivals.beats(i, j)]
    rules = tuple(theory.ruleset.rules[i] for i in sorted(reached))
    complete = (outcome,) if outcome in theory.ruleset.complete else ()
    return Evaluator(replace(theory.ruleset, rules=rules, outcomes=(outcome,), complete=complete))


def _on(theory: Theory, outcome: str, takers: list[int], day: int) -> Verdict:
    evaluator = deciders(theory, outcome)

    def confirm(facts: Facts) -> bool:
        if not theory.exists(facts, day):
            return False
        decision = evaluator.decide(facts, day)
        is_empty = decision.outcomes[outcome].action is None and outcome not in decision.undecided
        return is_empty and not any(outcome in conflict.outcomes for conflict in decision.conflicts)

    empty = _uncovered(theory, outcome, takers)
    if empty is None:
        return PROVEN
    deciding = theory.deciding(*takers)
    if isinstance(empty, Box):
        facts = theory.completed(point(empty, theory.ruleset.variables), day, deciding)
        if confirm(facts):
            return Verdict("COUNTEREXAMPLE", theory.fewest(facts, confirm), day)
    return theory.solve([negate(theory.stands(i, day)) for i in takers], day, deciding, confirm)


def _uncovered(theory: Theory, outcome: str, takers: list[int]) -> Box | bool | None:
    """A box that no safe rule covers, None when there is none, True when boxes cannot say.

    A rule is safe when only safe rules of the same outcome can remove its effect: where it fires, somebody answers.
    """
    safe: dict[int, bool] = {}

    def is_safe(i: int) -> bool:
        if i not in safe:
            safe[i] = False  # INVARIANT: "beats" has no cycle
            answers = any(o == outcome for o, _ in theory.ruleset.rules[i].effect.takes)
            safe[i] = answers and all(map(is_safe, theory.stronger(i)))
        return safe[i]

    covers: list[Box] = []
    for i in takers:
        if is_safe(i):
            covers += [box for box in theory.evaluator.boxes_of(i) or () if box.is_exact]
    try:
        return uncovered(EVERYTHING, covers, theory.ruleset.variables)
    except TooManyBoxes:
        return True
