"""How long a check takes, question by question, and how much memory: prints tables of what was measured here.

Run it with `pytest -m benchmark -s tests/benchmarks/test_proofs.py`. Every set is checked in a fresh process, so that
nothing is warm and the memory is its own. `BYLAW_BENCHMARK_SIZES` names the sizes (by default 1000,10000; 100000 takes
minutes). Nothing here fails for being slow.
"""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from datetime import date
from itertools import combinations
from pathlib import Path
from typing import Any

import pytest

from tests.benchmarks.generate import generate, policy_id

ROOT = Path(__file__).parents[2]
DAY = date(2026, 1, 1)
SIZES = [int(size) for size in os.environ.get("BYLAW_BENCHMARK_SIZES", "1000,10000").split(",")]
KINDS = ("shared", "growing", "sparse")
SETS = [(kind, size) for size in SIZES for kind in KINDS] + [("dense", 1000)]
TOUCHED = 5  # policies of a pull request
STAGES = ("import", "load", "formalize", "lint", "proofs", "total", "MB", "findings")
TRIPS = ("cold", "MB", "touched", "MB ", "again")

pytestmark = pytest.mark.benchmark


@pytest.fixture(scope="module")
def sets(tmp_path_factory: pytest.TempPathFactory) -> dict[tuple[str, int], Path]:
    """Every set as files, written once."""
    roots = {(kind, size): tmp_path_factory.mktemp("sets") / f"{kind}{size}" for kind, size in SETS}
    for (kind, size), root in roots.items():
        generate(root, size, kind)
    return roots


# ---- one process, every question ------------------------------------------------------------------------------------


def measured(root: Path) -> dict[str, float]:
    """One check of *root*, stage by stage and question by question, in this process; seconds, but for MB and counts."""
    import resource

    begun = time.perf_counter()
    from ci import pipeline
    from ci.proofs import stage

    laps: dict[str, float] = {"import": time.perf_counter() - begun}

    def timed(name: str, work: Callable[..., Any]) -> Callable[..., Any]:
        def run(*given: Any, **named: Any) -> Any:
            start = time.perf_counter()
            try:
                done = work(*given, **named)
                return list(done) if isinstance(done, Iterator) else done
            finally:
                laps[name] = laps.get(name, 0.0) + time.perf_counter() - start

        return run

    pipeline.load = timed("load", pipeline.load)
    pipeline.formalize = timed("formalize", pipeline.formalize)
    pipeline.prove = timed("proofs", pipeline.prove)
    pipeline.LINTS = tuple(timed("lint", lint) for lint in pipeline.LINTS)
    stage.clashes = timed("conflict", stage.clashes)
    stage.clash_findings = timed("conflict", stage.clash_findings)
    stage.QUESTIONS = {name: timed(name, ask) for name, ask in stage.QUESTIONS.items()}
    done = pipeline.run(root, DAY, DAY)
    laps["total"] = time.perf_counter() - begun
    laps["MB"] = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss // 1024
    laps["findings"] = len(done.findings)
    return laps


def printed(title: str, rows: Sequence[dict[str, Any]], columns: Sequence[str]) -> None:
    """A table with as much room as its headings and figures take."""
    told = [[_shown(row.get(column, "")) for column in columns] for row in rows]
    wide = [max(map(len, cells)) for cells in zip(columns, *told, strict=True)]
    print(f"\n{title}")
    for cells in (columns, *told):
        print("  ".join(cell.rjust(width) for cell, width in zip(cells, wide, strict=True)))


def _shown(value: Any) -> str:
    return f"{value:.2f}" if isinstance(value, float) else f"{value:,}" if isinstance(value, int) else str(value)


def test_a_table_of_whole_checks_by_question(sets: dict[tuple[str, int], Path], capsys: Any) -> None:
    from ci.proofs.registry import QUESTIONS

    rows = []
    for (kind, size), root in sets.items():
        command = [sys.executable, __file__, str(root)]
        env = {**os.environ, "PYTHONPATH": str(ROOT)}
        done = subprocess.run(command, cwd=ROOT, env=env, capture_output=True, text=True, check=True)
        row = {"kind": kind, "policies": size, **json.loads(done.stdout)}
        assert row["findings"] > 0 and row.keys() >= {"conflict", *QUESTIONS}
        rows.append(row)
    with capsys.disabled():
        printed("in one process, seconds", rows, ("kind", "policies", *STAGES))
        printed("of these the proofs, seconds", rows, ("kind", "policies", "conflict", *QUESTIONS))


