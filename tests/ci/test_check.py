"""What is new since a base, and on which line of the change it stands."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Callable
from datetime import date
from pathlib import Path

import pytest

from ci import pipeline
from ci.check import Gating, against, anchored, check
from ci.findings import Finding, Place
from ci.loading.load import Workspace

DAY = date(2026, 6, 15)
HEAVY = ("sqlglot", "z3", "rapidfuzz", "duckdb", "jinja2", "fastapi", "sqlalchemy", "fsspec", "rich", "bylaw.bundle")
CHECK_AND_TELL = """
import sys
from bylaw.cli import bylaw
code = bylaw.main(args=["check", "--root", sys.argv[1]], standalone_mode=False)
print(code, *sorted(set(sys.argv[2:]) & set(sys.modules)))
"""
ENTITY = """\
name: orders
base_table: {schema: shop, table: orders}
dimensions: [{name: channel, data_type: text}]
"""
VOCABULARY = """\
facts: {days: {type: integer, unit: days, minimum: 0}}
actions: {full_refund: {outcome: refund}, reject: {outcome: refund}}
outcomes: {refund: {}}
"""
POLICY = """\
policy_id: POL-REFUND-00{n}
conditions: [{{type: fact, parameter: days, operator: "{op}", value: {value}}}]
actions: [{{type: required, action: {action}}}]
metadata: {{source: s, owner: Team {n}, domain: refund}}
"""


def files(*policies: tuple[int, str, int, str]) -> dict[str, str]:
    made = {
        f"policies/refund/POL-REFUND-00{n}.yaml": POLICY.format(n=n, op=op, value=value, action=action)
        for n, op, value, action in policies
    }
    return {"policies/vocabulary.yaml": VOCABULARY, **made}


def written(root: Path, content: dict[str, str]) -> Path:
    for name, text in content.items():
        (root / name).parent.mkdir(parents=True, exist_ok=True)
        (root / name).write_text(text, encoding="utf-8")
    return root


def compared(tmp_path: Path, before: dict[str, str], after: dict[str, str]):  # type: ignore[no-untyped-def]
    runs = [
        pipeline.run(written(tmp_path / name, content), DAY, DAY)
        for name, content in (("before", before), ("after", after))
    ]
    return against(*runs, Gating())


APART = files((1, "<=", 30, "full_refund"), (2, ">", 30, "reject"))


@pytest.mark.parametrize("changed", [1, 2])
def test_a_conflict_stands_in_the_file_that_changed(changed: int, tmp_path: Path) -> None:
    wider = {1: (1, "<=", 40, "full_refund"), 2: (2, ">", 20, "reject")}[changed]
    done = compared(tmp_path, APART, {**APART, **files(wider)})
    (conflict,) = [finding for finding in done.new if finding.id == "conflict"]
    assert done.failed
    assert conflict.at.path == f"policies/refund/POL-REFUND-00{changed}.yaml"
    (other,) = conflict.related
    assert other[0].path == f"policies/refund/POL-REFUND-00{3 - changed}.yaml"
    assert other[1].startswith(f"POL-REFUND-00{3 - changed} says ")


def test_what_was_there_before_does_not_fail(tmp_path: Path) -> None:
    clash = files((1, "<=", 40, "full_refund"), (2, ">", 30, "reject"))
    done = compared(tmp_path, clash, {**clash, "policies/vocabulary.yaml": "# a remark\n" + VOCABULARY})
    assert not done.failed
    assert done.new == ()
    assert [finding.id for finding in done.findings] == ["conflict"]
    assert done.existing == {done.findings[0].fingerprint}


def test_the_place_of_an_existing_finding_is_left_alone(tmp_path: Path) -> None:
    clash = files((1, "<=", 40, "full_refund"), (2, ">", 30, "reject"))
    remarked = clash["policies/refund/POL-REFUND-002.yaml"] + "# a remark\n"
    done = compared(tmp_path, clash, {**clash, "policies/refund/POL-REFUND-002.yaml": remarked})
    assert done.findings[0].at.path == "policies/refund/POL-REFUND-001.yaml"


def test_what_is_repaired_is_gone(tmp_path: Path) -> None:
    done = compared(tmp_path, files((1, "<=", 40, "full_refund"), (2, ">", 30, "reject")), APART)
    assert not done.failed
    assert [finding.id for finding in done.findings if finding.severity == "error"] == []


def test_the_first_place_that_changed_takes_the_finding() -> None:
    one, two, three = Place("a.yaml", ("x",)), Place("b.yaml", ("y",)), Place("c.yaml")
    finding = Finding(
        "conflict", "m", one, related=((two, "two says"), (three, "three says")), detail={"side": "one says"}
    )
    assert anchored(finding, {"a.yaml", "b.yaml"}) is finding
    assert anchored(finding, set()) is finding
    moved = anchored(finding, {"b.yaml", "c.yaml"})
    assert moved.at == two
    assert moved.related == ((one, "one says"), (three, "three says"))
    assert moved.detail["side"] == "two says"
    assert anchored(moved, {"a.yaml"}) == finding


def test_without_a_base_everything_counts(workspace_of: Callable[..., Workspace]) -> None:
    workspace = workspace_of(files((1, "<=", 40, "full_refund"), (2, ">", 30, "reject")))
    done = check(workspace.root, DAY, DAY)
    assert done.failed
    assert done.existing == frozenset()
    assert done.new == done.findings


@pytest.mark.parametrize(
    ("more", "told"),
    [
        pytest.param({}, "0", id="policies alone"),
        pytest.param({"context/calendar.yaml": "week_start: sunday\n"}, "0", id="context without SQL"),
        pytest.param({"context/entities/orders.yaml": ENTITY}, "0 sqlglot", id="SQL to read"),
        pytest.param({"policies/typo.yaml": POLICY.format(n=9, op="<=", value=3, action="refnd")}, "1 rapidfuzz",
                     id="a word to guess"),
    ],
)  # fmt: skip
def test_a_check_loads_what_the_repository_needs(tmp_path: Path, more: dict[str, str], told: str) -> None:
    written(tmp_path, files((1, "<=", 30, "full_refund"), (2, ">", 30, "reject")) | more)
    command = [sys.executable, "-c", CHECK_AND_TELL, str(tmp_path), *HEAVY]
    done = subprocess.run(command, cwd=Path(__file__).parents[2], capture_output=True, text=True, check=True)
    assert done.stdout.splitlines()[-1] == told
