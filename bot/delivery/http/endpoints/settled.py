"""`POST /v2/requests/{id}/accept`, `/revise` and `/feedback`: what a person makes of an answer.

Who asked may, and who stewards the shared knowledge; only who asked puts the question in other words. To everybody else
there is no such request.
"""

from __future__ import annotations

from functools import partial
from threading import Event
from typing import Annotated

from fastapi import FastAPI, HTTPException, Request, Response
from fastapi.responses import JSONResponse
from pydantic import BaseModel, ConfigDict, Field

from bot.conversation import MAX_TEXT, Actor, Question, Reply, spoken_json
from bot.delivery.http.attention import attended
from bot.delivery.http.frame import asker, named
from bot.evidence.store.columns import ID_LENGTH
from bot.evidence.store.tables.corrections import CorrectionType
from bot.evidence.store.tables.remarks import Verdict
from bot.evidence.store.tables.requests import Standing
from bot.memory.corrections import LONGEST_REASON, Given, correct
from bot.request import acceptance
from bot.request.orchestrator import REVISES, handle
from bot.services import Serving

Id = Annotated[str, Field(min_length=1, max_length=ID_LENGTH)]
Part = Annotated[str, Field(max_length=2_000)]
_UNKNOWN = HTTPException(404, "there is no such request")


class Taken(BaseModel):
    """Who takes the answer, where nobody else says who asks."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    user: Id | None = None


class Revised(Taken):
    """The question in other words. Its own id is for asking it again after a broken connection."""

    text: Annotated[str, Field(min_length=1, max_length=MAX_TEXT)]
    request_id: Id | None = None


class Correction(BaseModel):
    """What would be right, as `POST /v2/corrections` takes it."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    object: Part = ""
    field: Part = ""
    new: Part = ""
    reason: Annotated[str, Field(min_length=1, max_length=LONGEST_REASON)]
    type: CorrectionType | None = None


class Said(Taken):
    """What somebody thinks of an answer. A correction in it is kept like any other: it changes only their answers."""

    verdict: Verdict
    text: Annotated[str, Field(max_length=MAX_TEXT)] | None = None
    correction: Correction | None = None


_ANYBODY = Taken()


def install(app: FastAPI, serving: Serving) -> None:
    """Add the endpoints to *app*."""

    @app.post("/v2/requests/{request_id}/accept")
    def accept(request_id: str, request: Request, body: Taken = _ANYBODY) -> Response:
        """Take the answer as it is."""
        done = acceptance.accept(request_id, _actor(request, body), serving.services())
        if not done.is_visible:
            raise _UNKNOWN
        return JSONResponse({"request_id": request_id, "accepted": done.is_accepted, "text": done.text})

    @app.post("/v2/requests/{request_id}/revise", response_model=Reply)
    async def revise(request_id: str, request: Request, body: Revised) -> Response:
        """Put the question in other words; the answer to it takes the place of the one before."""
        return await attended(request, partial(revised, request_id, request, body))

    def revised(request_id: str, request: Request, body: Revised, gone: Event) -> Response:
        services, actor = serving.services().until(gone), _actor(request, body)
        before = _standing(request_id, actor, serving).question
        if before.actor.id != actor.id:
            raise _UNKNOWN
        question = Question(
            text=body.text,
            actor=before.actor,
            asked_at=services.clock(),
            session_id=before.session_id,
            request_id=named(request, body.request_id),
            options={REVISES: request_id},
        )
        return Response(spoken_json(handle(question, services)), media_type="application/json")

    @app.post("/v2/requests/{request_id}/feedback")
    def feedback(request_id: str, request: Request, body: Said) -> Response:
        """Say what you think of the answer."""
        services, actor = serving.services(), _actor(request, body)
        standing = _standing(request_id, actor, serving)
        made, told = body.correction, {}
        if made is not None:
            given = Given(request_id, made.type, made.object, made.field, made.new, made.reason)
            told = {"correction": correct(given, actor, services).text}
        correction = None if made is None else made.model_dump()
        is_new = acceptance.say(standing, actor, services, body.verdict, body.text, correction)
        return JSONResponse({"request_id": request_id, "kept": True, "new": is_new, **told})


def _standing(request_id: str, actor: Actor, serving: Serving) -> Standing:
    found = acceptance.standing_for(request_id, actor, serving.services())
    if found is None:
        raise _UNKNOWN
    return found


def _actor(request: Request, body: Taken) -> Actor:
    user = asker(request, body.user)
    return Actor(id=user) if user else Actor()
