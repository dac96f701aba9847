"""Where a policy is enforced (`rules/layers.yaml`) and which one wins (`rules/priorities.yaml`): seed 000, 3 and 4."""

from collections.abc import Mapping
from decimal import Decimal
from typing import Annotated, Literal, Self

from pydantic import Field, model_validator

from bylaw.authored.machines.amounts import Level, Share, Shift
from bylaw.authored.record import Authored, AuthoredFile, Word, misfit

Layer = Literal["fine_tuning", "system_prompt", "rag", "guardrail"]
ScoreName = Literal["stability", "criticality", "context_dependence", "strictness"]
PriorityName = Literal["regulatory", "core_values", "company", "department", "situational"]
Feature = Literal[
    "level_1",
    "level_2",
    "level_3",
    "level_4",
    "level_5",
    "required",
    "prohibited",
    "permitted",
    "fallback",
    "conditional",
    "discovered_pattern",
    "temporary",
    "exception",
]

LAYERS: tuple[Layer, ...] = ("fine_tuning", "system_prompt", "rag", "guardrail")
IN_WORDS: Mapping[Layer, str] = {  # how an assistant gets a policy of that layer
    "fine_tuning": "in the training of its model",
    "system_prompt": "in its standing instructions",
    "rag": "with each question that it fits",
    "guardrail": "as a check of each answer",
}
SCORES: tuple[ScoreName, ...] = ("stability", "criticality", "context_dependence", "strictness")
PRIORITIES: tuple[PriorityName, ...] = ("regulatory", "core_values", "company", "department", "situational")


class ScoreRange(Authored):
    """A score that a layer asks for, both ends included; None is open."""

    minimum: Share | None = None
    maximum: Share | None = None


class LayerCriteria(Authored):
    """One row of the table: every listed score must lie in its range, the others may be anything."""

    scores: dict[ScoreName, ScoreRange]
    update_cycle: Word


class DefenseInDepth(Authored):
    """A policy this critical also goes into these layers."""

    criticality_from: Share
    adds: Annotated[list[Layer], Field(min_length=2)]


class ScoreRubric(Authored):
    """A score without a model: a base, what each feature of the policy adds, and each condition; kept in [0, 1]."""

    base: Share
    per_condition: Shift
    features: dict[Feature, Shift] = Field(default_factory=dict)


class LayerRules(AuthoredFile):
    """`rules/layers.yaml`. `primary_order`: the first of a policy's layers in this order is its primary layer."""

    layers: dict[Layer, LayerCriteria]
    defense_in_depth: DefenseInDepth
    default_layer: Layer
    primary_order: list[Layer]
    rubric: dict[ScoreName, ScoreRubric]

    @model_validator(mode="after")
    def _is_complete(self) -> Self:
        if set(self.primary_order) != set(LAYERS) or len(self.primary_order) != len(LAYERS):
            raise misfit("`primary_order` lists each layer once", "primary_order")
        missing = [score for score in SCORES if score not in self.rubric]
        if missing:
            raise misfit(f"the rubric says nothing about `{missing[0]}`", "rubric")
        return self


class Priorities(AuthoredFile):
    """`rules/priorities.yaml`: the lattice, and what the rows of its table look at. A lower number wins."""

    levels: dict[PriorityName, Level]
    order: list[PriorityName]
    core_value_domains: list[Word]
    cross_department_owners: list[Word]
    general_domains: list[Word]

    @model_validator(mode="after")
    def _is_a_lattice(self) -> Self:
        if set(self.levels) != set(PRIORITIES) or len(set(self.levels.values())) != len(PRIORITIES):
            raise misfit("`levels` gives each of the five levels a number of its own", "levels")
        if set(self.order) != set(PRIORITIES) or len(self.order) != len(PRIORITIES):
            raise misfit("`order` lists each of the five levels once", "order")
        return self

    def name_of(self, level: int) -> PriorityName:
        """The name of level *level* (1–5)."""
        return next(name for name, number in self.levels.items() if number == level)

    def level_of(self, declared: str | int) -> int | None:
        """The number that an author's word or number means, None when it means none."""
        if isinstance(declared, int):
            return declared if declared in self.levels.values() else None
        numbers: Mapping[str, int] = dict(self.levels.items())
        return numbers.get(declared.strip().lower().replace(" ", "_"))


def clamped(score: Decimal) -> Decimal:
    """The score, brought back into [0, 1]."""
    return min(Decimal(1), max(Decimal(0), score))
