"""What a deployment waits for: prints a table. Run it with `pytest -m benchmark -s tests/benchmarks/test_check.py`.

Check and compile as people call them, cold; then a bundle's load and its decisions inside one process. Nothing here
fails for being slow.
"""

from __future__ import annotations

import json
import random
import statistics
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from tests.benchmarks.generate import generate

DAY = "2026-01-01"
REGIONS, PRODUCTS = ("US", "EU", "APAC", "LATAM"), ("tv", "laptop", "phone", "shirt", "book", "other")
pytestmark = pytest.mark.benchmark


def seconds(work: Callable[[], Any]) -> float:
    start = time.perf_counter()
    work()
    return time.perf_counter() - start


def cases(count: int) -> list[dict[str, Any]]:
    """Cases of which some leave facts out."""
    rng = random.Random(3)
    known = {
        "days": lambda: rng.randint(0, 9000),
        "amount": lambda: rng.randint(1, 900),
        "age": lambda: rng.randint(16, 90),
        "region": lambda: rng.choice(REGIONS),
        "product": lambda: rng.choice(PRODUCTS),
        **dict.fromkeys(("has_receipt", "is_member", "is_gift"), lambda: rng.random() < 0.5),
    }
    return [{name: draw() for name, draw in known.items() if rng.random() < 0.8} for _ in range(count)]


def test_a_table_of_what_people_wait_for(tmp_path: Path, bylaw: Callable[..., Any], capsys: Any) -> None:
    from bot.index import BundleIndex
    from bot.request.cases import read_facts
    from bylaw.bundle import read

    root, out = tmp_path / "set", tmp_path / "out"
    generate(root, 1_000, "sparse")
    bare = statistics.median(
        seconds(lambda: subprocess.run([sys.executable, "-c", "pass"], check=True)) for _ in range(9)
    )
    rows = {
        "check of 1,000 policies, cold": seconds(lambda: bylaw("check", "--root", root, "--at", DAY)),
        "compile of 1,000 policies, cold": seconds(lambda: bylaw("compile", "--root", root, "-o", out, "--at", DAY)),
        "bylaw --help over bare Python": statistics.median(seconds(lambda: bylaw("--help")) for _ in range(9)) - bare,
    }
    path = out / "compiled_policy_bundle.json"
    rows["load of the bundle"] = seconds(lambda: read(path))
    index = BundleIndex(read(path))
    rows["first decision"] = seconds(lambda: index.evaluator.decide({}, 739_000))
    given = [
        read_facts({k: v for k, v in case.items() if k in index.ruleset.variables}, index) for case in cases(2_000)
    ]
    laps = sorted(seconds(lambda facts=facts: index.evaluator.decide(facts, 739_000)) for facts in given)
    rows["decide, median"] = laps[len(laps) // 2]
    rows["decide, 99 of 100"] = laps[len(laps) * 99 // 100]
    assert json.loads(path.read_text())["bundle_metadata"]["policy_count"] == 1_000
    with capsys.disabled():
        print(f"\nbundle: {path.stat().st_size / 1e6:.1f} MB")
        for name, took in rows.items():
            print(f"{name:<36}{took * 1000:>12.2f} ms")
