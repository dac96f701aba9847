"""Which cases of a complete outcome nobody decides."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from bylaw.logic.boxes.boxes import EVERYTHING, Box, TooManyBoxes, point, uncovered
from bylaw.logic.boxes.truth import truth
from bylaw.logic.decide.evaluate import Evaluator
from bylaw.logic.formula.ir import Facts, negate
from ci.findings import Finding, Place
from ci.proofs.answers import Reply, of_outcome
from ci.proofs.inquiry import Inquiry, says
from ci.proofs.questions.joint import at_odds
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
    todo = list(theory.rivals.taking(outcome))
    reached = {*todo}
    asked = set[tuple[int, int, str]]()
    while todo:
        i = todo.pop()
        alike = (theory.effects[i], theory.ruleset.rules[i].level, theory.ruleset.rules[i].policy_id)
        if alike in asked:  # whom a rule meets and who gives way follows from these three
            continue
        asked.add(alike)
        more = [j for j in theory.rivals.of(i) if j not in reached and not theory.rivals.beats(i, j)]
        reached.update(more)
        todo += more
    rules = tuple(theory.ruleset.rules[i] for i in sorted(reached))
    complete = (outcome,) if outcome in theory.ruleset.complete else ()
    return Evaluator(replace(theory.ruleset, rules=rules, outcomes=(outcome,), complete=complete))


def _on(theory: Theory, outcome: str, takers: list[int], day: int) -> Verdict:
    evaluator = deciders(theory, outcome)
    rules, excludes = theory.ruleset.rules, theory.ruleset.excludes
    deciding = theory.deciding(*takers)
    torn = {rules[i].rule_id for i in takers if at_odds(rules[i].effect, excludes) is not None}

    def may_clash(facts: Facts) -> bool:
        """May somebody answer in a fuller case? That nobody prevails there can then be a conflict, which is no gap."""
        open_ = [i for i in takers if truth(rules[i].guard, facts) is None]
        if not open_:
            return False
        stands = theory.standing(facts, day, deciding).stands
        return any(stands.isdisjoint(theory.stronger(i)) for i in open_)

    def confirm(facts: Facts) -> bool:
        if not theory.exists(facts, day):
            return False
        decision = evaluator.decide(facts, day, names_unknown=False)
        if any(fired.rule_id in torn and fired not in decision.lost for fired in decision.fired):
            return False  # a rule against itself, which is a conflict
        is_empty = decision.outcomes[outcome].action is None and outcome not in decision.undecided
        is_torn = any(outcome in conflict.outcomes for conflict in decision.conflicts)
        return is_empty and not is_torn and not may_clash(facts)

    empty = _uncovered(theory, outcome, takers)
    if empty is None:
        return PROVEN
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


# ---- findings -------------------------------------------------------------------------------------------------------


def undecided_case(inquiry: Inquiry) -> Iterator[Reply]:
    """Every case of a complete outcome gets an action.

    A draft fills no gap, unless nobody but drafts speaks of the outcome: then the drafts are held to it.
    """
    everyone, in_force = inquiry, inquiry.in_force
    for outcome in inquiry.each_outcome("looking for cases that nothing decides"):
        inquiry = in_force if in_force.theory.rivals.taking(outcome) else everyone
        at = Place(inquiry.workspace.path_of_word("outcomes", outcome), ("outcomes", outcome))
        verdict = gap(inquiry.theory, outcome)
        told: tuple[Finding, ...] = ()
        if verdict.status == "UNKNOWN":
            told = (inquiry.unanswered(f"whether every case gets an answer to `{outcome}`", at, verdict, ()),)
        if verdict.status == "COUNTEREXAMPLE" and verdict.facts is not None:
            told = (_finding(inquiry, outcome, at, verdict, verdict.facts),)
        yield Reply(of_outcome(outcome), verdict.status, told, verdict.reason)


def _finding(inquiry: Inquiry, outcome: str, at: Place, verdict: Verdict, facts: Facts) -> Finding:
    day = verdict.day if verdict.day is not None else inquiry.theory.at
    decision = deciders(inquiry.theory, outcome).decide(facts, day)
    takers = {inquiry.rule(i).rule_id for i in inquiry.theory.rivals.taking(outcome)}
    lost = [fired for fired in decision.lost if fired.rule_id in takers]
    case = inquiry.counterexample(verdict, {outcome: None}, "say what it should be") or {}
    bans = [
        (i, rule)
        for fired in decision.fired
        if (rule := inquiry.rule(i := inquiry.theory.evaluator.index_of(fired.rule_id))).effect.kind == "prohibited"
        and any(rule.effect.action == other.action for other in lost)
    ]
    why = f", because {bans[0][1].policy_id} prohibits {bans[0][1].effect.action}" if bans else ""
    later = f" from {case['at']}" if day > inquiry.theory.at else ""
    return Finding(
        "gap",
        f"nothing decides `{outcome}` in this case{later}: {case['words']}{why}",
        at,
        policies=tuple(sorted({*(fired.policy_id for fired in lost), *(rule.policy_id for _, rule in bans)})),
        rules=(f"outcome:{outcome}",),
        help="add a policy for it, a fallback without conditions, or take `complete` from the outcome",
        related=tuple((inquiry.place(i), f"{rule.policy_id} {says(rule)}") for i, rule in bans),
        counterexample=case,
        status="COUNTEREXAMPLE",
    )
