"""Who contradicts whom: looked up by outcome and action, or compared one by one, it is the same."""

from hypothesis import given, settings
from hypothesis import strategies as st

from bylaw.logic.decide import conflicts
from bylaw.logic.decide.conflicts import Rivals, contradicts
from tests.bylaw.logic.strategies import rulesets


@given(rulesets(most=8))
@settings(max_examples=300, deadline=None)
def test_rivals_are_exactly_the_rules_that_contradict_each_other(ruleset):
    rivals, rules = Rivals(ruleset), ruleset.rules
    for i, one in enumerate(rules):
        told = [j for j, two in enumerate(rules) if i != j and contradicts(one.effect, two.effect, ruleset.excludes)]
        assert list(rivals.of(i)) == told


@given(rulesets(most=8), st.sets(st.integers(0, 7)), st.sampled_from((0, 3, 8)))
@settings(max_examples=300, deadline=None)
def test_rivals_among_some_are_the_same_however_many_there_are(ruleset, some, few):
    present = {i for i in some if i < len(ruleset.rules)}
    rivals, before = Rivals(ruleset), conflicts.FEW
    conflicts.FEW = few
    try:
        for i in range(len(ruleset.rules)):
            assert rivals.among(i, present) == [j for j in rivals.of(i) if j in present]
    finally:
        conflicts.FEW = before


@given(rulesets(most=8))
@settings(max_examples=200, deadline=None)
def test_who_answers_an_outcome_is_told_once_and_in_order(ruleset):
    rivals = Rivals(ruleset)
    for outcome in ruleset.outcomes:
        told = [i for i, rule in enumerate(ruleset.rules) if outcome in dict(rule.effect.takes)]
        assert list(rivals.taking(outcome)) == told
