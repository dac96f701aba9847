"""Every question is counted by whom it is about, with what came of it and why something stayed open."""

from __future__ import annotations

from datetime import date

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ci import pipeline
from ci.proofs.answers import OPEN, RANK, Answered, Reply, counted, of_case, of_outcome, of_policies, states
from ci.proofs.focus import Focus
from ci.proofs.registry import ASKED, QUESTIONS

CONCERNS = (*of_policies("POL-A", "POL-B", "POL-C"), *of_outcome("way"), *of_case("policies/cases.yaml", 1))
REPLIES = st.lists(
    st.builds(
        Reply,
        st.lists(st.sampled_from(CONCERNS), min_size=1, max_size=2, unique=True).map(tuple),
        st.sampled_from(sorted(RANK)),
        st.just(()),
        st.sampled_from((None, "too many", "too long")),
    )
)


@given(REPLIES)
def test_of_everyone_the_worst_reply_is_known_and_every_reason_why_it_is_open(replies):
    found = states("gap", replies)
    assert found.keys() == {concern for reply in replies for concern in reply.about}
    for concern, (question, status, reasons) in found.items():
        mine = [reply for reply in replies if concern in reply.about]
        assert question == "gap"
        assert RANK[status] == max(RANK[reply.status] for reply in mine)
        open_ = {reply.reason or "no reason is known" for reply in mine if reply.status in OPEN}
        assert set(reasons) == open_
        assert bool(reasons) == (status in OPEN)


@given(REPLIES, st.randoms(use_true_random=False))
def test_the_order_of_the_replies_makes_no_difference(replies, random):
    others = replies[:]
    random.shuffle(others)
    assert states("gap", others) == states("gap", replies)


@given(st.dictionaries(st.sampled_from(ASKED), REPLIES))
def test_every_concern_is_counted_once_a_question(asked):
    known = {question: states(question, replies) for question, replies in asked.items()}
    rows = {concern: tuple(known[q][concern] for q in known if concern in known[q]) for concern in CONCERNS}
    answers = counted(rows, ASKED)
    assert [answered.question for answered in answers] == list(ASKED)
    for answered in answers:
        mine = list(known.get(answered.question, {}).values())
        assert answered.asked == len(mine)
        assert answered.open == sum(status in OPEN for _, status, _ in mine)
        assert dict(answered.reasons) == {
            reason: sum(reason in why for _, _, why in mine) for _, _, reasons in mine for reason in reasons
        }


def test_the_counts_of_a_question_as_json():
    replies = [
        Reply(of_policies("POL-A", "POL-B"), "PROVEN"),
        Reply(of_policies("POL-C"), "SKIPPED", (), "too many rules"),
    ]
    rows = {concern: (state,) for concern, state in states("gap", replies).items()}
    (answered,) = counted(rows, ["gap"])
    assert answered.to_json() == {
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
    """Three policies, of which two contradict each other, and one hole."""
    answers = {answered.question: answered for answered in pipeline.check(workspace_of(FILES), DAY).proofs.answers}
    assert list(answers) == ["conflict", *QUESTIONS]
    assert answers["conflict"] == Answered("conflict", 1, 2)
    assert answers["dead-rule"] == Answered("dead-rule", 0, 3)
    assert answers["redundant-rule"] == Answered("redundant-rule", 0, 3)
    assert answers["gap"] == Answered("gap", 0, 1)
    assert answers["priority-mismatch"].asked == 3
    assert answers["failing-case"].asked == 0


FOCUSES = {
    "a policy": Focus(policies=frozenset({"POL-WAY-002"})),
    "an outcome": Focus(outcomes=frozenset({"way"})),
    "a case": Focus(cases=frozenset({("policies/cases.yaml", 1)})),
    "nothing": Focus(),
}
CASE = "{{name: {name}, facts: {{days: {days}}}, expect: {{way: {action}}}}}"
CASES = f"[{CASE.format(name='a', days=1, action='refund')}, {CASE.format(name='b', days=15, action='reject')}]"


@pytest.mark.parametrize("focus", FOCUSES.values(), ids=FOCUSES)
def test_what_is_known_of_a_part_is_what_is_known_of_it_in_the_whole(workspace_of, focus):
    workspace = workspace_of({**FILES, "policies/cases.yaml": CASES})
    whole = pipeline.check(workspace, DAY).proofs.statuses
    part = pipeline.check(workspace, DAY, None, focus).proofs.statuses
    assert len(whole) == 6  # three policies, an outcome, two cases
    assert part == {concern: row for concern, row in whole.items() if focus.holds(concern)}
    assert len(part) == (focus != Focus())


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
