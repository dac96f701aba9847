"""`POST /v2/corrections`: somebody says that an answer is wrong; `GET /v2/requests/{id}/correctable`: what may be."""

from __future__ import annotations

from typing import Annotated, Any
from urllib.parse import quote

from fastapi import FastAPI, Request, Response
from pydantic import BaseModel, Field

from bot.conversation import CORRECTS, Reply
from bot.delivery.http import bodies
from bot.delivery.http.asking import ByUser, Id, UserQuery, actor_of, as_json
from bot.evidence.store.tables.corrections import CorrectionType
from bot.memory import offered
from bot.memory.corrections import LONGEST_REASON, Given, correct
from bot.services import Serving

PATH = "/v2/corrections"
Said = Annotated[str, Field(max_length=2_000)]


class Wrong(ByUser):
    """What is wrong about the answer to a request. Of a permission only the reason counts."""

    request_id: Id
    object: Said = ""
    field: Said = ""
    new: Said = ""
    reason: Annotated[str, Field(min_length=1, max_length=LONGEST_REASON)]
    type: CorrectionType | None = None


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
        given = Given(body.request_id, body.type, body.object, body.field, body.new, body.reason)
        noted = correct(given, actor_of(request, body.user), serving.services())
        return as_json(offered.told(noted))

    bodies.install(app, PATH, corrected, Kept)

    @app.get("/v2/requests/{request_id}/correctable")
    def correctable(request_id: str, request: Request, user: UserQuery = None) -> Response:
        """What may be corrected about an answer, with what it says now."""
        actor, services = actor_of(request, user), serving.services()
        meant = offered.meant(request_id, actor, services)
        found = offered.of(meant.request_id, actor, services)
        return as_json(offered.listed(found, meant))
