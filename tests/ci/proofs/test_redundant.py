"""A rule is redundant exactly when trying every case on every later day shows no difference without it."""

from hypothesis import given, settings

from bylaw.logic.formula.ir import And, Atom, ConditionalRule, Constraint, Effect, Not, Or, Ruleset, Source, Variable
from ci.proofs.nearby import items
from ci.proofs.questions.redundant import matters, originals, redundant
from tests.ci.proofs import worlds


def has_its_way(theory, i, day):
    """Does rule *i* stand in some existing case without an equal against it?"""
    return any(
        i in standing.stands and not any(i in clash for clash in standing.clashes)
        for standing in worlds.standings(theory, day)
    )


@given(worlds.worlds())
@settings(max_examples=30, deadline=None)
def test_a_rule_matters_exactly_where_a_case_gets_something_else_without_it(ruleset):
    theory, nearby, referee = worlds.asked(ruleset)
    for i in range(len(ruleset.rules)):
        verdict = matters(nearby, referee, i, 1)
        assert verdict.status == ("PROVEN" if worlds.is_spare(theory, i, 1) else "COUNTEREXAMPLE")


@given(worlds.worlds(timed=True, most=4))
@settings(max_examples=20, deadline=None)
def test_a_rule_is_redundant_from_the_day_on_which_nothing_needs_it_any_more(ruleset):
    theory, nearby, referee = worlds.asked(ruleset)
    for i, rule in enumerate(ruleset.rules):
        days = [day for day in worlds.DAYS if rule.holds_on(day)]
        spare = [day for n, day in enumerate(days) if all(worlds.is_spare(theory, i, d) for d in days[n:])]
        is_redundant = any(has_its_way(theory, i, day) for day in spare)
        found = redundant(nearby, referee, i)
        assert found.verdict.status == ("PROVEN" if is_redundant else "COUNTEREXAMPLE")
        if is_redundant:
            first, last = found.stretch
            assert last is None and (spare[0] == first or (first is None and spare[0] == days[0]))


@given(worlds.worlds())
@settings(max_examples=70, deadline=None)
def test_the_neighbours_that_fire_are_found_without_asking_everybody(ruleset):
    theory, nearby, _ = worlds.asked(ruleset)
    everyone = set(range(len(ruleset.rules)))
    for case in worlds.ALL[::17]:
        fires = theory.standing(case, 1, everyone).fires
        for i in fires:
            near = set(nearby.around(i, case, 1))
            assert near <= fires - {i}
            related = {j for j in fires - {i} if j in theory.rivals.of(i) or _shares(ruleset, i, j)}
            assert related <= near
            assert near <= nearby.group(i, case, 1) <= fires
            assert nearby.group(i, case, 1) <= set(nearby.meeting(i, 1))


def _shares(ruleset, i, j):
    return bool(set(items(ruleset.rules[i].effect)) & set(items(ruleset.rules[j].effect)))


# ---- by hand --------------------------------------------------------------------------------------------------------

KNOWN = {"days": Variable("days", "integer", minimum=0), "flag": Variable("flag", "boolean")}
EARLY, LATE = Atom("days", "<=", 5), Atom("days", ">", 5)
ALWAYS = Or((EARLY, LATE))


def rule(id, action, guard, level=4, start=None, end=None, kind="outcome", **more):
    effect = Effect(kind, action, "refund" if kind == "outcome" else None, **more)
    return ConditionalRule(id, id, "refund", effect, guard, level, Source("p.yaml"), start, end)


def world(*rules, constraints=(), **more):
    return Ruleset(KNOWN, rules, constraints, outcomes=("refund",), **more)


def found(ruleset):
    """The redundant rules by id, without those that a later duplicate stands for."""
    _, nearby, referee = worlds.asked(ruleset)
    spare = {
        i: one for i in range(len(ruleset.rules)) if (one := redundant(nearby, referee, i)).verdict.status == "PROVEN"
    }
    kept = originals(nearby, spare)
    return {ruleset.rules[i].rule_id: spare[i] for i in spare if i not in kept}


def test_a_narrower_rule_that_says_the_same_is_redundant():
    (only,) = found(world(rule("A", "full", ALWAYS), rule("B", "full", EARLY))).items()
    assert only[0] == "B" and only[1].core.names == ("0",)


