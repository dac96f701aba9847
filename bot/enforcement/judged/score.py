"""From the results of the checks to one score and what becomes of the answer (seed 001, compliance scoring)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from decimal import Decimal
from typing import Literal

from bot.enforcement.judged.checks.result import CheckResult, Kind
from bylaw.authored.machines.enforcement import Enforcement

Action = Literal["pass", "auto_correct", "regenerate", "escalate"]
_ALWAYS: frozenset[Kind] = frozenset({"pii", "crashed", "uncovered", "impossible"})  # escalates whatever the sum
_NEVER_ALONE = "coverage"


@dataclass(frozen=True, slots=True)
class Scored:
    """The weighted sum, the weights that were used, and the action with the reason for it."""

    score: float
    weights: Mapping[str, float]
    action: Action
    reason: str


def score(results: Sequence[CheckResult], rules: Enforcement, domain: str | None) -> Scored:
    """The score of *results* by the weights and half-open edges of *domain*."""
    weights = _spread(results, rules.weights_for(domain))
    total = sum((weights[r.name] * Decimal(str(r.score)) for r in results if r.name in weights), Decimal(0))
    rounded = total.quantize(Decimal("0.000001"))  # a third of a weight must not push an exact edge over
    edges = rules.thresholds_for(domain)
    shown = {name: float(round(weight, 6)) for name, weight in sorted(weights.items())}
    blocked = _override(results, rules, domain)
    if blocked is not None:
        return Scored(float(rounded), shown, "escalate", blocked)
    for action, edge in _rows(edges.pass_from, edges.auto_correct_from, edges.regenerate_from):
        if rounded >= edge:
            return Scored(float(rounded), shown, action, f"the score reaches {edge}")
    return Scored(float(rounded), shown, "escalate", f"the score stays below {edges.regenerate_from}")


def _rows(*edges: Decimal) -> list[tuple[Action, Decimal]]:
    actions: tuple[Action, ...] = ("pass", "auto_correct", "regenerate")
    return list(zip(actions, edges, strict=True))


def _spread(results: Sequence[CheckResult], weights: Mapping[str, Decimal]) -> dict[str, Decimal]:
    """The weights of the checks that had something to go by, scaled up to one."""
    there = {result.name for result in results if result.score is not None}
    used = {name: weight for name, weight in weights.items() if name in there}
    total = sum(used.values(), Decimal(0))
    return {name: weight / total for name, weight in used.items()} if total else {}


def _override(results: Sequence[CheckResult], rules: Enforcement, domain: str | None) -> str | None:
    """Why the answer escalates whatever its score, None where nothing says so."""
    for result in results:
        for violation in result.violations:
            if violation.kind in _ALWAYS:
                return violation.message
    floor = rules.escalate_below_for(domain)
    for result in results:
        failed = result.score is not None and not result.is_passed and Decimal(str(result.score)) < floor
        if failed and result.name != _NEVER_ALONE:
            return f"the check `{result.name}` scores {result.score}, below {floor}: {result.detail}"
    return None
