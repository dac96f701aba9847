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
from pydantic import Field

from bot.conversation import MAX_TEXT, Actor, Reply, spoken_json
from bot.delivery.http.asking import Body, ByUser, Id, actor_of
from bot.delivery.http.attention import attended
from bot.delivery.http.frame import named
from bot.evidence.store.tables.corrections import CorrectionType
from bot.evidence.store.tables.remarks import Verdict
from bot.evidence.store.tables.requests import Standing
from bot.memory.corrections import LONGEST_REASON, Given, correct
from bot.request import acceptance
from bot.request.orchestrator import REVISES, handle
from bot.services import Serving

Part = Annotated[str, Field(max_length=2_000)]
_UNKNOWN = HTTPException(404, "there is no such request")


class Revised(ByUser):
    """The question in other words. Its own id is for asking it again after a broken connection."""

    text: Annotated[str, Field(min_length=1, max_length=MAX_TEXT)]
    request_id: Id | None = None


class Correction(Body):
    """What would be right, as `POST /v2/corrections` takes it."""

    object: Part = ""
    field: Part = ""
    new: Part = ""
    reason: Annotated[str, Field(min_length=1, max_length=LONGEST_REASON)]
    type: CorrectionType | None = None


class Said(ByUser):
    """What somebody thinks of an answer. A correction in it is kept like any other: it changes only their answers."""

    verdict: Verdict
    text: Annotated[str, Field(max_length=MAX_TEXT)] | None = None
    correction: Correction | None = None


_ANYBODY = ByUser()


def install(app: FastAPI, serving: Serving) -> None:
    """Add the endpoints to *app*."""

    @app.post("/v2/requests/{request_id}/accept")
    def accept(request_id: str, request: Request, body: ByUser = _ANYBODY) -> Response:
        """Take the answer as it is."""
        done = acceptance.accept(request_id, actor_of(request, body.user), serving.services())
        if not done.is_visible:
            raise _UNKNOWN
        return JSONResponse({"request_id": request_id, "accepted": done.is_accepted, "text": done.text})

    @app.post("/v2/requests/{request_id}/revise", response_model=Reply)
    async def revise(request_id: str, request: Request, body: Revised) -> Response:
        """Put the question in other words; the answer to it takes the place of the one before."""
        return await attended(request, partial(revised, request_id, request, body))

    def revised(request_id: str, request: Request, body: Revised, gone: Event) -> Response:
        services, actor = serving.services().until(gone), actor_of(request, body.user)
        before = _standing(request_id, actor, serving).question
        if before.actor.id != actor.id:
            raise _UNKNOWN
        named_so = {"request_id": named(request, body.request_id), "options": {REVISES: request_id}}
        question = before.model_copy(update={"text": body.text, "asked_at": services.clock(), **named_so})
        return Response(spoken_json(handle(question, services)), media_type="application/json")

    @app.post("/v2/requests/{request_id}/feedback")
    def feedback(request_id: str, request: Request, body: Said) -> Response:
        """Say what you think of the answer."""
        services, actor = serving.services(), actor_of(request, body.user)
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
