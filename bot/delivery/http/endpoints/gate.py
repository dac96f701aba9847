"""The gate over HTTP: `POST /v2/decide` and `/v2/events`, `/v2/tools`, and OpenID AuthZEN.

With a token the actor is whom it belongs to; without one everybody on this machine is the host.
"""

from __future__ import annotations

import asyncio
from typing import Annotated, Any, Literal

from fastapi import FastAPI, Request, Response
from pydantic import BaseModel, Field, model_validator

from bot.conversation import told_json
from bot.delivery.http import bodies
from bot.delivery.http.asking import Body, Id
from bot.delivery.http.endpoints import authzen
from bot.delivery.http.frame import asker
from bot.gate.decision_point import StoreDecisionPoint
from bot.gate.gates import decision_point_of
from bot.services import Serving
from bylaw.gate.decision_point import call_of

Names = Annotated[dict[str, Any], Field(max_length=200)]
MOST_NAME = 200  # characters of a tool's or an action's name


class Session(Body):
    """A session, and what the host vouches for in it."""

    id: Id | None = None
    facts: Names = Field(default_factory=dict)


class DecideBody(Body):
    """A call that somebody wants to make."""

    actor: Id | None = None
    action: Annotated[str, Field(min_length=1, max_length=MOST_NAME)] | None = None
    tool: Annotated[str, Field(min_length=1, max_length=MOST_NAME)] | None = None
    arguments: Names = Field(default_factory=dict)
    facts: Names = Field(default_factory=dict)
    keys: Names = Field(default_factory=dict)
    session: Id | Session | None = None
    at: Annotated[str, Field(max_length=40)] | None = None
    mode: Literal["enforce", "shadow"] | None = None

    @model_validator(mode="after")
    def _names_one(self) -> DecideBody:
        if (self.action is None) == (self.tool is None):
            raise ValueError("a call names either an `action` or a `tool`")
        return self


class Ended(Body):
    """How an allowed call ended."""

    decision_id: Id
    ok: bool
    output: Any = None


class Shown(Body):
    """For whom the tools are listed."""

    actor: Id | None = None
    session: Id | Session | None = None


class Decided(BaseModel):
    """The answer, as it is published."""

    decision: Literal["allow", "deny", "ask", "escalate"]
    missing: list[str]
    first: list[str]
    duties: list[str]
    reasons: list[dict[str, Any]]
    counterfactual: dict[str, Any] | None
    decision_id: str
    etag: str
    mode: Literal["enforce", "shadow"]
    would: Literal["allow", "deny", "ask", "escalate"] | None = None
    not_taken: list[str] | None = None


class Taken(BaseModel):
    """A report that was recorded."""

    decision_id: str
    ok: bool


def install(
    app: FastAPI, serving: Serving, points: frozenset[str] | None = None, address: str | None = None
) -> StoreDecisionPoint:
    """Add the endpoints to *app*. *points* may ask for others by AuthZEN; None: whoever has a token. *address* is where
    clients find them, where that is not the one that is listened to.
    """
    point = decision_point_of(serving)

    async def decide(body: DecideBody, request: Request) -> Response:
        """Decide a call before it is made."""
        session = body.session.model_dump() if isinstance(body.session, Session) else body.session
        about = (body.action, body.tool, body.arguments, body.facts, body.keys)
        call = call_of(*about, session, asker(request, body.actor), body.at, body.mode)
        answer = await point.answering(call, request.state.user)
        return Response(told_json(answer.as_json()), media_type="application/json")

    async def events(body: Ended, request: Request) -> Response:
        """Hear how an allowed call ended, from whoever asked for it."""
        await asyncio.wrap_future(point.ending(body.decision_id, body.ok, body.output, request.state.user))
        return Response(told_json({"decision_id": body.decision_id, "ok": body.ok}), media_type="application/json")

    def tools(body: Shown, request: Request) -> Response:
        """The bound tools, and whether the actor could ever call each."""
        facts = body.session.facts if isinstance(body.session, Session) else {}
        found = point.tools(asker(request, body.actor), facts)
        return Response(told_json({"tools": dict(found)}), media_type="application/json")

    bodies.install(app, "/v2/decide", decide, Decided)
    bodies.install(app, "/v2/events", events, Taken)
    bodies.install(app, "/v2/tools", tools, Shown)
    authzen.install(app, point, points, address)
    return point
