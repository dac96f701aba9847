"""What new users ask: no fact is read that nobody told, and no question is asked that has nothing to do with theirs."""

from __future__ import annotations

from collections import Counter
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest
import yaml

from bot.conversation import Question, Reply
from bot.enforcement.answer import answer
from bot.enforcement.question.lookups import lookups
from bot.index import BundleIndex
from tests.beside import find_beside
from tests.compiled import index_of
from tests.rows import each

HERE = Path(__file__)
ROOTS = {
    "own": HERE.parents[3],
    "retail": find_beside("realworld", "policies", "retail"),
    "ferry": HERE.parents[1] / "claims" / "ferry",
    "kennel": HERE.parents[1] / "claims" / "kennel",
}
ASKED = yaml.safe_load(HERE.with_name("newcomers.yaml").read_text())
MOST = {
    "wrong": 1,
    "nonsense": 6,
    "again": 6,
    "missed": 10,
    "offered": 54,
}  # of all; what is not understood goes to an owner


def kind_of(row: dict[str, Any], reply: Reply, index: BundleIndex) -> str:
    """What became of a question: right, asked, offered topics to pick from, or one of the ways to fail."""
    told, about = row.get("facts", {}), row.get("about")
    if about is None:
        return "right" if reply.status == "refused" else "nonsense" if reply.status != "needs_choice" else "offered"
    if reply.status == "refused":
        return "missed"
    variables = index.ruleset.variables
    read = {name: variables[name].read(value) for name, value in reply.facts.items()}
    if any(name not in told or variables[name].read(told[name]) != value for name, value in read.items()):
        return "wrong"
    outcomes = {index.vocabulary.outcome_of(name) for name in about if name in index.vocabulary.actions}
    meant = {*about, *filter(None, outcomes)}
    if reply.status == "needs_choice" and any(one.value == "confirm" for one in reply.choices):
        asked = {one["name"] for one in (reply.reading or {})["items"] if one["kind"] == "asks"}
        return "confirmed" if meant & asked else "nonsense"
    if reply.status == "needs_choice":
        return "offered" if meant & {one.value.replace(" ", "_") for one in reply.choices} else "nonsense"
    if reply.status == "needs_fact" and reply.ask is not None:
        rules = (rule for rule in index.ruleset.rules if meant & {rule.effect.action, *dict(rule.effect.takes)})
        tested = {fact for rule in rules for fact in lookups(index).facts[rule.rule_id]}
        return "again" if reply.ask.fact in told else "asked" if reply.ask.fact in tested else "nonsense"
    return "right" if set(reply.outcomes) <= meant else "nonsense"


@pytest.fixture(scope="module")
def became() -> Counter[str]:
    found: Counter[str] = Counter()
    for company, rows in ASKED.items():
        root = ROOTS[company]
        if root is None:
            continue
        index = index_of(root)
        for row in rows:
            asked = Question(text=row["say"], asked_at=datetime(2026, 11, 20, 9, tzinfo=UTC), request_id="r")
            kind = kind_of(row, answer(asked, {}, index).reply, index)
            found[kind] += 1
            print(company, kind, row["say"])
    return found


def test_there_are_enough() -> None:
    assert sum(map(len, ASKED.values())) >= 150 and len(ASKED) == 4


@each("kind", MOST)
def test_hardly_anything_goes_wrong(kind: str, became: Counter[str]) -> None:
    assert became[kind] <= MOST[kind]
    assert became["right"] >= became["asked"] > 0
