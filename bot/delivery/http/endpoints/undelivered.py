"""`GET /v2/deliveries`: what could not be delivered yet; `POST /v2/deliveries/{id}/retry` and `/close` by a person.

Who it is for may, and who stewards the shared knowledge. To everybody else there is no such delivery.
"""

from __future__ import annotations

from typing import Annotated

from fastapi import FastAPI, HTTPException, Request, Response
from fastapi.responses import JSONResponse
from pydantic import Field

from bot.conversation import Actor
from bot.delivery.http.asking import ByUser, UserQuery, actor_of
from bot.request import undelivered
from bot.request.listening import list_unseen
from bot.services import Serving


class Retried(ByUser):
    """Who has it sent again, where nobody else says who asks."""


class Closed(Retried):
    """Why nobody needs it any more."""

    reason: Annotated[str, Field(min_length=1, max_length=undelivered.LONGEST_REASON)]


_ANYBODY = Retried()


def install(app: FastAPI, serving: Serving) -> None:
    """Add the endpoints to *app*."""

    @app.get("/v2/deliveries")
    def waiting(request: Request, user: UserQuery = None) -> Response:
        """What waits, why, and what to do about it; to a steward also where the bot cannot hear."""
        actor, services = actor_of(request, user), serving.services()
        found = undelivered.list_undelivered(actor, services)
        told = {"undelivered": [one.document() for one in found], "unseen": list_unseen(actor, services)}
        return JSONResponse(told)

    @app.post("/v2/deliveries/{delivery_id}/retry")
    def retry(delivery_id: str, request: Request, body: Retried = _ANYBODY) -> Response:
        """Have it sent again."""
        actor = _seeing(delivery_id, actor_of(request, body.user), serving)
        undelivered.retry(delivery_id, actor, serving.services())
        return JSONResponse({"delivery": delivery_id, "retried": True})

    @app.post("/v2/deliveries/{delivery_id}/close")
    def close(delivery_id: str, request: Request, body: Closed) -> Response:
        """Have it sent no more."""
        actor = _seeing(delivery_id, actor_of(request, body.user), serving)
        undelivered.close(delivery_id, body.reason, actor, serving.services())
        return JSONResponse({"delivery": delivery_id, "closed": True})


def _seeing(delivery_id: str, actor: Actor, serving: Serving) -> Actor:
    """*actor*, who may see the delivery. Raises HTTPException."""
    if not undelivered.may_see(delivery_id, actor, serving.services()):
        raise HTTPException(404, "there is no such delivery")
    return actor
