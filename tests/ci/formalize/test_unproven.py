"""What cannot be read never disappears: what it speaks of, and that no door decides it."""

from __future__ import annotations

import json
import random
from collections.abc import Iterator, Mapping
from datetime import UTC, date, datetime
from pathlib import Path
from typing import Any

import pytest
import yaml

from bylaw.bundle import dump, parse, ruleset
from bylaw.gate.bindings import Call
from bylaw.gate.decision_point import MemoryDecisionPoint
from bylaw.gate.engine import Gate
from bylaw.logic.decide.evaluate import Evaluator
from bylaw.logic.formula.ir import Variable
from ci import pipeline
from tests.gate.conftest import write
from tests.gate.shop import SHOP
from tests.rows import each

DAY = date(2026, 6, 1)
TABLE = yaml.safe_load(Path(__file__).with_name("unproven.yaml").read_text())
CHANGED = "policies/payments/POL-PAYMENTS-002.yaml"
WORDS = "policies/vocabulary.yaml"


def files_of(row: Mapping[str, Any]) -> dict[str, str]:
    files = dict(TABLE["base"])
    for path, key in ((CHANGED, "edit"), (WORDS, "edit_words")):
        for before, after in row.get(key, ()):
            assert before in files[path], before
            files[path] = files[path].replace(before, after)
    return {**files, **row.get("files", {})}


def written(root: Path, files: Mapping[str, str]) -> Path:
    for path, text in files.items():
        (root / path).parent.mkdir(parents=True, exist_ok=True)
        (root / path).write_text(text)
    return root


@pytest.fixture
def checked(tmp_path):
    number = iter(range(1_000))

    def run(files: Mapping[str, str]) -> pipeline.Run:
        return pipeline.run(written(tmp_path / str(next(number)), files), DAY, DAY)

    return run


def decided(done: pipeline.Run, action: str, **facts: Any) -> Any:
    gate = Gate(parse(pipeline.bundle_text(done)))
    point = MemoryDecisionPoint(lambda: gate, lambda: datetime(2026, 6, 1, tzinfo=UTC))
    return point.decide(Call(action=action, facts=facts))


@each("row", TABLE["rows"], ids=lambda row: row["title"])
def test_what_cannot_be_read_is_unproven_with_what_it_speaks_of(row, checked):
    done = checked(files_of(row))
    spoken = sorted({action for one in done.in_doubt for action in one.actions})
    assert spoken == row["speaks"], row["title"]
    assert any(one.is_everything for one in done.in_doubt) == row.get("everything", False), row["title"]
    if "at" in row:
        assert f"{done.in_doubt[0].path}:{done.in_doubt[0].line}" == row["at"], row["title"]


@each("row", TABLE["rows"], ids=lambda row: row["title"])
def test_the_gate_denies_what_it_speaks_of_and_nothing_else(row, checked):
    done = checked(files_of(row))
    for action in row.get("denied", ()):
        found = decided(done, action, score=1)
        assert found.decision == "deny", (row["title"], action)
        if action in parse(pipeline.bundle_text(done)).vocabulary.actions:
            assert "cannot be read" in found.why, (row["title"], action, found.why)
            assert found.counterfactual is None
    for action in row.get("allowed", ()):
        found = decided(done, action, suspended=False, score=1)
        assert found.decision == "allow", (row["title"], action, found.why)


@each("row", TABLE["rows"], ids=lambda row: row["title"])
def test_the_bundle_says_it_and_compile_stops(row, checked):
    done = checked(files_of(row))
    text = pipeline.bundle_text(done)
    assert pipeline.bundle_text(done) == text
    assert not done.stopping(allows_errors=True)
    assert bool(done.stopping(allows_errors=False)) >= bool(done.in_doubt), row["title"]
    bundle = parse(text)
    assert ruleset(bundle).unproven == done.unproven
    assert dump(bundle) == text
    if not done.unproven:
        assert '"unproven"' not in text
    told = Evaluator(ruleset(bundle)).decide({"suspended": False}, DAY.toordinal())
    assert told.unproven == done.in_doubt
    touched = set(row.get("denied", ()))
    assert not touched.intersection((*told.required, *told.permitted))


def broken_one_by_one(root: Path) -> Iterator[tuple[Path, str]]:
    """Each policy of *root*, as it is and with a condition on a fact that nobody knows."""
    for path in sorted(root.glob("policies/*/POL-*.yaml")):
        data = yaml.load(path.read_text(), yaml.BaseLoader)
        unknown = {"type": "fact", "parameter": "nobody_knows", "value": True}
        data["conditions"] = [*data.get("conditions", ()), unknown]
        yield path, json.dumps(data)


@pytest.mark.parametrize("name", ["company", "shop"])
def test_whatever_it_is_not_about_is_decided_as_with_it(name, company_copy, tmp_path):
    """Whatever an unproven rule could say, it is one rule: what differs without it has to be in doubt."""
    root = company_copy if name == "company" else write(tmp_path / "shop", SHOP)
    whole = pipeline.run(root, DAY, DAY)
    rng, day, seen = random.Random(7), DAY.toordinal(), 0
    variables = whole.ruleset.variables
    before = Evaluator(whole.ruleset)
    for path, text in broken_one_by_one(root):
        good = path.read_text()
        path.write_text(text)
        after = Evaluator(pipeline.run(root, DAY, DAY).deciding)
        path.write_text(good)
        for _ in range(60):
            facts = {n: v.read(sample(v, rng)) for n, v in variables.items() if rng.random() < 0.8}
            one, two = before.decide(facts, day), after.decide(facts, day)
            for outcome, result in one.outcomes.items():
                if two.outcomes[outcome].action != result.action:
                    assert after.unproven.about_outcome(outcome, day), (path.name, outcome, facts)
                    seen += 1
            for kind in ("required", "permitted", "prohibited"):
                for action in {*getattr(one, kind)} ^ {*getattr(two, kind)}:
                    assert after.unproven.about(action, day), (path.name, kind, action, facts)
                    seen += 1
    assert seen


def sample(variable: Variable, rng: random.Random) -> Any:
    match variable.kind:
        case "boolean":
            return rng.random() < 0.5
        case "enum":
            return rng.choice(variable.values)
        case "date":
            return "2026-05-01"
    low, high = variable.minimum or 0, 60 if variable.maximum is None else min(variable.maximum, 60)
    return int(low) + rng.randrange(int(high) - int(low) + 1)
