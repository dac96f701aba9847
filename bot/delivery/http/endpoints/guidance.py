"""`POST /v2/guidance`: what an answer to a question may rest on, before anybody writes it."""

from __future__ import annotations

from typing import Any

from fastapi import FastAPI, Request, Response
from pydantic import Field

from bot.delivery.http import bodies
from bot.delivery.http.asking import Asked, as_json, question_of
from bot.enforcement.enforce import check_readable
from bot.enforcement.guidance import Guidance, guide
from bot.evidence.store.columns import check_ids
from bot.request.cases import read_facts
from bot.services import Serving

PATH = "/v2/guidance"


class Wanted(Asked):
    """A question that somebody is about to answer. `facts` are what is known of the case beyond its words."""

    facts: dict[str, Any] = Field(default_factory=dict)


def install(app: FastAPI, serving: Serving) -> None:
    """Add the endpoint to *app*."""

    def guided(body: Wanted, request: Request) -> Response:
        """Say which policies speak, what must be told, and what must never be said or done."""
        services = serving.services()
        check_readable(body.text)
        question = question_of(body, request, services)
        check_ids(question)
        found = guide(question, services.index, read_facts(body.facts, services.index))
        return as_json(found)

    bodies.install(app, PATH, guided, Guidance)
