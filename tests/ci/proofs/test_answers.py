"""Every question is counted, with what came of it and why something stayed open."""

from __future__ import annotations

from collections import Counter
from datetime import date

from hypothesis import given
from hypothesis import strategies as st

from ci import pipeline
from ci.proofs.answers import Answered, counted, joined
from ci.proofs.registry import QUESTIONS

RUNS = st.lists(
    st.lists(
        st.builds(
            Answered,
            st.sampled_from(("gap", "conflict", "dead-rule")),
            *[st.integers(0, 5)] * 4,
            st.dictionaries(st.sampled_from(("too many", "too long")), st.integers(1, 3)).map(
                lambda reasons: tuple(sorted(reasons.items()))
            ),
        ),
        max_size=3,
        unique_by=lambda answered: answered.question,
    ),
    max_size=4,
)


@given(RUNS)
def test_runs_joined_lose_no_answer_and_no_reason(runs):
    whole = joined(runs)
    parts = [answered for run in runs for answered in run]
    assert len({answered.question for answered in whole}) == len(whole)
    assert {answered.question for answered in whole} == {answered.question for answered in parts}
    for name in ("asked", "open", "proven", "counterexamples", "unknown", "skipped"):
        assert sum(getattr(answered, name) for answered in whole) == sum(getattr(part, name) for part in parts)
    reasons = sum((Counter(dict(part.reasons)) for part in parts), Counter())
    assert sum((Counter(dict(answered.reasons)) for answered in whole), Counter()) == reasons


def test_one_run_joined_is_itself():
    run = (Answered("gap", 1, 2), Answered("conflict", 3, 0, 1, 2, (("too many", 3),)))
    assert joined([run]) == run


def test_the_counts_of_a_question_as_json():
    statuses = Counter({"PROVEN": 2, "SKIPPED": 1})
    assert counted("gap", statuses, Counter({"too many rules": 1})).to_json() == {
        "question": "gap",
        "asked": 3,
        "proven": 2,
        "counterexamples": 0,
        "unknown": 0,
        "skipped": 1,
        "reasons": [{"reason": "too many rules", "count": 1}],
    }


# ---- whole checks ---------------------------------------------------------------------------------------------------

WORDS = """\
facts: {days: {type: integer, minimum: 0, maximum: 50}, is_gift: {type: boolean}}
actions: {refund: {outcome: way}, reject: {outcome: way}}
outcomes: {way: {complete: true}}
"""
POLICY = """\
policy_id: POL-WAY-00{n}
conditions: [{condition}]
actions: [{{type: required, action: {action}}}]
metadata: {{source: s, owner: o, domain: way, priority: 4}}
"""
CONDITIONS = (
    ("refund", "{type: fact, parameter: days, operator: '<', value: 10}"),
    ("refund", "{type: boolean_flag, parameter: is_gift, value: true}"),
    ("reject", "{type: fact, parameter: days, operator: '>', value: 20}"),
)
FILES = {
    "policies/vocabulary.yaml": WORDS,
    **{
        f"policies/POL-WAY-00{n}.yaml": POLICY.format(n=n, action=action, condition=condition)
        for n, (action, condition) in enumerate(CONDITIONS, 1)
    },
}
DAY = date(2026, 6, 1)


def test_a_check_counts_every_question_that_it_asked(workspace_of):
    """Three rules, one pair that meets, one hole."""
    answers = {answered.question: answered for answered in pipeline.check(workspace_of(FILES), DAY).proofs.answers}
    assert list(answers) == ["conflict", *QUESTIONS]
    assert answers["conflict"] == Answered("conflict", 0, 1)
    assert answers["dead-rule"] == Answered("dead-rule", 0, 3)
    assert answers["redundant-rule"] == Answered("redundant-rule", 0, 3)
    assert answers["gap"] == Answered("gap", 0, 1)
    assert answers["priority-mismatch"].asked == 3
    assert answers["failing-case"].asked == 0


def test_a_rule_with_too_many_neighbours_is_skipped_and_told(workspace_of):
    """The first policy lies inside a law that says the same: only the solver sees that it changes nothing."""
    law = "metadata: {source: s, owner: o, domain: way, regulatory_linkage: [X]}"
    wide = POLICY.format(n=2, action="refund", condition="{type: fact, parameter: days, operator: '<', value: 20}")
    files = {**FILES, "policies/POL-WAY-002.yaml": wide.replace(wide.splitlines()[-1], law)}
    few = pipeline.check(workspace_of(files, {"rules/ci.yaml": "proofs: {neighbours: 1}"}), DAY).proofs
    enough = pipeline.check(workspace_of(files, {"rules/ci.yaml": "proofs: {neighbours: 2}"}), DAY).proofs
    answers = [{answered.question: answered for answered in run.answers}["redundant-rule"] for run in (few, enough)]
    assert answers[0] == Answered("redundant-rule", 0, 2, 0, 1, (("over 1 rules speak where one does", 1),))
    assert answers[1] == Answered("redundant-rule", 1, 2)
    assert [finding.id for finding in few.findings if finding.id in ("redundant-rule", "unknown-answer")] == []
    assert "redundant-rule" in [finding.id for finding in enough.findings]


def test_every_question_is_heard_of(workspace_of):
    heard = []
    pipeline.check(workspace_of(FILES), DAY, lambda what, done, of: heard.append((what, done, of)))
    last = {what: (done, of) for what, done, of in heard}
    assert last["looking for rules that never fire"] == (3, 3)
    assert last["looking for rules that change nothing"] == (3, 3)
    assert last["looking for cases that nothing decides"] == (1, 1)
    assert all(0 <= done <= of for _, done, of in heard)
