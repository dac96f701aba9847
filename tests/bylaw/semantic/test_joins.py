"""Ways between entities: which are walked, which are refused, and how the refusal is said."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bylaw.authored.context import Context, Entity
from bylaw.semantic.joins import Joins
from bylaw.semantic.query import Unanswerable, UnknownName
from tests.rows import each


def _context(*edges, extra=()):
    """Entities and their relationships, written as `(left, right, type)`."""
    names = sorted({name for left, right, _ in edges for name in (left, right)} | set(extra))
    found = {}
    for name in names:
        relationships = [
            {
                "name": f"r{i}",
                "right_entity": right,
                "relationship_columns": [{"left_column": f"{right}_id", "right_column": "id"}],
                "relationship_type": kind,
            }
            for i, (left, right, kind) in enumerate(edges)
            if left == name
        ]
        base = {"schema": "s", "table": name}
        found[name] = Entity.model_validate({"name": name, "base_table": base, "relationships": relationships})
    return Context(entities=found)


CHAIN = [("lines", "orders", "many_to_one"), ("orders", "people", "many_to_one"), ("people", "towns", "many_to_one")]


def test_many_to_one_is_walked_as_far_as_it_goes():
    joins = Joins(_context(*CHAIN))
    assert [step.right for step in joins.way("lines", "towns")] == ["orders", "people", "towns"]
    assert joins.way("lines", "lines") == ()


@each(("base", "target"), [("towns", "lines"), ("people", "orders"), ("orders", "lines")])
def test_many_to_one_is_never_walked_backwards(base, target):
    with pytest.raises(Unanswerable, match=f"one row of `{base}` has many of `{target}`") as caught:
        Joins(_context(*CHAIN)).way(base, target)
    assert caught.value.help == f"ask for a metric of `{target}` instead"


def test_the_help_names_the_entity_that_links_many_to_many():
    joins = Joins(_context(("lines", "orders", "many_to_one"), ("lines", "products", "many_to_one")))
    with pytest.raises(Unanswerable) as caught:
        joins.way("orders", "products")
    assert caught.value.help == "ask for a metric of `lines` instead"


def test_one_to_many_is_walked_only_backwards():
    joins = Joins(_context(("titles", "reviews", "one_to_many")))
    (step,) = joins.way("reviews", "titles")
    assert step.columns == (("id", "reviews_id"),)
    with pytest.raises(Unanswerable):
        joins.way("titles", "reviews")


def test_one_to_one_is_walked_both_ways():
    joins = Joins(_context(("people", "cards", "one_to_one")))
    assert joins.way("people", "cards")[0].columns == (("cards_id", "id"),)
    assert joins.way("cards", "people")[0].columns == (("id", "cards_id"),)


def test_many_to_many_is_never_walked():
    joins = Joins(_context(("people", "clubs", "many_to_many")))
    for base, target in (("people", "clubs"), ("clubs", "people")):
        with pytest.raises(Unanswerable, match="not connected"):
            joins.way(base, target)


def test_the_shortest_way_is_taken():
    joins = Joins(_context(*CHAIN, ("lines", "towns", "many_to_one")))
    assert [step.right for step in joins.way("lines", "towns")] == ["towns"]


def test_two_ways_between_the_same_two_are_no_way():
    joins = Joins(_context(("trips", "places", "many_to_one"), ("trips", "places", "many_to_one")))
    assert joins.is_plain("trips", "places")  # the same columns twice are one way
    context = _context(("trips", "places", "many_to_one"))
    relationship = context.entities["trips"].relationships[0]
    other = relationship.model_copy(
        update={"relationship_columns": [relationship.relationship_columns[0].model_copy(update={"left_column": "to"})]}
    )
    trips = context.entities["trips"].model_copy(update={"relationships": [relationship, other]})
    joins = Joins(context.model_copy(update={"entities": {**context.entities, "trips": trips}}))
    assert not joins.is_plain("trips", "places")
    with pytest.raises(Unanswerable, match="in 2 ways"):
        joins.way("trips", "places")


def test_a_relationship_to_nowhere_is_no_way():
    context = _context(("orders", "people", "many_to_one"))
    joins = Joins(context.model_copy(update={"entities": {"orders": context.entities["orders"]}}))
    assert joins.reachable("orders") == {"orders": ()}


@given(
    st.lists(st.tuples(*[st.sampled_from("abcdef")] * 2, st.sampled_from(["many_to_one", "one_to_one", "one_to_many"])))
)
def test_a_circle_of_relationships_ends_and_every_way_hangs_together(edges):
    joins = Joins(_context(*edges, extra="abcdef"))
    for base in "abcdef":
        for target, steps in joins.reachable(base).items():
            at = base
            for step in steps:
                assert step.left == at
                at = step.right
            assert at == target
            assert len({step.right for step in steps}) == len(steps)


MANY = [
    ("writes", "papers", "many_to_one"),
    ("writes", "authors", "many_to_one"),
    ("marks", "papers", "many_to_one"),
    ("marks", "topics", "many_to_one"),
    ("authors", "places", "many_to_one"),
    ("venues", "places", "many_to_one"),
]


@each(
    ("base", "target", "walked"),
    [
        ("papers", "authors", ["writes", "authors"]),
        ("papers", "places", ["writes", "authors", "places"]),
        ("authors", "topics", ["writes", "papers", "marks", "topics"]),
        ("authors", "venues", ["places", "venues"]),
        ("writes", "places", ["authors", "places"]),
    ],
)
def test_a_chain_may_go_from_one_to_many(base, target, walked):
    assert [step.right for step in Joins(_context(*MANY)).chain(base, target)] == walked


def test_a_chain_meets_in_one_row_at_most_once():
    with pytest.raises(Unanswerable, match="not connected"):
        Joins(_context(*MANY)).chain("topics", "venues")


def test_two_shortest_chains_are_no_chain():
    joins = Joins(_context(*MANY, ("edits", "papers", "many_to_one"), ("edits", "authors", "many_to_one")))
    with pytest.raises(Unanswerable, match="`papers` is connected with `authors` in 2 ways"):
        joins.chain("papers", "authors")


def test_what_a_refusal_offers_is_a_chain():
    """A name of the help leads there, whether it is walked forwards or backwards."""
    context = _context(*MANY, ("edits", "papers", "many_to_one"), ("edits", "authors", "many_to_one"))
    for name, entity in context.entities.items():
        named = [one.model_copy(update={"name": f"{name}_{one.name}"}) for one in entity.relationships]
        context.entities[name] = entity.model_copy(update={"relationships": named})
    joins = Joins(context)
    with pytest.raises(Unanswerable) as caught:
        joins.chain("places", "topics")
    offered = [part.strip("`") for part in caught.value.help.split(": ")[1].split(" or ")]
    chains = [[step.right for step in joins.chain("places", place)] for place in offered]
    assert chains == [
        ["authors", "edits", "papers", "marks", "topics"],
        ["authors", "writes", "papers", "marks", "topics"],
    ]
    with pytest.raises(Unanswerable, match="does not lead from `marks` to `topics`"):
        joins.chain("marks", f"topics@{offered[0].partition('@')[2]}")


def test_two_ways_over_different_entities_are_no_way():
    joins = Joins(_context(*CHAIN, ("lines", "shops", "many_to_one"), ("shops", "people", "many_to_one")))
    with pytest.raises(Unanswerable, match="`lines` is connected with `people` in 2 ways"):
        joins.way("lines", "people")
    assert joins.guarded_way("lines", "people") is not None


def _roles(**flags):
    """Trips from one place to another; places lie in towns."""
    sides = [
        {
            "name": name,
            "right_entity": "places",
            "relationship_columns": [{"left_column": name, "right_column": "id"}],
            "relationship_type": "many_to_one",
            "default": flags.get(name, False),
        }
        for name in ("start", "goal")
    ]
    context = _context(("places", "towns", "many_to_one"), extra=["trips"])
    trips = context.entities["trips"].model_copy(
        update={"relationships": Entity.model_validate({**_BARE, "relationships": sides}).relationships}
    )
    return Joins(context.model_copy(update={"entities": {**context.entities, "trips": trips}}))


_BARE = {"name": "trips", "base_table": {"schema": "s", "table": "trips"}}


def test_a_role_decides_between_two_relationships():
    joins = _roles()
    assert [step.name for step in joins.way("trips", "places@goal")] == ["goal"]
    assert [step.right for step in joins.way("trips", "towns@start")] == ["places", "towns"]
    assert joins.leads_to("trips", "towns@goal")
    assert not joins.leads_to("towns", "places@goal")
    with pytest.raises(Unanswerable) as caught:
        joins.way("trips", "towns")
    assert caught.value.help == "say which is meant: `towns@goal` or `towns@start`"


def test_without_a_role_the_default_relationship_is_meant():
    assert [step.name for step in _roles(goal=True).way("trips", "places")] == ["goal"]
    assert _roles(goal=True).is_plain("trips", "towns")


def test_a_role_is_walked_backwards_too():
    (step,) = _roles().chain("places", "trips@goal")
    assert (step.is_many, step.columns) == (True, (("id", "goal"),))


def test_what_was_asked_before_changes_no_way():
    fresh, used = _roles(), _roles()
    used.chain("trips", "towns@goal")
    used.chain("places", "trips@goal")
    for base in ("trips", "places", "towns"):
        assert fresh.reachable(base) == used.reachable(base)


def test_two_roles_of_one_entity_guard_nothing():
    assert _roles().guarded_way("trips", "places") is None
    assert _roles(start=True).guarded_way("trips", "places") is not None


def test_an_unknown_role_is_said():
    for ask in (_roles().way, _roles().chain):
        with pytest.raises(UnknownName, match="no relationship `stop`"):
            ask("trips", "places@stop")
