"""Every question is counted, with what came of it and why something stayed open."""

from __future__ import annotations

from collections import Counter

from hypothesis import given
from hypothesis import strategies as st

from ci.proofs.answers import Answered, counted, joined

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
