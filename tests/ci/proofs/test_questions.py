"""The answers about a set of rules are those of trying every case."""

from hypothesis import given, settings

from bylaw.logic.formula.ir import (
    Atom,
    Compare,
    ConditionalRule,
    Const,
    Constraint,
    Effect,
    Or,
    Ref,
    Ruleset,
    Source,
    Variable,
)
from ci.proofs.conflicts.conflict import _resolved, _unresolved, shown, subject
from ci.proofs.conflicts.conflict import clashes as found_by
from ci.proofs.questions.dead import can_fire
from ci.proofs.questions.gap import gap
from ci.proofs.theory import Theory
from tests.bylaw.logic.strategies import cases, rulesets
from tests.rows import each

ALL = list(cases())


def theory(ruleset, at=1):
    return Theory(ruleset, at, rlimit=5_000_000)


def clashes(asked):
    """Every clash with its case."""
    return [shown(asked, clash) for clash in found_by(asked)]


def everyone(asked):
    return range(len(asked.ruleset.rules))


@given(rulesets(with_compare=True))
@settings(max_examples=120, deadline=None)
def test_a_conflict_is_found_exactly_where_a_case_shows_one(ruleset):
    asked = theory(ruleset)
    standings = [asked.standing(case, 1, everyone(asked)) for case in ALL]
    for i in everyone(asked):
        for j in asked.rivals.of(i):
            if j < i:
                continue
            if asked.rivals.beats(i, j) or asked.rivals.beats(j, i):
                winner, loser = (i, j) if asked.rivals.beats(i, j) else (j, i)
                verdict = _resolved(asked, i, j)
                shown = any(winner in s.stands and loser in s.fires for s in standings)
            else:
                verdict = _unresolved(asked, i, j)
                shown = any((i, j) in s.clashes for s in standings)
            assert verdict.status == ("COUNTEREXAMPLE" if shown else "PROVEN")


@given(rulesets(with_compare=True))
@settings(max_examples=80, deadline=None)
def test_the_case_of_a_conflict_is_replayed_by_decide(ruleset):
    asked = theory(ruleset)
    for clash in clashes(asked):
        decision = asked.evaluator.decide(clash.verdict.facts, clash.verdict.day)
        ids = sorted((ruleset.rules[clash.first].rule_id, ruleset.rules[clash.second].rule_id))
        if clash.winner is None:
            assert tuple(ids) in {conflict.rules for conflict in decision.conflicts}
        else:
            loser = clash.second if clash.winner == clash.first else clash.first
            assert ruleset.rules[loser].rule_id in {fired.rule_id for fired in decision.lost}


@given(rulesets(with_compare=True))
@settings(max_examples=80, deadline=None)
def test_a_gap_is_found_exactly_where_a_case_has_no_answer(ruleset):
    asked = theory(ruleset)
    for outcome in ruleset.outcomes:
        verdict = gap(asked, outcome)
        holes = [case for case in ALL if is_hole(asked, case, outcome)]
        assert verdict.status == ("COUNTEREXAMPLE" if holes else "PROVEN")
        if verdict.facts is not None:
            meant = [case for case in ALL if all(case[name] == value for name, value in verdict.facts.items())]
            assert meant and all(is_hole(asked, case, outcome) for case in meant)


def is_hole(asked, case, outcome):
    decision = asked.evaluator.decide(case, 1)
    clashing = any(outcome in conflict.outcomes for conflict in decision.conflicts)
    return decision.outcomes[outcome].action is None and not clashing


@given(rulesets(with_compare=True))
@settings(max_examples=80, deadline=None)
def test_a_rule_is_dead_exactly_when_no_case_fires_it(ruleset):
    asked = theory(ruleset)
    for i in everyone(asked):
        fires = any(i in asked.standing(case, 1, [i]).fires for case in ALL)
        assert can_fire(asked, i).status == ("COUNTEREXAMPLE" if fires else "PROVEN")


@given(rulesets())
@settings(max_examples=60, deadline=None)
def test_a_case_names_no_fact_that_does_not_matter(ruleset):
    asked = theory(ruleset)
    for clash in clashes(asked):
        if clash.winner is not None:
            continue
        for name in clash.verdict.facts:
            rest = {key: value for key, value in clash.verdict.facts.items() if key != name}
            assert (clash.first, clash.second) not in asked.standing(rest, 1, everyone(asked)).clashes


# ---- by hand --------------------------------------------------------------------------------------------------------

PAID, REFUNDED = Variable("paid", "decimal", minimum=0), Variable("refunded", "decimal", minimum=0)
DAYS = Variable("days", "integer", minimum=0)
FLAG = Variable("flag", "boolean")
WORLD = {variable.name: variable for variable in (PAID, REFUNDED, DAYS, FLAG)}


def rule(id, action, guard, level=4, start=None, end=None, kind="outcome"):
    effect = Effect(kind, action, "refund" if kind == "outcome" else None)
    return ConditionalRule(id, id, "refund", effect, guard, level, Source("p.yaml"), start, end)


def world(*rules, **more):
    return Ruleset(WORLD, tuple(rules), outcomes=("refund",), complete=("refund",), **more)


