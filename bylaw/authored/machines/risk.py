"""How likely an answer is wrong, and what it would cost: `rules/risk.yaml`."""

from collections.abc import Mapping
from decimal import Decimal
from typing import Annotated, Self

from pydantic import Field, model_validator

from bylaw.authored.machines.amounts import Amount, Positive, Share, sums_to_one
from bylaw.authored.record import Authored, AuthoredFile, Word, misfit


class FactorWeights(Authored):
    """What each factor counts in the error likelihood; together 1."""

    complexity: Share
    source_risk: Share
    novelty: Share
    ambiguity: Share


class Bounds(Authored):
    """No weight may be calibrated out of these, so that noise is not learned."""

    minimum: Share
    maximum: Share


class Complexity(Authored):
    """Coefficients of what a query is built of; the sum over `divisor`, at most 1, is the score."""

    joins: Amount
    ctes: Amount
    window_functions: Amount
    subqueries: Amount
    aggregations: Amount
    divisor: Annotated[Amount, Field(gt=0)]


class SourceRisk(Authored):
    """1 minus the mean of these signals. `unmeasured` stands for a signal nobody has measured."""

    signals: Annotated[list[Word], Field(min_length=1)]
    unmeasured: Share


class Ambiguity(Authored):
    """How the signs of several possible readings are mixed. Log probabilities count only where a model gives them.

    Of the `candidates` that fit the question best, those within `near` of the best are in conflict where they mean
    different things. `collisions` more readings of one word than one make the schema's collision whole.
    """

    retrieval: Share
    schema_collision: Share
    heuristic_with_logprobs: Share
    logprobs: Share
    candidates: Positive
    near: Share
    collisions: Positive

    @model_validator(mode="after")
    def _mixes_add_up(self) -> Self:
        sums_to_one({"retrieval": self.retrieval, "schema_collision": self.schema_collision}, "retrieval")
        sums_to_one({"heuristic": self.heuristic_with_logprobs, "logprobs": self.logprobs}, "logprobs")
        return self


class FreshnessCheck(Authored):
    """From which novelty on the age of the data is looked up whatever was asked about.

    Data within its `max_age` is wholly fresh; at `stale_at` times that age its score has fallen to nothing.
    """

    novelty_from: Share
    stale_at: Annotated[Amount, Field(gt=1)]


class CostFactor(Authored):
    """One reason why a wrong answer is expensive: a cost for each value, and phrases that give a value away."""

    values: Annotated[dict[Word, Share], Field(min_length=1)]
    default: Word
    phrases: dict[Word, list[Word]] = Field(default_factory=dict)

    @model_validator(mode="after")
    def _knows_its_values(self) -> Self:
        if self.default not in self.values:
            raise misfit(f"`{self.default}` is not one of the `values`", "default")
        for value in self.phrases:
            if value not in self.values:
                raise misfit(f"`{value}` is not one of the `values`", "phrases", value)
        return self


class Calibration(Authored):
    """How weights follow the errors that were seen."""

    window_days: Positive
    learning_rate: Share
    minimum_failures: Positive


class Goals(Authored):
    """What `bylaw stats --quality` holds its figures against: shares, and seconds."""

    clarification_precision: Share
    post_clarification_acceptance: Share
    incorrect_first_answers: Share
    acceptance: Share
    corrections_applied: Share
    time_to_first_answer_seconds: Positive


class Risk(AuthoredFile):
    """`rules/risk.yaml`. The expected cost is the sum over the cost factors, at most 1."""

    weights: FactorWeights
    bounds: Bounds
    complexity: Complexity
    source: SourceRisk
    ambiguity: Ambiguity
    freshness: FreshnessCheck
    cost: Annotated[dict[Word, CostFactor], Field(min_length=1)]
    calibration: Calibration
    goals: Goals

    @model_validator(mode="after")
    def _weights_are_bounded(self) -> Self:
        weights = self.factor_weights()
        sums_to_one(weights, "weights")
        low, high = self.bounds.minimum, self.bounds.maximum
        for name, weight in sorted(weights.items()):
            if not low <= weight <= high:
                raise misfit(f"the weight {weight} lies outside the bounds {low}..{high}", "weights", name)
        return self

    def stakes_phrases(self) -> tuple[str, ...]:
        """Every phrase that says how much depends on an answer, sorted."""
        phrases = (those for factor in self.cost.values() for those in factor.phrases.values())
        return tuple(sorted({phrase for those in phrases for phrase in those}))

    def factor_weights(self) -> Mapping[str, Decimal]:
        """The weights by the name of their factor, as the query log names them."""
        return {
            "ambiguity": self.weights.ambiguity,
            "complexity": self.weights.complexity,
            "novelty": self.weights.novelty,
            "source_risk": self.weights.source_risk,
        }
