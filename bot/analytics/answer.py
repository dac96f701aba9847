"""A data question, from its words to its rows: read → compile → gate → explain → risk → run → present.

Write requests are refused before anything else. The gate judges every statement last, whoever wrote it. Below
level 3 nothing runs: the statement is recommended, or handed to a person.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from datetime import date
from decimal import Decimal
from typing import Any
from weakref import WeakKeyDictionary

from pydantic import ValidationError

from bot.analytics import autonomy, present, risk
from bot.analytics.asking import is_write_request
from bot.analytics.read import Reader
from bot.analytics.reading import Bound, NotUnderstood, Unclear
from bot.analytics.scope import lexicon_of
from bot.conversation import Citation, Interval, Question, Reply, Turn
from bot.index import BundleIndex
from bot.pii import Mask
from bylaw.authored.context import Context
from bylaw.semantic import gotchas
from bylaw.semantic.catalogue import catalogue_of
from bylaw.semantic.compiler import Compiled, Compiler
from bylaw.semantic.expressions import InvalidExpression
from bylaw.semantic.query import SemanticQuery, Unanswerable
from bylaw.sql import Catalogue, check_statement
from bylaw.warehouses.port import Estimate, Warehouse, WarehouseError

WRITES_REFUSED = "Write operations are not supported: I read data and never change it."  # seed 004, 5.2.6
_ANY_DAY = date(2100, 1, 1)  # recognising a phrase of time needs no day of asking


@dataclass(frozen=True, slots=True)
class _Desk:
    """What is built once for a bundle."""

    context: Context
    catalogue: Catalogue
    compiler: Compiler
    reader: Reader
    mask: Mask


_desks: WeakKeyDictionary[BundleIndex, _Desk] = WeakKeyDictionary()


def prepare(index: BundleIndex) -> None:
    """Build what questions about this bundle need, before anybody waits for it."""
    _desk(index)


def score(text: str, index: BundleIndex) -> float:
    """How much *text* looks like a question about data, from 0 to 1."""
    return 1.0 if is_write_request(text) else _desk(index).reader.knows(text, _ANY_DAY)


def topics(index: BundleIndex) -> Sequence[str]:
    """Questions that are known to work: the verified ones marked for newcomers, else the metrics."""
    found = []
    for verified in index.bundle.context.verified_queries.values():
        if verified.use_as_onboarding_question:
            question = verified.question
            for name, value in verified.parameters.items():
                question = question.replace(f"{{{name}}}", str(value))
            found.append(question)
    return found or [present.readable(name) for name in sorted(index.bundle.context.metrics)][:5]


def answer(
    question: Question,
    state: dict[str, Any],
    index: BundleIndex,
    warehouse: Warehouse | None,
    schemas: frozenset[str] | None,
) -> Turn:
    """Answer *question*. `schemas` are those the asker may read, None for all; without a warehouse nothing runs."""
    if is_write_request(question.text):
        return Turn(_reply(question, index, kind="refusal", status="refused", text=WRITES_REFUSED), state)
    desk = _desk(index)
    reading = desk.reader.read(question.text, question.asked_at.date(), _previous(state))
    match reading:
        case NotUnderstood():
            return Turn(_refused(question, index, reading.message, reading.help), state)
        case Unclear():
            text = f"`{reading.words}` can mean more than one thing. Which one?"
            reply = _reply(
                question, index, status="needs_choice", text=text, choices=reading.choices, bindings=reading.bindings
            )
            return Turn(reply, state)
        case Bound():
            return _answer(question, state, reading, desk, index, warehouse, schemas)


def _answer(
    question: Question,
    state: dict[str, Any],
    bound: Bound,
    desk: _Desk,
    index: BundleIndex,
    warehouse: Warehouse | None,
    schemas: frozenset[str] | None,
) -> Turn:
    query = bound.query
    try:
        compiled = desk.compiler.compile(query)
    except (Unanswerable, InvalidExpression) as problem:
        return Turn(_refused(question, index, problem.message, problem.help), state)
    verdict = check_statement(compiled.sql, catalogue=desk.catalogue, schemas=schemas, dialect=desk.compiler.dialect)
    if not verdict.is_allowed:
        return Turn(_refused(question, index, verdict.reason or "the statement is not allowed", None), state)
    try:
        estimate = warehouse.explain(compiled.sql) if warehouse is not None else None
        assessed, decision = _judged(question, bound, compiled, desk, index, estimate)
        runs = warehouse is not None and not decision.halted and index.rules.autonomy.level(decision.level).executes
        reply = _planned(question, index, desk, bound, compiled, decision)
        if runs and warehouse is not None:
            reply = _run(reply, query, desk, index, warehouse, compiled.sql)
        elif warehouse is None:
            text = f"{reply.text} No warehouse is connected, so nothing ran."
            reply = reply.model_copy(update={"status": "recommended", "text": text})
    except WarehouseError as problem:
        refused = _refused(question, index, problem.message, problem.help, sql=compiled.sql)
        return Turn(refused, state, artifacts={"failure": {"message": problem.message, "help": problem.help}})
    log = {
        "stated_criticality": question.options.get("criticality"),
        "matched_entities": list(compiled.entities),
        "domain": desk.context.entities[compiled.base].domain,
        "error_likelihood": float(assessed.likelihood),
        "expected_cost": float(assessed.cost),
        "factors": {name: float(factor) for name, factor in assessed.factors.items()},
    }
    plan: dict[str, Any] = {
        "query": query.model_dump(mode="json"),
        "sql": compiled.sql,
        "reasons": list(decision.reasons),
    }
    plan["estimate"] = None if estimate is None else asdict(estimate)  # None: no warehouse was connected
    return Turn(reply, {"query": query.model_dump(mode="json")}, artifacts={"plan": plan}, log=log)


def _judged(
    question: Question,
    bound: Bound,
    compiled: Compiled,
    desk: _Desk,
    index: BundleIndex,
    estimate: Estimate | None,
) -> tuple[risk.Assessment, autonomy.Decision]:
    rules, query = index.rules, bound.query
    stated = {key: value for key, value in question.options.items() if isinstance(value, str)}
    asked = [desk.context.entities[name] for name in compiled.asked]
    touched = [desk.context.entities[name] for name in compiled.entities]
    groups = [*query.dimensions, *([query.grain] if query.grain else [])]
    assessed = risk.assess(
        rules.risk,
        features=compiled.features,
        entities=asked,
        novelty=risk.novelty(desk.context, _untimed(question.text, bound), query.metrics, groups),
        rivals=bound.rivals,
        cost=risk.expected_cost(rules.risk, bound.stakes, stated),
    )
    wanted = question.options.get("preferences")
    decision = autonomy.decide(
        rules.autonomy,
        assessed,
        asked=asked,
        touched=touched,
        estimate=estimate,
        phrases=bound.stakes,
        preferences=wanted if isinstance(wanted, list) else (),
    )
    return assessed, decision


def _untimed(text: str, bound: Bound) -> str:
    """The question without its span of time: last month's question is not new this month."""
    for binding in bound.bindings:
        if binding.kind == "time":
            text = text.replace(binding.words, " ")
    return text


