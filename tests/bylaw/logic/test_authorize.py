"""One action in small random worlds: the ruling, what is missing and who decides it, as every completion says."""

from __future__ import annotations

from dataclasses import replace

from hypothesis import given, settings
from hypothesis import strategies as st

from bylaw.logic.boxes.truth import truth
from bylaw.logic.decide.authorize import MOST_RULES, Authorizer
from bylaw.logic.decide.evaluate import Evaluator
from bylaw.logic.formula.ir import TRUE, And, Atom, ConditionalRule, Constraint, Effect, Ruleset, Source
from tests.bylaw.logic.strategies import GRID, VARIABLES, cases, formulas, rulesets
from tests.bylaw.logic.test_completions import turning

ACTIONS = ("full", "credit", "reject", "fast", "notify", "verify")
facts_known = st.fixed_dictionaries({}, optional={name: st.sampled_from(values) for name, values in GRID.items()})
invariants = st.none() | formulas(leaves=2)


def speaks(rule, action):
    return action in (rule.effect.action, *rule.effect.demands)


def is_about(action, one, two, excludes):
    """Do two effects contradict each other about the action?"""
    for a, b in ((one, two), (two, one)):
        if any(outcome == other and action == mine != its for outcome, mine in a.takes for other, its in b.takes):
            return True
        if b.kind == "prohibited" and b.action == action and (action in a.demands or a == Effect("permitted", action)):
            return True
        if action in a.demands and any((action, other) in excludes for other in b.demands):
            return True
    return False


def permission(ruleset, decision, action, persons):
    """What a decided full case says of the action."""
    rules = {rule.rule_id: rule for rule in ruleset.rules}
    clashes = [[rules[i].effect for i in clash.rules] for clash in decision.conflicts]
    if any(is_about(action, *pair, ruleset.excludes) for pair in clashes):
        return "escalate"
    lost = {fired.rule_id for fired in decision.lost}
    speaking = [rules[one.rule_id] for one in decision.fired if one.rule_id not in lost]
    speaking = [rule for rule in speaking if speaks(rule, action)]
    if any(rule.effect.kind == "prohibited" for rule in speaking):
        return "deny"
    torn = {i for clash in decision.conflicts for i in clash.rules}
    if any(rule.rule_id not in torn for rule in speaking):
        return "escalate" if action in persons else "allow"
    return "escalate" if speaking else "deny"


def strongest(rules):
    return tuple(i for i, _ in sorted(rules, key=lambda one: (one[1].level, one[1].rule_id)))[:MOST_RULES]


@given(rulesets(most=6), facts_known, st.sampled_from(ACTIONS), st.frozensets(st.sampled_from(ACTIONS)), invariants)
@settings(max_examples=600, deadline=None)
def test_an_action_is_ruled_as_every_completion_says(ruleset, facts, action, persons, invariant):
    constraints = () if invariant is None else (Constraint("C", "P", invariant, "never", Source("x.yaml")),)
    found = Authorizer(Evaluator(replace(ruleset, constraints=constraints), is_indexed=True), persons)
    told = found.authorize(action, facts, 1)
    plain, known = Evaluator(ruleset), {}

    def end(case):
        fires = tuple(plain.firing(case, 1)[0])
        if fires not in known:
            known[fires] = permission(ruleset, plain.decide(case, 1, names_unknown=False), action, persons)
        return known[fires]

    left = [case for case in cases() if facts.items() <= case.items()]
    ends = [(case, end(case)) for case in left if invariant is None or truth(invariant, case)]
    is_broken = invariant is not None and truth(invariant, facts) is False
    said = {ruling for _, ruling in ends}
    assert told.is_exact
    assert told.ruling == ("ask" if len(said) > 1 else said.pop() if said else "deny")
    unknown = [name for name in GRID if name not in facts]
    assert set(told.missing) == (turning(ends, unknown) if told.ruling == "ask" else set())
    is_spoken_of = any(speaks(rule, action) or action == rule.effect.action for rule in ruleset.rules)
    assert bool(told.broken) == (is_broken or (not ends and is_spoken_of))
    assert set(told.required) == set(plain.decide(facts, 1).required) - {action}
    assert told.rules == strongest((i, ruleset.rules[i]) for i in told.rules)
    if told.ruling == "allow":
        assert any(speaks(ruleset.rules[i], action) for i in told.rules)
    giving = [(i, rule) for i, rule in enumerate(ruleset.rules) if speaks(rule, action)]
    assert found.allowing(action, 1) == strongest(one for one in giving if one[1].effect.kind != "prohibited")
    assert found.permits(action, facts, 1) == (told.ruling == "allow")
    assert found.may_ever(action, facts, 1) == (told.ruling != "deny")


def test_where_no_case_is_left_nothing_is_allowed_and_the_invariant_is_named():
    days = [Atom("days", op, value) for op, value in (("==", 1), (">", 3), ("<", 2))]
    rule = ConditionalRule("R0", "P0", "x", Effect("required", "notify"), days[0], 3, Source("x.yaml"))
    never = Constraint("C", "P", And(tuple(days[1:])), "never", Source("x.yaml"))
    found = Authorizer(Evaluator(Ruleset(VARIABLES, (rule,), (never,)), is_indexed=True)).authorize("notify", {}, 1)
    assert (found.ruling, found.broken) == ("deny", (never,))


def test_facts_that_invariants_leave_no_case_for_are_covered_by_nothing_also_where_no_rule_is_open():
    rule = ConditionalRule("R0", "P0", "x", Effect("required", "notify"), TRUE, 3, Source("x.yaml"))
    late, soon = (Constraint(f"C{op}", "P", Atom("days", op, 2), "said", Source("x.yaml")) for op in ("<", ">"))
    authorizer = Authorizer(Evaluator(Ruleset(VARIABLES, (rule,), (late, soon)), is_indexed=True))
    assert authorizer.authorize("notify", {"flag": True}, 1).ruling == "deny"
    assert Authorizer(Evaluator(Ruleset(VARIABLES, (rule,), (late,)), is_indexed=True)).permits("notify", {}, 1)
