"""The facts of eighty cases written by hand, read plainly and with models of three characters.

A careful model proposes what the rows say; a careless one leaves words out, misquotes and mistakes values; a hostile
one flips every flag, invents amounts and quotes what nobody said.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from datetime import date
from decimal import Decimal
from pathlib import Path
from typing import Any

import pytest

from bot.enforcement.question.case.facts import Reading, read_text
from bot.enforcement.question.case.proposed import ReadCase, held, merged
from bot.index import BundleIndex
from tests.compiled import index_of

SHARED = Path(__file__).parents[3] / "shared" / "realworld" / "policies"
CASES = SHARED / "claims" / "cases.jsonl"
TODAY = date(2026, 11, 20)
Proposals = list[dict[str, Any]]
pytestmark = pytest.mark.skipif(not CASES.exists(), reason="the development data is not here")


@pytest.fixture(scope="module")
def indexes() -> dict[str, BundleIndex]:
    roots = {"voltmark": Path(__file__).parents[2], "retail": SHARED / "retail"}
    return {name: index_of(root) for name, root in roots.items()}


def careful(row: dict[str, Any]) -> Proposals:
    return [dict(one) for one in row["facts"]]


def careless(row: dict[str, Any]) -> Proposals:
    """Every third is forgotten, every fourth misquoted, and numbers are off by one."""
    told = [one for i, one in enumerate(careful(row)) if i % 3 != 2]
    for i, one in enumerate(told):
        if i % 4 == 3:
            one["quote"] = one["quote"].upper() + "!"
        if type(one["value"]) in (int, float) and i % 2:
            one["value"] += 1
    return told


def hostile(row: dict[str, Any]) -> Proposals:
    told = careful(row)
    for one in told:
        if isinstance(one["value"], bool):
            one["value"] = not one["value"]
        elif isinstance(one["value"], str):
            one["value"] = "no such value"
        else:
            one["value"] = one["value"] * 7 + 13
    return [*told, {"fact": "has_receipt", "operator": "==", "value": True, "quote": "the system says so"}]


def wanted(row: dict[str, Any], index: BundleIndex) -> dict[str, Any]:
    """The gold facts that are single values, as the logic has them."""
    case = ReadCase(facts=[one for one in _typed(careful(row)) if one["operator"] == "=="])
    found = held(case, row["query"], index.vocabulary, index.ruleset.variables, TODAY)
    return {read.fact: read.value for read in found.reads}


def _typed(told: Proposals) -> Proposals:
    return [{**one, "value": Decimal(str(v)) if isinstance(v := one["value"], float) else v} for one in told]


def read(row: dict[str, Any], index: BundleIndex, model: Callable[[dict[str, Any]], Proposals] | None) -> Reading:
    variables, vocabulary = index.ruleset.variables, index.vocabulary
    plain = read_text(row["query"], vocabulary, variables, TODAY)
    if model is None:
        return plain
    unused = row["unused"] if model is careful else []
    case = ReadCase(facts=_typed(model(row)), unused=unused)
    return merged(plain, held(case, row["query"], vocabulary, variables, TODAY))


def counted(indexes: dict[str, BundleIndex], model: Callable[[dict[str, Any]], Proposals] | None) -> dict[str, int]:
    found = dict.fromkeys(("exact", "partly", "wrong", "facts", "right"), 0)
    for line in CASES.read_text().splitlines():
        row = json.loads(line)
        index = indexes[row["root"]]
        gold, told = wanted(row, index), read(row, index, model).facts
        wrong = {name for name, value in told.items() if gold.get(name) != value}
        found["wrong" if wrong else "exact" if told == gold else "partly"] += 1
        found["facts"] += len(gold)
        found["right"] += sum(told.get(name) == value for name, value in gold.items())
    return found


def test_the_words_of_the_gold_facts_bear_them(indexes: dict[str, BundleIndex]) -> None:
    stopped = []
    for line in CASES.read_text().splitlines():
        row = json.loads(line)
        index = indexes[row["root"]]
        single = {one["fact"] for one in row["facts"] if one["operator"] == "=="}
        stopped += [(row["id"], name) for name in single - set(wanted(row, index))]
    assert len(stopped) <= 5, stopped


def test_a_careful_model_makes_nearly_all_exact_and_what_was_read_wrong_is_asked(indexes) -> None:
    plain, with_it = counted(indexes, None), counted(indexes, careful)
    assert with_it["exact"] >= 72 > plain["exact"]
    assert with_it["wrong"] <= plain["wrong"] // 2


@pytest.mark.parametrize("model", [careless, hostile])
def test_a_bad_model_adds_no_number_that_nobody_said(indexes, model) -> None:
    for line in CASES.read_text().splitlines():
        row = json.loads(line)
        index = indexes[row["root"]]
        plain, gold = read(row, index, None), wanted(row, index)
        told = read(row, index, model)
        added = {name: value for name, value in told.facts.items() if name not in plain.facts}
        flags = {name for name, fact in index.vocabulary.facts.items() if fact.type in ("boolean", "enum")}
        assert all(gold.get(name) == value for name, value in added.items() if name not in flags), row["id"]
        assert not any(read.words not in row["query"] for read in told.reads)
        if model is hostile:  # what the plain reader reads otherwise is asked, never taken
            assert all(gold.get(n) != v or n not in flags or plain.facts.get(n) == v for n, v in told.facts.items())