def _planned(
    question: Question, index: BundleIndex, desk: _Desk, bound: Bound, compiled: Compiled, decision: autonomy.Decision
) -> Reply:
    """The reply as far as it goes without rows."""
    query = bound.query
    about = present.headline(query, present.metrics_of(query, desk.context))
    status, text = "recommended", f"{about}: this is the statement I would run; nothing ran."
    if decision.level == 1:
        status, text = "escalated", f"{about}: this is for a person to answer; nothing ran."
    elif decision.halted:
        status, text = "pending", f"{about}: the plan is above the resource limits. Shall I run it?"
    window = query.window
    return _reply(
        question,
        index,
        status=status,
        text=text,
        level=decision.level,
        sql=compiled.sql,
        interval=window and Interval(start=window.start.isoformat(), end=window.end.isoformat(), label=window.label),
        bindings=bound.bindings,
        caveats=_caveats(desk.context, query, compiled, decision, question.asked_at.date()),
        citations=_citations(desk.context, query, compiled, index.commit),
    )


def _run(reply: Reply, query: SemanticQuery, desk: _Desk, index: BundleIndex, warehouse: Warehouse, sql: str) -> Reply:
    rows = desk.mask.rows(warehouse.run(sql, index.rules.autonomy.execution.rows_fetched))
    caveats = reply.caveats
    if rows.truncated:
        caveats = (*caveats, f"Only the first {len(rows.rows)} rows are shown.")
    return reply.model_copy(
        update={
            "status": "answered",
            "text": present.sentence(query, present.metrics_of(query, desk.context), rows),
            "columns": rows.columns,
            "rows": tuple(tuple(_cell(cell) for cell in row) for row in rows.rows),
            "caveats": caveats,
        }
    )


