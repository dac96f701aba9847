"""How far an answer may go alone: the level table, then caps. Everything comes from `rules/autonomy.yaml`."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass

from bot.analytics.risk import Assessment
from bylaw.authored.autonomy import Autonomy
from bylaw.authored.context import Entity
from bylaw.warehouses.port import Estimate

_GIGABYTE = 1_000_000_000
_MINUTE_MS = 60_000


@dataclass(frozen=True, slots=True)
class Decision:
    """The level, 5 (alone) to 1 (a human's), and what capped it. `halted`: the plan is too large to run unasked."""

    level: int
    reasons: tuple[str, ...] = ()
    halted: bool = False
    warnings: tuple[str, ...] = ()


def decide(
    rules: Autonomy,
    assessment: Assessment,
    *,
    asked: Collection[Entity],
    touched: Collection[Entity],
    estimate: Estimate | None,
    phrases: Collection[str],
    preferences: Collection[str] = (),
) -> Decision:
    """The level for an answer of this risk. Caps only ever lower it (seed 004, 5.2).

    *asked* are the entities that the question speaks of, *touched* those that the statement reads besides.
    """
    level = rules.by_risk(assessment.likelihood, assessment.cost)
    caps: list[tuple[int, str]] = []
    domains = {entity.domain for entity in asked if entity.domain}
    tags = {tag for entity in touched for tag in entity.tags}
    triggers = rules.triggers
    if len(domains) >= triggers.cross_domain_joins.domains_from:
        caps.append((triggers.cross_domain_joins.at_most, f"joins {len(domains)} domains"))
    if not tags.isdisjoint(triggers.sensitive_tables.tags):
        caps.append((triggers.sensitive_tables.at_most, "reads tables tagged sensitive"))
    for name, preference in sorted(rules.preferences.items()):
        wanted = name in preferences or not set(preference.phrases).isdisjoint(phrases)
        fits_domain = not preference.domains or not domains.isdisjoint(preference.domains)
        from_here = preference.complexity_from
        fits_complexity = from_here is None or assessment.factors["complexity"] >= from_here
        if wanted and fits_domain and fits_complexity:
            caps.append((preference.at_most, f"asked for: {name.replace('_', ' ')}"))
    halted = estimate is not None and _is_large(rules, estimate)
    if halted:
        caps.append((triggers.resource_intensity.at_most, "the plan is above the resource limits"))
    reasons = tuple(reason for cap, reason in caps if cap < level)
    warnings: tuple[str, ...] = ()
    if estimate is not None and estimate.rows is not None and estimate.rows > triggers.rows_warn_above:
        warnings = (f"The result may have about {estimate.rows} rows.",)
    return Decision(min([level, *(cap for cap, _ in caps)]), reasons, halted, warnings)


def preference_phrases(rules: Autonomy) -> tuple[str, ...]:
    """Every phrase by which a question asks for more care, sorted."""
    return tuple(sorted({phrase for preference in rules.preferences.values() for phrase in preference.phrases}))


def _is_large(rules: Autonomy, estimate: Estimate) -> bool:
    limits = rules.triggers.resource_intensity
    gigabytes = (estimate.scan_bytes or 0) / _GIGABYTE
    minutes = (estimate.runtime_ms or 0) / _MINUTE_MS
    return gigabytes > limits.scan_gb_above or minutes > limits.runtime_minutes_above
