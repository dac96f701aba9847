"""Facts and counts of facts as one integer: the same sums and the same order as with a count of each."""

from collections import Counter

from hypothesis import given
from hypothesis import strategies as st

from bylaw.logic.boxes.packed_counts import PackedCounts

FACTS = ("flag", "open", "kind", "days")
rules = st.lists(st.sets(st.sampled_from(FACTS)), max_size=9)


@given(rules, st.sets(st.sampled_from(FACTS)))
def test_lanes_are_added_and_ordered_like_counts(waiting, also):
    lanes = PackedCounts(FACTS, most=9)
    counts = Counter(var for facts in waiting for var in facts)
    found = sum(lanes.among(facts) for facts in waiting)
    assert found < 1 << lanes.size
    named = sorted({*counts, *also}, key=lambda var: (-counts[var], FACTS.index(var)))
    assert lanes.ordered(lanes.among(also) | found, found) == tuple(named)
    assert lanes.ordered(found, 0) == tuple(var for var in FACTS if counts[var])


def test_nothing_is_in_no_lane():
    assert PackedCounts((), 0).ordered(0, 0) == ()
    assert PackedCounts(FACTS, 0).ordered(PackedCounts(FACTS, 0).among(["kind"]), 0) == ("kind",)