def _caveats(
    context: Context, query: SemanticQuery, compiled: Compiled, decision: autonomy.Decision, today: date
) -> tuple[str, ...]:
    """What was left out, which traps are near, what the dates are, and why the level is what it is."""
    found = list(compiled.caveats)
    near = gotchas.applicable(context, {compiled.base, *query.metrics})
    found += [gotchas.said(trap) for trap in near if trap.check and gotchas.failed_check(trap, query, today)]
    if compiled.time_column:
        found.append(f"Dated by {compiled.time_column}.")
    return tuple(dict.fromkeys((*found, *decision.warnings)))


def _citations(context: Context, query: SemanticQuery, compiled: Compiled, commit: str | None) -> tuple[Citation, ...]:
    """The records the answer rests on: the metrics, and the parts of a ratio."""
    used = [*query.metrics, *(part.metric for part in query.measures)]
    used += [half for part in query.ratios for half in (part.numerator, part.denominator)]
    names = [name for name in dict.fromkeys(used) if name in context.metrics]
    for name in list(names):
        metric = context.metrics[name]
        names += [part for part in (metric.numerator, metric.denominator) if part]
    keys = [f"metrics/{name}" for name in dict.fromkeys(names)] + [f"entities/{compiled.base}"]
    described: Mapping[str, str | None] = {f"metrics/{name}": context.metrics[name].description for name in names}
    return tuple(
        Citation(
            id=key, path=context.paths.get(key), line=1 if key in context.paths else None, commit=commit,
            text=described.get(key),
        )
        for key in keys
    )  # fmt: skip


def _desk(index: BundleIndex) -> _Desk:
    desk = _desks.get(index)
    if desk is None:
        context, rules = index.bundle.context, index.rules
        compiler = Compiler(context)
        phrases = (*risk.stakes_phrases(rules.risk), *autonomy.preference_phrases(rules.autonomy))
        desk = _Desk(
            context=context,
            catalogue=catalogue_of(context),
            compiler=compiler,
            reader=Reader(context, lexicon_of(context, phrases), compiler),
            mask=Mask(rules.pii),
        )
        _desks[index] = desk
    return desk


def _previous(state: Mapping[str, Any]) -> SemanticQuery | None:
    """The query of the turn before; one that this version cannot read counts as none."""
    try:
        return SemanticQuery.model_validate(state["query"]) if state.get("query") else None
    except ValidationError:
        return None


def _refused(question: Question, index: BundleIndex, message: str, help: str | None, sql: str | None = None) -> Reply:
    said = f"{message[:1].upper()}{message[1:]}."
    text = f"{said} {help[:1].upper()}{help[1:]}{'' if help[-1] in '.?!`' else '.'}" if help else said
    return _reply(question, index, status="refused", text=text, sql=sql)


def _reply(question: Question, index: BundleIndex, **fields: Any) -> Reply:
    return Reply(
        **{
            "kind": "data",
            "request_id": question.request_id,
            "session_id": question.session_id,
            "bundle_etag": index.etag,
            "commit": index.commit,
            **fields,
        }
    )


def _cell(value: Any) -> Any:
    """A cell as JSON can carry it; exact where JSON has no such number."""
    if value is None or isinstance(value, bool | int | float | str | Decimal):
        return value
    return value.isoformat() if hasattr(value, "isoformat") else str(value)
