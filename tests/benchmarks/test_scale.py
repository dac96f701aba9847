"""How a large repository is checked: prints a table. Run with `pytest -m benchmark -s tests/benchmarks/test_scale.py`.

Each row is a process of its own: from nothing, again where nothing changed, and with five policies changed. Then the
whole set on a Dask cluster of one worker and of two, each of one thread. SIZES in the environment asks for others.
Nothing here fails for being slow.
"""

from __future__ import annotations

import os
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.benchmarks.generate import generate
from tests.ci.executors.test_cluster import ROOT, Dask

SIZES = [int(size) for size in os.environ.get("SIZES", "10000,100000").split(",")]
CHANGED = 5
MIB = 1 << 10  # of what the system counts in KiB
pytestmark = pytest.mark.benchmark


def checked(root: Path, cache: Path, *words: str) -> tuple[float, float]:
    """A check of *root* in a process of its own: the seconds it took, and the most MiB that it held."""
    command = [sys.executable, "-m", "bylaw.cli", "check", "--root", str(root), "--at", "2026-01-01", "--cache"]
    start = time.perf_counter()
    child = os.posix_spawn(
        sys.executable,
        [*command, str(cache), *words],
        {**os.environ, "PYTHONPATH": str(ROOT)},
        file_actions=[(os.POSIX_SPAWN_OPEN, 1, os.devnull, os.O_WRONLY, 0)],
    )
    _, status, used = os.wait4(child, 0)
    assert os.waitstatus_to_exitcode(status) in (0, 1)
    return time.perf_counter() - start, used.ru_maxrss / MIB


def rows(root: Path, folder: Path) -> Iterator[tuple[str, float, float]]:
    """What was done, its seconds, and its MiB."""
    cache = folder / "cache"
    yield "cold", *checked(root, cache)
    yield "unchanged", *checked(root, cache)
    files = sorted(root.glob("policies/bench/*/*.yaml"))
    for path in files[:: len(files) // CHANGED][:CHANGED]:
        path.write_text(path.read_text(encoding="utf-8").replace("the handbook", "the book"), encoding="utf-8")
    yield f"{CHANGED} changed", *checked(root, cache)
    for workers in (1, 2):
        at = folder / f"dask-{workers}"
        at.mkdir()
        dask = Dask(at, ROOT)
        try:
            for _ in range(workers):
                dask.worker()
            yield f"Dask, {workers} local", *checked(root, at / "cache", "--executor", f"dask://{dask.address}")
        finally:
            dask.close()


@pytest.mark.parametrize("size", SIZES)
def test_a_table_of_large_repositories(size: int, tmp_path: Path, capsys: Any) -> None:
    root = tmp_path / "set"
    generate(root, size, "sparse")
    with capsys.disabled():
        print(f"\n{size:,} policies{'':<12}{'seconds':>10}{'MiB':>8}")
        for name, took, mebibytes in rows(root, tmp_path):
            print(f"{name:<24}{took:>10.2f}{mebibytes:>8.0f}")
