"""What is judged of a compiled question before it may run: what it touches, how fresh and how risky that is, its level.

The context layer and the rules layer are asked here, in the words of `interfaces`.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import date, datetime
from decimal import Decimal
from typing import Any

from bot.analytics import tested
from bot.analytics.plan import autonomy, freshness, plans, risk
from bot.analytics.plan.cardinality import Cardinality
from bot.analytics.plan.freshness import Boundary, Drift
from bot.analytics.plan.interfaces import (
    AuthRequest,
    AuthResponse,
    ContextRequest,
    ContextResponse,
    Disambiguation,
    ExecutionResponse,
    MatchedEntity,
    RequestActor,
    RequestedAction,
    RequestRisk,
)
from bot.analytics.reading import Bound
from bot.conversation import Choice, Factors, Question, RiskAssessment
from bot.index import BundleIndex
from bylaw.authored.context import Context, Entity
from bylaw.authored.machines.autonomy import Autonomy
from bylaw.bundle import SchemaVersion
from bylaw.semantic import gotchas
from bylaw.semantic.compiler import Compiled
from bylaw.semantic.query import Filter, SemanticQuery
from bylaw.semantic.rights import VisibleRows
from bylaw.warehouses.port import Warehouse

_MOST_ASKED = 5  # readings that are offered


@dataclass(frozen=True)
class Judgement:
    """What the layers said. `boundaries` are those that were looked up, `missing` the columns that tables lost.

    `drifts` are the tables that are not as they were measured; `joins` is what was seen of keys that are joined by,
    `left_out` what is said of rows that have none;
    `tells` are the people who hear of the answer. How much depends on it is `stated`, or heard in a declared phrase.
    """

    context: ContextResponse
    auth: AuthResponse
    assessment: RiskAssessment
    boundaries: Sequence[Boundary]
    missing: Mapping[str, Sequence[str]]
    drifts: Mapping[str, Drift]
    columns: Mapping[str, Sequence[str]]
    statements: Mapping[str, str | None]
    joins: Mapping[str, int | None]
    left_out: Sequence[str]
    asked_at: datetime
    executes: bool
    tells: Sequence[str]
    stated: str | None

    @property
    def may_run(self) -> bool:
        """May the statement run now, without anybody saying yes first?"""
        return self.executes and not self.auth.halts

    @property
    def caveats(self) -> tuple[str, ...]:
        """Rows that are left out, data that ends too early, and columns that are gone."""
        ends = [freshness.said(boundary, self.asked_at) for boundary in self.boundaries]
        gone = [
            f"The table of {name} has no {', '.join(f'`{column}`' for column in columns)} any more: "
            "what is known of it is older than the table."
            for name, columns in sorted(self.missing.items())
        ]
        changed = [drift.said for _, drift in sorted(self.drifts.items())]
        return tuple(said for said in (*self.left_out, *ends, *gone, *changed) if said)

    @property
    def data_until(self) -> str | None:
        """The newest moment that all that was looked up reaches, ISO; None where nothing was."""
        known = [boundary.newest for boundary in self.boundaries if boundary.newest is not None]
        return min(known).isoformat() if known else None

    def log(self, domain: str | None) -> dict[str, Any]:
        """What the query log keeps (seed 004, B.1)."""
        return {
            "stated_criticality": self.stated,
            "matched_entities": [entity.entity_name for entity in self.context.matched_entities],
            "domain": domain,
            "error_likelihood": float(self.assessment.error_likelihood),
            "expected_cost": float(self.assessment.expected_cost),
            "factors": {name: float(factor) for name, factor in dict(self.assessment.factors).items()},
        }

    def papers(self, planned: ExecutionResponse) -> dict[str, Any]:
        """What is kept of it, so that the answer can be rebuilt."""
        return {
            "reasons": list(self.auth.caps),
            "estimate": None if planned.plan is None else planned.plan.model_dump(mode="json"),
            "context": self.context.model_dump(mode="json"),
            "authorization": self.auth.model_dump(mode="json"),
            "freshness": dict(sorted(self.statements.items())),
            "joins": dict(sorted(self.joins.items())),
            "columns": {name: list(columns) for name, columns in sorted(self.columns.items())},
        }


def judge(
    question: Question,
    bound: Bound,
    compiled: Compiled,
    index: BundleIndex,
    planned: ExecutionResponse,
    warehouse: Warehouse | None,
    visible: VisibleRows | None = None,
) -> Judgement:
    """Ask the context layer and the rules layer about a question that the gate has let through.

    Raises WarehouseError where the age of the data cannot be looked up, or where rows would be counted twice.
    """
    rules, query, context = index.rules, bound.query, index.bundle.context
    asked = [context.entities[name] for name in compiled.asked]
    touched = [context.entities[name] for name in compiled.entities]
    groups = [*query.dimensions, *([query.grain] if query.grain else [])]
    novelty = risk.novelty(context, _in_words(query), query.metrics, groups)
    is_novel = novelty >= rules.risk.freshness.novelty_from
    until = max((window.end for window in query.windows), default=None)
    versions = index.bundle.bundle_metadata.schema_versions
    seen = _Looks(context, touched, warehouse, is_novel, visible, versions, compiled)
    now = index.local(question.asked_at)
    boundaries = seen.boundaries(now, until, is_novel)
    # what is put together from several tables is as fresh as the oldest of them
    oldest = min((one.score(now, rules.risk.freshness.stale_at) for one in boundaries), default=None)
    scores = {} if oldest is None else {entity.name: oldest for entity in asked}
    measures = {"freshness_score": scores, "test_coverage": index.recently(_coverage)()}
    heard = [binding.words for binding in bound.bindings if binding.kind == "metric"]
    found = risk.candidates(context, heard or [name.replace("_", " ") for name in query.metrics])
    factors = risk.factors_of(
        rules.risk,
        features=compiled.features,
        source=risk.source_risk(rules.risk, asked, measures),
        novelty=novelty,
        ambiguity=max(risk.ambiguity(rules.risk.ambiguity, found, bound.rivals), _unsure(bound, rules.autonomy)),
    )
    asking = ContextRequest(query=question.text, actor_id=question.actor.id, session_id=question.session_id)
    response = look_up(asking, context, compiled, factors, rules.autonomy.disambiguation.ambiguity_from)
    if response.disambiguation_needed:
        questions = tuple(_questions(bound, [one.name for one in found], context))
        response = response.model_copy(update={"disambiguation_questions": questions})
    stated = {key: value for key, value in question.options.items() if isinstance(value, str)}
    stakes = risk.stakes_of(rules.risk, bound.stakes, stated)
    request = _auth_request(question, index, compiled, factors, stakes, planned)
    override = question.options.get("autonomy_override")
    around = autonomy.Circumstances(
        asked=asked,
        touched=touched,
        complexity=factors.complexity,
        plan=planned.plan,
        phrases=(*bound.stakes, *autonomy.find_wishes(question.text, rules.autonomy)),
        override=override if isinstance(override, int) and 1 <= override <= 5 else None,
        proposed=bound.author is not None,
        alone=bound.is_alone,
        stewards=rules.roles.stewards(),
    )
    auth = autonomy.authorize(rules.autonomy, request, around)
    owners = [entity.owner for entity in touched if entity.owner]
    return Judgement(
        context=response,
        auth=auth,
        assessment=_assessment(request, factors, stakes, auth, risk.measured(rules.risk, asked, measures)),
        stated=stated.get("criticality") or risk.heard(rules.risk, "criticality", bound.stakes),
        boundaries=boundaries,
        missing=seen.missing,
        drifts=seen.drifts,
        columns=seen.columns,
        statements=seen.statements,
        joins=seen.joins,
        left_out=seen.left_out,
        asked_at=now,
        executes=rules.autonomy.level(auth.autonomy_level).executes,
        tells=autonomy.told(rules.autonomy, rules.roles, auth.autonomy_level, auth.escalation_path, owners),
    )


def _coverage(index: BundleIndex) -> Mapping[str, Decimal]:
    """How much of each entity is tested."""
    return tested.coverage(index.bundle.context, index.bundle.bundle_metadata.schema_versions)


def look_up(
    request: ContextRequest, context: Context, compiled: Compiled, factors: Factors, ambiguous_from: Decimal
) -> ContextResponse:
    """What the context says of a question that was bound: seed 004, appendix A.1."""
    words = risk.content_words(request.query)
    matched = [_matched(context.entities[name], name in compiled.asked, words, context) for name in compiled.entities]
    domain = request.domain_hint or context.entities[compiled.base].domain
    guide = next((guide for guide in context.guides.values() if guide.domain == domain), None)
    return ContextResponse(
        matched_entities=tuple(sorted(matched, key=lambda one: (-one.relevance_score, one.entity_name))),
        domain_guide=None if guide is None else guide.domain,
        disambiguation_needed=factors.ambiguity >= ambiguous_from,
        error_likelihood_factors=factors,
    )


def _questions(bound: Bound, metrics: Sequence[str], context: Context) -> Iterator[Disambiguation]:
    """What to ask back where the reading is unsure, with the reason, and what to answer."""
    if bound.author is not None:
        yield Disambiguation(question="Is this what you mean?", reason=autonomy.PROPOSED, choices=plans.CHOICES)
    words = " ".join(binding.words for binding in bound.bindings if binding.kind == "metric")
    if len(metrics) > 1:
        told = [(name.replace("_", " "), context.metrics[name].description) for name in metrics[:_MOST_ASKED]]
        choices = tuple(Choice(value=name, label=f"{name}: {means}" if means else name) for name, means in told)
        yield Disambiguation(
            question=f"Which number is meant by `{words}`?",
            words=words,
            reason=f"{len(metrics)} numbers of the catalogue share words with it",
            choices=choices,
        )


def _matched(entity: Entity, is_asked: bool, words: frozenset[str], context: Context) -> MatchedEntity:
    """An entity as the interface names it; the more of the question's words are its own, the more relevant."""
    parts = [*entity.dimensions, *entity.time_dimensions, *entity.facts]
    phrases = [
        entity.name,
        *entity.synonyms,
        *(part.name for part in parts),
        *(one for part in parts for one in part.synonyms),
    ]
    own = {word for phrase in phrases for word in risk.content_words(phrase.replace("_", " "))}
    relevance = len(words & own) / len(words) if words else 0.0
    traps = gotchas.applicable(context, {entity.name})
    return MatchedEntity(
        entity_name=entity.name,
        relevance_score=round(relevance, 4) if is_asked else 0.0,
        columns=tuple(part.name for part in parts),
        gotchas=tuple(trap.id for trap in traps),
        join_paths=tuple(f"{entity.name}.{one.name} -> {one.right_entity}" for one in entity.relationships),
    )


