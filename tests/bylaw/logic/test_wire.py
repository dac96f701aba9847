"""What goes through the pipe arrives as it was sent: shared parts once, no formula too deep, no number changed."""

from __future__ import annotations

import json
import pickle
from fractions import Fraction

from hypothesis import given
from hypothesis import strategies as st

from bylaw.logic.formula.ir import And, Arith, Atom, Compare, Const, Not, Or, Ref
from bylaw.logic.solver.solver import SolverAnswer
from bylaw.logic.solver.wire import answer_from_json, answer_to_json, built, dumped, flat

NUMBERS = st.integers() | st.fractions()
TERMS = st.recursive(
    st.builds(Ref, st.sampled_from("ab")) | st.builds(Const, NUMBERS),
    lambda inner: st.builds(Arith, st.sampled_from("+-*"), inner, inner),
    max_leaves=6,
)
FORMULAS = st.recursive(
    st.builds(Atom, st.sampled_from("ab"), st.sampled_from(("==", "<")), NUMBERS)
    | st.builds(Compare, TERMS, st.sampled_from(("==", "<=")), TERMS),
    lambda inner: (
        st.builds(Not, inner)
        | st.builds(And, st.lists(inner, max_size=3).map(tuple))
        | st.builds(Or, st.lists(inner, max_size=3).map(tuple))
    ),
    max_leaves=12,
)


@given(st.lists(FORMULAS, max_size=4))
def test_formulas_arrive_as_they_were_sent(formulas):
    assert built(pickle.loads(pickle.dumps(flat(formulas)))) == formulas


def test_a_shared_part_is_sent_once():
    part = Or((Atom("a", "==", 1), Atom("b", "==", 2)))
    for _ in range(40):
        part = And((Not(part), part))  # 2 to the 40th tests, written out
    rows, at = flat([part, part])
    assert len(rows) == 83 and at == [82, 82]


def test_depth_is_no_matter():
    deep = Atom("a", "==", 1)
    for _ in range(20_000):
        deep = Not(deep)
    rows = pickle.loads(pickle.dumps(flat([deep])))
    assert len(rows[0]) == 20_001
    assert isinstance(built(rows)[0], Not)


@given(st.dictionaries(st.text(max_size=3), st.booleans() | NUMBERS | st.text(max_size=3)))
def test_a_case_arrives_as_it_was_sent(model):
    arrived = answer_from_json(json.loads(dumped(answer_to_json(SolverAnswer("sat", model)))))
    assert arrived == SolverAnswer("sat", {name: _whole(value) for name, value in model.items()})


def _whole(value):
    return value.numerator if isinstance(value, Fraction) and value.denominator == 1 else value
