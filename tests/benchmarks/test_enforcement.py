"""How long a whole verdict takes at 1,000 policies, without a model. Printed, not asserted: machines differ."""

from __future__ import annotations

import random
import time
from datetime import UTC, datetime
from pathlib import Path

import pytest

from bot.conversation import Question
from bot.enforcement.enforce import enforce
from bot.index import BundleIndex
from bylaw.bundle import read
from bylaw.cli import bundle_for_root
from tests.benchmarks.generate import generate

pytestmark = pytest.mark.benchmark

ANSWERS = (
    "You get act 0 1, because it was bought 20 days ago.",
    "Act 0 2 is not possible. Act 0 3 holds if you have the receipt.",
    "We always promise act 0 4 within 90 days, for $500.",
)


@pytest.mark.parametrize("kind", ["shared", "sparse"])
def test_a_verdict_at_a_thousand_policies(kind: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    generate(tmp_path, 1_000, kind)
    index = BundleIndex(read(bundle_for_root(tmp_path)))
    rng = random.Random(7)
    question = Question(
        text="Can I get act 0 1? I have the receipt.", asked_at=datetime(2026, 11, 20, tzinfo=UTC), request_id="r"
    )
    spent = []
    for k in range(330):
        given = {"days": rng.randrange(400), "amount": rng.randrange(1_000), "has_receipt": True, "tier": "gold"}
        started = time.perf_counter()
        found = enforce(question, ANSWERS[k % 3], index, given)
        spent.append(time.perf_counter() - started)
        assert found.checks
    spent = sorted(spent[30:])
    with capsys.disabled():
        print(f"\nverdict, 1,000 {kind} policies: p50 {spent[150] * 1e3:.1f} ms, p95 {spent[285] * 1e3:.1f} ms")