def _auth_request(
    question: Question,
    index: BundleIndex,
    compiled: Compiled,
    factors: Factors,
    stakes: Mapping[str, str],
    planned: ExecutionResponse,
) -> AuthRequest:
    rules, actor = index.rules, question.actor
    wanted = question.options.get("preferences")
    known = [name for name in wanted if isinstance(name, str)] if isinstance(wanted, list) else []
    return AuthRequest(
        actor=RequestActor(
            id=actor.id,
            type=actor.type,
            role=", ".join(rules.roles.roles_of(actor.id)),
            risk_tolerance=tuple(known),
        ),
        action=RequestedAction(type="query", target_schemas=planned.validation.schemas_referenced),
        risk=RequestRisk(
            error_likelihood=round(risk.likelihood(rules.risk, factors), 4),
            expected_cost=risk.expected_cost(rules.risk, stakes),
        ),
    )


def _assessment(
    request: AuthRequest, factors: Factors, stakes: Mapping[str, str], auth: AuthResponse, signals: tuple[str, ...]
) -> RiskAssessment:
    return RiskAssessment(
        error_likelihood=request.risk.error_likelihood,
        expected_cost=request.risk.expected_cost,
        factors=factors,
        stakes=dict(stakes),
        decision=auth.decision,
        rationale=auth.rationale,
        source_signals=signals,
        caps=auth.caps,
        escalation_path=tuple(actor.id for actor in auth.escalation_path),
    )


