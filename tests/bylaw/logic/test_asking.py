"""Facts are asked for by kind, and in the order of a procedure where there is one."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from bylaw.logic.decide.asking import Asking
from bylaw.logic.formula.ir import Atom, ConditionalRule, Effect, Source, Variable, conj

WORDS = {
    "paid": Variable("paid", "decimal"),
    "days": Variable("days", "integer"),
    "kind": Variable("kind", "enum", ("a", "b")),
    "receipt": Variable("receipt", "boolean"),
    "gift": Variable("gift", "boolean"),
}
orders = st.lists(st.sampled_from(sorted(WORDS)), unique=True, max_size=4)


def rule(policy: str, *facts: str) -> ConditionalRule:
    tests = [Atom(fact, "==", 1) for fact in facts]
    return ConditionalRule(f"R-{policy}", policy, "x", Effect("required", "act"), conj(tests), 3, Source("x.yaml"))


def test_without_steps_booleans_come_before_lists_before_numbers_and_dates():
    assert list(Asking(WORDS, {}, ()).place) == ["gift", "receipt", "kind", "days", "paid"]


def test_steps_keep_their_order_and_come_before_the_other_facts_of_their_policy():
    asked = Asking(WORDS, {"POL-A-001": ("paid", "kind")}, [rule("POL-A-001", "paid", "kind", "receipt")])
    assert list(asked.place) == ["gift", "days", "paid", "kind", "receipt"]
    assert asked.in_turn(["receipt", "gift", "kind", "paid"]) == ("gift", "paid", "kind", "receipt")
    assert asked.in_turn(["receipt", "kind"]) == ("kind", "receipt")


def test_of_two_procedures_that_disagree_the_first_has_its_way():
    asked = Asking(WORDS, {"POL-B-001": ("kind", "paid"), "POL-A-001": ("paid", "kind")}, ())
    assert list(asked.place) == ["gift", "receipt", "days", "paid", "kind"]


@given(st.dictionaries(st.sampled_from(["POL-A-001", "POL-B-001", "POL-C-001"]), orders), orders)
def test_every_fact_has_a_place_and_what_is_asked_first_goes_first(steps, facts):
    asked = Asking(WORDS, steps, [rule(name, *WORDS) for name in steps])
    assert sorted(asked.place.values()) == list(range(len(WORDS)))
    if steps and (first := steps[min(steps)]):
        assert [name for name in asked.place if name in first] == first
    turned = asked.in_turn(facts)
    assert sorted(turned) == sorted(facts)
    chain = steps[min(steps)] if steps else []
    assert [name for name in turned if name in chain] == [name for name in chain if name in facts]
