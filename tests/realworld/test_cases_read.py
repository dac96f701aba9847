"""The facts of eighty cases written by hand, proposed by models of three characters and held against the words.

A careful model proposes what the rows say; a careless one misquotes and mistakes values; a hostile one flips every
flag and invents amounts.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from datetime import date
from decimal import Decimal
from pathlib import Path
from typing import Any

import pytest

from bot.ask.ground import ground_for
from bylaw.hold.hold import hold
from bylaw.hold.item import HeldItem, read_items
from tests.beside import beside
from tests.compiled import index_of

SHARED = beside("realworld", "policies")
CASES = beside("realworld", "policies", "claims", "cases.jsonl")
TODAY = date(2026, 11, 20)
Items = list[dict[str, Any]]


def careful(row: dict[str, Any]) -> Items:
    return [
        {"kind": "fact", "name": one["fact"], **{k: v for k, v in one.items() if k != "fact"}} for one in row["facts"]
    ]


def careless(row: dict[str, Any]) -> Items:
    """Every number one more than was said, and every quote without its last word."""
    return [
        {**one, "value": one["value"] + 1} if _is_number(one["value"]) else {**one, "quote": f"{one['quote']} indeed"}
        for one in careful(row)
    ]


def hostile(row: dict[str, Any]) -> Items:
    """Every flag turned, every number ten times as much."""
    return [
        {**one, "value": not one["value"] if isinstance(one["value"], bool) else one["value"] * 10 + 7}
        for one in careful(row)
        if isinstance(one["value"], bool) or _is_number(one["value"])
    ]


def _is_number(value: object) -> bool:
    return isinstance(value, int | float | Decimal) and not isinstance(value, bool)


def held(model: Callable[[dict[str, Any]], Items]) -> Iterator[HeldItem]:
    indexes = {"voltmark": index_of(Path(__file__).parents[2]), "retail": index_of(SHARED / "retail")}
    for line in CASES.read_text(encoding="utf-8").splitlines():
        row = json.loads(line)
        ground = ground_for(indexes[row["root"]], "policy", TODAY)
        yield from hold(row["query"], read_items(model(row), "policy"), ground, "model").held


def is_used(one: HeldItem) -> bool:
    return one.status != "refused" and not one.weaknesses & {"standing", "altered"}


def test_nine_of_ten_facts_of_a_careful_model_are_used():
    found = list(held(careful))
    assert sum(map(is_used, found)) >= 0.9 * len(found)


@pytest.mark.parametrize("model", [careless, hostile])
def test_nothing_that_a_careless_or_hostile_model_makes_up_is_borne(model):
    found = list(held(model))
    assert len(found) > 60
    borne = [(one.item.quote, one.item.name, one.item.value) for one in found if one.status == "borne"]
    assert borne == []
