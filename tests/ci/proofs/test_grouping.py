"""Many pairs with one cause are one finding, and none is lost or told twice."""

from hypothesis import given, settings
from hypothesis import strategies as st

from bylaw.logic.formula.ir import Atom, ConditionalRule, Effect, Ruleset, Source, Variable
from ci.proofs.conflicts.conflict import Clash
from ci.proofs.conflicts.grouping import FEWEST, grouped
from ci.proofs.theory import Theory, Verdict

FLAG = Variable("flag", "boolean")
SHOWN = Verdict("COUNTEREXAMPLE", {"flag": True}, 1)


def theory(actions, levels=None):
    rules = tuple(
        ConditionalRule(
            f"R{i:03d}",
            f"P{i:03d}",
            "x",
            Effect("outcome", action, "refund"),
            Atom("flag", "==", True),
            (levels or {}).get(i, 4),
            Source("p.yaml"),
        )
        for i, action in enumerate(actions)
    )
    return Theory(Ruleset({"flag": FLAG}, rules, outcomes=("refund",)), 1, 1_000_000)


def test_a_policy_that_contradicts_many_is_one_finding():
    asked = theory(["full"] + ["reject"] * 8)
    (group,) = grouped(asked, [Clash(0, i, None, SHOWN) for i in range(1, 9)])
    assert group.hub == "P000"
    assert (group.representative.second, len(group.others)) == (1, 7)


def test_few_pairs_stay_findings_of_their_own():
    asked = theory(["full"] + ["reject"] * (FEWEST - 1))
    groups = grouped(asked, [Clash(0, i, None, SHOWN) for i in range(1, FEWEST)])
    assert [len(group.clashes) for group in groups] == [1] * (FEWEST - 1)


def test_pairs_without_a_common_policy_share_their_actions():
    asked = theory(["full", "reject"] * 6)
    (group,) = grouped(asked, [Clash(i, i + 1, None, SHOWN) for i in range(0, 12, 2)])
    assert group.hub is None
    assert len(group.clashes) == 6


def test_many_policies_that_each_contradict_many_have_one_cause():
    asked = theory(["full", "reject"] * 10)
    pairs = [Clash(i, j, None, SHOWN) for i in range(0, 20, 2) for j in range(1, 20, 2) if i < j]
    pairs += [Clash(j, i, None, SHOWN) for i in range(0, 20, 2) for j in range(1, 20, 2) if j < i]
    (group,) = grouped(asked, pairs)
    assert (group.hub, len(group.clashes)) == (None, 100)


def test_what_is_won_and_what_is_open_are_different_causes():
    asked = theory(["full"] + ["reject"] * 12, dict.fromkeys(range(7, 13), 5))
    open_ = [Clash(0, i, None, SHOWN) for i in range(1, 7)]
    won = [Clash(0, i, 0, SHOWN) for i in range(7, 13)]
    groups = grouped(asked, [*open_, *won])
    assert sorted(len(group.clashes) for group in groups) == [6, 6]
    assert all(len({clash.winner for clash in group.clashes}) == 1 for group in groups)


def test_a_question_without_an_answer_is_never_hidden_in_a_group():
    asked = theory(["full"] + ["reject"] * 8)
    unknown = Clash(0, 1, None, Verdict("UNKNOWN", reason="the limit"))
    groups = grouped(asked, [unknown, *(Clash(0, i, None, SHOWN) for i in range(2, 9))])
    assert [group.clashes for group in groups if unknown in group.clashes] == [(unknown,)]


@given(st.sets(st.tuples(st.integers(0, 14), st.integers(0, 14)).filter(lambda pair: pair[0] < pair[1]), max_size=60))
@settings(max_examples=100, deadline=None)
def test_every_pair_is_in_exactly_one_group(pairs):
    asked = theory(["full", "reject", "credit"] * 5)
    clashes = [Clash(i, j, None, SHOWN) for i, j in sorted(pairs)]
    groups = grouped(asked, clashes)
    told = [(clash.first, clash.second) for group in groups for clash in group.clashes]
    assert sorted(told) == sorted(pairs)
    for group in groups:
        ids = {f"P{i:03d}" for i in (group.representative.first, group.representative.second)}
        assert group.hub is None or group.hub in ids
        assert len(group.clashes) == 1 or len(group.clashes) >= FEWEST