def test_of_duplicates_only_the_later_one_is_told():
    assert list(found(world(rule("A", "full", EARLY), rule("B", "full", EARLY)))) == ["B"]


def test_duplicates_may_be_written_differently():
    same = And((Not(LATE), ALWAYS))
    assert list(found(world(rule("A", "full", EARLY), rule("B", "full", same)))) == ["B"]


def test_of_three_duplicates_the_first_is_the_original():
    assert list(found(world(*(rule(id, "full", EARLY) for id in "ABC")))) == ["B", "C"]


def test_two_rules_can_make_a_third_redundant_together():
    assert list(found(world(rule("A", "full", EARLY), rule("B", "full", LATE), rule("C", "full", ALWAYS)))) == [
        "A",
        "B",
        "C",
    ]
    middle, late = rule("B", "full", Atom("days", ">", 2)), rule("C", "full", Atom("days", ">", 4))
    assert list(found(world(rule("A", "full", EARLY), middle, late))) == ["B", "C"]


def test_a_rule_that_holds_up_another_decision_is_not_redundant():
    """B says what A says, but only B, an override, keeps C out."""
    rules = rule("A", "full", ALWAYS), rule("B", "full", ALWAYS, level=1), rule("C", "reject", EARLY, level=2)
    assert list(found(world(*rules))) == ["A"]


def test_a_rule_that_always_loses_is_not_also_redundant():
    assert found(world(rule("A", "full", EARLY), rule("B", "reject", ALWAYS, level=1))) == {}


def test_rules_stuck_in_a_conflict_are_not_redundant():
    assert (
        found(world(*(rule(id, action, ALWAYS) for id, action in (("A", "full"), ("B", "reject"), ("C", "credit")))))
        == {}
    )


def test_a_duty_that_another_action_brings_with_it_is_redundant():
    rules = rule("A", "full", ALWAYS, implied=("tell_owner",)), rule("B", "tell_owner", EARLY, kind="required")
    assert list(found(world(*rules))) == ["B"]


def test_an_action_that_brings_a_duty_of_its_own_is_not():
    rules = rule("A", "full", ALWAYS), rule("B", "full", EARLY, implied=("tell_owner",))
    assert found(world(*rules)) == {}


def test_a_prohibition_twice_is_redundant():
    assert list(found(world(*(rule(id, "disclose", EARLY, kind="prohibited") for id in "AB")))) == ["B"]


def test_a_permission_under_a_wider_one_is_redundant():
    rules = rule("A", "waive", EARLY, kind="permitted"), rule("B", "waive", ALWAYS, kind="permitted")
    assert list(found(world(*rules))) == ["A"]


def test_a_rule_that_will_matter_later_is_not_redundant():
    assert found(world(rule("A", "full", ALWAYS, end=50), rule("B", "full", EARLY))) == {}


def test_a_rule_becomes_redundant_when_a_wider_one_starts():
    (only,) = found(world(rule("A", "full", ALWAYS, start=50), rule("B", "full", EARLY))).items()
    assert only[0] == "B" and only[1].stretch == (50, None)


def test_of_two_periods_of_the_same_rule_the_shorter_is_redundant():
    assert list(found(world(rule("A", "full", EARLY, end=50), rule("B", "full", EARLY)))) == ["A"]
    assert list(found(world(rule("A", "full", EARLY), rule("B", "full", EARLY, start=9, end=50)))) == ["B"]


def test_an_invariant_that_makes_it_redundant_is_named():
    few = Constraint("C1", "P", EARLY, "days <= 5", Source("p.yaml"))
    spare = Constraint("C2", "P", Atom("flag", "==", True), "flag", Source("p.yaml"))
    rules = rule("A", "full", EARLY), rule("B", "full", Atom("days", "<=", 9))
    both = found(world(*rules, constraints=(few, spare)))
    assert {id: one.core.invariants for id, one in both.items()} == {"A": (), "B": ("C1",)}


def test_where_no_case_exists_nothing_is_redundant():
    never = (Constraint("C1", "P", EARLY, "", Source("p.yaml")), Constraint("C2", "P", LATE, "", Source("p.yaml")))
    assert found(world(rule("A", "full", ALWAYS), rule("B", "full", EARLY), constraints=never)) == {}
