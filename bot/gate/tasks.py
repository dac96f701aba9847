"""Calls that run on as tasks (`params.task` of MCP 2025-11, results of type `task` since 2026): followed to their end.

A task that is "working" has not ended. The proxy asks for it itself, as often as the server likes, and takes what the
client asks about it along; the call ends with the task's terminal result. What cannot be read ends nothing.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from concurrent.futures import Future
from dataclasses import dataclass, field
from typing import Any, NamedTuple

from bot.gate.messages import Message, object_of
from bylaw.gate.answer import GateAnswer

GET, RESULT, CANCEL = "tasks/get", "tasks/result", "tasks/cancel"
LEAST_TTL = 600_000  # milliseconds that a server is asked to keep a task: one that it forgets has no result
MOST_SECONDS = 86_400.0  # that a call stays reserved by a task, be its server's word longer, or none
LEAST_SECONDS = 60.0  # as every call that was allowed
_FIRST_WAIT, _LEAST_WAIT, _MOST_WAIT = 1.0, 0.05, 10.0


class Ending(NamedTuple):
    """How a call ended, and what it gave."""

    ok: bool
    output: Any


@dataclass
class Following:
    """One task on its way to its end. `method` is what it is asked next, in `wait` seconds."""

    task_id: str
    call: Message
    answer: Future[GateAnswer]
    seconds: float
    method: str = GET
    wait: float = _FIRST_WAIT
    is_over: bool = False
    wake: Callable[[], object] = field(default=lambda: None, repr=False)

    def params(self) -> dict[str, Any]:
        """What the server is asked with: what the call told of its client goes along, its progress does not."""
        told = object_of(object_of(self.call.get("params")).get("_meta"))
        meta = {name: value for name, value in told.items() if name != "progressToken"}
        return {"taskId": self.task_id, **({"_meta": meta} if meta else {})}

    def heard(self, method: str, message: Message) -> Ending | None:
        """How the call ended, as an answer to *method* about this task tells it; None where it does not.

        An error tells nothing of the task: whoever asks wrongly gets one too.
        """
        result = message.get("result")
        if "error" in message or not isinstance(result, dict):
            self.wait = min(2 * max(self.wait, _LEAST_WAIT), _MOST_WAIT)
            return None
        if method == RESULT:
            return ending_of(result)
        if result.get("taskId") != self.task_id:
            return None
        match result.get("status"):
            case "completed" if isinstance(result.get("result"), dict):
                return ending_of(result["result"])
            case "completed":
                self.method, self.wait = RESULT, 0.0
            case "failed" | "cancelled":
                return Ending(False, result.get("error"))
            case _:
                self.wait = _pause(result.get("pollInterval", result.get("pollIntervalMs")))
        return None


def following(message: Message, call: Message, answer: Future[GateAnswer]) -> Following | None:
    """The task that an answer to *call* says it became; None where it is another answer."""
    result = object_of(message.get("result"))
    handle = result if result.get("resultType") == "task" else object_of(result.get("task"))
    task_id = handle.get("taskId")
    if "content" in result or not isinstance(task_id, str):
        return None
    ttl = _number(handle.get("ttl", handle.get("ttlMs")))
    seconds = MOST_SECONDS if ttl is None else ttl / 1000
    wait = _pause(handle.get("pollInterval", handle.get("pollIntervalMs")))
    return Following(task_id, call, answer, min(max(seconds, LEAST_SECONDS), MOST_SECONDS), wait=wait)


def ending_of(result: Any) -> Ending | None:
    """How a call ended that gave *result*; None where nobody can read it: it may have been done."""
    if not isinstance(result, dict) or result.get("resultType", "complete") not in ("complete", "input_required"):
        return None
    if result.get("resultType") == "input_required":  # it waits for an answer, and will be called again
        return Ending(False, result)
    match result.get("isError"):
        case None | False if "content" in result or "structuredContent" in result:
            return Ending(True, result)
        case True:
            return Ending(False, result)
    return None


def kept_longer(params: dict[str, Any]) -> dict[str, Any] | None:
    """*params* of a call as the server gets them: a task is kept until somebody can have seen its end.

    None where `task` is none.
    """
    if "task" not in params:
        return params
    task = params["task"]
    if not isinstance(task, dict):
        return None
    ttl = _number(task.get("ttl"))
    return params if "ttl" not in task else {**params, "task": {**task, "ttl": max(ttl or 0, LEAST_TTL)}}


def _pause(interval: Any) -> float:
    given = _number(interval)
    return _FIRST_WAIT if given is None else min(max(given / 1000, _LEAST_WAIT), _MOST_WAIT)


def _number(value: Any) -> int | float | None:
    if isinstance(value, bool) or not isinstance(value, int | float) or not math.isfinite(value):
        return None
    return value if abs(value) < 2**53 else None
