"""From scores to what becomes of an answer: the edges, the overrides, the profiles."""

from __future__ import annotations

from decimal import Decimal
from pathlib import Path
from typing import Any

import yaml
from hypothesis import given
from hypothesis import strategies as st

from bot.enforcement.judged.checks.result import CheckResult, Violation
from bot.enforcement.judged.score import score
from bylaw.authored.machines.enforcement import Domain, Enforcement, Thresholds
from ci.loading.rules import load_defaults
from tests.rows import each

ROWS = yaml.safe_load(Path(__file__).with_name("score.yaml").read_text())
RULES = Enforcement.model_validate(load_defaults()["enforcement"])


def results(row: dict[str, Any]) -> list[CheckResult]:
    broken = row.get("broken", {})
    return [
        CheckResult(name, row["scores"].get(name), "", (Violation(broken[name], name),) if name in broken else ())
        for name in ("pattern", "consistency", "judge", "coverage")
    ]


@each("row", ROWS, ids=lambda row: row["title"])
def test_what_becomes_of_an_answer(row: dict[str, Any]) -> None:
    rules = RULES.model_copy(update={"profile": row.get("profile", RULES.profile)})
    found = score(results(row), rules, None)
    assert (found.action, found.score) == (row["action"], row["score"])


def test_a_domain_has_edges_of_its_own() -> None:
    edges = Thresholds(pass_from=Decimal("0.99"), auto_correct_from=Decimal("0.98"), regenerate_from=Decimal("0.97"))
    rules = RULES.model_copy(update={"domains": {"privacy": Domain(thresholds=edges)}})
    row = {"scores": {"pattern": 1, "consistency": 1, "judge": 0.8, "coverage": 1}}
    assert score(results(row), rules, "privacy").action == "escalate"
    assert score(results(row), rules, "refund").action == "pass"


SCORES = st.floats(0, 1).map(lambda value: round(value, 3))


@given(scores=st.lists(st.none() | SCORES, min_size=4, max_size=4))
def test_a_better_score_of_one_check_is_never_worse_for_the_answer(scores: list[float | None]) -> None:
    order = ("escalate", "regenerate", "auto_correct", "pass")
    names = ("pattern", "consistency", "judge", "coverage")
    before = score(results({"scores": dict(zip(names, scores, strict=True))}), RULES, None)
    for k, value in enumerate(scores):
        if value is None:
            continue
        better = [1.0 if i == k else other for i, other in enumerate(scores)]
        after = score(results({"scores": dict(zip(names, better, strict=True))}), RULES, None)
        assert after.score >= before.score
        assert order.index(after.action) >= order.index(before.action)
