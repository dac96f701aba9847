"""`POST /v2/query?mode=iter` and `/legal_query_iterative`: an answer in the final format of the loop (seed 003, 12)."""

from __future__ import annotations

from collections.abc import Callable, Coroutine
from functools import partial
from threading import Event
from typing import Any

from fastapi import FastAPI, Request, Response
from pydantic import BaseModel, ConfigDict

from bot.conversation import Reply
from bot.delivery.http import bodies
from bot.delivery.http.asking import as_json
from bot.delivery.http.attention import attended
from bot.services import Serving
from bylaw.errors import UsageError

PATH = "/legal_query_iterative"
MODE = "iter"


class Refined(BaseModel):
    """What the loop found. `reply` is the answer as any other door gives it: its status says how far it goes."""

    model_config = ConfigDict(frozen=True)

    final_answer: str
    final_logic_program: dict[str, Any]
    final_feedback: dict[str, Any]
    iterations: list[dict[str, Any]]
    metrics: dict[str, Any]
    reply: Reply


def is_wanted(request: Request) -> bool:
    """Does the address ask for the loop? Raises UsageError for a mode that there is not."""
    mode = request.query_params.get("mode")
    if mode not in (None, MODE):
        raise UsageError(f"`mode={mode[:40]}` is no mode", "leave it out, or write `mode=iter`")
    return mode == MODE


def install(
    app: FastAPI, serving: Serving, model: type[BaseModel], reply_to: Callable[..., Reply]
) -> Callable[[Any, Request], Coroutine[Any, Any, Response]]:
    """Add the older name to *app*; what answers a body of *model* in this mode, by *reply_to*."""

    def found(body: Any, request: Request, gone: Event) -> Response:
        from bot.enforcement.refining import check_is_on  # hardly any question asks for it

        check_is_on(serving.services().index)
        return response(reply_to(body, request, gone, MODE))

    async def legal_query_iterative(body: Any, request: Request) -> Response:
        """The same as `/v2/query?mode=iter`, under the name that seed 003 gives it."""
        return await attended(request, partial(found, body, request))

    legal_query_iterative.__annotations__["body"] = model
    bodies.install(app, PATH, legal_query_iterative, Refined)
    return legal_query_iterative


def response(reply: Reply) -> Response:
    """*reply* in the format of the loop, also where the loop had nothing to do."""
    meta = {key: value for key, value in (reply.meta or {}).items() if key != "refinement"}
    found = (reply.meta or {}).get("refinement") or {
        "final_answer": f"UNDECIDED: {reply.text}",
        "final_logic_program": {},
        "final_feedback": {"status": "unknown", "notes": ["the loop takes questions about policies alone"]},
        "iterations": [],
        "metrics": {"num_iters": 0, "converged": False, "oscillations": 0},
    }
    return as_json(Refined(**found, reply=reply.model_copy(update={"meta": meta or None})))
