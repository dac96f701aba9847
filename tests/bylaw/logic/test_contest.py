"""As sets or rule by rule: who contradicts whom, who gives way, and what stands are the same."""

from hypothesis import given, settings
from hypothesis import strategies as st

from bylaw.logic.decide.contest import Contest
from bylaw.logic.decide.evaluate import Evaluator
from bylaw.logic.decide.firing import as_bits, bits
from bylaw.logic.decide.rivalry import Rivals, contradicts
from tests.bylaw.logic.strategies import GRID, rulesets


@given(rulesets(most=8))
@settings(max_examples=40, deadline=None)
def test_ranks_share_the_rivals_of_each_of_their_rules(ruleset):
    contest, rivals = Contest(ruleset), Rivals(ruleset)
    for i, rank in enumerate(contest.rank_of):
        assert rank.members >> i & 1
        assert tuple(bits(rank.rivals)) == rivals.of(i)
        assert list(bits(rank.beaten)) == [j for j in rivals.of(i) if rivals.beats(i, j)]
        assert list(bits(rank.beaters)) == [j for j in rivals.of(i) if rivals.beats(j, i)]
        others = range(len(ruleset.rules))
        assert [j for j in bits(rank.disputing) if j != i] == [j for j in others if j != i and rivals.disputes(i, j)]


@given(rulesets(most=8), st.sets(st.integers(0, 7)))
@settings(max_examples=40, deadline=None)
def test_what_stands_and_what_is_answered(ruleset, some):
    fires = [i for i in sorted(some) if i < len(ruleset.rules)]
    evaluator = Evaluator(ruleset)
    contest, standing = evaluator.contest, evaluator.standing(fires)
    stands = contest.surviving(as_bits(fires))
    assert set(bits(stands)) == standing.stands
    assert set(contest.clashes(stands)) == set(standing.clashes)
    for outcome in ruleset.outcomes:
        assert contest.action_of(stands, outcome) == evaluator.answer(standing, outcome)[0]


@given(rulesets(most=8), st.lists(st.sets(st.integers(0, 7)), min_size=1, max_size=4))
@settings(max_examples=40, deadline=None)
def test_a_verdict_is_that_of_any_rules_of_the_same_ranks(ruleset, asked):
    contest = Contest(ruleset)
    for some in asked:
        fires = as_bits(i for i in sorted(some) if i < len(ruleset.rules))
        stands = contest.surviving(fires)
        given = {outcome: contest.action_of(stands, outcome) for outcome in ruleset.outcomes}
        stand = contest.stand(fires)
        assert stand.stands == stands
        assert stand.clashes == contest.clashes(stands)
        assert stand.ranks == as_bits(contest.rank_of[i].number for i in bits(fires))
        actions, duties = contest.verdict(stand.ranks)
        assert dict(actions) == {outcome: action for outcome, action in given.items() if action is not None}
        assert duties == contest.duties(stands)


@given(rulesets(most=8), st.sets(st.integers(0, 7)))
@settings(max_examples=40, deadline=None)
def test_rules_are_told_apart_by_room(ruleset, some):
    contest, rules = Contest(ruleset), as_bits(i for i in sorted(some) if i < len(ruleset.rules))
    found = dict(contest.rooms_in(rules))
    assert {i: room for room, mine in found.items() for i in bits(mine)} == {i: contest.rooms[i] for i in bits(rules)}
    assert contest.home.keys() == {outcome for rule in ruleset.rules for outcome, _ in rule.effect.takes}
    for i, rule in enumerate(ruleset.rules):
        assert all(contest.home[outcome] == contest.rooms[i] for outcome, _ in rule.effect.takes)


@given(rulesets(most=8))
@settings(max_examples=40, deadline=None)
def test_rules_that_contradict_or_answer_one_outcome_share_a_room(ruleset):
    contest, rules = Contest(ruleset), ruleset.rules
    for i, one in enumerate(rules):
        assert contest.members_of(contest.rooms[i]) >> i & 1
        for j, two in enumerate(rules):
            together = contradicts(one.effect, two.effect, ruleset.excludes)
            together |= bool({o for o, _ in one.effect.takes} & {o for o, _ in two.effect.takes})
            together |= bool({one.effect.action, *one.effect.demands} & {two.effect.action, *two.effect.demands})
            if together:
                assert contest.rooms[i] == contest.rooms[j]


@given(rulesets())
def test_any_case_lies_in_the_domain_of_every_fact(ruleset):
    found = Contest(ruleset).anything
    assert found.keys() == ruleset.variables.keys()
    assert all(found[name] in GRID[name] for name in found)
