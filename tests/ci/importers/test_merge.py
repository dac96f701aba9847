"""Three versions of a record become one: the source's changes come, a person's edits and comments stay."""

from __future__ import annotations

from typing import Any

import pytest
import yaml
from hypothesis import given
from hypothesis import strategies as st

from bylaw.authoring import dump
from ci.importers.merge import merge, same
from ci.loading.source import parse

BASE: dict[str, Any] = {
    "name": "orders",
    "description": "one row per order",
    "base_table": {"schema": "shop", "table": "orders"},
    "synonyms": ["purchases"],
    "dimensions": [{"name": "status"}, {"name": "channel", "description": "where"}],
}
MINE = """\
# ours
name: orders
description: one row per order # said by Ana
base_table:
  schema: shop
  table: orders
synonyms:
  - purchases
  - deals  # the sales team says so
dimensions:
  # the state
  - name: status
    synonyms: [state]
  - name: channel
    description: where
"""


def merged(base: Any, text: str, theirs: Any, force: bool = False) -> tuple[Any, Any]:
    found = merge(base, parse("a.yaml", text).data, theirs, force)
    return parse("a.yaml", found.apply(text)).data, found


def with_(**changes: Any) -> dict[str, Any]:
    return {**BASE, **changes}


ROWS: list[tuple[str, dict[str, Any], dict[str, Any], list[str]]] = [
    ("nothing new leaves all as it is", BASE, {}, []),
    ("a value that nobody edited follows", with_(description="orders"), {"description": "orders"}, []),
    ("a key that is new comes", with_(owner="Sales"), {"owner": "Sales"}, []),
    (
        "a dimension that is new comes beside the edited one",
        with_(dimensions=[*BASE["dimensions"], {"name": "region"}]),
        {
            "dimensions": [
                {"name": "status", "synonyms": ["state"]},
                {"name": "channel", "description": "where"},
                {"name": "region"},
            ]
        },
        [],
    ),
    (
        "a dimension that is gone goes where nobody edited it",
        with_(dimensions=[{"name": "status"}]),
        {"dimensions": [{"name": "status", "synonyms": ["state"]}]},
        [],
    ),
    (
        "an edited dimension that is gone stays, and that is told",
        with_(dimensions=[{"name": "channel", "description": "where"}]),
        {},
        ["dimensions[0]"],
    ),
    (
        "a word that is new comes beside the person's own",
        with_(synonyms=["purchases", "buys"]),
        {"synonyms": ["purchases", "deals", "buys"]},
        [],
    ),
    ("a word that is gone goes", {key: value for key, value in BASE.items() if key != "synonyms"}, {}, ["synonyms"]),
]


@pytest.mark.parametrize(("title", "theirs", "changes", "kept"), ROWS, ids=[row[0] for row in ROWS])
def test_three_versions_become_one(
    title: str, theirs: dict[str, Any], changes: dict[str, Any], kept: list[str]
) -> None:
    mine = parse("a.yaml", MINE).data
    data, found = merged(BASE, MINE, theirs)
    assert data == {**mine, **changes}, title
    assert [".".join(map(str, route)).replace(".0", "[0]") for route, _ in found.kept] == kept


def test_comments_and_order_stay() -> None:
    theirs = with_(owner="Sales", dimensions=[*BASE["dimensions"], {"name": "region"}])
    text = merge(BASE, parse("a.yaml", MINE).data, theirs).apply(MINE)
    for comment in ("# ours\n", "# said by Ana\n", "# the sales team says so\n", "# the state\n"):
        assert comment in text
    assert text.startswith("# ours\nname: orders\n")


def test_what_both_changed_stays_the_person_s_unless_forced() -> None:
    edited = MINE.replace("one row per order", "each order")
    theirs = with_(description="all orders")
    data, found = merged(BASE, edited, theirs)
    assert (data["description"], found.kept) == ("each order", [(("description",), "all orders")])
    data, found = merged(BASE, edited, theirs, force=True)
    assert (data["description"], found.kept) == ("all orders", [])


def test_force_keeps_what_the_source_does_not_speak_of() -> None:
    data, _ = merged({}, MINE, BASE, force=True)
    assert "deals" in data["synonyms"]
    assert data["dimensions"][0] == {"name": "status", "synonyms": ["state"]}


words = st.sampled_from(["a", "b", "c", "d"])
parts = st.lists(
    st.fixed_dictionaries({"name": words}, optional={"description": words, "unique": st.booleans()}),
    max_size=3,
    unique_by=lambda part: part["name"],
)
records = st.fixed_dictionaries(
    {"name": st.just("orders")},
    optional={"description": words, "owner": words, "tags": st.lists(words, min_size=1, max_size=3, unique=True)}
    | {"dimensions": parts.filter(bool), "base_table": st.fixed_dictionaries({"schema": words, "table": words})},
)


@given(records, records)
def test_a_file_that_nobody_edited_becomes_what_the_source_says(base: dict[str, Any], theirs: dict[str, Any]) -> None:
    data, found = merged(base, dump(base), theirs)
    if not found.kept:  # what cannot be cut out of a text stays, and is told
        assert {key: _plain(value) for key, value in data.items()} == {
            key: _plain(value) for key, value in theirs.items()
        }


@given(records, records)
def test_a_source_that_did_not_change_touches_nothing(base: dict[str, Any], mine: dict[str, Any]) -> None:
    text = dump(mine)
    found = merge(base, mine, base)
    assert found.apply(text) == text
    assert not found.kept


@given(records, records, records)
def test_no_edit_of_a_person_is_lost(base: dict[str, Any], mine: dict[str, Any], theirs: dict[str, Any]) -> None:
    """A value that differs from what was imported is there afterwards, whatever the source says."""
    data, _ = merged(base, dump(mine), theirs)
    for key in ("description", "owner"):
        if key in mine and mine[key] != base.get(key):
            assert data[key] == mine[key]
    for part in mine.get("dimensions", []):
        before = next((old for old in base.get("dimensions", []) if old["name"] == part["name"]), None)
        if before != part:
            held = next(one for one in data["dimensions"] if one["name"] == part["name"])
            assert all(
                held.get(key) == value for key, value in part.items() if before is None or before.get(key) != value
            )


@given(records, records, records)
def test_forced_it_says_all_that_the_source_says(base: Any, mine: dict[str, Any], theirs: dict[str, Any]) -> None:
    data, found = merged(base, dump(mine), theirs, force=True)
    if not found.kept:
        for key in ("description", "owner", "base_table"):
            assert key not in theirs or data[key] == theirs[key]
        assert set(theirs.get("tags", [])) <= set(data.get("tags", []))


def test_true_is_not_one() -> None:
    assert not same({"a": [True]}, {"a": [1]})
    assert same({"a": [1, {"b": "c"}]}, yaml.safe_load("a: [1, {b: c}]"))


def _plain(value: Any) -> Any:
    """Lists of words and of named things without their order."""
    if isinstance(value, list):
        return sorted(repr(sorted(item.items()) if isinstance(item, dict) else item) for item in value)
    return value
