"""Who matters to whom, by the cards of the policies alone."""

import pytest

from ci import pipeline
from ci.parts.affected import Neighbourhood, Parts
from ci.parts.cards import spot
from ci.parts.incremental import remembered
from tests.ci.parts.conftest import policy

SET = {
    "POL-SHOP-001": policy("POL-SHOP-001", 0, 10, "full"),
    "POL-SHOP-002": policy("POL-SHOP-002", 8, 20, "part"),
    "POL-SHOP-003": policy("POL-SHOP-003", 30, 40, "part"),
    "POL-SHOP-004": policy("POL-SHOP-004", 0, 50, "fast"),
    "POL-SHOP-005": policy("POL-SHOP-005", 0, 50, "notify"),
    "POL-SHOP-006": policy("POL-SHOP-006", 60, 70, "notify", kind="prohibited"),
    "POL-SHOP-007": policy("POL-SHOP-007", 90, 95, "slow", more="overrides: [POL-SHOP-003]\nreason: agreed\n"),
}


def path(n):
    return f"policies/shop/POL-SHOP-00{n}.yaml"


@pytest.fixture
def near(made):
    now = made(SET)
    return Neighbourhood(remembered(now, pipeline.check(now.workspace(), now.at)).cards)


def numbers(paths):
    return sorted(int(found[-6]) for found in paths)


@pytest.mark.parametrize(
    ("n", "others"),
    [
        (1, [1, 2]),  # the two answer one outcome, and meet from day 8 to 10
        (2, [1, 2]),
        (3, [3, 7]),  # an override ties what never meets
        (4, [4]),  # it meets others, and argues with none of them
        (5, [5]),  # what is demanded and what is prohibited, on other days
        (6, [6]),
        (7, [3, 7]),
    ],
)
def test_around_a_policy_are_those_that_meet_it_and_argue_about_the_same(near, n, others):
    assert numbers(near.around([path(n)])) == others


def test_a_path_without_a_policy_has_nobody_around_it(near):
    assert near.around(["policies/shop/POL-SHOP-099.yaml"]) == set()


def test_everybody_may_fire_in_a_case_who_does_not_exclude_it(near):
    assert numbers(near.firing_in(spot({"days": 9}))) == [1, 2, 4, 5]
    assert numbers(near.firing_in(spot({"vip": True}))) == [1, 2, 3, 4, 5, 6, 7]


def test_a_part_has_everybody_with_a_say(near):
    assert numbers(near.sharing(["outcome refund"])) == [1, 2, 3]
    assert near.outcomes({"action fast"}, ["refund", "shipping"]) == {"shipping"}


def test_groups_hold_all_and_keep_together_what_belongs_together(near):
    groups = [numbers(group) for group in near.groups()]
    assert sorted(n for group in groups for n in group) == [1, 2, 3, 4, 5, 6, 7]
    assert [1, 2, 3, 4, 7] in groups  # one outcome, and the override that joins it to the other
    assert [5, 6] in groups


def test_keys_belong_together_through_others():
    parts = Parts()
    parts.join(["a", "b"])
    parts.join(["c", "d"])
    assert parts.of("a") == parts.of("b") != parts.of("c")
    parts.join(["d", "b"])
    assert len({parts.of(key) for key in "abcd"}) == 1
    assert parts.of("nobody's") == "nobody's"
