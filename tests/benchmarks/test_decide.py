"""How long a decision takes in process: tables. `pytest -m benchmark -s tests/benchmarks/test_decide.py` prints them.

With every fact known, half of them and a fifth, at 48 policies (the repository's own), 1,000 and 10,000 (by
`BYLAW_BENCHMARK_SIZES`); and beside Cedar on the same cases, each of whose answers is compared with ours. Cedar has no
outcomes, levels or unknown facts: what is compared is which policies hold. Nothing here fails for being slow.
"""

from __future__ import annotations

import gc
import os
import random
import subprocess
import sys
import time
from fractions import Fraction
from pathlib import Path
from typing import Any

import pytest

from bot.index import BundleIndex
from bylaw.bundle import read
from bylaw.logic.decide.evaluate import Evaluator
from bylaw.logic.formula.ir import And, Atom, Formula, Not, Or, Ruleset, Value, atoms
from tests.benchmarks.generate import generate

ROOT = Path(__file__).parents[2]
DAY = 739_800
SIZES = [int(size) for size in os.environ.get("BYLAW_BENCHMARK_SIZES", "1000").split(",")]
UNKNOWN = {"all known": 0.0, "half unknown": 0.5, "80 % unknown": 0.8}
COUNT = 1_000

pytestmark = pytest.mark.benchmark


def cases(ruleset: Ruleset, unknown: float, count: int = COUNT) -> list[dict[str, Value]]:
    """Cases whose numbers lie where the guards have their bounds."""
    rng = random.Random(3)
    most: dict[str, int] = {}
    for rule in ruleset.rules:
        for atom in atoms(rule.guard):
            for value in atom.value if isinstance(atom.value, tuple) else (atom.value,):
                if not isinstance(value, bool | str):
                    most[atom.var] = max(most.get(atom.var, 0), int(value))

    def draw(name: str) -> Value:
        variable = ruleset.variables[name]
        if variable.kind == "boolean":
            return rng.random() < 0.5
        if variable.kind == "enum":
            return rng.choice(variable.values)
        low = int(variable.minimum or 0)
        return rng.randint(low, max(low, min(most.get(name, 1_000), int(variable.maximum or 10**9))))

    return [{name: draw(name) for name in ruleset.variables if rng.random() >= unknown} for _ in range(count)]


@pytest.fixture(scope="module")
def bundles(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    roots = {"own": ROOT}
    for size in SIZES:
        for kind in ("sparse", "shared", "growing"):
            roots[f"{kind} {size:,}"] = root = tmp_path_factory.mktemp("sets") / f"{kind}{size}"
            generate(root, size, kind)
    found = {}
    for name, root in roots.items():
        out = tmp_path_factory.mktemp("out")
        words = ["compile", "--root", str(root), "-o", str(out), "--at", "2026-01-01"]
        subprocess.run([sys.executable, "-m", "bylaw.cli", *words], cwd=ROOT, capture_output=True)  # conflicts are kept
        found[name] = out / "compiled_policy_bundle.json"
    return found


def test_a_table_of_decisions(bundles: dict[str, Path], capsys: Any) -> None:
    rows = []
    for name, path in bundles.items():
        index = BundleIndex(read(path))
        index.evaluator.prepare()  # as the server does with a bundle it has read
        gc.collect()
        gc.freeze()  # so does it here
        for title, unknown in UNKNOWN.items():
            laps = []
            for facts in cases(index.ruleset, unknown):
                start = time.thread_time()  # of this process alone: others share the machine
                decision = index.evaluator.decide(facts, DAY)
                laps.append((time.thread_time() - start) * 1000)
                assert decision.outcomes.keys() == set(index.ruleset.outcomes)
            laps.sort()
            rows.append((name, title, *(laps[int(len(laps) * share)] for share in (0.5, 0.95, 0.99))))
        gc.unfreeze()
    with capsys.disabled():
        print(f"\n{'set':<16}{'facts':<16}{'p50':>9}{'p95':>9}{'p99':>9}  ms of CPU")
        for name, title, *times in rows:
            print(f"{name:<16}{title:<16}" + "".join(f"{took:>9.3f}" for took in times))


# ---- beside Cedar ---------------------------------------------------------------------------------------------------


def cedar(formula: Formula) -> str:
    """A guard as Cedar spells it; numbers in hundredths, since its decimals have no order with whole numbers."""
    match formula:
        case And(items):
            return "(" + " && ".join(map(cedar, items)) + ")" if items else "true"
        case Or(items):
            return "(" + " || ".join(map(cedar, items)) + ")" if items else "false"
        case Not(item):
            return f"!{cedar(item)}"
        case Atom(var, "in", value):
            assert isinstance(value, tuple)
            return f"[{', '.join(map(spelled, value))}].contains(context.{var})"
        case Atom(var, op, value):
            assert not isinstance(value, tuple)
            return f"(context.{var} {op} {spelled(value)})"
    raise AssertionError(formula)


def spelled(value: Value) -> str:
    if isinstance(value, bool):
        return str(value).lower()
    return f'"{value}"' if isinstance(value, str) else str(int(Fraction(value) * 100))


def as_context(facts: dict[str, Value]) -> dict[str, Any]:
    return {k: v if isinstance(v, bool | str) else int(Fraction(v) * 100) for k, v in facts.items()}


def test_beside_cedar(bundles: dict[str, Path], capsys: Any) -> None:
    import cedarpy

    rows = []
    for name, path in bundles.items():
        if name == "own":
            continue
        evaluator = Evaluator(BundleIndex(read(path)).ruleset, is_indexed=True)
        rules = [rule for rule in evaluator.ruleset.rules if rule.holds_on(DAY)]
        policies = "\n".join(
            f'@id("{r.rule_id}") permit (principal, action, resource) when {{ {cedar(r.guard)} }};' for r in rules
        )
        given = cases(evaluator.ruleset, 0.0)
        evaluator.decide({}, DAY)
        start = time.perf_counter()
        ours = [{fired.rule_id for fired in evaluator.decide(facts, DAY).fired} for facts in given]
        mine = time.perf_counter() - start
        asked = [
            {"principal": 'User::"u"', "action": 'Action::"ask"', "resource": 'Case::"c"', "context": as_context(facts)}
            for facts in given
        ]
        start = time.perf_counter()
        theirs = cedarpy.is_authorized_batch(asked, policies, [])
        its = time.perf_counter() - start
        for fired, answer in zip(ours, theirs, strict=True):
            assert not answer.diagnostics.errors
            numbers = {int(reason.removeprefix("policy")) for reason in answer.diagnostics.reasons}
            assert {rules[n].rule_id for n in numbers} == fired
        rows.append((name, mine / COUNT * 1000, its / COUNT * 1000, sum(map(bool, ours))))
    with capsys.disabled():
        print(f"\n{'set':<16}{'decide':>9}{'Cedar':>9}  ms a case, {COUNT:,} cases in one batch, all agree")
        for name, one, other, hits in rows:
            print(f"{name:<16}{one:>9.3f}{other:>9.3f}  {hits} of them fire something")
