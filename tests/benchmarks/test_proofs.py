"""How long a check takes, and how much memory: prints a table. Run it with `pytest -m benchmark -s tests/benchmarks`.

Every set is checked in a fresh process, so that nothing is warm and the memory is its own. `BYLAW_BENCHMARK_SIZES`
names the sizes (by default 1000,10000; 100000 takes minutes). Nothing here fails for being slow.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import time
from datetime import date
from itertools import combinations
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).parent))
from generate import generate

ROOT = Path(__file__).parents[2]
SIZES = [int(size) for size in os.environ.get("BYLAW_BENCHMARK_SIZES", "1000,10000").split(",")]
SETS = [(kind, size) for size in SIZES for kind in ("shared", "growing", "sparse")] + [("dense", 1000)]
COLUMNS = ("kind", "policies", "import s", "load s", "formalize s", "proofs s", "total s", "peak MB", "findings")

pytestmark = pytest.mark.benchmark


def measured(root: Path) -> dict[str, float]:
    """One check of *root*, stage by stage, in this process."""
    import resource

    begun = time.perf_counter()
    from ci import pipeline

    laps: dict[str, float] = {"import s": time.perf_counter() - begun}

    def timed(name: str, stage):
        def run(*given, **named):
            start = time.perf_counter()
            try:
                return stage(*given, **named)
            finally:
                laps[name] = time.perf_counter() - start

        return run

    pipeline.load = timed("load s", pipeline.load)
    pipeline.formalize = timed("formalize s", pipeline.formalize)
    pipeline.prove = timed("proofs s", pipeline.prove)
    done = pipeline.run(root, date(2026, 1, 1), date(2026, 1, 1))
    laps["total s"] = time.perf_counter() - begun
    laps["peak MB"] = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    laps["findings"] = len(done.findings)
    return laps


def test_a_table_of_whole_checks(tmp_path, capsys):
    rows = []
    for kind, size in SETS:
        root = tmp_path / f"{kind}{size}"
        generate(root, size, kind)
        command = [sys.executable, __file__, str(root)]
        env = {**os.environ, "PYTHONPATH": str(ROOT)}
        done = subprocess.run(command, cwd=ROOT, env=env, capture_output=True, text=True, check=True)
        row = {"kind": kind, "policies": size, **json.loads(done.stdout)}
        assert row["findings"] > 0
        rows.append(row)
    with capsys.disabled():
        print("\n" + "".join(f"{column:>13}" for column in COLUMNS))
        for row in rows:
            print("".join(f"{row[c]:>13.2f}" if isinstance(row[c], float) else f"{row[c]:>13}" for c in COLUMNS))


def test_conflicts_against_one_fresh_solver_a_pair(tmp_path, capsys):
    """The naive way, as a reference: every pair that contradicts each other, each with a solver of its own."""
    from bylaw.logic.rivalry import contradicts
    from bylaw.logic.smt import Reasoner
    from ci import pipeline
    from ci.formalize.stage import formalize
    from ci.load import load
    from ci.proofs.conflict import clashes
    from ci.proofs.grouping import grouped
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
    assert found == naive
    with capsys.disabled():
        print(f"\n300 policies, {len(found)} conflicting pairs: {ours:.4f} s; a fresh solver a pair {reference:.2f} s")
        print(f"{reference / ours:.0f} times faster")


if __name__ == "__main__":
    print(json.dumps(measured(Path(sys.argv[1]))))
