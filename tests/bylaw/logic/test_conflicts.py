"""As sets or rule by rule: who contradicts whom, who gives way, and what stands are the same."""

from hypothesis import given, settings
from hypothesis import strategies as st

from bylaw.logic.decide.conflicts import Conflicts, Rivals, beats, contradicts
from bylaw.logic.decide.evaluate import Evaluator
from bylaw.logic.decide.firing import as_bits, bits
from bylaw.logic.formula.ir import Effect
from tests.bylaw.logic.strategies import GRID, rulesets
from tests.rows import each


@given(rulesets(most=8))
@settings(max_examples=40, deadline=None)
def test_ranks_share_the_rivals_of_each_of_their_rules(ruleset):
    conflicts, rivals = Conflicts(ruleset), Rivals(ruleset)
    for i, rank in enumerate(conflicts.rank_of):
        assert rank.members >> i & 1
        assert tuple(bits(rank.rivals)) == rivals.of(i)
        assert list(bits(rank.beaten)) == [j for j in rivals.of(i) if rivals.beats(i, j)]
        assert list(bits(rank.beaters)) == [j for j in rivals.of(i) if rivals.beats(j, i)]
        others = range(len(ruleset.rules))
        assert [j for j in bits(rank.disputing) if j != i] == [j for j in others if j != i and rivals.disputes(i, j)]


def standing_by_definition(ruleset, fires):
    """What stands of the rules that fire, pair by pair, and the pairs that nobody settles."""
    rules, known = ruleset.rules, {}

    def rival(i, j):
        return i != j and contradicts(rules[i].effect, rules[j].effect, ruleset.excludes)

    def dispute(i, j):
        return any(o == p and a != b for o, a in rules[i].effect.takes for p, b in rules[j].effect.takes)

    def prevails(i, despite_bans):
        if (i, despite_bans) not in known:
            known[i, despite_bans] = True  # where overrides make a circle, as the evaluator takes it
            known[i, despite_bans] = not any(
                rival(i, j)
                and beats(rules[j], rules[i], ruleset.overrides)
                and not (despite_bans and rules[j].effect.kind == "prohibited")
                and prevails(j, dispute(j, i))
                for j in fires
            )
        return known[i, despite_bans]

    stands = [i for i in fires if prevails(i, False)]
    return set(stands), {(i, j) for i in stands for j in stands if i < j and rival(i, j)}


@given(rulesets(most=8), st.sets(st.integers(0, 7)))
@settings(max_examples=150, deadline=None)
def test_what_stands_and_what_is_answered_is_what_the_definition_says(ruleset, some):
    fires = [i for i in sorted(some) if i < len(ruleset.rules)]
    evaluator = Evaluator(ruleset)
    stands, clashes = standing_by_definition(ruleset, fires)
    standing = evaluator.standing(fires)
    assert (standing.stands, set(standing.clashes)) == (stands, clashes)
    assert evaluator.conflicts.stand(as_bits(fires)).clashes == standing.clashes
    torn = {i for pair in clashes for i in pair}
    for outcome in ruleset.outcomes:
        takers = {(a, i) for i in stands for o, a in ruleset.rules[i].effect.takes if o == outcome}
        actions = {action for action, _ in takers}
        told = actions.pop() if len(actions) == 1 and torn.isdisjoint(i for _, i in takers) else None
        assert evaluator.answer(standing, outcome)[0] == told
        assert evaluator.conflicts.action_of(as_bits(sorted(stands)), outcome) == told


@given(rulesets(most=8), st.lists(st.sets(st.integers(0, 7)), min_size=1, max_size=4))
@settings(max_examples=40, deadline=None)
def test_a_verdict_is_that_of_any_rules_of_the_same_ranks(ruleset, asked):
    conflicts = Conflicts(ruleset)
    for some in asked:
        fires = as_bits(i for i in sorted(some) if i < len(ruleset.rules))
        stands = conflicts.surviving(fires)
        given = {outcome: conflicts.action_of(stands, outcome) for outcome in ruleset.outcomes}
        stand = conflicts.stand(fires)
        assert stand.stands == stands
        assert stand.clashes == conflicts.clashes(stands)
        assert stand.ranks == as_bits(conflicts.rank_of[i].number for i in bits(fires))
        actions, duties = conflicts.verdict(stand.ranks)
        assert dict(actions) == {outcome: action for outcome, action in given.items() if action is not None}
        assert duties == conflicts.duties(stands)


@given(rulesets(most=8), st.sets(st.integers(0, 7)))
@settings(max_examples=40, deadline=None)
def test_rules_are_told_apart_by_room(ruleset, some):
    conflicts, rules = Conflicts(ruleset), as_bits(i for i in sorted(some) if i < len(ruleset.rules))
    found = dict(conflicts.rooms_in(rules))
    assert {i: room for room, mine in found.items() for i in bits(mine)} == {i: conflicts.rooms[i] for i in bits(rules)}
    assert conflicts.home.keys() == {outcome for rule in ruleset.rules for outcome, _ in rule.effect.takes}
    for i, rule in enumerate(ruleset.rules):
        assert all(conflicts.home[outcome] == conflicts.rooms[i] for outcome, _ in rule.effect.takes)


@given(rulesets(most=8))
@settings(max_examples=40, deadline=None)
def test_rules_that_contradict_or_answer_one_outcome_share_a_room(ruleset):
    conflicts, rules = Conflicts(ruleset), ruleset.rules
    for i, one in enumerate(rules):
        assert conflicts.members_of(conflicts.rooms[i]) >> i & 1
        for j, two in enumerate(rules):
            together = contradicts(one.effect, two.effect, ruleset.excludes)
            together |= bool({o for o, _ in one.effect.takes} & {o for o, _ in two.effect.takes})
            together |= bool({one.effect.action, *one.effect.demands} & {two.effect.action, *two.effect.demands})
            if together:
                assert conflicts.rooms[i] == conflicts.rooms[j]


@given(rulesets())
def test_any_case_lies_in_the_domain_of_every_fact(ruleset):
    found = Conflicts(ruleset).anything
    assert found.keys() == ruleset.variables.keys()
    assert all(found[name] in GRID[name] for name in found)


FULL, PART = Effect("outcome", "full", "refund"), Effect("outcome", "part", "refund")
FAST, TELL = Effect("outcome", "fast", "shipping"), Effect("required", "tell")
PAIRS = [
    (FULL, PART, True),
    (FULL, FULL, False),
    (FULL, FAST, False),
    (FULL, TELL, False),
    (FULL, Effect("prohibited", "full"), True),
    (FULL, Effect("prohibited", "part"), False),
    (TELL, Effect("prohibited", "tell"), True),
    (TELL, Effect("permitted", "tell"), False),
    (Effect("permitted", "tell"), Effect("prohibited", "tell"), True),
    (Effect("permitted", "tell"), Effect("prohibited", "full"), False),
    (Effect("prohibited", "tell"), Effect("prohibited", "tell"), False),
    (Effect("required", "verify"), TELL, True),
    (Effect("permitted", "verify"), TELL, False),
]


@each("one, two, together", PAIRS)
def test_which_effects_cannot_stand_together(one, two, together):
    excludes = frozenset((("verify", "tell"), ("tell", "verify")))
    assert contradicts(one, two, excludes) == contradicts(two, one, excludes) == together
