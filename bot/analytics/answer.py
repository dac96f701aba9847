"""A data question, from its words to its rows: read → compile → gate → explain → risk → run → present.

Write requests are refused before anything else. The gate judges every statement last, whoever wrote it. Below
level 3 nothing runs: the statement is recommended, or handed to a person.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import date
from typing import Any

from bot.analytics import carrying, form, items, readings, stakes, unread
from bot.analytics.headline import headline
from bot.analytics.matched import Desk, Matched
from bot.analytics.plan import autonomy, judged, plans
from bot.analytics.plan.execution import Execution
from bot.analytics.plan.interfaces import ExecutionRequest, ExecutionResponse, Results
from bot.analytics.plan.judged import Judgement
from bot.analytics.plan.plans import Assent, Settle
from bot.analytics.plan.restatement import renamed, restated
from bot.analytics.plan.rows import with_rows
from bot.analytics.prepared import Prepared, prepared_for, previous_of
from bot.analytics.reading import Bound, Meant, NotUnderstood, Unclear
from bot.analytics.reply import absent, alternatives, assumed, besides, business, ended, present, ties
from bot.analytics.reply.charts import chart
from bot.analytics.reply.citing import citations_of
from bot.analytics.reply.names import Names
from bot.analytics.reply.ties import UNSEEN, Ties
from bot.analytics.writes import is_write_request
from bot.ask.ground import calendar_rules, ground_of_data
from bot.ask.query import propose
from bot.ask.query.propose import Proposed
from bot.ask.query.reading import HeldQuery, hold_question
from bot.conversation import Binding, Interval, Question, Reply, Turn
from bot.index import BundleIndex
from bylaw.authored.context import Context
from bylaw.authored.machines.access import Rights
from bylaw.hold.hold import Ground
from bylaw.hold.item import Item, read_items
from bylaw.language.periods import period_of
from bylaw.language.turns import replies
from bylaw.llm.guarded import Guard
from bylaw.semantic import gotchas
from bylaw.semantic.compiler import Compiled
from bylaw.semantic.expressions import InvalidExpression
from bylaw.semantic.query import SemanticQuery, Unanswerable, Withheld
from bylaw.warehouses.dialects import written
from bylaw.warehouses.port import Warehouse, WarehouseError

WRITES_REFUSED = "Write operations are not supported: I read data and never change it."  # seed 004, 5.2.6
NONE_READ = "Your roles grant none of the tables that are described here, so I cannot say what you may ask for"


@dataclass(frozen=True, slots=True)
class _Means:
    """What one question is answered with."""

    index: BundleIndex
    prepared: Prepared
    warehouse: Warehouse | None
    rights: Rights | None
    settle: Settle
    llm: Guard | None


def answer(
    question: Question,
    state: dict[str, Any],
    index: BundleIndex,
    warehouse: Warehouse | None,
    rights: Rights | None,
    settle: Settle | None = None,
    llm: Guard | None = None,
) -> Turn:
    """Answer *question*. `rights` are those of the asker, None for all; without a warehouse nothing runs.

    A plan that waits for a yes runs only once *settle* has closed the request that showed it. Where there is *llm*, it
    reads every question besides the reader: what both read alike is answered.
    """
    means = _Means(index, prepared_for(index), warehouse, rights, settle or plans.always, llm)
    turn = _turn(question, state, means)
    if turn.reply.form is not None:  # also what the catalogue cannot answer as it was asked
        turn = replace(turn, reply=turn.reply.model_copy(update={"status": "needs_choice"}))
    kept = {name: turn.state.get(name, state.get(name)) for name in carrying.CARRIED}
    state = {name: value for name, value in turn.state.items() if name not in kept}
    return replace(turn, state={**state, **{name: value for name, value in kept.items() if value}})


def _turn(question: Question, state: dict[str, Any], means: _Means) -> Turn:
    if (picked := readings.picked(question.text, state)) is not None:
        return _picked(question, state, picked, means)
    question = _filled_in(question, state)
    index = means.index
    if question.options.get(form.OPTION) is not None:
        return _filled(question, state, means)
    hurrying = index.rules.autonomy.just_do_it.phrases if plans.waiting(state) is not None else ()
    if word := plans.heard(question.text) or ("yes" if plans.hurries(question.text, hurrying) else None):
        return _settled(question, state, word, means)
    if is_write_request(question.text):
        return Turn(_reply(question, index, kind="refusal", status="refused", text=WRITES_REFUSED), state)
    try:
        unread.check_words(question.text, index)
    except Unanswerable as problem:
        return Turn(_refused(question, index, problem.message, problem.help), state)
    if question.options.get(items.OPTION) is not None:
        return _answer_items(question, state, means)
    previous = previous_of(state)
    text = question.text if previous is None else plans.beyond(question.text)
    same = None if previous is None else carrying.referred(text, index.rules.autonomy.same.phrases)
    if previous is not None and same == "":
        return _answer(question, state, Bound(previous, ()), means)
    text = same or text
    return _read(question.model_copy(update={"text": text}), state, previous, means, same is not None)


def _read(
    question: Question, state: dict[str, Any], previous: SemanticQuery | None, means: _Means, is_same: bool = False
) -> Turn:
    """The answer to words: what the matcher reads in them, and beside it a model where one is asked. *is_same*: they
    said that the question before goes on.
    """
    before = None if previous is None else carrying.items_of(state, previous)
    desk = Desk(_ground(question, means), means.prepared.compiler, _hear_stakes(question, means))
    matched = desk.read(question.text, before, is_same)
    if (withheld := _withheld(question, state, matched, before, means)) is not None:
        return withheld
    match matched.reading:
        case NotUnderstood() as unclear:
            turn = _proposed(question, state, unclear, previous, means)
        case Unclear() as unclear:
            turn = _unclear(question, state, unclear, means)
        case Bound() as bound:
            turn = _both(question, state, bound, previous, means)
            if bound.query == previous:
                turn = carrying.unchanged(turn, question.text)
    return _with_reading(turn, matched)


def _withheld(
    question: Question, state: dict[str, Any], matched: Matched, before: Sequence[Item] | None, means: _Means
) -> Turn | None:
    """The refusal of what the words ask for whole, and who asks may not read; None where that is not why."""
    if means.rights is None or not isinstance(matched.reading, NotUnderstood) or matched.reading.is_final:
        return None
    ground = ground_of_data(means.index, means.index.local(question.asked_at).date(), None)
    found = Desk(ground, means.prepared.compiler, _hear_stakes(question, means)).read(question.text, before).reading
    turn = _answer(question, state, found, means) if isinstance(found, Bound) else None
    return turn if turn is not None and turn.reply.status == "refused" else None


def _with_reading(turn: Turn, matched: Matched) -> Turn:
    """*turn*, with how the question was read where nothing says it yet."""
    if turn.reply.reading is not None or matched.written is None:
        return turn
    return replace(turn, reply=turn.reply.model_copy(update={"reading": matched.written}))


def _picked(question: Question, state: dict[str, Any], picked: readings.Choosing, means: _Means) -> Turn:
    """The reading that the person picked of several, now or before."""
    reading = picked.reading
    turn = _answer(question.model_copy(update={"text": picked.text}), state, reading.bound(), means)
    meta = {"author": reading.author or "matcher", "fallback_used": False}
    known = {"picks": readings.remembered(picked.text, reading, state)}
    if picked.words:
        known["settled"] = carrying.settled(state, picked.words, picked.name)
    return replace(turn, reply=turn.reply.model_copy(update={"meta": meta}), state={**turn.state, **known})


def _both(
    question: Question, state: dict[str, Any], mine: Bound, previous: SemanticQuery | None, means: _Means
) -> Turn:
    """What the reader read and what a model reads: the same is answered, two are shown, one alone is confirmed."""
    said = _modelled(question, previous, means)
    if said is None:
        return _answer(question, state, mine, means)
    if said.held is None or not said.is_whole:
        turn = _answer(question, state, mine if said.held is None else replace(mine, is_alone=True), means)
        return _told(turn, said, "matcher")
    theirs = _bind(question, said.held, means, previous is not None)
    both = f"matcher and {said.model}"
    turns = [_answer(question, state, one, means) for one in (mine, theirs)]
    if turns[0].reply.status == "refused":
        return _told(turns[1], said)
    if renamed(mine.query) == theirs.query or readings.is_same(*turns):
        return _told(turns[0], said, both)
    if turns[1].reply.status == "refused":
        return _told(_answer(question, state, replace(mine, is_alone=True), means), said, "matcher")
    offered = readings.choices([_restated(one, means) for one in (mine, theirs)], turns)
    reply = _reply(question, means.index, status="needs_choice", text=readings.BOTH, choices=offered)
    told = (mine, replace(theirs, author=said.model))
    kept = {**state, "readings": readings.offered(question.text, told, offered)}
    papers = alternatives.papers(turns) if all("plan" in turn.artifacts for turn in turns) else {}
    return _told(Turn(reply, kept, artifacts=papers), said, both)


def _restated(bound: Bound, means: _Means) -> str:
    """A reading in words of its plan."""
    prepared = means.prepared
    compiled = prepared.compiler.compile(bound.query, prepared.compiler.visible(means.rights))
    return restated(bound.query, present.metrics_of(bound.query, prepared.context), compiled, prepared.context)


def _modelled(question: Question, previous: SemanticQuery | None, means: _Means) -> Proposed | None:
    """What a model reads; None where no model is to be asked."""
    index, prepared = means.index, means.prepared
    if means.llm is None or index.rules.autonomy.proposals is None:
        return None
    today = index.local(question.asked_at).date()
    before = None if previous is None or not replies(question.text, index.rules.routing.short_words) else previous
    shown = None if before is None else before.model_dump(mode="json", exclude_defaults=True)
    heard = tuple(one.words for one in _hear_stakes(question, means))
    asked = propose.AskedOfModel(question.text, today, heard, shown)
    return propose.propose(asked, index, _ground(question, means), prepared.compiler, means.llm)


def _hear_stakes(question: Question, means: _Means) -> tuple[Binding, ...]:
    """The words that say how much depends on the answer, or how it is to be given."""
    return stakes.hear(question.text, means.prepared.phrases, _ground(question, means).index)


def _ground(question: Question, means: _Means) -> Ground:
    """What the question is held against: the names that who asks may read."""
    schemas = None if means.rights is None else means.rights.schemas
    return ground_of_data(means.index, means.index.local(question.asked_at).date(), schemas)


def _bind(question: Question, held: HeldQuery, means: _Means, is_follow_up: bool = False) -> Bound:
    """What was held whole, as a reading."""
    heard = _hear_stakes(question, means)
    return items.bound_of(held, heard, tuple(one.name for one in heard), is_follow_up)


def _answer_items(question: Question, state: dict[str, Any], means: _Means) -> Turn:
    """The answer to items that a caller gives with the question: whole they run, else the form shows what holds."""
    proposal = read_items(question.options[items.OPTION], "data")
    heard = [one.words for one in _hear_stakes(question, means)]
    held = hold_question(question.text, proposal, _ground(question, means), means.prepared.compiler, "given", heard)
    return _run_or_form(question, state, held, means)


def _run_or_form(
    question: Question, state: dict[str, Any], held: HeldQuery, means: _Means, author: str | None = None
) -> Turn:
    """What was held whole runs; of anything else the form shows what was understood, and the reply what was not."""
    if held.is_whole:
        turn = _answer(question, state, replace(_bind(question, held, means), author=author), means)
    else:
        turn = _formed(question, state, items.unclear_of(held), means)
    return replace(turn, reply=turn.reply.model_copy(update={"reading": held.reading.written()}))


def _told(turn: Turn, said: Proposed, author: str | None = None) -> Turn:
    """*turn*, saying who read the question, with everything that was said kept beside it.

    What only the matcher reads whole shows how the matcher reads it.
    """
    reading = None if said.held is None or author == "matcher" else said.held.reading.written()
    if reading is not None and author is not None and " and " in author:
        reading = {**reading, "by": "both"}
    reply = turn.reply.model_copy(update={"meta": said.meta(author), "reading": turn.reply.reading or reading})
    return replace(turn, reply=reply, artifacts={**turn.artifacts, **said.papers()})


def _unclear(question: Question, state: dict[str, Any], reading: Unclear, means: _Means) -> Turn:
    """Which reading is meant, each with its figures where each may run alone; the answer where all give the same."""
    index, rules = means.index, means.index.rules.autonomy.alternatives
    before = carrying.chosen(state, reading)
    if before is not None:
        turn = _answer(question, state, before.bound, means)
        caveats = (*turn.reply.caveats, carrying.told(reading, before))
        return replace(turn, reply=turn.reply.model_copy(update={"caveats": caveats}))

    def ask(meant: Meant) -> Turn:
        return _answer(question, state, meant.bound, means)

    is_few = rules is not None and 2 <= len(reading.meant) <= rules.computed
    turns = alternatives.computed(reading.meant, ask) if is_few and means.warehouse is not None else ()
    if turns and (same := alternatives.agreed(reading, turns)) is not None:
        return same
    choices = alternatives.choices(reading, turns)
    reply = _reply(
        question,
        index,
        status="needs_choice",
        text=f"`{reading.words}` can mean more than one thing. Which one?",
        choices=choices,
        caveats=alternatives.shared_caveats(turns) if turns else (),
    )
    kept = alternatives.papers(turns) if turns else {}
    names = [one.name for one in reading.meant]
    offered = readings.offered(question.text, [one.bound for one in reading.meant], choices, reading.words, names)
    return Turn(reply, {**state, "readings": offered}, artifacts=kept)


def _proposed(
    question: Question, state: dict[str, Any], unclear: NotUnderstood, previous: SemanticQuery | None, means: _Means
) -> Turn:
    """What a model makes of a question that was not understood: it runs where it is held whole, else the form."""
    said = None if unclear.is_final else _modelled(question, previous, means)
    if said is None or said.held is None or (not said.is_whole and said.held.query is None):
        turn = _formed(question, state, unclear, means)
        return turn if said is None else _told(turn, said)
    return _told(_run_or_form(question, state, said.held, means, said.model if said.is_whole else None), said)


def _formed(question: Question, state: dict[str, Any], unclear: NotUnderstood, means: _Means) -> Turn:
    """What stands in the way, and the form with what was understood; no form for what nobody may read otherwise."""
    if not _may_read_any(means):
        return Turn(_refused(question, means.index, NONE_READ, "`rules/roles.yaml` says who may read what"), state)
    if unclear.is_final:
        return Turn(_refused(question, means.index, unclear.message, unclear.help), state)
    papers: dict[str, Any] = {}
    if means.warehouse is not None:
        names = Names(means.prepared.compiler, means.warehouse, means.rights)
        unclear = names.told(unclear, question.text)
        papers = {"names": names.seen} if names.seen else {}
    shown = form.blank(means.prepared.context, means.rights, unclear.understood)
    if not shown.has_choices:
        return Turn(_refused(question, means.index, unclear.message, unclear.help), state)
    way = form.which_way(means.prepared.context, unclear.understood)
    said = _refused(question, means.index, unclear.message, None if way else unclear.help)
    text = f"{said.text}{way} {form.ASKED}"
    changed = {"status": "needs_choice", "text": text, "form": shown, "bindings": unclear.bindings}
    return Turn(said.model_copy(update=changed), state, artifacts=papers)


def _may_read_any(means: _Means) -> bool:
    """Is a table of the catalogue in a schema that the roles of who asks grant? To others no word of it is known."""
    known = {entity.base_table.schema_name for entity in means.prepared.context.entities.values()}
    return means.rights is None or not known or not known.isdisjoint(means.rights.schemas)


def _filled(question: Question, state: dict[str, Any], means: _Means) -> Turn:
    """The answer to a form that was filled in: what was compiled is shown, whatever the question said."""
    index, prepared = means.index, means.prepared
    today = index.local(question.asked_at).date()
    try:
        query = form.query_of(form.filled(question.options[form.OPTION]), prepared.compiler, today, prepared.calendar)
    except Unanswerable as problem:
        return _formed(question, state, NotUnderstood(problem.message, problem.help), means)
    return _answer(question, state, Bound(query, ()), means)


def _settled(question: Question, state: dict[str, Any], word: plans.Word, means: _Means) -> Turn:
    """What becomes of the plan that waits, now that the person has said yes or no."""
    index, held = means.index, plans.waiting(state)
    if held is None:
        return Turn(_reply(question, index, status="refused", text=plans.GONE), state)
    if word == "both":
        return Turn(_reply(question, index, status="pending", text=plans.UNCLEAR, choices=plans.CHOICES), state)
    left = plans.without(state)
    if word == "no":
        means.settle(held.request_id, question, "declined")
        return Turn(_reply(question, index, status="answered", text=plans.DROPPED), left)
    if held.is_over(question.asked_at):
        means.settle(held.request_id, question, "expired")
        return Turn(_reply(question, index, status="refused", text=plans.expired(held)), left)
    bound = Bound(held.query, held.bindings, held.stakes, held.rivals, author=held.author)
    asked = question.model_copy(update={"text": held.text, "options": {**held.options, **question.options}})
    return _answer(asked, left, bound, means, Assent(held, question, means.settle))


def _answer(
    question: Question, state: dict[str, Any], bound: Bound, means: _Means, assent: Assent | None = None
) -> Turn:
    index, prepared, warehouse, rights = means.index, means.prepared, means.warehouse, means.rights
    bound = with_rows(bound, prepared.context) if assent is None else bound
    query, sql, tied, elapsed = bound.query, None, None, None
    try:
        visible = prepared.compiler.visible(rights)
        compiled = prepared.compiler.compile(query, visible)
        unread.check_plan(query, compiled.entities, index)
        dialect = prepared.compiler.dialect if warehouse is None else warehouse.dialect
        sql = written(compiled.sql, dialect)
        shown = None if visible is None else visible.visible(dialect)
        execution = Execution(prepared.catalogue, warehouse, dialect, prepared.mask.rows, shown)
        whitelist = None if rights is None else tuple(sorted(rights.schemas))
        request = ExecutionRequest(request_id=question.request_id, sql=sql, schema_whitelist=whitelist)
        planned = execution.planned(request)
        if planned.sql is None:
            reason = planned.rejection_reason or "the statement is not allowed"
            help = "`rules/roles.yaml` says who may read what" if planned.validation.schemas_blocked else None
            return Turn(_refused(question, index, reason, help), state)
        sql = planned.sql
        judgement = judged.judge(question, bound, compiled, index, planned, warehouse, visible)
        reply = _planned(question, index, prepared, bound, compiled, sql, judgement)
        if assent is not None:
            reply = assent.noted(reply)
        if warehouse is None:
            text = f"{reply.text.removesuffix(plans.HOW).rstrip()} No warehouse is connected."
            reply = reply.model_copy(update={"status": "recommended", "text": text, "choices": ()})
        elif judgement.may_run if assent is None else assent.covers(reply):
            if assent is not None and not assent.is_first():
                refused = _reply(question, index, status="refused", text=plans.SECOND)
                return Turn(
                    refused, state, artifacts={"plan": _plan(query, sql, dialect, judgement, planned)}, is_aside=True
                )
            limit = index.rules.autonomy.execution.rows_fetched
            done = execution.executed(request, planned, limit)
            results, elapsed = done.results, done.execution_time_ms
            assert results is not None
            missing = absent.looked_up(query, results, prepared.compiler, execution, request, visible)
            if missing is not None:
                return _absent(question, state, missing, reply, means)
            ends = ended.looked_up(
                query, results, prepared.compiler, execution, request, visible, index.local(question.asked_at)
            )
            tied = ties.looked_up(query, results, prepared.compiler, execution, request, visible)
            reply = _presented(reply, compiled, query, prepared.context, results, tied)
            if ends is not None:
                reply = reply.model_copy(update={"text": f"{reply.text} {ends}"})
    except (Withheld, InvalidExpression) as problem:
        return Turn(_refused(question, index, problem.message, problem.help), state)
    except Unanswerable as problem:
        if assent is not None:
            return Turn(_refused(question, index, problem.message, problem.help), state)
        known = form.with_units(form.known_of(query), problem)
        formed = _formed(question, state, NotUnderstood(problem.message, problem.help, understood=known), means)
        return replace(formed, reply=formed.reply.model_copy(update={"status": "refused"}))
    except WarehouseError as problem:
        refused = _refused(question, index, problem.message, problem.help, sql=sql)
        failure = {"message": problem.message, "help": problem.help}
        return Turn(refused, state, artifacts={"failure": failure})
    plan = _plan(query, sql, dialect, judgement, planned) | ({"ties": tied.papers} if tied is not None else {})
    if assent is not None:
        plan["confirms"] = assent.held.request_id
    said = {"items": [one.written() for one in bound.items]} if bound.items else {}
    waits = {"waiting": plans.kept(question, reply, bound)} if reply.choices else {}
    carried = {"query": plan["query"], **said, **waits}
    log = judgement.log(prepared.context.entities[compiled.base].domain)
    tells = tuple(judgement.tells) if reply.status in ("answered", "escalated") else ()
    return Turn(reply, carried, artifacts={"plan": plan}, log=log | {"execution_time_ms": elapsed}, tells=tells)


def _absent(question: Question, state: dict[str, Any], missing: absent.Absent, reply: Reply, means: _Means) -> Turn:
    """Which value is meant, in the words of the question where these name it, else in the form."""
    choices = missing.choices(question.text)
    shown = None if choices else form.blank(means.prepared.context, means.rights)
    changed = {"status": "needs_choice", "text": missing.text, "choices": choices, "form": shown}
    asked = {choice.label.lower(): choice.value for choice in choices}
    return Turn(reply.model_copy(update=changed), {**plans.without(state), "choices": asked})


def _plan(
    query: SemanticQuery, sql: str, dialect: str, judgement: Judgement, planned: ExecutionResponse
) -> dict[str, Any]:
    """What is kept of the plan, so that the answer can be rebuilt."""
    return {"query": query.model_dump(mode="json"), "sql": sql, "dialect": dialect, **judgement.papers(planned)}


def _planned(
    question: Question,
    index: BundleIndex,
    prepared: Prepared,
    bound: Bound,
    compiled: Compiled,
    sql: str,
    judgement: Judgement,
) -> Reply:
    """The reply as far as it goes without rows."""
    query, auth = bound.query, judgement.auth
    about = restated(query, present.metrics_of(query, prepared.context), compiled, prepared.context)
    why = "".join(f" {reason[:1].upper()}{reason[1:]}." for reason in auth.halts)
    status, text = "recommended", f"{about}.{why} This is the statement I would run; nothing ran yet. {plans.HOW}"
    if auth.autonomy_level == 1:
        status, text = "escalated", f"{about}: this is for a person to answer; nothing ran."
    elif auth.halts and judgement.executes:
        status, text = "pending", f"{about}.{why} Shall I run it? {plans.HOW}"
    window = query.window
    today = index.local(question.asked_at).date()
    caveats = [*_caveats(prepared.context, query, compiled, today), *judgement.caveats, *auth.warnings]
    caveats += besides.told(question.text, bound.bindings, prepared.context)
    named = {*query.metrics, *(part.metric for part in query.measures)}
    caveats += business.told(index.bundle.business, named, today)
    return _reply(
        question,
        index,
        status=status,
        text=text,
        choices=plans.CHOICES if status != "escalated" else (),
        level=auth.autonomy_level,
        sql=sql,
        interval=window and Interval(start=window.start.isoformat(), end=window.end.isoformat(), label=window.label),
        bindings=bound.bindings,
        caveats=tuple(dict.fromkeys(caveats)),
        citations=citations_of(prepared.context, query, compiled, index.commit),
        data_until=judgement.data_until,
        risk=judgement.assessment,
        acceptance=autonomy.acceptance(index.rules.autonomy, auth.autonomy_level),
    )


def _presented(
    reply: Reply, compiled: Compiled, query: SemanticQuery, context: Context, results: Results, tied: Ties | None
) -> Reply:
    caveats, metrics = reply.caveats, present.metrics_of(query, context)
    if results.truncated:
        caveats = (*caveats, f"Only the first {results.row_count} rows are shown.")
    if tied is not None and tied.rows is None:
        caveats = (*caveats, UNSEEN)
    equal = () if tied is None else tied.rows or ()
    return reply.model_copy(
        update={
            "status": "answered",
            "choices": (),
            "text": present.sentence(query, metrics, results, () if tied is None else tied.figures)
            + present.tied(query, results, equal),
            "columns": results.columns,
            "rows": results.rows,
            "caveats": caveats,
            "chart": chart(compiled.outputs, headline(query, metrics), results),
        }
    )


def _caveats(context: Context, query: SemanticQuery, compiled: Compiled, today: date) -> tuple[str, ...]:
    """What was left out, which traps are near, what the dates are."""
    found = list(compiled.caveats)
    near = gotchas.applicable(context, {compiled.base, *query.named})
    rules = calendar_rules(context.calendar)
    found += [gotchas.said(trap) for trap in near if trap.check and gotchas.failed_check(trap, query, today)]
    if query.grain and query.window and period_of(query.window.start, query.grain, rules) < query.window.start:
        found.append(f"The first {query.grain} is not whole: it counts from {query.window.start.isoformat()} on.")
    if compiled.time_column:
        found.append(f"Dated by {compiled.time_column}.")
    found += assumed.told(context, query, compiled.entities)
    return tuple(found)


def _filled_in(question: Question, state: Mapping[str, Any]) -> Question:
    """ "Net revenue", after "which revenue do you mean?": the question that was asked, with the choice in it."""
    choices = state.get("choices")
    said = " ".join(question.text.lower().strip(" .?!").split())
    value = choices.get(said) if isinstance(choices, Mapping) else None
    return question.model_copy(update={"text": value}) if isinstance(value, str) else question


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
