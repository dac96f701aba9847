"""Who asks over HTTP, and what: the parts that the bodies of many endpoints share."""

from __future__ import annotations

from typing import Annotated, Any, Literal

from fastapi import Query, Request, Response
from pydantic import BaseModel, ConfigDict, Field

from bot.conversation import Actor, Question, moment, sayable, told_json
from bot.delivery.http.frame import asker, named
from bot.delivery.http.wording import QuestionText
from bot.evidence.store.columns import ID_LENGTH
from bot.services import Services

Id = Annotated[str, Field(min_length=1, max_length=ID_LENGTH)]
UserQuery = Annotated[str | None, Query(max_length=ID_LENGTH)]


class Body(BaseModel):
    """What is posted: keys that nobody knows are refused."""

    model_config = ConfigDict(frozen=True, extra="forbid")


class ByUser(Body):
    """What somebody posts; `user` counts where nobody else says who asks."""

    user: Id | None = None


class Asked(ByUser):
    """A question in words; `at` is the time that it is asked at."""

    text: QuestionText
    request_id: Id | None = None
    at: Annotated[str, Field(max_length=40)] | None = None


def actor_of(request: Request, user: str | None, kind: Literal["human", "agent"] = "human") -> Actor:
    """Who asks: whom the frame knows, else whom the request names, else nobody known."""
    return Actor(id=asker(request, user) or "anonymous", type=kind)


def question_of(
    body: Asked, request: Request, services: Services, kind: Literal["human", "agent"] = "agent", **more: Any
) -> Question:
    """The question of *body*; without a session it is a conversation of its own."""
    request_id = named(request, body.request_id)
    given = {"session_id": request_id, "request_id": request_id, **more}
    asked_at = moment(body.at) if body.at else services.clock()
    return Question(text=body.text, actor=actor_of(request, body.user, kind), asked_at=asked_at, **given)


def as_json(value: Any) -> Response:
    """*value* as the JSON that people read."""
    return Response(told_json(sayable(value)), media_type="application/json")
