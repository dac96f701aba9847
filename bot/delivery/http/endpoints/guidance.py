"""`POST /v2/guidance`: what an answer to a question may rest on, before anybody writes it."""

from __future__ import annotations

from typing import Annotated, Any

from fastapi import FastAPI, Request, Response
from pydantic import BaseModel, ConfigDict, Field

from bot.conversation import Actor, Question, moment, sayable, told_json
from bot.delivery.http import bodies
from bot.delivery.http.frame import asker, named
from bot.delivery.http.wording import QuestionText
from bot.enforcement.enforce import check_readable
from bot.enforcement.guidance import Guidance, guide
from bot.evidence.store.columns import ID_LENGTH, check_ids
from bot.request.cases import read_facts
from bot.services import Serving

PATH = "/v2/guidance"
Id = Annotated[str, Field(min_length=1, max_length=ID_LENGTH)]


class Wanted(BaseModel):
    """A question that somebody is about to answer. `facts` are what is known of the case beyond its words."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    text: QuestionText
    facts: dict[str, Any] = Field(default_factory=dict)
    user: Id | None = None
    at: Annotated[str, Field(max_length=40)] | None = None


def install(app: FastAPI, serving: Serving) -> None:
    """Add the endpoint to *app*."""

    def guided(body: Wanted, request: Request) -> Response:
        """Say which policies speak, what must be told, and what must never be said or done."""
        services = serving.services()
        check_readable(body.text)
        request_id = named(request, None)
        user = asker(request, body.user)
        question = Question(
            text=body.text,
            actor=Actor(id=user or "anonymous", type="agent"),
            asked_at=moment(body.at) if body.at else services.clock(),
            session_id=request_id,
            request_id=request_id,
        )
        check_ids(question)
        found = guide(question, services.index, read_facts(body.facts, services.index))
        return Response(told_json(sayable(found)), media_type="application/json")

    bodies.install(app, PATH, guided, Guidance)
