"""`POST /v2/objections`: a policy or decision answer is wrong; `GET` shows what waits, `…/{id}/settle` answers it."""

from __future__ import annotations

from typing import Annotated

from fastapi import FastAPI, Request, Response
from fastapi.responses import JSONResponse
from pydantic import BaseModel, Field

from bot.delivery.http import bodies
from bot.delivery.http.asking import ByUser, Id, UserQuery, actor_of
from bot.memory.corrections import LONGEST_REASON
from bot.request import objections
from bot.services import Serving

PATH = "/v2/objections"
Said = Annotated[str, Field(min_length=1, max_length=LONGEST_REASON)]


class Objected(ByUser):
    """What is wrong about the answer to a request; `source` counts its sources from 0."""

    request_id: Id
    reason: Said
    source: Annotated[int, Field(ge=0, le=10_000)] | None = None


class Settled(ByUser):
    """The answer to an objection."""

    text: Said


class Told(BaseModel):
    """What became of it, in words."""

    request_id: str
    text: str


def install(app: FastAPI, serving: Serving) -> None:
    """Add the endpoints to *app*."""

    def objected(body: Objected, request: Request) -> Response:
        """Keep an objection: it goes to who owns what the answer rests on."""
        actor = actor_of(request, body.user)
        text = objections.object_to(body.request_id, body.reason, actor, serving.services(), body.source)
        return JSONResponse({"request_id": body.request_id, "text": text})

    bodies.install(app, PATH, objected, Told)

    @app.get(PATH)
    def waiting(request: Request, user: UserQuery = None) -> Response:
        """What waits for who asks: of rules that they own, to a steward everything."""
        found = objections.waiting(actor_of(request, user), serving.services())
        return JSONResponse({"objections": [one.document() for one in found]})

    @app.post(PATH + "/{objection_id}/settle")
    def settle(objection_id: Id, request: Request, body: Settled) -> Response:
        """Answer it: who objected is told."""
        found = objections.settle(objection_id, body.text, actor_of(request, body.user), serving.services())
        return JSONResponse({"objection": found.objection_id, "settled": True})
