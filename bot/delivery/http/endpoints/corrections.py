"""`POST /v2/corrections`: somebody says that an answer is wrong; `GET /v2/requests/{id}/correctable`: what may be."""

from __future__ import annotations

from typing import Annotated, Any
from urllib.parse import quote

from fastapi import FastAPI, Query, Request, Response
from pydantic import BaseModel, ConfigDict, Field

from bot.conversation import CORRECTS, Actor, Reply, sayable, told_json
from bot.delivery.http import bodies
from bot.delivery.http.frame import asker
from bot.evidence.store.columns import ID_LENGTH
from bot.evidence.store.tables.corrections import CorrectionType
from bot.memory import offered
from bot.memory.corrections import LONGEST_REASON, Given, correct
from bot.services import Serving

PATH = "/v2/corrections"
Id = Annotated[str, Field(min_length=1, max_length=ID_LENGTH)]
Said = Annotated[str, Field(max_length=2_000)]


class Wrong(BaseModel):
    """What is wrong about the answer to a request. Of a permission only the reason counts."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    request_id: Id
    object: Said = ""
    field: Said = ""
    new: Said = ""
    reason: Annotated[str, Field(min_length=1, max_length=LONGEST_REASON)]
    type: CorrectionType | None = None
    user: Id | None = None


class Kept(BaseModel):
    """What became of it (seed 004, B.2)."""

    correction_id: str
    correction_type: CorrectionType
    object: str | None
    field: str | None
    original: Any
    corrected: Any
    routing: dict[str, str]
    personal_memory: dict[str, bool]
    is_new: bool
    text: str


def link(reply: Reply) -> dict[str, str]:
    """The header that says where to correct *reply*; none under what asks back or refuses."""
    if reply.kind == "refusal" or not (reply.status in ("answered", "recommended") or CORRECTS in (reply.meta or {})):
        return {}
    return {"Link": f'</v2/requests/{quote(reply.request_id, safe="")}/correctable>; rel="edit-form"'}


def install(app: FastAPI, serving: Serving) -> None:
    """Add both endpoints to *app*."""

    def corrected(body: Wrong, request: Request) -> Response:
        """Keep a correction: it changes the answers of who makes it, and of nobody else."""
        user = asker(request, body.user)
        given = Given(body.request_id, body.type, body.object, body.field, body.new, body.reason)
        noted = correct(given, Actor(id=user) if user else Actor(), serving.services())
        return Response(told_json(sayable(offered.told(noted))), media_type="application/json")

    bodies.install(app, PATH, corrected, Kept)

    @app.get("/v2/requests/{request_id}/correctable")
    def correctable(
        request_id: str, request: Request, user: Annotated[str | None, Query(max_length=ID_LENGTH)] = None
    ) -> Response:
        """What may be corrected about an answer, with what it says now."""
        name = asker(request, user)
        actor, services = Actor(id=name) if name else Actor(), serving.services()
        meant = offered.meant(request_id, actor, services)
        found = offered.of(meant.request_id, actor, services)
        return Response(told_json(offered.listed(found, meant)), media_type="application/json")
