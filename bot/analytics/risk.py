"""How likely the answer is wrong, and what that would cost. Weights, bounds and costs come from `rules/risk.yaml`.

What nobody measures counts as half known; a factor is never left out because it is unknown.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass
from decimal import Decimal

from bylaw.authored.context import Context, Entity
from bylaw.authored.risk import Risk
from bylaw.language.words import FUNCTION_WORDS, read_words
from bylaw.sql import Features

_NONE = Decimal(0)
_ALL = Decimal(1)


@dataclass(frozen=True, slots=True)
class Assessment:
    """Error likelihood and expected cost, both in [0, 1], and the factors by their names in the query log."""

    likelihood: Decimal
    cost: Decimal
    factors: Mapping[str, Decimal]


def assess(
    rules: Risk, *, features: Features, entities: Iterable[Entity], novelty: Decimal, rivals: int, cost: Decimal
) -> Assessment:
    """The error likelihood of a query with these features over these entities (seed 004, 6.2)."""
    factors = {
        "ambiguity": rules.ambiguity.schema_collision * min(_ALL, Decimal(rivals) / 2),
        "complexity": complexity(rules, features),
        "novelty": novelty,
        "source_risk": source_risk(rules, entities),
    }
    weights = rules.factor_weights()
    likelihood = sum((weights[name] * factor for name, factor in factors.items()), _NONE)
    return Assessment(min(_ALL, likelihood), cost, {name: round(factor, 4) for name, factor in factors.items()})


def complexity(rules: Risk, features: Features) -> Decimal:
    """min(1, weighted parts / divisor) (seed 004, 6.3.1)."""
    parts = rules.complexity
    raw = (
        features.joins * parts.joins
        + features.ctes * parts.ctes
        + (parts.window_functions if features.windows else _NONE)
        + features.subqueries * parts.subqueries
        + features.aggregations * parts.aggregations
    )
    return min(_ALL, raw / parts.divisor)


def source_risk(rules: Risk, entities: Iterable[Entity]) -> Decimal:
    """1 minus the mean of the signals, over the entities that are read (seed 004, 6.3.2)."""
    scores = []
    for entity in entities:
        measured = _signals(entity)
        scores += [measured.get(signal, rules.source.unmeasured) for signal in rules.source.signals]
    return _ALL - sum(scores, _NONE) / len(scores) if scores else rules.source.unmeasured


def _signals(entity: Entity) -> dict[str, Decimal]:
    parts = [*entity.dimensions, *entity.time_dimensions, *entity.facts]
    described = sum(1 for part in parts if part.description)
    signals = {"documentation_completeness": Decimal(described) / len(parts) if parts else _NONE}
    if not entity.owner:
        signals["owner_responsiveness"] = _NONE  # nobody can respond
    return signals


def novelty(context: Context, text: str, metrics: Collection[str], groups: Collection[str]) -> Decimal:
    """1 minus the similarity to the nearest verified question: the same metrics and groups, or the same words."""
    asked = content_words(text)
    best = _NONE
    for verified in context.verified_queries.values():
        if verified.query is not None:
            same_groups = set(verified.query.dimensions) | ({verified.query.grain} - {None}) == set(groups)
            if set(verified.query.metrics) == set(metrics) and same_groups:
                return _NONE
        known = content_words(verified.question)
        if asked or known:
            best = max(best, Decimal(len(asked & known)) / len(asked | known))
    return _ALL - best


def content_words(text: str) -> frozenset[str]:
    """The words that carry a question's meaning; `{parameters}` are left out."""
    said = "".join(part.partition("}")[2] if i else part for i, part in enumerate(text.split("{")))
    return frozenset(word.text for word in read_words(said)) - FUNCTION_WORDS


def expected_cost(rules: Risk, stakes: Collection[str], stated: Mapping[str, str]) -> Decimal:
    """The sum of the cost factors, at most 1. *stakes* are phrases of the question, *stated* values given outright."""
    total = _NONE
    for name, factor in sorted(rules.cost.items()):
        heard = [value for value, phrases in sorted(factor.phrases.items()) if not set(phrases).isdisjoint(stakes)]
        value = stated.get(name, "")
        if value in factor.values:
            heard = [value]
        total += max((factor.values[one] for one in heard), default=factor.values[factor.default])
    return min(_ALL, total)


def stakes_phrases(rules: Risk) -> tuple[str, ...]:
    """Every phrase that says how much depends on an answer, sorted."""
    return tuple(
        sorted({phrase for factor in rules.cost.values() for phrases in factor.phrases.values() for phrase in phrases})
    )
