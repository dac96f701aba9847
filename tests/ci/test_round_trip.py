"""The records that a compile writes load back as policies, and decide every case as the policies did."""

from __future__ import annotations

import json
import shutil
from datetime import date
from pathlib import Path

import pytest

from bylaw.bundle import parse
from bylaw.bundle_logic import ruleset
from bylaw.logic.decide.evaluate import Evaluator
from ci import pipeline

ROOT = Path(__file__).resolve().parents[2]
AT = date(2026, 6, 15)


@pytest.mark.parametrize("folder", [".", "ci/template", "tests/bot/enforcement/trades/coworking"])
def test_enriched_records_load_back(folder: str, tmp_path: Path) -> None:
    before = pipeline.run(ROOT / folder, AT, AT)
    pipeline.write(before, tmp_path / "out")
    root = tmp_path / "again"
    for name in ("policies", "rules", "context"):
        if (ROOT / folder / name).exists():
            shutil.copytree(ROOT / folder / name, root / name)
    for path in root.glob("policies/**/POL-*.yaml"):
        compiled = tmp_path / "out/policies" / f"{path.stem}.json"
        if compiled.exists():
            path.unlink()
            path.with_suffix(".json").write_text(compiled.read_text())
    after = pipeline.run(root, AT, AT)
    found = [(one.id, one.message) for one in after.findings if one.severity == "error"]
    assert found == [(one.id, one.message) for one in before.findings if one.severity == "error"]
    assert {r.policy.policy_id: r.in_logic for r in before.proofs.records} == {
        r.policy.policy_id: r.in_logic for r in after.proofs.records
    }
    one, other = (Evaluator(ruleset(parse(pipeline.bundle_text(run)))) for run in (before, after))
    assert [rule.rule_id for rule in one.ruleset.rules] == [rule.rule_id for rule in other.ruleset.rules]
    cases = [case.case.facts for case in before.workspace.cases if case.case.history is None]
    for facts in cases:
        known = {name: one.ruleset.variables[name].read(value) for name, value in facts.items()}
        mine, its = (judge.decide(known, AT.toordinal()) for judge in (one, other))
        assert (mine.outcomes, mine.required, mine.prohibited, mine.permitted) == (
            its.outcomes,
            its.required,
            its.prohibited,
            its.permitted,
        )
    graphs = [json.loads(pipeline.bundle_text(run))["graphs"] for run in (before, after)]
    assert {name: graph["terminals"] for name, graph in graphs[0].items()} == {
        name: graph["terminals"] for name, graph in graphs[1].items()
    }
