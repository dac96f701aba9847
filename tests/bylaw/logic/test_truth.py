"""Every way to read one formula in one case says the same."""

from hypothesis import given, settings
from hypothesis import strategies as st

from bylaw.logic.boxes.truth import reader, simplify, truth
from bylaw.logic.formula.ir import names
from tests.bylaw.logic.worlds import GRID, formulas

facts_known = st.fixed_dictionaries({}, optional={name: st.sampled_from(values) for name, values in GRID.items()})


@given(formulas(leaves=8), st.lists(facts_known, min_size=1, max_size=4))
@settings(max_examples=200, deadline=None)
def test_a_reader_says_what_holds_or_what_it_waits_for(formula, asked):
    read = reader(formula)
    for facts in asked:
        found, holds = read(facts), truth(formula, facts)
        if holds is None:
            assert found == names(simplify(formula, facts)) - facts.keys() != frozenset()
        else:
            assert found is holds
