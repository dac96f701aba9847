"""Never wins is what trying every case on every day says; a rule that fires has its way somewhere else."""

from hypothesis import given, settings

from bylaw.logic.formula.ir import (
    Atom,
    Compare,
    ConditionalRule,
    Constraint,
    Effect,
    Or,
    Ref,
    Ruleset,
    Source,
    Variable,
)
from ci.proofs.periods import spans, told
from ci.proofs.questions.reach import fate, never_wins
from tests.ci.proofs import worlds


def tried(theory, i, day):
    """What becomes of rule *i* on *day*, by trying every case."""
    found = worlds.standings(theory, day)
    if any(i in standing.stands for standing in found):
        return "wins"
    return "loses" if any(i in standing.fires for standing in found) else "silent"


@given(worlds.worlds())
@settings(max_examples=80, deadline=None)
def test_what_becomes_of_a_rule_is_what_trying_every_case_says(ruleset):
    theory, nearby, referee = worlds.asked(ruleset)
    for i in range(len(ruleset.rules)):
        found, verdict = fate(nearby, referee, i, 1)
        assert found == tried(theory, i, 1)
        if found in ("wins", "loses"):
            standing = theory.standing(verdict.facts, 1, range(len(ruleset.rules)))
            assert i in standing.fires and (i in standing.stands) == (found == "wins")
            assert theory.exists(verdict.facts, 1)


@given(worlds.worlds(timed=True))
@settings(max_examples=60, deadline=None)
def test_a_rule_loses_from_when_to_when_trying_every_day_says(ruleset):
    theory, nearby, referee = worlds.asked(ruleset)
    for i, rule in enumerate(ruleset.rules):
        losing = {day for day in worlds.DAYS if rule.holds_on(day) and tried(theory, i, day) == "loses"}
        found = never_wins(nearby, referee, i)
        assert found.verdict.status == ("PROVEN" if losing else "COUNTEREXAMPLE")
        told_days = {
            day
            for first, last in found.stretches
            for day in worlds.DAYS
            if (first or 0) <= day <= (last or 9) and rule.holds_on(day)
        }
        assert told_days == losing


@given(worlds.worlds(timed=True))
@settings(max_examples=60, deadline=None)
def test_the_case_of_a_rule_that_never_wins_shows_it_losing(ruleset):
    theory, nearby, referee = worlds.asked(ruleset)
    for i in range(len(ruleset.rules)):
        found = never_wins(nearby, referee, i)
        if found.verdict.status == "PROVEN":
            decision = theory.evaluator.decide(found.verdict.facts, found.verdict.day)
            assert ruleset.rules[i].rule_id in {fired.rule_id for fired in decision.lost}


# ---- by hand --------------------------------------------------------------------------------------------------------

DAYS, LEFT = Variable("days", "integer", minimum=0), Variable("left", "integer", minimum=0)
KNOWN = {variable.name: variable for variable in (DAYS, LEFT)}
ALWAYS = Or((Atom("days", "<=", 5), Atom("days", ">", 5)))


def rule(id, action, guard, level=4, start=None, end=None, kind="outcome"):
    effect = Effect(kind, action, "refund" if kind == "outcome" else None)
    return ConditionalRule(id, id, "refund", effect, guard, level, Source("p.yaml"), start, end)


def answer(*rules, i=0, constraints=(), **more):
    ruleset = Ruleset(KNOWN, rules, constraints, outcomes=("refund",), **more)
    _, nearby, referee = worlds.asked(ruleset)
    return never_wins(nearby, referee, i)


def test_a_rule_under_a_wider_stronger_one_never_wins():
    found = answer(rule("A", "full", Atom("days", "<=", 5)), rule("B", "reject", Atom("days", "<=", 9), level=1))
    assert found.verdict.status == "PROVEN" and found.stretches == ((None, None),)
    assert found.verdict.facts == {"days": 5} and found.core.names == ("1",)


def test_two_stronger_rules_may_leave_it_nothing_together():
    low, high = rule("B", "reject", Atom("days", "<=", 2), level=1), rule("C", "credit", Atom("days", ">", 2), level=2)
    found = answer(rule("A", "full", ALWAYS), low, high)
    assert found.verdict.status == "PROVEN" and found.core.names == ("1", "2")


def test_one_day_of_its_own_is_enough_to_win():
    low, high = rule("B", "reject", Atom("days", "<=", 2), level=1), rule("C", "credit", Atom("days", ">", 3), level=2)
    assert answer(rule("A", "full", ALWAYS), low, high).verdict.status == "COUNTEREXAMPLE"