# ---- the command ----------------------------------------------------------------------------------------------------


def command(root: Path) -> tuple[float, int]:
    """`bylaw check` as people call it: seconds, and megabytes of its largest process."""
    words = [sys.executable, "-m", "bylaw.cli", "check", "--root", str(root), "--at", DAY.isoformat()]
    env = {**os.environ, "PYTHONPATH": str(ROOT)}
    with tempfile.TemporaryFile() as said:
        start = time.perf_counter()
        process = subprocess.Popen(words, cwd=ROOT, env=env, stdin=subprocess.DEVNULL, stdout=said, stderr=said)
        _, status, used = os.wait4(process.pid, 0)
        took = time.perf_counter() - start
        process.returncode = os.waitstatus_to_exitcode(status)
        said.seek(0)
        assert process.returncode in (0, 1), said.read().decode()[-2000:]
    return took, used.ru_maxrss // 1024


def touch(root: Path, size: int) -> None:
    """Move one bound in each of a few policies, far from one another."""
    for n in range(TOUCHED):
        (path,) = (root / "policies").rglob(f"{policy_id(n * size // TOUCHED)}.yaml")
        text = path.read_text()
        changed = re.sub(r"(value: |between: \[)(\d+)", lambda found: f"{found[1]}{int(found[2]) + 1}", text, count=1)
        assert changed != text
        path.write_text(changed)


def test_a_table_of_the_command_cold_and_after_a_pull_request(sets: dict[tuple[str, int], Path], capsys: Any) -> None:
    rows = []
    for (kind, size), root in sets.items():
        cold, first = command(root)
        touch(root, size)
        touched, second = command(root)
        again, _ = command(root)
        trips = dict(zip(TRIPS, (cold, first, touched, second, again), strict=True))
        rows.append({"kind": kind, "policies": size, **trips})
    with capsys.disabled():
        title = f"`bylaw check`, seconds: cold, after {TOUCHED} policies were touched, and with nothing touched"
        printed(title, rows, ("kind", "policies", *TRIPS))


# ---- the naive way --------------------------------------------------------------------------------------------------


def test_conflicts_against_one_fresh_solver_a_pair(tmp_path, capsys):
    """The naive way, as a reference: every pair that contradicts each other, each with a solver of its own."""
    from bylaw.logic.decide.conflicts import contradicts
    from bylaw.logic.solver.smt import Reasoner
    from ci import pipeline
    from ci.formalize.stage import formalize
    from ci.loading.load import load
    from ci.proofs.conflicts.conflict import clashes, shown
    from ci.proofs.conflicts.grouping import grouped
    from ci.proofs.stage import ruleset_of
    from ci.proofs.theory import Theory

    generate(tmp_path / "set", 300, "shared")
    workspace = load(tmp_path / "set", date(2026, 1, 1))
    known = pipeline.variables(workspace.vocabulary)
    records, _ = formalize(workspace, known)
    ruleset = ruleset_of(workspace, records, known)
    day = date(2026, 1, 1).toordinal()

    start = time.perf_counter()
    theory = Theory(ruleset, day, rlimit=5_000_000)
    groups = grouped(theory, list(clashes(theory)))
    witnesses = [shown(theory, group.representative).verdict.facts for group in groups]
    ours = time.perf_counter() - start

    start = time.perf_counter()
    reasoner, naive, rules = Reasoner(ruleset.variables), set(), ruleset.rules
    for i, j in combinations(range(len(rules)), 2):
        if contradicts(rules[i].effect, rules[j].effect, ruleset.excludes):
            vars(reasoner).pop("_solver", None)  # the terms may stay, the solver is a fresh one
            if reasoner.check([rules[i].guard, rules[j].guard]).status == "sat":
                naive.add((i, j))
    reference = time.perf_counter() - start

    found = {(clash.first, clash.second) for group in groups for clash in group.clashes}
    assert found == naive and all(witnesses)
    with capsys.disabled():
        print(f"\n300 policies, {len(found)} conflicting pairs: {ours:.4f} s; a fresh solver a pair {reference:.2f} s")
        print(f"{reference / ours:.0f} times faster")


if __name__ == "__main__":
    print(json.dumps(measured(Path(sys.argv[1]))))
