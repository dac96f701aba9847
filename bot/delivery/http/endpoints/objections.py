"""`POST /v2/objections`: a policy or decision answer is wrong; `GET` shows what waits, `…/{id}/settle` answers it."""

from __future__ import annotations

from typing import Annotated

from fastapi import FastAPI, Query, Request, Response
from fastapi.responses import JSONResponse
from pydantic import BaseModel, ConfigDict, Field

from bot.conversation import Actor
from bot.delivery.http import bodies
from bot.delivery.http.frame import asker
from bot.evidence.store.columns import ID_LENGTH
from bot.memory.corrections import LONGEST_REASON
from bot.request import objections
from bot.services import Serving

PATH = "/v2/objections"
Id = Annotated[str, Field(min_length=1, max_length=ID_LENGTH)]
Said = Annotated[str, Field(min_length=1, max_length=LONGEST_REASON)]


class Objected(BaseModel):
    """What is wrong about the answer to a request; `source` counts its sources from 0."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    request_id: Id
    reason: Said
    source: Annotated[int, Field(ge=0, le=10_000)] | None = None
    user: Id | None = None


class Settled(BaseModel):
    """The answer to an objection."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    text: Said
    user: Id | None = None


class Told(BaseModel):
    """What became of it, in words."""

    request_id: str
    text: str


def install(app: FastAPI, serving: Serving) -> None:
    """Add the endpoints to *app*."""

    def objected(body: Objected, request: Request) -> Response:
        """Keep an objection: it goes to who owns what the answer rests on."""
        actor = _actor(request, body.user)
        text = objections.object_to(body.request_id, body.reason, actor, serving.services(), body.source)
        return JSONResponse({"request_id": body.request_id, "text": text})

    bodies.install(app, PATH, objected, Told)

    @app.get(PATH)
    def waiting(request: Request, user: Annotated[str | None, Query(max_length=ID_LENGTH)] = None) -> Response:
        """What waits for who asks: of rules that they own, to a steward everything."""
        found = objections.waiting(_actor(request, user), serving.services())
        return JSONResponse({"objections": [one.document() for one in found]})

    @app.post(PATH + "/{objection_id}/settle")
    def settle(objection_id: Id, request: Request, body: Settled) -> Response:
        """Answer it: who objected is told."""
        found = objections.settle(objection_id, body.text, _actor(request, body.user), serving.services())
        return JSONResponse({"objection": found.objection_id, "settled": True})


def _actor(request: Request, user: str | None) -> Actor:
    name = asker(request, user)
    return Actor(id=name) if name else Actor()
