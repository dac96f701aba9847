"""Where a policy is enforced (seed 000, stage 4): four scores, the layers whose criteria they meet, one primary layer.

Scores an author wrote hold; absent ones come from the rubric of `rules/layers.yaml`, without a model.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from decimal import Decimal
from typing import Any

from bylaw.authored.conditions import AllOf, AnyOf, Condition, FactCheck, Not
from bylaw.authored.machines.layers import LAYERS, SCORES, Feature, Layer, LayerRules, ScoreName, ScoreRange, clamped
from bylaw.authored.policies import ActionType, Policy

Scores = Mapping[ScoreName, Decimal]

_LEVELS: Mapping[int, Feature] = {1: "level_1", 2: "level_2", 3: "level_3", 4: "level_4", 5: "level_5"}


@dataclass(frozen=True, slots=True)
class LayerInput:
    """What the rubric looks at. `condition_count` counts single tests; an exception counts once it has force."""

    priority_level: int
    action_types: frozenset[ActionType] = frozenset()
    condition_count: int = 0
    is_temporary: bool = False
    has_exception: bool = False
    authored: Scores = field(default_factory=dict)

    def features(self) -> frozenset[Feature]:
        """The names under which the rubric knows what is true of this policy."""
        found: set[Feature] = {*self.action_types}
        if self.priority_level in _LEVELS:
            found.add(_LEVELS[self.priority_level])
        if self.is_temporary:
            found.add("temporary")
        if self.has_exception:
            found.add("exception")
        return frozenset(found)


@dataclass(frozen=True, slots=True)
class LayerAssignment:
    """The layers of a policy in the order of the seed's table. Without scores the stage failed and defaults hold."""

    scores: Scores
    assigned_layers: tuple[Layer, ...]
    primary_layer: Layer

    def to_json(self) -> dict[str, Any]:
        """The key `layer_assignment` of seed 000."""
        return {
            "scores": {name: self.scores[name] for name in SCORES if name in self.scores},
            "assigned_layers": list(self.assigned_layers),
            "primary_layer": self.primary_layer,
        }


def assign(given: LayerInput, rules: LayerRules) -> LayerAssignment:
    """Every layer whose criteria the scores meet, more of them for a critical policy, the default where none fits."""
    scores = score(given, rules)
    layers = {layer for layer, row in rules.layers.items() if _meets(scores, row.scores)}
    if scores["criticality"] >= rules.defense_in_depth.criticality_from:
        layers.update(rules.defense_in_depth.adds)
    if not layers:
        return _placed(scores, {rules.default_layer}, rules)
    return _placed(scores, layers, rules)


def default_assignment(rules: LayerRules) -> LayerAssignment:
    """What holds when this stage failed for a policy: the default layer alone, no scores."""
    return _placed({}, {rules.default_layer}, rules)


def score(given: LayerInput, rules: LayerRules) -> Scores:
    """The four scores: what the author wrote, else base plus features plus conditions, kept in [0, 1]."""
    features = given.features()
    scores: dict[ScoreName, Decimal] = {}
    for name in SCORES:
        if name in given.authored:
            scores[name] = given.authored[name]
            continue
        rubric = rules.rubric[name]
        shifts = (shift for feature, shift in rubric.features.items() if feature in features)
        scores[name] = clamped(sum(shifts, rubric.base + rubric.per_condition * given.condition_count))
    return scores


def describe(policy: Policy, priority_level: int) -> LayerInput:
    """What the rubric needs to know of *policy*."""
    written = policy.layer_scores
    authored: dict[ScoreName, Decimal] = {}
    for name in SCORES:
        value: Decimal | None = None if written is None else getattr(written, name)
        if value is not None:
            authored[name] = value
    tests = [*policy.conditions, *(condition for action in policy.actions for condition in action.when)]
    return LayerInput(
        priority_level=priority_level,
        action_types=frozenset(action.type for action in policy.actions),
        condition_count=sum(1 for _ in _single_tests(tests)),
        is_temporary=policy.is_temporary,
        has_exception=any(exception.has_force for exception in policy.exceptions),
        authored=authored,
    )


def _meets(scores: Scores, ranges: Mapping[ScoreName, ScoreRange]) -> bool:
    return all(
        (wanted.minimum is None or scores[name] >= wanted.minimum)
        and (wanted.maximum is None or scores[name] <= wanted.maximum)
        for name, wanted in ranges.items()
    )


def _placed(scores: Scores, layers: set[Layer], rules: LayerRules) -> LayerAssignment:
    primary = next(layer for layer in rules.primary_order if layer in layers)
    return LayerAssignment(scores, tuple(layer for layer in LAYERS if layer in layers), primary)


def _single_tests(conditions: Iterable[Condition]) -> Iterator[FactCheck]:
    for condition in conditions:
        match condition:
            case AllOf():
                yield from _single_tests(condition.all_of)
            case AnyOf():
                for branch in condition.any_of:
                    yield from _single_tests(branch if isinstance(branch, list) else [branch])
            case Not():
                yield from _single_tests(condition.not_ if isinstance(condition.not_, list) else [condition.not_])
            case _:
                yield condition
