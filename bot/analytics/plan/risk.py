"""How likely the answer is wrong, and what that would cost. Weights, bounds and costs come from `rules/risk.yaml`.

What nobody measures counts as half known; a factor is never left out because it is unknown.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from decimal import Decimal
from statistics import pstdev

from bot.conversation import Factors
from bylaw.authored.context import Context, Entity
from bylaw.authored.machines.risk import Ambiguity, CostFactor, Risk
from bylaw.language.words import FUNCTION_WORDS, read_words
from bylaw.sql.gate import Features

_NONE = Decimal(0)
_ALL = Decimal(1)
_PLACES = 4
Measures = Mapping[str, Mapping[str, Decimal]]  # a signal -> the scores of the entities of which it was measured
NOTHING_MEASURED: Measures = {}
_DEFINING = {"entity", "agg", "expr", "filter", "numerator", "denominator", "metric"}


@dataclass(frozen=True, slots=True)
class Candidate:
    """Something of the catalogue that the question may mean: how well it fits, from 0 to 1, and what it is."""

    name: str
    relevance: Decimal
    definition: str


def likelihood(rules: Risk, factors: Factors) -> Decimal:
    """The weighted sum of the factors, from 0 to 1 (seed 004, 6.2)."""
    weights = rules.factor_weights()
    found: dict[str, Decimal] = dict(factors)
    return min(_ALL, sum((weights[name] * found[name] for name in sorted(weights)), _NONE))


def factors_of(rules: Risk, *, features: Features, source: Decimal, novelty: Decimal, ambiguity: Decimal) -> Factors:
    """The four factors of a query."""
    return Factors(
        complexity=round(complexity(rules, features), _PLACES),
        source_risk=round(source, _PLACES),
        novelty=round(novelty, _PLACES),
        ambiguity=round(ambiguity, _PLACES),
    )


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


def source_risk(rules: Risk, entities: Iterable[Entity], measures: Measures = NOTHING_MEASURED) -> Decimal:
    """1 minus the mean of the signals, over the entities that are read (seed 004, 6.3.2)."""
    scores = []
    for entity in entities:
        known = _signals(entity, measures)
        scores += [known.get(signal, rules.source.unmeasured) for signal in rules.source.signals]
    return _ALL - sum(scores, _NONE) / len(scores) if scores else rules.source.unmeasured


def measured(rules: Risk, entities: Iterable[Entity], measures: Measures = NOTHING_MEASURED) -> tuple[str, ...]:
    """The signals of the source risk that somebody has measured, of one of the entities at least."""
    known = {signal for entity in entities for signal in _signals(entity, measures)}
    return tuple(one for one in rules.source.signals if one in known)


def _signals(entity: Entity, measures: Measures) -> dict[str, Decimal]:
    looked = {signal: scores[entity.name] for signal, scores in measures.items() if entity.name in scores}
    parts = [*entity.dimensions, *entity.time_dimensions, *entity.facts]
    described = sum(1 for part in parts if part.description)
    signals = {**looked, "documentation_completeness": Decimal(described) / len(parts) if parts else _NONE}
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


def ambiguity(
    rules: Ambiguity, candidates: Sequence[Candidate], rivals: int, logprobs: Sequence[Decimal] | None = None
) -> Decimal:
    """Conflicting readings and colliding names, and what a model was unsure of where it says so (seed 004, 6.3.4).

    *rivals* counts readings of the question's words besides the one that holds; *logprobs* are the probabilities, from
    0 to 1, of the tokens that name things.
    """
    collision = min(_ALL, Decimal(rivals) / rules.collisions)
    found = rules.retrieval * retrieval_conflict(rules, candidates) + rules.schema_collision * collision
    if logprobs:
        unsure = _ALL - sum(logprobs, _NONE) / len(logprobs)
        found = rules.heuristic_with_logprobs * found + rules.logprobs * unsure
    return min(_ALL, found)


def retrieval_conflict(rules: Ambiguity, candidates: Sequence[Candidate]) -> Decimal:
    """conflict × (1 − spread): candidates that fit equally well and mean different things."""
    top = sorted(candidates, key=lambda one: (-one.relevance, one.name))[: rules.candidates]
    if len(top) < 2:
        return _NONE
    meant = {one.definition for one in top if one.relevance >= top[0].relevance - rules.near}
    if len(meant) < 2:
        return _NONE
    return _ALL - Decimal(str(round(pstdev(float(one.relevance) for one in top), _PLACES)))


def candidates(context: Context, words: Collection[str]) -> tuple[Candidate, ...]:
    """The metrics that phrases of a question (*words*) may mean, by how many of their words they share."""
    asked = [content_words(phrase) for phrase in words]
    found = []
    for name, metric in sorted(context.metrics.items()):
        phrases = [content_words(phrase.replace("_", " ")) for phrase in (name, *metric.synonyms)]
        fits = [Decimal(len(one & two)) / len(one | two) for one in asked for two in phrases if one & two]
        if fits:
            parts = metric.model_dump(include=_DEFINING)
            definition = "|".join(str(parts[part]) for part in sorted(parts))
            found.append(Candidate(name, max(fits), definition))
    return tuple(found)


def content_words(text: str) -> frozenset[str]:
    """The words that carry a question's meaning; `{parameters}` are left out."""
    said = "".join(part.partition("}")[2] if i else part for i, part in enumerate(text.split("{")))
    return frozenset(word.text for word in read_words(said)) - FUNCTION_WORDS


def expected_cost(rules: Risk, stakes: Mapping[str, str]) -> Decimal:
    """The sum of the cost factors, at most 1 (seed 004, 5.2.2). *stakes* are as `stakes_of` gives them."""
    return min(_ALL, sum((factor.values[stakes[name]] for name, factor in sorted(rules.cost.items())), _NONE))


def stakes_of(rules: Risk, heard: Collection[str], stated: Mapping[str, str]) -> dict[str, str]:
    """The value of each cost factor: as *stated* outright, else the costliest that a phrase gives away, else usual."""
    return {
        name: stated[name] if stated.get(name) in factor.values else _heard(factor, heard) or factor.default
        for name, factor in sorted(rules.cost.items())
    }


def heard(rules: Risk, name: str, phrases: Collection[str]) -> str | None:
    """The costliest value of the cost factor *name* that the declared *phrases* give away; None for none."""
    factor = rules.cost.get(name)
    return None if factor is None else _heard(factor, phrases)


def _heard(factor: CostFactor, phrases: Collection[str]) -> str | None:
    values = [value for value, known in sorted(factor.phrases.items()) if not set(known).isdisjoint(phrases)]
    return max(values, key=lambda value: factor.values[value], default=None)
