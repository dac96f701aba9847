"""What the layers of a data question say to one another: the interface objects of seed 004, appendix A.

The answerer asks the context layer, the rules layer and the execution layer through these. `conversation` has what
people and front ends say; `AnalyticsRequest` and `AnalyticsResponse` are that in the words of the appendix.
"""

from __future__ import annotations

from collections.abc import Mapping
from decimal import Decimal
from typing import Any, Literal

from bot.conversation import Acceptance, Actor, Choice, Factors, Form, Question, Reply, Spoken
from bylaw.authored.machines.amounts import Level

Decision = Literal["PROCEED", "NOTIFY", "CONFIRM", "RECOMMEND", "BLOCK"]
Criticality = Literal["low", "normal", "high"]

DECISIONS: dict[int, Decision] = {5: "PROCEED", 4: "NOTIFY", 3: "CONFIRM", 2: "RECOMMEND", 1: "BLOCK"}


# ---- A.1 context layer


class ContextRequest(Spoken):
    """What is known about a question in words?"""

    query: str
    domain_hint: str | None = None
    actor_id: str | None = None
    session_id: str | None = None


class MatchedEntity(Spoken):
    """An entity that the question speaks of, or that answering it reads besides (`relevance_score` 0)."""

    entity_name: str
    relevance_score: float
    columns: tuple[str, ...]
    gotchas: tuple[str, ...] = ()
    join_paths: tuple[str, ...] = ()


class BusinessContext(Spoken):
    """Stage 2: what the organisation is after. Read only where `features.business_knowledge` is on."""

    objectives: tuple[str, ...] = ()
    strategy: tuple[str, ...] = ()
    projects: tuple[str, ...] = ()


class Disambiguation(Spoken):
    """A question back: the words that may mean several things, why, and what to send back for each."""

    question: str
    words: str = ""
    reason: str = ""
    choices: tuple[Choice, ...] = ()


class ContextResponse(Spoken):
    """What the context says: the entities, what kind of domain they belong to, and how easily the answer is wrong.

    Where several things may be meant, `disambiguation_questions` says which, why, and how to choose.
    """

    matched_entities: tuple[MatchedEntity, ...]
    domain_guide: str | None = None
    business_context: BusinessContext | None = None
    disambiguation_needed: bool = False
    disambiguation_questions: tuple[Disambiguation, ...] = ()
    error_likelihood_factors: Factors


# ---- A.2 rules layer


class RequestActor(Spoken):
    """Who asks, in which roles. `risk_tolerance` names standing preferences of `rules/autonomy.yaml`."""

    id: str
    type: Literal["human", "agent"] = "human"
    role: str = ""
    risk_tolerance: tuple[str, ...] = ()


class RequestedAction(Spoken):
    """What is to be done. Stage 1 knows queries and recommending them; `modify` is never allowed."""

    type: Literal["query", "modify", "recommend"] = "query"
    target_schemas: tuple[str, ...] = ()


class RequestRisk(Spoken):
    """Both from 0 to 1."""

    error_likelihood: Decimal
    expected_cost: Decimal


class AuthRequest(Spoken):
    """May this be done, and how far alone?"""

    actor: RequestActor
    action: RequestedAction
    risk: RequestRisk


class AuthResponse(Spoken):
    """How far. `rationale` says why in one line, `caps` what lowered the level, `halts` why a yes is needed first."""

    decision: Decision
    autonomy_level: int
    rationale: str
    escalation_path: tuple[Actor, ...] = ()
    caps: tuple[str, ...] = ()
    halts: tuple[str, ...] = ()
    warnings: tuple[str, ...] = ()


# ---- A.4 execution layer


class ExecutionRequest(Spoken):
    """A statement, and the schemas that its asker's roles grant; None grants every one."""

    request_id: str
    sql: str
    schema_whitelist: tuple[str, ...] | None = None


class Validation(Spoken):
    """What the gate says."""

    sql_type: str
    is_allowed: bool
    schemas_referenced: tuple[str, ...] = ()
    schemas_blocked: tuple[str, ...] = ()


class Plan(Spoken):
    """What EXPLAIN says, None where it is silent. `estimated_scan_gb` is in 10^9 bytes."""

    estimated_scan_gb: float | None = None
    estimated_runtime_ms: int | None = None
    estimated_rows: int | None = None
    warnings: tuple[str, ...] = ()


class Results(Spoken):
    """The rows, personal data masked."""

    columns: tuple[str, ...]
    rows: tuple[tuple[Any, ...], ...]
    row_count: int
    truncated: bool = False


