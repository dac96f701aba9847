"""`POST /v2/enforce`: the verdict on any assistant's answer, whole or, as server-sent events, sentence by sentence.

Every verdict is in the audit chain before anybody reads it; a stream is recorded with its last event.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Annotated, Any

from fastapi import FastAPI, Request, Response
from fastapi.responses import StreamingResponse
from pydantic import BaseModel, ConfigDict, Field

from bot.cases import read_facts
from bot.conversation import MAX_TEXT, Actor, Question, moment, sayable
from bot.enforcement.author import Opinion, opinion_of
from bot.enforcement.enforce import MAX_RESPONSE, Passed, check_readable, enforce, stream
from bot.enforcement.sentences import split
from bot.enforcement.verdict import ComplianceDecision
from bot.recording import record
from bot.services import Services, Serving
from bot.settings import Settings
from bot.store.columns import ID_LENGTH, check_ids

_EVENTS = "text/event-stream"
Id = Annotated[str, Field(min_length=1, max_length=ID_LENGTH)]


class Answered(BaseModel):
    """A question and the answer that somebody wants to give. `facts` are what is known of the case otherwise."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    query: Annotated[str, Field(min_length=1, max_length=MAX_TEXT)]
    response: Annotated[str, Field(min_length=1, max_length=MAX_RESPONSE)]
    facts: dict[str, Any] = Field(default_factory=dict)
    user: Id | None = None
    request_id: Id | None = None
    at: Annotated[str, Field(max_length=40)] | None = None


def install(app: FastAPI, serving: Serving, settings: Settings) -> None:
    """Add the endpoint to *app*."""

    @app.post("/v2/enforce", response_model=ComplianceDecision)
    def enforced(body: Answered, request: Request) -> Response:
        """Hold an answer against the policies."""
        services = serving.services()
        if body.request_id is not None:
            request.state.request_id = body.request_id
        question = _question(body, str(request.state.request_id), settings, services)
        facts = read_facts(body.facts, services.index)
        opinion = opinion_of(services.index, services.llm)
        if _EVENTS in request.headers.get("accept", ""):
            parts = stream(question, split(body.response), services.index, facts, opinion.judge)
            return StreamingResponse(_events(parts, question, services, opinion), media_type=_EVENTS)
        started = services.clock()
        found = enforce(question, body.response, services.index, facts, opinion.judge)
        record(found, question, services, started, opinion.papers())
        return Response(spoken(found), media_type="application/json")


def _question(body: Answered, request_id: str, settings: Settings, services: Services) -> Question:
    check_readable(body.query, body.response)
    user = settings.token_user if settings.token is not None else body.user
    question = Question(
        text=body.query,
        actor=Actor(id=user or "anonymous", type="agent"),
        asked_at=moment(body.at) if body.at else services.clock(),
        session_id=request_id,
        request_id=request_id,
    )
    check_ids(question)
    return question


def _events(
    parts: Iterator[Passed | ComplianceDecision], question: Question, services: Services, opinion: Opinion
) -> Iterator[str]:
    """A `sentence` event for each that may leave, then the `decision`."""
    started = services.clock()
    for part in parts:
        if isinstance(part, Passed):
            yield f"event: sentence\ndata: {json.dumps({'text': part.text}, ensure_ascii=False)}\n\n"
        else:
            record(part, question, services, started, opinion.papers())
            yield f"event: decision\ndata: {spoken(part)}\n\n"


def spoken(found: ComplianceDecision) -> str:
    """The one JSON document of a verdict."""
    return json.dumps(sayable(found), ensure_ascii=False, allow_nan=False)
