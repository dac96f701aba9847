"""Who may read what, who is senior, who is a steward."""

from typing import Any

import pytest

from bylaw.authored.machines.access import Roles
from tests.rows import each

CATALOGUE = ["shop", "finance", "hr"]

HOUSE = Roles.model_validate(
    {
        "roles": {
            "guest": {},
            "agent": {"schemas": ["shop"]},
            "finance": {"schemas": ["finance"], "seniority": "Lead"},
            "boss": {"schemas": ["*"], "seniority": "Manager"},
            "curious": {"schemas": ["*", "secret"]},
            "keeper": {"schemas": ["shop"], "seniority": "Senior", "steward": True},
        },
        "users": {
            "amara": ["agent"],
            "ben": ["finance", "agent"],
            "chiara": ["boss"],
            "dora": ["curious"],
            "emil": ["keeper", "agent", "agent"],
            "fay": [],
        },
        "default_role": "guest",
    }
)

READ = [
    ("amara", {"shop"}),
    ("ben", {"shop", "finance"}),
    ("chiara", {"shop", "finance", "hr"}),
    ("dora", {"shop", "finance", "hr", "secret"}),
    ("emil", {"shop"}),
    ("fay", set()),
    ("a stranger", set()),
    ("", set()),
]


@each(("user", "schemas"), READ)
def test_rights_are_the_sum_of_the_roles(user: str, schemas: set[str]) -> None:
    assert HOUSE.schemas_of(user, CATALOGUE) == schemas


def test_every_schema_means_every_catalogued_one_and_none_beyond() -> None:
    assert HOUSE.schemas_of("chiara", []) == frozenset()


def test_roles_are_sorted_and_named_once() -> None:
    assert HOUSE.roles_of("emil") == ("agent", "keeper")
    assert HOUSE.roles_of("a stranger") == ("guest",)


def test_a_listed_person_without_roles_does_not_fall_back_to_the_default() -> None:
    assert HOUSE.roles_of("fay") == ()


def test_names_are_compared_exactly() -> None:
    assert HOUSE.roles_of("Amara") == ("guest",)


@each(
    ("user", "seniorities"),
    [("ben", {"Lead"}), ("chiara", {"Manager"}), ("amara", set()), ("a stranger", set())],
)
def test_seniority_comes_from_the_roles(user: str, seniorities: set[str]) -> None:
    assert HOUSE.seniorities_of(user) == seniorities


def test_only_a_steward_is_a_steward() -> None:
    assert [user for user in sorted(HOUSE.users) if HOUSE.is_steward(user)] == ["emil"]
    assert not HOUSE.is_steward("a stranger")


@each("users", [{}, {"amara": ["agent"]}])
def test_without_a_default_role_a_stranger_has_no_rights(users: dict[str, Any]) -> None:
    closed = Roles.model_validate({"roles": {"agent": {"schemas": ["*"]}}, "users": users})
    assert closed.roles_of("a stranger") == ()
    assert closed.schemas_of("a stranger", CATALOGUE) == frozenset()


NARROWED = {
    "roles": {
        "emea": {"schemas": ["shop"], "rows": [{"dimension": "customers.region", "values": ["EMEA"]}]},
        "own": {
            "schemas": ["*"],
            "rows": [
                {"dimension": "orders.seller", "attribute": "id"},
                {"dimension": "orders.team", "attribute": "teams", "except": ["products"]},
            ],
        },
    },
    "users": {"amara": ["own", "emea"], "ben": ["own"]},
    "attributes": {"amara": {"teams": ["north", "south"]}},
}


def test_a_rule_on_rows_is_filled_in_with_what_the_asker_has() -> None:
    emea, own = Roles.model_validate(NARROWED).rights_of("amara", CATALOGUE).grants
    assert (emea.schemas, emea.rules[0].values) == ({"shop"}, ["EMEA"])
    assert own.schemas == {"shop", "finance", "hr"}
    assert [(rule.dimension, rule.values, rule.spared) for rule in own.rules] == [
        ("orders.seller", ["amara"], []),
        ("orders.team", ["north", "south"], ["products"]),
    ]


def test_what_the_asker_has_not_is_filled_in_with_nothing() -> None:
    (own,) = Roles.model_validate(NARROWED).rights_of("ben", CATALOGUE).grants
    assert [rule.values for rule in own.rules] == [["ben"], []]


WRONG_RULES: list[tuple[dict[str, Any], str]] = [
    ({"dimension": "orders.seller"}, "either `values` or `attribute`"),
    ({"dimension": "orders.seller", "values": ["x"], "attribute": "id"}, "either `values` or `attribute`"),
    ({"dimension": "orders.amount", "operator": "<", "values": [1, 2]}, "`<` takes one value"),
    ({"dimension": "region", "values": ["EMEA"]}, "should match pattern"),
    (
        {"dimension": "orders.seller", "attribute": "shoe_size"},
        "the attribute `shoe_size`, which `attributes` gives nobody",
    ),
    ({"dimension": "orders.seller", "values": ["x"], "exept": ["products"]}, "Extra inputs"),
]


@each(("rule", "said"), WRONG_RULES, ids=[said for _, said in WRONG_RULES])
def test_a_rule_on_rows_that_says_too_much_or_too_little(rule: dict[str, Any], said: str) -> None:
    with pytest.raises(ValueError, match=said):
        Roles.model_validate({"roles": {"own": {"schemas": ["shop"], "rows": [rule]}}})


def test_nobody_is_given_another_id() -> None:
    with pytest.raises(ValueError, match="the name they ask under"):
        Roles.model_validate({"roles": {}, "attributes": {"amara": {"id": "ben"}}})
