"""What is asked about one outcome may be asked of the rules that can matter to it: the answer is the same."""

from datetime import date

from hypothesis import given, settings
from hypothesis import strategies as st

from bylaw.logic.formula.ir import Atom, ConditionalRule, Effect, Ruleset, Source, Variable
from ci.pipeline import run
from ci.proofs.questions.gap import deciders, gap
from ci.proofs.theory import Theory
from tests.bylaw.logic.strategies import GRID, rulesets


def theory(ruleset):
    return Theory(ruleset, 1, rlimit=5_000_000)


def known():
    """Some facts of a case; the others are unknown."""
    return st.fixed_dictionaries({}, optional={name: st.sampled_from(values) for name, values in GRID.items()})


@given(rulesets(with_compare=True, most=7), st.lists(known(), min_size=1, max_size=6))
@settings(max_examples=150, deadline=None)
def test_the_deciders_of_an_outcome_say_what_all_rules_say(ruleset, asked):
    everyone = theory(ruleset)
    for outcome in ruleset.outcomes:
        few = deciders(everyone, outcome)
        for facts in asked:
            full, part = everyone.evaluator.decide(facts, 1), few.decide(facts, 1)
            assert part.outcomes[outcome] == full.outcomes[outcome]
            assert {*part.undecided.get(outcome, ())} <= {*full.undecided.get(outcome, ())}
            clashing = [[outcome in conflict.outcomes for conflict in d.conflicts] for d in (full, part)]
            assert sum(clashing[0]) == sum(clashing[1])


# ---- by hand --------------------------------------------------------------------------------------------------------

FLAG = Variable("flag", "boolean")


def rule(id, action, level=4, kind="outcome", outcome="refund", value=True):
    effect = Effect(kind, action, outcome if kind == "outcome" else None)
    return ConditionalRule(id, id, "x", effect, Atom("flag", "==", value), level, Source("p.yaml"))


def deciding(*rules):
    asked = theory(Ruleset({"flag": FLAG}, rules, outcomes=("refund", "speed")))
    return [rule.rule_id for rule in deciders(asked, "refund").ruleset.rules]


def test_rules_of_other_outcomes_decide_nothing():
    assert deciding(rule("a", "full"), rule("b", "fast", outcome="speed")) == ["a"]


def test_a_prohibition_of_equal_level_decides_and_a_weaker_one_does_not():
    assert deciding(rule("a", "full"), rule("b", "full", kind="prohibited")) == ["a", "b"]
    assert deciding(rule("a", "full"), rule("b", "full", level=5, kind="prohibited")) == ["a"]


def test_who_removes_a_prohibition_decides_as_well():
    ban = rule("b", "full", level=3, kind="prohibited")
    assert deciding(rule("a", "full"), ban, rule("c", "full", level=2, kind="permitted")) == ["a", "b", "c"]


def test_a_gap_shows_when_a_stronger_prohibition_empties_an_outcome():
    rules = (rule("a", "full"), rule("b", "full", value=False), rule("c", "full", level=3, kind="prohibited"))
    asked = theory(Ruleset({"flag": FLAG}, rules, outcomes=("refund",), complete=("refund",)))
    assert gap(asked, "refund").facts == {"flag": True}


# ---- drafts ---------------------------------------------------------------------------------------------------------

DAY = date(2026, 6, 1)
WORDS = """facts: {flag: {type: boolean}, other: {type: boolean}}
actions: {full: {outcome: refund}, reject: {outcome: refund}}
outcomes: {refund: {complete: true}}
"""


def gaps_of(root, **policies):
    (root / "policies/shop").mkdir(parents=True)
    (root / "policies/vocabulary.yaml").write_text(WORDS)
    for name, text in policies.items():
        metadata = "metadata: {source: s, owner: Desk, domain: shop}\n"
        path = root / f"policies/shop/POL-SHOP-{name[1:]}.yaml"
        path.write_text(f"policy_id: {path.stem}\n{text}\n{metadata}")
    return [one.message for one in run(root, DAY, DAY).findings if one.id == "gap"]


def test_a_draft_hides_no_gap(tmp_path):
    live = "actions: [{type: required, action: full, requires: [flag]}]"
    draft = "draft: true\nactions: [{type: required, action: reject, requires: [no_flag]}]"
    assert gaps_of(tmp_path, _001=live, _002=draft) == ["nothing decides `refund` in this case: not flag"]


def test_a_draft_makes_no_gap(tmp_path):
    live = "actions: [{type: required, action: full, requires: []}]"
    draft = "draft: true\nactions: [{type: prohibited, action: full, requires: [flag]}]"
    assert gaps_of(tmp_path, _001=live, _002=draft) == []


def test_drafts_alone_are_held_to_their_own_outcome(tmp_path):
    draft = "draft: true\nactions: [{type: required, action: full, requires: [flag]}]"
    assert gaps_of(tmp_path, _001=draft) == ["nothing decides `refund` in this case: not flag"]