def test_a_rule_that_loses_to_a_loser_wins():
    stronger, strongest = rule("B", "reject", ALWAYS, level=2), rule("C", "full", ALWAYS, level=1)
    assert answer(rule("A", "full", ALWAYS), stronger, strongest).verdict.status == "COUNTEREXAMPLE"


def test_a_rule_that_loses_to_a_prohibited_winner_wins_nothing():
    winner, ban = rule("B", "reject", ALWAYS, level=2), rule("C", "reject", ALWAYS, level=1, kind="prohibited")
    found = answer(rule("A", "full", ALWAYS), winner, ban)
    assert found.verdict.status == "PROVEN" and found.core.names == ("1",)


def test_an_equal_that_contradicts_it_takes_nothing_away():
    assert answer(rule("A", "full", ALWAYS), rule("B", "reject", ALWAYS)).verdict.status == "COUNTEREXAMPLE"


def test_an_override_can_leave_its_target_nothing():
    found = answer(rule("A", "full", ALWAYS), rule("B", "reject", ALWAYS), overrides={"B": frozenset(("A",))})
    assert found.verdict.status == "PROVEN"


def test_a_prohibition_can_leave_a_duty_nothing():
    duty, ban = rule("A", "call", ALWAYS, kind="required"), rule("B", "call", ALWAYS, level=1, kind="prohibited")
    assert answer(duty, ban).verdict.status == "PROVEN"


def test_it_is_told_from_the_day_on_which_the_stronger_one_starts():
    found = answer(rule("A", "full", ALWAYS), rule("B", "reject", ALWAYS, level=1, start=50))
    assert (found.verdict.status, found.verdict.day, found.stretches) == ("PROVEN", 50, ((50, None),))


def test_it_is_told_until_the_day_before_it_wins_again():
    found = answer(rule("A", "full", ALWAYS), rule("B", "reject", ALWAYS, level=1, end=50))
    assert found.stretches == ((None, 50),)


def test_a_rule_of_the_past_is_not_asked_about():
    found = answer(rule("A", "full", ALWAYS, end=0), rule("B", "reject", ALWAYS, level=1))
    assert found.verdict.status == "COUNTEREXAMPLE"


def test_an_invariant_that_takes_its_own_cases_away_is_named():
    few = Constraint("C1", "P", Atom("days", "<=", 9), "days <= 9", Source("p.yaml"))
    spare = Constraint("C2", "P", Atom("left", "<=", 9), "left <= 9", Source("p.yaml"))
    found = answer(
        rule("A", "full", ALWAYS), rule("B", "reject", Atom("days", "<=", 9), level=1), constraints=(few, spare)
    )
    assert found.verdict.status == "PROVEN" and found.core.invariants == ("C1",)


def test_an_invariant_that_ends_gives_the_rule_its_cases_back():
    few = Constraint("C1", "P", Atom("days", "<=", 9), "days <= 9", Source("p.yaml"), end=50)
    found = answer(rule("A", "full", ALWAYS), rule("B", "reject", Atom("days", "<=", 9), level=1), constraints=(few,))
    assert found.stretches == ((None, 50),)


def test_fact_against_fact_is_asked_of_the_solver():
    less = Compare(Ref("left"), "<", Ref("days"))
    assert (
        answer(rule("A", "full", less), rule("B", "reject", Atom("days", ">", 0), level=1)).verdict.status == "PROVEN"
    )
    more = rule("B", "reject", Compare(Ref("left"), "<=", Ref("days")), level=1)
    assert answer(rule("A", "full", less), more).verdict.status == "PROVEN"
    assert answer(rule("A", "full", ALWAYS), more).verdict.status == "COUNTEREXAMPLE"


def test_stretches_are_told_in_days_of_the_calendar():
    assert told([(None, None)]) == ""
    assert told([(739_000, None)]) == "from 2024-04-24 "
    assert told([(None, 739_000), (739_002, 739_003)]) == "until 2024-04-24 and from 2024-04-26 until 2024-04-27 "


def test_neighbouring_stretches_are_one():
    assert spans([1, 5, 9], [True, True, False]) == [(None, 8)]
    assert spans([1, 5, 9], [True, False, True]) == [(None, 4), (9, None)]
    assert spans([1, 5], [False, False]) == []
