"""`POST /v2/enforce`: the verdict on any assistant's answer, whole or, as server-sent events, sentence by sentence.

Every verdict is in the audit chain before anybody reads it; a stream is recorded with its last event. An answer that is
still being written comes as JSON lines: `bot.delivery.http.written`.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Iterator
from typing import Annotated, Any

from fastapi import FastAPI, Request, Response
from fastapi.responses import StreamingResponse
from pydantic import Field
from starlette.concurrency import run_in_threadpool

from bot.claims.models import MOST_CLAIMS, Claim
from bot.conversation import Question, told_json
from bot.delivery.http import bodies
from bot.delivery.http.asking import Asked, question_of
from bot.delivery.http.wording import deprecation
from bot.delivery.http.written import LINES, PATH, LinesRoute, Written, answer, as_event, as_line, as_part, read
from bot.delivery.http.written import lines as written_lines
from bot.enforcement.author import opinion_of
from bot.enforcement.enforce import MAX_RESPONSE, Passed, Watch, check_readable, enforce
from bot.enforcement.judged.verdict import ComplianceDecision
from bot.enforcement.writing.sentences import split
from bot.evidence.recording import record
from bot.evidence.store.columns import check_ids
from bot.request.cases import read_facts
from bot.services import Services, Serving
from bot.settings import Settings

_EVENTS = "text/event-stream"
Kept = Callable[[ComplianceDecision], None]


class EnforceQuestion(Asked):
    """A question that somebody is about to answer. `facts` are what is known of the case otherwise."""

    facts: dict[str, Any] = Field(default_factory=dict)


class Answered(EnforceQuestion):
    """A question and the answer that somebody wants to give; `claims` say what it says."""

    response: Annotated[str, Field(min_length=1, max_length=MAX_RESPONSE)]
    claims: Annotated[tuple[Claim, ...], Field(max_length=MOST_CLAIMS)] | None = None


def install(app: FastAPI, serving: Serving, settings: Settings) -> None:
    """Add the endpoint to *app*."""

    def enforced(body: Answered, request: Request) -> Response:
        """Hold an answer against the policies."""
        services = serving.services()
        check_readable(body.text, body.response)
        question = _question(body, request, services)
        facts = read_facts(body.facts, services.index)
        opinion = opinion_of(services.index, services.llm)
        started = services.clock()

        def kept(found: ComplianceDecision) -> None:
            record(found, question, services, started, opinion.papers())

        is_event = _EVENTS in request.headers.get("accept", "")
        if is_event and body.claims is not None:  # the whole is known, and what it says: it is judged at once
            found = enforce(question, body.response, services.index, facts, opinion.judge, body.claims)
            said = split(body.response) if found.action == "pass" else []
            kept(found)
            parts: list[Passed | ComplianceDecision] = [*map(Passed, said), found]
            events = (as_event(*as_part(part)) for part in parts)
            return StreamingResponse(events, media_type=_EVENTS)
        if is_event:
            watch = Watch(question, services.index, facts, opinion.judge, opinion.reader)
            return StreamingResponse(_events(watch, split(body.response), kept), media_type=_EVENTS)
        found = enforce(question, body.response, services.index, facts, opinion.judge, body.claims, opinion.reader)
        told = record(found, question, services, started, opinion.papers())
        return Response(told_json(told), media_type="application/json")

    async def written(request: Request) -> Response:
        """Hold an answer against the policies while it is being written."""
        body = written_lines(request, settings.max_body_bytes)
        first = await anext(body, b"")
        asked = read(EnforceQuestion, first, "the first line")
        services = await run_in_threadpool(serving.services)
        check_readable(asked.text)
        question, started = _question(asked, request, services), services.clock()
        opinion = opinion_of(services.index, services.llm)
        facts = read_facts(asked.facts, services.index)
        watch = await run_in_threadpool(Watch, question, services.index, facts, opinion.judge, opinion.reader)

        def kept(found: ComplianceDecision) -> None:
            record(found, question, services, started, opinion.papers())

        is_event = _EVENTS in request.headers.get("accept", "")
        told, kind = (as_event, _EVENTS) if is_event else (as_line, LINES)
        lines_of_answer = answer(body, watch, kept, told, question.request_id)
        return Written(lines_of_answer, media_type=kind, headers=deprecation(asked, json.loads(first)))

    bodies.install(app, PATH, enforced, ComplianceDecision)
    app.router.routes.insert(0, LinesRoute(PATH, written, methods=["POST"]))


def _question(body: EnforceQuestion, request: Request, services: Services) -> Question:
    question = question_of(body, request, services)
    check_ids(question)
    return question


def _events(watch: Watch, sentences: Iterable[str], kept: Kept) -> Iterator[str]:
    """A `sentence` event for each that may leave, then the `decision`; kept also where nobody listens to the end."""
    is_kept = False
    try:
        for part in watch.all(sentences):
            if isinstance(part, ComplianceDecision):
                kept(part)
                is_kept = True
            yield as_event(*as_part(part))
    finally:
        if not is_kept:
            kept(watch.cut())
