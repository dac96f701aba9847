"""What the plain writer renders of a decided case is right by construction."""

from __future__ import annotations

import random
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
import yaml

from bot.claims.judge import judge
from bot.conversation import Actor, Question
from bot.enforcement import template
from bot.enforcement.answer import answer
from bot.enforcement.assemble import case_of
from bot.enforcement.case import Case
from bot.enforcement.judged.reading import situation
from bot.index import BundleIndex
from bot.request.cases import read_facts
from bylaw.logic.boxes.truth import truth
from bylaw.logic.decide.case import in_force
from bylaw.logic.formula.ir import Value, Variable
from tests.beside import beside
from tests.bot.claims.conftest import HERE, NOW
from tests.compiled import TODAY

ROOTS = {"voltmark": HERE.parents[2], "ferry": HERE / "ferry", "kennel": HERE / "kennel",
         "rental": HERE.parents[1] / "company"}  # fmt: skip


def told_cases(root: Path) -> list[dict[str, Any]]:
    files = sorted(root.glob("policies/*/cases.yaml"))
    rows = [row for path in files for row in yaml.safe_load(path.read_text(encoding="utf-8")) or ()]
    return [row["facts"] for row in rows if "facts" in row and "at" not in row]


def is_impossible(case: Case) -> bool:
    constraints = [one for one in case.evaluator.ruleset.constraints if in_force(one, case.day)]
    return bool(case.decision.conflicts) or any(truth(one.formula, case.facts) is False for one in constraints)


def check(index: BundleIndex, facts: dict[str, Value]) -> int:
    case = case_of("What holds?", TODAY, {}, index, index.evaluator, facts)
    lines = template.of_case(case)
    if not lines or is_impossible(case):
        return 0
    text = "\n".join(line.text for line in lines)
    claims = [claim for line in lines for claim in line.claims]
    found = judge(text, claims, replace(situation(case, text), personal=()), "template")
    assert found.verdict == "valid", (facts, text, found.objections)
    return 1


@pytest.mark.parametrize("name", [*ROOTS, "retail"])
def test_every_told_case_rendered_is_valid(name: str, repositories: dict[str, BundleIndex]) -> None:
    root = ROOTS.get(name) or beside("realworld", "policies", name)
    index = repositories[name]
    assert sum(check(index, read_facts(facts, index)) for facts in told_cases(root)) >= 3


@pytest.mark.parametrize("name", ["voltmark", "ferry", "kennel", "rental"])
def test_every_decided_case_rendered_is_valid(name: str, repositories: dict[str, BundleIndex]) -> None:
    index, chance = repositories[name], random.Random(11)
    checked = 0
    for _ in range(60):
        share = chance.choice((0.3, 0.6, 1.0))
        variables = index.ruleset.variables.items()
        checked += check(index, {name: some(one, chance) for name, one in variables if chance.random() < share})
    assert checked > 30


def some(variable: Variable, chance: random.Random) -> Value:
    if variable.kind == "boolean":
        return chance.random() < 0.5
    if variable.kind == "enum":
        return chance.choice(variable.values)
    if variable.kind == "date":
        return TODAY.toordinal() - chance.randrange(900)
    most = variable.maximum
    return chance.choice([value for value in (1, 3, 10, 15, 40, 61, 250, 600, 2500) if most is None or value <= most])


@pytest.mark.parametrize(
    ("root", "text", "starts"),
    [
        (
            "voltmark",
            "I broke the seal of my software. Can you reject the return?",
            "The customer gets no refund.",
        ),  # neither yes nor no
        (
            "voltmark",
            "I am a standard customer, bought a TV in your store 5 days ago at the regular price and have the receipt. "
            "Do I get a full refund?",
            "Yes, the customer gets the full price back.",
        ),
        (
            "voltmark",
            "I bought a TV for $600 20 days ago and lost the receipt. Do I get a full refund?",
            "No, the customer does not get the full price back. The customer gets store credit.",
        ),
        ("sauna", "3 years of membership. Can I get a towel for free?", "Yes, there is no fee for a towel."),
        ("sauna", "3 years of membership. Do I pay a towel fee?", "There is no fee for a towel."),
        ("sauna", "May I swim in the lake?", "Yes, it is allowed to swim in the lake."),
        (
            "sauna",
            "Is it forbidden to swim in the lake?",
            "It is allowed to swim in the lake.",
        ),  # a yes would say the opposite
    ],
)
def test_yes_and_no_follow_what_is_decided(
    root: str, text: str, starts: str, repositories: dict[str, BundleIndex]
) -> None:
    question = Question(text=text, actor=Actor(id="u"), asked_at=NOW, session_id="s", request_id="r")
    turn = answer(question, {}, repositories[root])
    if turn.reply.status == "needs_choice":  # a word of it is nobody's: it is confirmed first
        turn = answer(question.model_copy(update={"text": "confirm"}), dict(turn.state), repositories[root])
    assert turn.reply.text.startswith(starts), turn.reply.text
    assert turn.artifacts["verdict"]["verdict"] == "valid"
    assert turn.artifacts["verdict"]["reading"]["by"] == "template"
