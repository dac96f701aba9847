"""A graph that somebody drew is held against the rules: in which case it ends otherwise, or which word is unknown."""

from __future__ import annotations

import json
from datetime import date
from pathlib import Path

import pytest
import yaml

from ci import pipeline
from ci.pipeline import Run

AT = date(2026, 6, 1)
ROWS = yaml.safe_load(Path(__file__).with_name("written_graph.yaml").read_text(encoding="utf-8"))


def checked(root: Path, row: dict) -> Run:
    (root / "policies/refund").mkdir(parents=True)
    (root / "policies/vocabulary.yaml").write_text(ROWS["words"])
    graph = json.dumps({"formal": {"decision_graph": row["graph"]}})[1:-1]
    policy = f"policy_id: POL-REFUND-001\n{row.get('policy') or ROWS['policy']}{graph}\n{ROWS['metadata']}"
    (root / "policies/refund/POL-REFUND-001.yaml").write_text(policy)
    return pipeline.run(root, AT, AT)


def drawn(run: Run) -> dict:
    return json.loads(pipeline.bundle_text(run))["graphs"]["POL-REFUND-001"]


@pytest.mark.parametrize("row", ROWS["differ"], ids=lambda row: row["title"])
def test_a_graph_that_differs_is_told_with_its_case_and_not_used(row: dict, tmp_path: Path) -> None:
    run = checked(tmp_path, row)
    found = [one for one in run.findings if one.id == "graph-differs"]
    assert [one.message for one in found] == row["says"]
    assert all(one.severity == "error" for one in found)
    if "facts" in row:
        assert [dict(one.counterexample["facts"]) for one in found] == [row["facts"]]
    graph = drawn(run)
    assert all("test" in node for node in graph["nodes"].values())
    assert set(graph["terminals"]) == set(row["derived"])
    assert run.proofs.records[0].in_logic


@pytest.mark.parametrize("row", ROWS["agree"], ids=lambda row: row["title"])
def test_a_graph_that_agrees_is_the_one_of_the_bundle(row: dict, tmp_path: Path) -> None:
    run = checked(tmp_path, row)
    assert [(one.id, one.message) for one in run.findings if one.severity == "error"] == []
    graph = drawn(run)
    assert sorted(graph["nodes"]) == sorted(row["graph"]["nodes"])
    assert graph["root"] == row["graph"]["root"]


def test_a_graph_of_too_many_ways_is_left_open(tmp_path: Path) -> None:
    names = [f"n{i}" for i in range(10)]
    nodes = {
        name: {"true": after, "false": f"{after}#2" if after != "reject" else after}
        for name, after in zip(names, [*names[1:], "reject"], strict=True)
    }
    nodes |= {f"{name}#2": node for name, node in nodes.items() if name != "n0"}
    facts = "".join(f"  {name}: {{type: boolean}}\n" for name in names)
    row = {
        "policy": "actions: [{type: required, action: reject, requires: []}]\n",
        "graph": {"root": "n0", "nodes": nodes, "terminals": ["reject"]},
    }
    (tmp_path / "policies/more").mkdir(parents=True)
    (tmp_path / "policies/more/vocabulary.yaml").write_text(f"facts:\n{facts}")
    run = checked(tmp_path, row)
    (found,) = [one for one in run.findings if one.severity == "error"]
    assert found.id == "unknown-answer" and "more than 500 ways" in found.message
    assert drawn(run)["nodes"] == {}
