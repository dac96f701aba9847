"""The endpoints: `POST /v2/query` answers with a Reply; `/healthz` and `/readyz` say whether it can.

All other endpoints stand in `bot.delivery.http.endpoints`, one file a concern.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from threading import Event
from typing import Any

from fastapi import FastAPI, Request, Response
from fastapi.responses import JSONResponse
from starlette.types import ASGIApp

from bot.conversation import AnswerKind, Reply, spoken_json
from bot.delivery.http import bodies, errors
from bot.delivery.http.asking import Asked, Id, question_of
from bot.delivery.http.attention import attended
from bot.delivery.http.endpoints import (
    book,
    corrections,
    decisions,
    enforce,
    gate,
    guidance,
    iterative,
    objections,
    results,
    settled,
    undelivered,
)
from bot.delivery.http.frame import Frame
from bot.delivery.http.identity.identity import Identity
from bot.delivery.http.rates import Rates
from bot.request.capacity import Slots
from bot.request.orchestrator import handle
from bot.services import Serving
from bot.settings import Settings


class Query(Asked):
    """One question. Without a `session_id` it is a conversation of its own; `at` is the time it is asked at.

    `form` is the filled form of a data question: what is answered is the form, whatever the text says. `items` are what
    a caller says that the text says, held against its words; `kind` says what is asked, where the words do not tell it.
    """

    session_id: Id | None = None
    form: dict[str, Any] | None = None
    items: list[dict[str, Any]] | None = None
    kind: AnswerKind | None = None

    def options(self) -> dict[str, Any]:
        """What the question carries beside its text."""
        found = {"form": self.form, "items": self.items, "kind": self.kind}
        return {name: value for name, value in found.items() if value is not None}


def build(
    serving: Serving,
    settings: Settings,
    new_id: Callable[[], str],
    rates: Rates | None = None,
    room: Slots | None = None,
) -> ASGIApp:
    """The whole application, in its frame. *rates* are those of all processes at the address, *room* is this one's."""
    app = FastAPI(title="bylaw", docs_url=None, redoc_url=None)  # their pages load scripts from elsewhere
    errors.install(app)

    async def query(body: Query, request: Request) -> Response:
        """Answer a question asked in words. Its statement ends where the client goes before.

        With `?mode=iter` an open policy question goes through the bounded loop, and the answer has its format.
        """
        if iterative.is_wanted(request):
            return await refined(body, request)
        return await attended(request, partial(answered, body, request))

    def answered(body: Query, request: Request, gone: Event) -> Response:
        reply = reply_to(body, request, gone)
        return Response(spoken_json(reply), media_type="application/json", headers=corrections.link(reply))

    def reply_to(body: Query, request: Request, gone: Event, mode: str | None = None) -> Reply:
        services = serving.services().until(gone)
        options = body.options() | ({} if mode is None else {"mode": mode})
        session = {} if body.session_id is None else {"session_id": body.session_id}
        asked = question_of(body, request, services, "human", options=options, **session)
        return handle(asked, services)

    refined = iterative.install(app, serving, Query, reply_to)
    bodies.install(app, "/v2/query", query, Reply)
    enforce.install(app, serving, settings)
    guidance.install(app, serving)
    results.install(app, serving)
    corrections.install(app, serving)
    settled.install(app, serving)
    undelivered.install(app, serving)
    objections.install(app, serving)
    gate.install(app, serving, settings.enforcement_points, settings.public_url)
    book.install(app, serving, settings.root)
    decisions.install(app, serving)

    @app.get("/healthz")
    def healthz() -> Response:
        """Is the process up?"""
        return JSONResponse({"status": "up"})

    @app.get("/readyz")
    def readyz() -> Response:
        """Is there a bundle, and does the store keep what it is given?"""
        found = serving.readiness()
        body = {
            "status": "ready" if found.is_ready else "not ready",
            "bundle_etag": found.bundle_etag,
            "commit": found.commit,
            "store": "unreachable" if not found.store else "reachable" if found.is_writable else "read-only",
            "refused_bundle": found.refused,
            "unproven": found.unproven_count,
        }
        return JSONResponse(body, 200 if found.is_ready else 503)

    most = settings.limits.requests
    return Frame(
        bodies.Direct(app),
        settings,
        new_id,
        Identity.set_up(settings),
        rates or Rates(),
        room or Slots(most),
        Slots(most),
    )
