"""Question in, Reply out. A reply is given out only after everything about it is kept.

Each request is claimed, walked through its states and finished in the store; the last transaction holds the reply, the
session, the query log and the audit entry together, so that a process which dies leaves all of them or none. An answer
that is only computed is there before a claim would be, so the last transaction is its only one.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Any, cast, get_args

from bot.conversation import (
    CORRECTS,
    MAX_TEXT,
    PROPOSED,
    Actor,
    AnswerKind,
    Question,
    Reply,
    ReplyKind,
    ReplyStatus,
    Turn,
    sayable,
)
from bot.evidence.artifacts import written
from bot.evidence.store import kept, marks
from bot.evidence.store.columns import Written, check_ids
from bot.evidence.store.engine import StoreError
from bot.evidence.store.tables import audit, deliveries, querylog, requests, sessions
from bot.evidence.store.tables.requests import Busy, Claim, Links
from bot.evidence.store.tables.sessions import Session
from bot.lifecycle import Outcome, State, road
from bot.memory.changes import in_words as change_in_words
from bot.memory.preferences import in_force, in_words, laid_over, retain
from bot.memory.recall import NOTHING, Recalled, recall
from bot.memory.recall import told as recalled_json
from bot.request.ownership import Owned, owned_by_name
from bot.request.settlement import settle
from bot.router import (
    BOTH,
    Answerer,
    Past,
    Route,
    bare,
    chosen,
    is_said,
    named_kind,
    objects,
    opens,
    otherwise,
    picked,
    refusal,
    route,
    which,
)
from bot.services import Services
from bylaw.audit.entry import after
from bylaw.canonical import is_sound, is_text, spelled
from bylaw.errors import BylawError, GateDenied, UsageError
from bylaw.language.turns import courtesy_of

_TURNS = 5  # how often one turn is answered anew because its session moved on meanwhile
_POLL_SECONDS = 0.05
_SCOPED = (State.INTAKE, State.SCOPE)
TAKES = "takes the last answer as it is"
ACCEPTED = "Accepted."
WRONG = "says that the last answer is wrong"
OBJECTED = (
    "I understand that my answer is wrong. Nothing has changed yet: say which part of it, and what it should say, and "
    "it changes your answers at once."
)
UNDERSTOOD = (
    "I understand that my answer is wrong, and read your words so: {change}. Nothing has changed yet: confirm it, or "
    "say it otherwise, and it changes your answers at once."
)
PREFERS = "says how the person likes answers"
NOTED = "I've noted your preference and will apply it to future queries: {what}."  # seed 004, C.4
OWNS = "asks who owns something that is declared"
STANDING = " All that you prefer by now: {all}. Where they differ, the strictest counts."
BESIDE = "beside"  # of a question's options: how the conversations are named that it goes on with where it begins one
REVISES = "revises"  # of a question's options: the request whose answer it puts right
_WAITING = frozenset({"needs_fact", "needs_choice", "pending"})  # and whatever else offers a choice


@dataclass(frozen=True)
class _Answered:
    """An answer that is not kept yet, and its reply, signed.

    `session` is what the next turn will find, None to leave it as it is. `takes` is the request whose answer it
    accepts.
    """

    question: Question
    turn: Turn
    reply: Reply
    route: Route
    session: Session | None
    error: str | None = None
    before: Session | None = None
    recalled: Recalled = NOTHING
    takes: str | None = None
    retains: tuple[str, str] | None = None

    @property
    def is_given(self) -> bool:
        """Did it get somewhere, or does it ask back at least?"""
        return self.reply.status not in ("refused", "escalated") and self.error is None


@dataclass(frozen=True)
class _Begun:
    """Where a turn starts: the session it goes on with, the question with a picked choice spelled out, who answers.

    `recalled` is what is remembered of the asker.
    """

    session: Session
    question: Question
    route: Route
    recalled: Recalled = NOTHING


class _Lost(Exception):
    """The lease ran out and somebody else has the request now."""


class _MovedOn(Exception):
    """Another turn of the same session was kept first."""


def handle(question: Question, services: Services) -> Reply:
    """Answer *question*, or give the reply this request already has.

    Raises UsageError for what is no question at all, RequestConflict for a request id used twice. Errors without a name
    here are recorded with the request and go on to the caller.
    """
    _check(question)
    begun: _Begun | BaseException
    try:
        begun = _begin(question, services)  # read before the claim, which then says in one transaction who answers
    except StoreError:
        raise
    except BaseException as error:  # recorded with the request below, and raised there
        begun = error
    if isinstance(begun, _Begun) and (reply := _computed(question, begun, services)) is not None:
        return reply
    match _claimed(question, begun, services):
        case Reply() as given:
            services.store.last()  # whoever answered may still be waiting for the disk
            return given
        case Busy():
            return _wait(question, services)
        case Claim() as held:
            try:
                with _recorded(question, held, services):
                    if isinstance(begun, BaseException):
                        raise begun
                    return _answer_and_keep(question, held, begun, services)
            except _Lost:
                return _wait(question, services)


def is_unfinished(reply: Reply) -> bool:
    """Does *reply* only say that another process is still at it?"""
    return reply.kind == "refusal" and reply.status == "pending"


def is_addressed(text: str, session_id: str, actor: Actor, services: Services) -> bool:
    """Is *text* for the bot, although nobody named it: the answer to what it asked, or only sensible behind its own?"""
    with services.store.reading() as connection:
        session = sessions.load(connection, session_id, actor, services.clock(), services.session_life)
    if session.pending is not None or (session.is_open and is_said(text, services.lexicons.accepted)):
        return True
    if _objects(text, session, services):
        return True
    last = next((one for one in services.answerers if one.kind == session.last_kind), None)
    if last is None or last.continues is None:
        return False
    return last.continues(text, session.states.get(last.kind, {}), services.index)


def _computed(question: Question, begun: _Begun, services: Services) -> Reply | None:
    """The reply of an answerer that waits for nobody. None, with nothing kept: the request has to be claimed, since it
    is another's by now, its session moved on, or what breaks it has to be written down.
    """
    answerer = _answerer(begun.route, services)
    if answerer is not None and not answerer.only_computes:
        return None
    started = services.clock()
    try:
        return _keep(question, None, _answered(begun, 1, services), started, services)
    except StoreError:
        raise
    except Exception:
        return None


def _claimed(question: Question, begun: _Begun | BaseException, services: Services) -> Claim | Busy | Reply:
    steps, kind = (_SCOPED, begun.route.kind) if isinstance(begun, _Begun) else ((State.INTAKE,), None)
    with services.store.writing(is_durable=False) as connection:
        now = services.clock()
        found = requests.claim(connection, question, services.new_id(), now, services.lease, steps, kind)
        if isinstance(found, Reply):
            kept.check(connection, question.request_id)
        return found


def _check(question: Question) -> None:
    """Refuse what could not be kept."""
    check_ids(question)
    if not question.text.strip():
        raise UsageError("the question is empty")
    if len(question.text) > MAX_TEXT:
        raise UsageError(f"the question has {len(question.text)} characters, at most {MAX_TEXT} are read")
    if not is_text(question.text):
        raise UsageError("the question holds characters that are not text")
    if not is_sound(question.options):
        raise UsageError("the form holds characters that are not text, or is nested too deeply")
    if question.asked_at.tzinfo is None:
        raise UsageError("the time of the question needs a timezone")


def _answer_and_keep(question: Question, held: Claim, begun: _Begun, services: Services) -> Reply:
    started = services.clock()
    for turn in range(_TURNS):
        here = _begin(question, services) if turn else begun
        answered = _answered(here, held.attempts, services)
        with suppress(_MovedOn):
            return _keep(question, held, answered, started, services)
    text = "This conversation is being continued elsewhere at the same time. Please ask again."
    reply = _say(question, services, "refusal", "escalated", text)
    return _keep(question, held, replace(answered, turn=Turn(reply, {}), reply=reply, session=None), started, services)


def _begin(question: Question, services: Services) -> _Begun:
    """Read the session, and find who answers."""
    with services.store.reading() as connection:
        known = (question.session_id, question.actor, services.clock(), services.session_life)
        session = sessions.load(connection, *known)
        if session.version == 0 and isinstance(beside := question.options.get(BESIDE), str):
            session = sessions.go_on(connection, session, beside, services.clock())
        recalled = recall(connection, question.actor.id)
    return _Begun(session, *_scope(question, session, services.recalling(recalled)), recalled)


def _scope(question: Question, session: Session, services: Services) -> tuple[Question, Route]:
    """The question with a picked choice spelled out, and who answers it."""
    text = chosen(question.text, session.offered)
    past = Past(session.last_kind, session.pending)
    if question.options.get("form") is not None:
        return question, Route("data", 1.0, "a filled form", {})
    if (said := _said_kind(question)) is not None:
        return question.model_copy(update={"text": text}), Route(said, 1.0, "the caller said so", {})
    if (named := named_kind(text)) is not None and any(one.kind == named[0] for one in services.answerers):
        return question.model_copy(update={"text": named[1]}), Route(named[0], 1.0, "the person said so", {})
    if session.is_open and session.pending is None and is_said(text, services.lexicons.accepted):
        return question, Route(None, 1.0, TAKES, {})
    if _objects(text, session, services):
        return question, Route(None, 1.0, WRONG, {})
    if _liked(text, services) is not None:
        return question, Route(None, 1.0, PREFERS, {})
    if courtesy_of(text):
        return question, Route(None, 1.0, "a courtesy", {})
    if _owned(question.model_copy(update={"text": text}), services):
        return question.model_copy(update={"text": text}), Route(None, 1.0, OWNS, {})
    way = route(text, services.index, services.answerers, services.thresholds, past)
    return question.model_copy(update={"text": text}), way


def _said_kind(question: Question) -> AnswerKind | None:
    """The kind of question that the caller says it is, or that the given items are of; None where the words tell it.

    Raises UsageError for items that are none.
    """
    kind = question.options.get("kind")
    said = cast(AnswerKind, kind) if kind in get_args(AnswerKind) else None
    if (items := question.options.get("items")) is None:
        return said
    from bylaw.hold.item import kind_of_items  # models that only a caller's items need

    return cast("AnswerKind | None", kind_of_items(items, said))


def _objects(text: str, session: Session, services: Services) -> bool:
    """Does the person say that the last answer is wrong? Only behind an answer, and only with a word for it."""
    return session.last_request is not None and session.pending is None and objects(text, services.lexicons.wrong)


def _liked(text: str, services: Services) -> tuple[str, str] | None:
    """The preference that *text* says, and nothing else."""
    return services.lexicons.liked.get(bare(text))


def _owned(question: Question, services: Services) -> tuple[Owned, ...]:
    """What the question asks the owner of."""
    phrases = services.lexicons.ownership
    if not phrases:
        return ()
    today = services.index.local(question.asked_at).date()
    return owned_by_name(question.text, phrases, question.actor, services.index, today)


def _owners_told(question: Question, way: Route, services: Services) -> _Answered:
    found = _owned(question, services)
    text = "\n".join(one.line(services.index.rules.roles.stewards()) for one in found)
    reply = _say(question, services, "refusal", "answered", text)
    reply = reply.model_copy(update={"citations": tuple(one.source for one in found)})
    return _Answered(question, Turn(reply, {}), reply, way, None)


def _answerer(way: Route, services: Services) -> Answerer | None:
    return next((one for one in services.answerers if one.kind == way.kind), None)


def _answered(begun: _Begun, attempts: int, services: Services) -> _Answered:
    """The answer to what has begun, with what it came from."""
    mine = services.recalling(begun.recalled)
    answered = _answer(begun.question, begun.route, begun.session, attempts, mine, begun.recalled)
    return replace(answered, before=begun.session, recalled=begun.recalled)


def _noted(question: Question, way: Route, liked: tuple[str, str], recalled: Recalled, services: Services) -> _Answered:
    """A preference is remembered beside those that stand, and the person hears which those are."""
    text, standing = NOTED.format(what=in_words(*liked)), laid_over(recalled.preferences, liked)
    if len(standing) > 1:
        text += STANDING.format(all="; ".join(in_force(standing, services.index.rules)))
    reply = _say(question, services, "refusal", "answered", text)
    return _Answered(question, Turn(reply, {}), reply, way, None, retains=liked)


def _answer(
    question: Question,
    way: Route,
    session: Session,
    attempts: int,
    services: Services,
    recalled: Recalled = NOTHING,
) -> _Answered:
    """Let the answerer speak; what it raises as a BylawError becomes a reply that says so."""
    if attempts > services.max_attempts:
        text = f"I tried {attempts - 1} times to answer this and broke down each time. A person has to look at it."
        reply = _say(question, services, way.kind or "refusal", "escalated", text)
        return _Answered(question, Turn(reply, {}), reply, way, None, "too many attempts")
    answerer = _answerer(way, services)
    if answerer is None and way.reason == TAKES:
        reply = _say(question, services, "refusal", "answered", ACCEPTED)
        return _Answered(question, Turn(reply, {}), reply, way, None, takes=session.last_request)
    if answerer is None and way.reason == WRONG:
        return _objected(question, way, session, services)
    if answerer is None and way.reason == PREFERS and (liked := _liked(question.text, services)) is not None:
        return _noted(question, way, liked, recalled, services)
    if answerer is None and way.reason == OWNS:
        return _owners_told(question, way, services)
    if answerer is None and way.reason == BOTH:
        return _which(question, way, session, services)
    if answerer is None:
        text = refusal(services.index, services.answerers, question.text)
        reply = _say(question, services, "refusal", "answered" if courtesy_of(question.text) else "refused", text)
        offered = otherwise(question.text, services.index, services.answerers)
        reply = reply.model_copy(update={"choices": offered})
        waiting = replace(session, pending=reply.status, offered=offered) if offered else None
        return _Answered(question, Turn(reply, {}), reply, way, waiting)
    try:
        turn = answerer.answer(question, dict(session.states.get(answerer.kind, {})), services.index)
    except BylawError as error:
        status: ReplyStatus = "refused" if isinstance(error, UsageError | GateDenied) else "escalated"
        said = error.message if error.help is None else f"{error.message} ({error.help})"
        reply = _say(question, services, answerer.kind, status, f"I could not answer this: {said}")
        return _Answered(question, Turn(reply, {}), reply, way, None, said)
    reply = turn.spoken.model_copy(update=_names(question, services))
    return _Answered(
        question, turn, reply, way, None if turn.is_aside else _after(session, answerer.kind, turn, question)
    )


def _objected(question: Question, way: Route, session: Session, services: Services) -> _Answered:
    """What the person means is theirs to say; a model may fill in the form for them. Nothing changes here."""
    from bot.memory.proposed import Proposed, propose  # heavy, and hardly anybody objects

    named, kind = str(session.last_request), session.last_kind or "refusal"
    with services.store.reading() as connection:
        standing = kept.standing(connection, named)
    meant = Proposed() if standing is None else propose(question.text, standing, services)
    text, meta = OBJECTED, dict[str, Any]({CORRECTS: named})
    if meant.change is not None:
        text = UNDERSTOOD.format(change=change_in_words(meant.change))
        meta[PROPOSED] = meant.change.model_dump()
    reply = _say(question, services, kind, "needs_choice", text).model_copy(update={"meta": meta})  # type: ignore[arg-type]  # kept as text
    return _Answered(question, Turn(reply, {}, artifacts=meant.papers()), reply, way, None)


def _which(question: Question, way: Route, session: Session, services: Services) -> _Answered:
    """What both kinds may answer is asked about before either does."""
    text = "Our policies and our data both speak of this. Which do you mean?"
    reply = _say(question, services, "refusal", "needs_choice", text).model_copy(
        update={"choices": which(question.text)}
    )
    waiting = replace(session, pending=reply.status, offered=reply.choices, last_request=question.request_id)
    return _Answered(question, Turn(reply, {}), reply, way, waiting)


def _after(session: Session, kind: str, turn: Turn, question: Question) -> Session:
    """The session as the next turn will find it. A choice that names its kind is there, and nothing waits for it."""
    reply = turn.reply
    is_open = any(named_kind(one.value) is None for one in reply.offered)
    is_waiting = reply.status in _WAITING or reply.ask is not None or is_open
    return replace(
        session,
        last_kind=kind,
        pending=reply.status if is_waiting else None,
        offered=reply.offered,
        states={**session.states, kind: turn.state},
        last_request=question.request_id,
    )


def _keep(question: Question, held: Claim | None, answered: _Answered, started: datetime, services: Services) -> Reply:
    """Keep everything in one transaction, the artifacts before it. Raises _Lost or _MovedOn, having kept nothing.

    Without *held*, a claim, the request is kept with it.
    """
    reply = answered.reply
    papers = {name: written(text) for name, text in sorted(_papers(question, answered).items())}
    services.artifacts.before(papers.values())
    shelf = {name: one.name for name, one in papers.items()}
    if services.bundle_artifact is not None:
        shelf["bundle"] = services.bundle_artifact
    entry = _entry(question, answered, shelf, started, services.clock())
    drafted = audit.prepare(entry)  # before the chain is locked
    links, choice = _links(question, answered, services)
    with services.store.writing() as connection:
        now = services.clock()
        as_json, onward = Written(papers["reply"].text), road(reply)
        if held is None:
            is_ours = requests.keep(connection, question, reply, _SCOPED, onward, shelf, now, as_json, links)
        else:
            is_ours = requests.finish(connection, held, reply, onward, shelf, now, as_json, links)
        if not is_ours:
            raise _Lost
        if answered.session is not None and not sessions.save(connection, answered.session, now):
            raise _MovedOn
        frame = {**links.columns(), "choice": choice, "answer_ms": round((now - started).total_seconds() * 1000)}
        querylog.record(connection, question, reply, answered.turn.log, answered.route.confidence, now, frame)
        for before, outcome in _settled(links, answered):
            standing = requests.load(connection, before)
            if standing is not None and standing.question.actor.id == question.actor.id:
                note = f"{outcome} by {question.actor.id} in {question.request_id}"
                told = {"query": question.text, "by_request": question.request_id}
                settle(connection, standing, outcome, question.actor, services.clock, note, told)
        if answered.retains is not None:
            retain(connection, question.actor.id, answered.retains, question.request_id, now)
        for person in answered.turn.tells:
            if person != question.actor.id:
                deliveries.notify(connection, person, question.request_id, "answered", _news(question, reply), now)
        services.artifacts.within(connection, papers.values())
        rows = marks.of_request(connection, question.request_id, "requests", "query_log")
        if answered.session is not None:
            whose = {"session_id": answered.session.session_id, "actor_id": answered.session.actor_id}
            rows |= marks.of_row(connection, "sessions", whose)
        appended = audit.append(connection, drafted, services.clock, question.request_id, rows)
    services.anchor(after(appended))
    return reply


def _links(question: Question, answered: _Answered, services: Services) -> tuple[Links, int | None]:
    """The requests that this one goes on from, and which of the offered readings was picked."""
    session = answered.before
    named = question.options.get(REVISES)
    if not answered.is_given or answered.takes is not None or session is None:
        return Links(), None
    if isinstance(named, str):
        return Links(revises=named), None
    if session.pending in ("needs_choice", "needs_fact"):
        choice = picked(question.text, session.offered)
        is_answer = choice is not None or session.pending == "needs_fact" or question.options.get("form") is not None
        if is_answer and session.last_kind in (None, answered.route.kind):
            return Links(clarifies=session.last_request), choice
    if session.is_open and opens(question.text, services.lexicons.revised) and answered.route.kind == session.last_kind:
        return Links(revises=session.last_request), None
    return Links(), None


def _settled(links: Links, answered: _Answered) -> Iterator[tuple[str, Outcome]]:
    """The requests before this one that it ends, and how."""
    if answered.takes is not None:
        yield answered.takes, Outcome.ACCEPTED
    if links.revises is not None:
        yield links.revises, Outcome.REVISED


def _news(question: Question, reply: Reply) -> str:
    """What is told to those who have to hear of an answer: who asked what, without any figure of it."""
    if reply.status == "escalated":
        return f"{question.actor.id} asked what only a person may answer: “{question.text}” ({question.request_id})."
    return f"{question.actor.id} was answered at level {reply.level}: “{question.text}” ({question.request_id})."


def _papers(question: Question, answered: _Answered) -> dict[str, str]:
    """What is kept beside the request's row, as JSON: the question and its route, the turn's own papers, the reply."""
    way = answered.route
    request = {
        "question": question.model_dump(mode="json"),
        "read_as": answered.question.text,
        "route": {"kind": way.kind, "confidence": way.confidence, "reason": way.reason, "scores": dict(way.scores)},
        "session": None if answered.before is None else sessions.carried(answered.before),
        **({"recalled": recalled_json(answered.recalled)} if answered.recalled else {}),
    }
    return {**answered.turn.papers, "request": spelled(request), "reply": spelled(sayable(answered.reply))}


def _entry(
    question: Question, answered: _Answered, shelf: dict[str, str], started: datetime, now: datetime
) -> dict[str, Any]:
    """The audit entry of a reply: the fields of seed 001, and what ties it to the bundle and the artifacts."""
    reply, log = answered.reply, answered.turn.log
    return {
        "event": "reply",
        "request_id": question.request_id,
        "session_id": question.session_id,
        "actor": question.actor.model_dump(),
        "query": question.text,
        "kind": reply.kind,
        "domain": log.get("domain"),
        "compliance_score": sayable(log.get("compliance_score")),
        "final_action": reply.status,
        "level": reply.level,
        "duration_ms": int((now - started).total_seconds() * 1000),
        "bundle_etag": reply.bundle_etag,
        "commit": reply.commit,
        "reply": shelf["reply"],
        "artifacts": shelf,
        "error": answered.error,
        **({"models": models} if (models := _models(answered)) else {}),
        **(_decided(reply, log) if reply.kind == "policy" else {}),
    }


def _models(answered: _Answered) -> list[dict[str, Any]]:
    """The language models that were asked, each by the fingerprint of what it was asked, and how it was chosen."""
    papers = answered.turn.artifacts
    asked = [papers[name] for name in sorted(papers) if name.startswith("model_")]
    return [
        {**one.get("choice", {}), "model": (one["completion"] or {}).get("model"), "prompt": one["fingerprint"]}
        for one in asked
    ]


def _decided(reply: Reply, log: Mapping[str, Any]) -> dict[str, Any]:
    """The case, the action that was given for each outcome, and what was said of other actions.

    For whoever decides the recorded case anew. None: it was asked about, and the answer was that nothing decides it.
    """
    given = {
        name: _action(said) if isinstance(said, Mapping) else said for name, said in sorted(reply.outcomes.items())
    }
    outcomes = {**dict.fromkeys(log.get("undecided", ())), **given}
    return {"facts": sayable(reply.facts), "outcomes": outcomes, "duties": dict(log.get("duties", {}))}


def _action(said: Mapping[str, Any]) -> str | None:
    """The action of an outcome; one that was given because facts were declined is decided by nobody."""
    return None if "declined" in said else said.get("action")


def rebuild(
    question: Question, session: Session, services: Services, recalled: Recalled = NOTHING
) -> tuple[Reply, Mapping[str, str]]:
    """The reply that *services* give to *question* in *session*, with what was *recalled* then, and the papers that
    belong to it; nothing is kept.
    """
    mine = services.recalling(recalled)
    chosen_question, way = _scope(question, session, mine)
    found = _answer(chosen_question, way, session, 1, mine, recalled)
    return found.reply, found.turn.papers


@contextmanager
def _recorded(question: Question, held: Claim, services: Services) -> Iterator[None]:
    """Whatever ends an attempt without a reply is written down with the request before it goes on to the caller."""
    try:
        yield
    except _Lost:
        raise
    except BaseException as error:
        failure, entry = f"{type(error).__name__}: {error}"[:500], None
        # The store itself may be what failed; then the lease runs out by itself.
        with suppress(StoreError), services.store.writing() as connection:
            now = services.clock()
            if requests.fail(connection, held, failure, now):
                named = {"request_id": question.request_id, "session_id": question.session_id}
                body = {"event": "failed", **named, "actor": question.actor.model_dump(), "query": question.text}
                etag = {"bundle_etag": services.bundle_etag, "commit": services.commit}
                papers = {} if services.bundle_artifact is None else {"bundle": services.bundle_artifact}
                told = {**body, **etag, "artifacts": papers, "error": failure}
                entry = audit.append(connection, told, services.clock, question.request_id)
        if entry is not None:
            services.anchor(after(entry))
        raise


def _wait(question: Question, services: Services) -> Reply:
    """Another process answers this very request: give its reply, or take over when it broke down."""
    for _ in range(max(1, round(services.wait_seconds / _POLL_SECONDS))):
        with services.store.reading() as connection:
            standing = kept.standing(connection, question.request_id)
        if standing is not None and standing.reply is not None:
            services.store.last()
            return standing.reply
        if standing is None or not standing.is_held(services.clock()):
            return handle(question, services)
        services.pause(_POLL_SECONDS)
    text = "This request is still being answered. Ask again with the same request id."
    return _say(question, services, "refusal", "pending", text)


def _say(question: Question, services: Services, kind: ReplyKind, status: ReplyStatus, text: str) -> Reply:
    """A reply of the frame itself."""
    return Reply(kind=kind, status=status, text=text, **_names(question, services))


def _names(question: Question, services: Services) -> dict[str, Any]:
    """What a reply is signed with: the names of its request, and of the bundle it comes from."""
    return {
        "request_id": question.request_id,
        "session_id": question.session_id,
        "bundle_etag": services.bundle_etag,
        "commit": services.commit,
    }