def _unsure(bound: Bound, rules: Autonomy) -> Decimal:
    """What only a model could read is ambiguous, however well it fits."""
    return Decimal(0) if bound.author is None or rules.proposals is None else rules.proposals.ambiguity


def _in_words(query: SemanticQuery) -> str:
    """What is asked for, however it was said and in however many turns: numbers, groups and values, no span of time."""
    numbers = [*query.metrics, *(part.metric for part in query.measures)]
    groups = [name.rpartition(".")[2] for name in query.dimensions] + ([query.grain] if query.grain else [])
    values = [str(value) for one in query.filters if isinstance(one, Filter) for value in one.values]
    return " ".join((*numbers, *groups, *values)).replace("_", " ")


class _Looks:
    """Looks at the warehouse besides the question itself, and what they saw: columns, and up to when rows go."""

    def __init__(
        self,
        context: Context,
        entities: Sequence[Entity],
        warehouse: Warehouse | None,
        is_novel: bool,
        visible: VisibleRows | None,
        versions: Mapping[str, SchemaVersion],
        compiled: Compiled,
    ) -> None:
        self.visible = visible
        self.calendar = context.calendar
        self.entities = entities
        self.warehouse = warehouse
        self.statements: dict[str, str | None] = {}
        self.joins: Mapping[str, int | None] = {}
        self.left_out: Sequence[str] = ()
        self.missing: Mapping[str, Sequence[str]] = {}
        self.drifts: Mapping[str, Drift] = {}
        if warehouse is not None:
            names = [entity.name for entity in entities]
            self.drifts = freshness.drifts(context, names, versions, warehouse)
            self.missing = freshness.missing(context, names if is_novel else self.drifts, warehouse)
            rows = Cardinality(context, warehouse, visible)
            rows.check(compiled.joins)
            rows.check_spreads(compiled.spreads)
            self.left_out = tuple(rows.left_out(compiled.left_out))
            self.joins = rows.seen
        self.columns: dict[str, Sequence[str]] = {}
        for name in {**self.missing, **self.drifts}:
            base = context.entities[name].base_table
            if warehouse is not None:
                self.columns[base.qualified] = warehouse.columns(base.schema_name, base.table)

    def boundaries(self, now: datetime, until: date | None, is_novel: bool) -> list[Boundary]:
        """Those of the entities whose age matters, or whose table is not what it was."""
        found = []
        for entity in self.entities:
            is_changed = entity.name in self.missing or entity.name in self.drifts
            matters = is_novel or is_changed or freshness.reaches_now(entity, now, until)
            if self.warehouse is None or not matters:
                continue
            boundary = freshness.looked_up(entity, self.warehouse, self.visible, self.calendar)
            if boundary is not None:
                found.append(boundary)
                sql = freshness.statement(entity, self.warehouse.dialect, self.visible, self.calendar)
                moment = None if boundary.newest is None else boundary.newest.isoformat()
                self.statements[str(sql)] = moment
        return found
