"""A policy and what the stages add to it. A stage adds keys; it never edits what an earlier stage wrote (seed 000)."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from datetime import date
from decimal import Decimal
from typing import Any, Literal

from bylaw.authored.policies import Policy
from bylaw.logic.formula.ir import ConditionalRule, Constraint, Formula
from bylaw.logic.words.graph import Graph
from ci.findings import Finding, Route
from ci.loading.derived.priority import Level

Stage = Literal["extraction", "formalization", "conflict_detection", "layer_assignment"]
StageStatus = Literal["pending", "complete", "failed"]

STAGE_NAMES: tuple[Stage, ...] = ("extraction", "formalization", "conflict_detection", "layer_assignment")


@dataclass(frozen=True, slots=True)
class Later:
    """A value that is worked out when somebody first reads it: a check never reads what only a compile writes."""

    work: Callable[[], Any]


class Added(Mapping[str, Any]):
    """What stages added to a record, in their order; values that are due later look like the others."""

    __slots__ = ("_values",)

    def __init__(self, values: Mapping[str, Any] | None = None) -> None:
        self._values = dict(values or {})

    def __getitem__(self, key: str) -> Any:
        value = self._values[key]
        if isinstance(value, Later):
            value = self._values[key] = value.work()
        return value

    def __contains__(self, key: object) -> bool:
        return key in self._values

    def __iter__(self) -> Iterator[str]:
        return iter(self._values)

    def __len__(self) -> int:
        return len(self._values)

    def and_(self, more: Mapping[str, Any]) -> Added:
        """The same and *more*; nothing is worked out for it."""
        return Added({**self._values, **more})


@dataclass(frozen=True, slots=True)
class Lifting:
    """An exception to `none`: `lifts` are the actions that it takes away, `kept` the rules that it leaves alone.

    Its own conditions hold `where`; it acts only at `guard`, where an action that it lifts would hold. `is_named` says
    whether its `replaces` names what it lifts.
    """

    route: Route
    guard: Formula
    where: Formula
    lifts: tuple[str, ...]
    kept: tuple[str, ...]
    is_named: bool


@dataclass(frozen=True, slots=True)
class PolicyRecord:
    """One policy on its way through the stages. `raw` is what its author wrote, `enriched` what stages added.

    `routes` says where each rule was written, so that a finding about a rule can point at its line; `liftings`
    are the exceptions that only take effects away, which make no rule. `steps` are the facts of its
    procedure, in order. `graph` is the decision graph that its author wrote.
    """

    policy: Policy
    path: str
    raw: Mapping[str, Any]
    level: Level
    status: Mapping[Stage, StageStatus]
    rules: tuple[ConditionalRule, ...] = ()
    constraints: tuple[Constraint, ...] = ()
    routes: Mapping[str, Route] = field(default_factory=dict)
    enriched: Added = field(default_factory=Added)
    liftings: tuple[Lifting, ...] = ()
    steps: tuple[str, ...] = ()
    graph: Graph | None = None

    def after(self, stage: Stage, status: StageStatus, **added: Any) -> PolicyRecord:
        """The record after *stage*, with the keys it added."""
        return replace(self, status={**self.status, stage: status}, enriched=self.enriched.and_(added))

    @property
    def in_logic(self) -> bool:
        """Does it take part in proofs and decisions? Text-only and unvalidated policies do not."""
        return self.policy.is_active and self.status["formalization"] == "complete"

    @property
    def texts(self) -> tuple[str, ...]:
        """The sentences that no logic knows: those meant so, and all of a policy that could not be formalized."""
        policy = self.policy
        found = [*policy.text_only, *(text for one in policy.exceptions for text in one.sentences)]
        if self.status["formalization"] == "failed":
            parts = (*policy.conditions, *policy.actions, *policy.exceptions)
            told = (getattr(part, "source_text", None) or getattr(part, "description", None) for part in parts)
            found = [*filter(None, told), *found]
        return tuple(dict.fromkeys(found))

    def to_json(self) -> dict[str, Any]:
        """The enriched record of seed 000: the authored keys unchanged, then what the stages added; its header whole.

        Its numbers are numbers, as they were written; only the bundle keeps decimals as text.
        """
        record: dict[str, Any] = _with_numbers(
            {
                "origin": self.policy.stems_from,
                **self.raw,
                "schema_version": self.policy.schema_version,
                "processing_status": {stage: self.status[stage] for stage in STAGE_NAMES},
                **self.enriched,
            }
        )
        return record


def _with_numbers(value: Any) -> Any:
    """*value* with every decimal as a number where a number says it exactly."""
    match value:
        case Decimal():
            number = float(value)
            return number if Decimal(repr(number)) == value else value
        case Mapping():
            return {key: _with_numbers(item) for key, item in value.items()}
        case list() | tuple():
            return [_with_numbers(item) for item in value]
    return value


Result = tuple[list[PolicyRecord], list[Finding]]


def ordinal(day: date | None) -> int | None:
    """A day as the logic counts it, None for an open end."""
    return None if day is None else day.toordinal()
