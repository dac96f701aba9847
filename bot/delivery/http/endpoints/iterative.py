"""`POST /v2/query?mode=iter` and `/legal_query_iterative`: an answer in the final format of the loop (seed 003, 12)."""

from __future__ import annotations

from typing import Any

from fastapi import Request, Response
from pydantic import BaseModel, ConfigDict

from bot.conversation import Reply, sayable, told_json
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


def check(serving: Serving) -> None:
    """Raises UsageError where the rules do not allow it."""
    from bot.enforcement.refining import check_is_on

    check_is_on(serving.services().index)


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
    body = Refined(**found, reply=reply.model_copy(update={"meta": meta or None}))
    return Response(told_json(sayable(body)), media_type="application/json")