def test_policies_that_are_never_in_force_together_do_not_conflict():
    old = rule("A", "full", Atom("flag", "==", True), end=10)
    new = rule("B", "reject", Atom("flag", "==", True), start=11)
    assert list(clashes(theory(world(old, new)))) == []


def test_a_conflict_of_the_future_is_found_today():
    now = rule("A", "full", Atom("flag", "==", True))
    soon = rule("B", "reject", Atom("flag", "==", True), start=50)
    (clash,) = clashes(theory(world(now, soon)))
    assert clash.verdict.day == 50


def test_a_conflict_of_the_past_is_not():
    now = rule("A", "full", Atom("flag", "==", True))
    gone = rule("B", "reject", Atom("flag", "==", True), end=50)
    assert list(clashes(theory(world(now, gone), at=51))) == []


def test_a_gap_opens_on_the_day_after_the_last_rule_ends():
    last = rule("A", "full", Or((Atom("flag", "==", True), Atom("flag", "==", False))), end=50)
    verdict = gap(theory(world(last)), "refund")
    assert (verdict.status, verdict.day) == ("COUNTEREXAMPLE", 51)


def test_a_prohibition_that_wins_opens_a_gap():
    always = rule("A", "full", Or((Atom("flag", "==", True), Atom("flag", "==", False))))
    ban = rule("B", "full", Atom("days", ">", 30), level=1, kind="prohibited")
    verdict = gap(theory(world(always, ban)), "refund")
    assert verdict.facts is not None and verdict.facts["days"] == 31


def test_an_invariant_makes_an_impossible_meeting_no_conflict():
    less = rule("A", "full", Compare(Ref("refunded"), "<=", Ref("paid")))
    more = rule("B", "reject", Atom("refunded", ">", 100))
    small = rule("C", "reject", Compare(Ref("refunded"), ">", Ref("paid")))
    invariant = Constraint("C1", "P", Atom("paid", "<=", 50), "paid <= 50", Source("p.yaml"))
    assert list(clashes(theory(world(less, more, constraints=(invariant,))))) == []
    (clash,) = clashes(theory(world(less, more)))
    assert clash.verdict.facts["refunded"] <= clash.verdict.facts["paid"]
    assert list(clashes(theory(world(less, small)))) == []


def test_arithmetic_goes_to_the_solver():
    from bylaw.logic.formula.ir import Arith

    half = Compare(Arith("*", Const(2), Ref("refunded")), ">", Ref("paid"))
    (clash,) = clashes(theory(world(rule("A", "full", half), rule("B", "reject", Atom("paid", ">=", 10)))))
    facts = clash.verdict.facts
    assert 2 * facts["refunded"] > facts["paid"] >= 10


def test_a_third_policy_that_wins_everywhere_leaves_no_conflict():
    both = [rule("A", "full", Atom("days", ">", 5)), rule("B", "reject", Atom("days", ">", 3))]
    law = rule("C", "credit", Atom("days", ">", 4), level=1)
    found = list(clashes(theory(world(*both, law))))
    assert all(clash.winner is not None for clash in found)
    narrow = rule("C", "credit", Atom("days", ">", 7), level=1)
    (open_,) = [clash for clash in clashes(theory(world(*both, narrow))) if clash.winner is None]
    assert open_.verdict.facts == {"days": 6}


def test_a_question_beyond_its_budget_is_unknown_and_never_no():
    cubes = [
        Compare(_product(Ref("paid"), Ref("paid"), Ref("paid")), "==", _sum_of_cubes()),
        Compare(Ref("paid"), ">", Const(1)),
    ]
    guard = Or((cubes[0],))
    asked = Theory(world(rule("A", "full", guard), rule("B", "reject", cubes[1])), 1, rlimit=1)
    (clash,) = clashes(asked)
    assert clash.verdict.status == "UNKNOWN" and clash.verdict.reason


def _product(*terms):
    from bylaw.logic.formula.ir import Arith

    first, *rest = terms
    for term in rest:
        first = Arith("*", first, term)
    return first


def _sum_of_cubes():
    from bylaw.logic.formula.ir import Arith

    cube = _product(Ref("refunded"), Ref("refunded"), Ref("refunded"))
    return Arith("+", cube, _product(Ref("days"), Ref("days"), Ref("days")))


@each(
    ("one", "two", "about"),
    [
        (Effect("outcome", "full", "refund"), Effect("outcome", "reject", "refund"), "refund"),
        (Effect("required", "notify"), Effect("prohibited", "notify"), "notify"),
        (Effect("prohibited", "full"), Effect("outcome", "full", "refund"), "full"),
    ],
)
def test_the_subject_of_a_contradiction(one, two, about):
    rules = [
        ConditionalRule(id, id, "refund", effect, Atom("flag", "==", True), 4, Source("p.yaml"))
        for id, effect in (("A", one), ("B", two))
    ]
    assert subject(theory(world(*rules)), 0, 1) == about


def test_a_case_is_completed_for_every_rule_though_one_of_them_can_never_fire():
    dead, live = rule("A", "full", Or(())), rule("B", "reject", Atom("flag", "==", True))
    assert theory(world(dead, live)).completed({}, 1, (0, 1)) == {"flag": False}
