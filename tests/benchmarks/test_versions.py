"""How long two versions take to compare where each brings rules of its own, by how many: prints what was measured here.

Run it with `pytest -m benchmark -s tests/benchmarks/test_versions.py`. Nothing here fails for being slow.
"""

from __future__ import annotations

import time
from datetime import date

import pytest

from bylaw.logic.formula.ir import Atom, ConditionalRule, Effect, Ruleset, Source, Variable
from ci.proofs.theory import Theory
from ci.proofs.versions.change import changes

pytestmark = pytest.mark.benchmark
DAY = date(2026, 6, 1).toordinal()
SIZES = (100, 400, 2_000)


def rules(side: str, count: int) -> tuple[ConditionalRule, ...]:
    """One policy whose every rule waits for a fact of its own."""
    effect = Effect("outcome", {"f": "refund", "g": "reject"}[side], "result")
    policy = {"f": "POL-SHOP-001", "g": "POL-SHOP-002"}[side]
    return tuple(
        ConditionalRule(f"{policy}/{i:05}", policy, "shop", effect, Atom(f"{side}{i}", "==", True), 4, Source("x.yaml"))
        for i in range(count)
    )


@pytest.mark.parametrize("count", SIZES)
def test_two_policies_of_many_rules(count: int) -> None:
    names = [f"{side}{i}" for side in "fg" for i in range(count)]
    variables = {name: Variable(name, "boolean") for name in names}
    one = Ruleset(variables, rules("f", count), outcomes=("result",))
    two = Ruleset(variables, (*rules("f", count), *rules("g", count)), outcomes=("result",))
    begun = time.perf_counter()
    found = changes(Theory(one, DAY, 10_000_000), Theory(two, DAY, 10_000_000))
    print(f"\n{count:>6} rules on either side: {time.perf_counter() - begun:6.1f} s, {len(found.changes)} regions")
    assert len(found.changes) == 2 and not found.unknown
