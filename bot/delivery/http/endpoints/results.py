"""`GET /v2/requests/{id}/result`: an answer again, as a file or a picture; `POST /v2/analytics`: seed 004, A.5.

Who asked may fetch it, and who stewards the shared knowledge. To everybody else there is no such request.
"""

from __future__ import annotations

from functools import partial
from threading import Event
from typing import Annotated, Any, Literal

from fastapi import FastAPI, HTTPException, Query, Request, Response
from pydantic import AliasChoices, Field

from bot.analytics.plan.interfaces import AnalyticsPreferences, AnalyticsQuery, AnalyticsResponse
from bot.conversation import MAX_TEXT, Actor, Question, Reply
from bot.delivery.export import MEDIA_TYPES, exported
from bot.delivery.http import bodies
from bot.delivery.http.asking import Body, Id, UserQuery, actor_of
from bot.delivery.http.attention import attended
from bot.delivery.http.frame import asker, named
from bot.delivery.pictures import picture
from bot.request import acceptance
from bot.request.orchestrator import handle
from bot.services import Serving

Format = Literal["csv", "parquet", "json", "yaml", "png", "svg"]


class AgentQuestion(AnalyticsQuery):
    """The question of an agent, as long as one may be."""

    natural_language: Annotated[  # the name that seed 004 gives the text, beside the one of all other bodies
        str, Field(min_length=1, max_length=MAX_TEXT, validation_alias=AliasChoices("text", "natural_language"))
    ]


class Analytics(Body):
    """An analytics request; where it is known who asks that is the actor, whatever the body says."""

    request_id: Id | None = None
    session_id: Id | None = None  # of the conversation that this goes on with
    actor: Actor = Actor(type="agent")
    query: AgentQuestion
    preferences: AnalyticsPreferences = AnalyticsPreferences()


def install(app: FastAPI, serving: Serving) -> None:
    """Add both endpoints to *app*."""

    @app.get("/v2/requests/{request_id}/result")
    def result(
        request_id: str,
        request: Request,
        kind: Annotated[Format, Query(alias="format")] = "json",
        user: UserQuery = None,
    ) -> Response:
        """An answer that was given, in another form."""
        services, actor = serving.services(), actor_of(request, user)
        standing = acceptance.standing_for(request_id, actor, services)
        if standing is None or standing.reply is None:
            raise HTTPException(404, "there is no such request")
        reply = standing.reply
        if kind in ("png", "svg"):
            drawn = _drawn(reply, kind)
            acceptance.use(standing, actor, services)
            return drawn
        disposition = {"Content-Disposition": f'attachment; filename="result.{kind}"'}
        headers = {**(disposition if kind in ("csv", "parquet") else {}), "X-Content-Type-Options": "nosniff"}
        written = exported(reply, kind)
        acceptance.use(standing, actor, services)  # whoever fetches a result makes use of it
        return Response(written, media_type=MEDIA_TYPES[kind], headers=headers)

    async def analytics(body: Analytics, request: Request) -> Response:
        """Answer a question for an agent. Its statement ends where the agent goes before."""
        return await attended(request, partial(answered, body, request))

    def answered(body: Analytics, request: Request, gone: Event) -> Response:
        services = serving.services().until(gone)
        request_id = named(request, body.request_id)
        actor = Actor(id=asker(request, body.actor.id) or body.actor.id, type=body.actor.type)
        question = Question(
            text=body.query.natural_language,
            actor=actor,
            asked_at=services.clock(),
            session_id=body.session_id or request_id,
            request_id=request_id,
            options=_options(body),
        )
        said = AnalyticsResponse.of(handle(question, services))
        return Response(said.model_dump_json(), media_type="application/json")

    bodies.install(app, "/v2/analytics", analytics, AnalyticsResponse)


def _options(body: Analytics) -> dict[str, Any]:
    """The preferences of a request, with the form that was filled in."""
    form = body.query.form
    return body.preferences.options() | ({"form": form} if form is not None else {})


def _drawn(reply: Reply, kind: Literal["png", "svg"]) -> Response:
    drawn = picture(reply, kind)
    if drawn is None:
        raise HTTPException(404, "this answer has no chart")
    # a picture with scripts in it would run in the page that shows it alone
    headers = {"Content-Security-Policy": "default-src 'none'; style-src 'unsafe-inline'"}
    media = {"png": "image/png", "svg": "image/svg+xml"}[kind]
    return Response(drawn, media_type=media, headers={**headers, "X-Content-Type-Options": "nosniff"})
