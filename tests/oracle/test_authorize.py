"""One action, decided by the product and by trying every completion: the same ruling, and the same missing facts."""

import random
from datetime import date

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bot.request.cases import read_facts
from bylaw.logic.decide.authorize import Authorizer
from tests.oracle import gate
from tests.oracle import repositories as worlds
from tests.oracle.test_against_reference import product_facts, quietly, small

CANONICAL = sorted(name for name, said in worlds.ACTIONS.items() if "same_as" not in said)


def compare(repository, seed):
    asked = small(repository)
    compares = "value_of" in str(repository)
    product = worlds.Product(repository)
    pick = random.Random(seed)
    persons = frozenset(pick.sample(CANONICAL, pick.choice((0, 0, 1, 2))))
    authorizer, thorough = (Authorizer(product.index.evaluator, persons) for _ in range(2))
    thorough._barring = lambda action, members: ()  # looks at every change
    everything = list(asked.cases())
    for _ in range(6):
        full = pick.choice(everything)
        kept = pick.choice((len(full), len(full) - 1, len(full) - 2, pick.randint(0, len(full))))
        case = {fact: full[fact] for fact in sorted(pick.sample(sorted(full), max(kept, 0)))}
        day = date.fromisoformat(pick.choice(("2026-06-15", *worlds.DAYS)))
        facts = read_facts(product_facts(repository["vocabulary"], case), product.index)
        for action in CANONICAL:
            expected, turning = gate.ruling(asked, action, case, day, persons)
            found = authorizer.authorize(action, facts, day.toordinal())
            where = f"{action} in {case} on {day}: expected {expected} {turning}, found {found}"
            assert found.is_exact, where
            if compares and found.ruling == "ask":  # a value that only a comparison singles out is not on the grid
                assert set(found.missing) >= turning, where
                continue
            assert found.ruling == expected, where
            if turning:
                assert set(found.missing) == turning or len(turning) > 8, where
            assert bool(found.missing) == (expected == "ask"), where
            other = None if expected == "allow" else authorizer.counterfactual(action, facts, day.toordinal())
            assert expected == "allow" or other == thorough.counterfactual(action, facts, day.toordinal()), where
            if expected in ("deny", "ask") and other:
                changed = {**facts, **{step.fact: step.after for step in other.steps}}
                assert authorizer.permits(action, changed, day.toordinal()), where


@given(worlds.repositories(), st.integers(0, 2**16))
@quietly(150)
def test_one_action_is_decided_as_by_trying(repository, seed):
    compare(repository, seed)


@pytest.mark.longer
@given(worlds.repositories(), st.integers(2**16, 2**20))
@quietly(2_000)
def test_one_action_is_decided_as_by_trying_in_many_more(repository, seed):
    compare(repository, seed)