class ExecutionResponse(Spoken):
    """What became of a statement; `results` are missing while it is only planned. `sql` is the text that may run."""

    request_id: str
    status: Literal["success", "rejected", "error"]
    rejection_reason: str | None = None
    next_step: str | None = None
    validation: Validation
    sql: str | None = None
    plan: Plan | None = None
    results: Results | None = None
    execution_time_ms: int | None = None  # of the statement alone


# ---- A.5 orchestration


class AnalyticsQuery(Spoken):
    """The question; `form` is a form that was filled in, where an answer asked for one."""

    natural_language: str
    form: dict[str, Any] | None = None


class AnalyticsPreferences(Spoken):
    """What a person may ask for on one request; a level can only be lower than the rules would give."""

    autonomy_override: Level | None = None
    criticality: Criticality | None = None

    def options(self) -> dict[str, Any]:
        """As the options of a Question."""
        return self.model_dump(exclude_none=True)


class AnalyticsRequest(Spoken):
    """A question with its preferences, as agents ask it."""

    request_id: str
    actor: Actor = Actor()
    query: AnalyticsQuery
    preferences: AnalyticsPreferences = AnalyticsPreferences()

    @classmethod
    def of(cls, question: Question) -> AnalyticsRequest:
        """*question* in these words; options that the appendix does not know are left out."""
        known = {name: question.options.get(name) for name in AnalyticsPreferences.model_fields}
        return cls(
            request_id=question.request_id,
            actor=question.actor,
            query=AnalyticsQuery(natural_language=question.text),
            preferences=AnalyticsPreferences.model_validate(known),
        )


class AnalyticsResult(Spoken):
    """The rows by column. `confidence` is 1 minus the error likelihood."""

    sql: str | None = None
    data: tuple[dict[str, Any], ...] | None = None
    confidence: float | None = None
    caveats: tuple[str, ...] = ()


class GoOn(Spoken):
    """How to go on with an answer that is not complete: what to send to which session, and until when.

    `send` is what the next question's text is: one of the `choices`, or words of one's own. `form` is what can be
    filled in instead. Empty where only a person can go on, whom `escalation_path` names.
    """

    session_id: str
    text: str
    choices: tuple[Choice, ...] = ()
    form: Form | None = None
    escalation_path: tuple[str, ...] = ()


class AnalyticsResponse(Spoken):
    """An answer as agents get it. `text` says it in words; what is not complete says how to go on."""

    request_id: str
    status: Literal["completed", "pending_acceptance", "needs_disambiguation", "blocked"]
    result: AnalyticsResult
    acceptance: Acceptance
    text: str = ""
    reasons: tuple[str, ...] = ()
    go_on: GoOn | None = None

    @classmethod
    def of(cls, reply: Reply) -> AnalyticsResponse:
        """*reply* in these words."""
        acceptance = reply.acceptance or Acceptance(required=False)
        data = tuple(dict(zip(reply.columns, row, strict=True)) for row in reply.rows) if reply.columns else None
        risk = reply.risk
        return cls(
            request_id=reply.request_id,
            status=_status(reply, acceptance),
            result=AnalyticsResult(
                sql=reply.sql,
                data=data,
                confidence=None if risk is None else round(1 - float(risk.error_likelihood), 4),
                caveats=reply.caveats,
            ),
            acceptance=acceptance,
            text=reply.text,
            reasons=() if risk is None else risk.caps,
            go_on=_go_on(reply, _status(reply, acceptance)),
        )


_WAYS: Mapping[str, str] = {
    "needs_disambiguation": "Send one of the choices as the next question of this session, or fill in the form.",
    "pending_acceptance": "Send one of the choices as the next question of this session.",
    "blocked": "Ask another question in this session, or one of those who can take over.",
}
_STANDS = "The answer stands; it waits to be accepted until then."


def _go_on(reply: Reply, status: str) -> GoOn | None:
    """What is needed to go on; None where nothing is left to do."""
    if status == "completed":
        return None
    choices = reply.choices or (reply.ask.choices if reply.ask is not None else ())
    text = _STANDS if reply.status == "answered" else _WAYS[status]
    if reply.ask is not None:
        text = f"{reply.ask.question} {text}"
    owners = reply.risk.escalation_path if reply.risk is not None and reply.status == "escalated" else ()
    return GoOn(session_id=reply.session_id, text=text, choices=choices, form=reply.form, escalation_path=owners)


def _status(
    reply: Reply, acceptance: Acceptance
) -> Literal["completed", "pending_acceptance", "needs_disambiguation", "blocked"]:
    if reply.status in ("needs_choice", "needs_fact"):
        return "needs_disambiguation"
    if reply.status in ("refused", "escalated"):
        return "blocked"
    return "pending_acceptance" if acceptance.required or reply.status != "answered" else "completed"
