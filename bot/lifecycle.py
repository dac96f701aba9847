"""The states of a request (seed 004, section 8.2) and the roads between them, as one table.

INTAKE → SCOPE → PLAN → EXECUTE → DELIVER → ACCEPT → CLOSE; a request may also be refused, escalated or abandoned.
"""

from __future__ import annotations

from collections.abc import Mapping
from enum import StrEnum

from bot.conversation import Reply
from bylaw.errors import BylawError


class State(StrEnum):
    """Where a request stands."""

    INTAKE = "INTAKE"
    SCOPE = "SCOPE"
    PLAN = "PLAN"
    EXECUTE = "EXECUTE"
    DELIVER = "DELIVER"
    ACCEPT = "ACCEPT"
    CLOSE = "CLOSE"
    REFUSED = "REFUSED"
    ESCALATED = "ESCALATED"
    ABANDONED = "ABANDONED"


_OUT = frozenset({State.REFUSED, State.ESCALATED, State.ABANDONED})

TRANSITIONS: Mapping[State, frozenset[State]] = {
    State.INTAKE: frozenset({State.SCOPE}) | _OUT,
    # DELIVER from here: a choice or a missing fact is asked for before anything is planned.
    State.SCOPE: frozenset({State.PLAN, State.DELIVER}) | _OUT,
    # DELIVER from here: recommended, or halted by the resource check; nothing ran.
    State.PLAN: frozenset({State.EXECUTE, State.DELIVER}) | _OUT,
    State.EXECUTE: frozenset({State.DELIVER}) | _OUT,
    State.DELIVER: frozenset({State.ACCEPT, State.CLOSE, State.ESCALATED, State.ABANDONED}),
    # SCOPE from here: the person revises the question, or confirms a halted plan.
    State.ACCEPT: frozenset({State.CLOSE, State.SCOPE, State.EXECUTE, State.ESCALATED, State.ABANDONED}),
    State.CLOSE: frozenset(),
    State.REFUSED: frozenset(),
    # a human answers, or closes without an answer
    State.ESCALATED: frozenset({State.DELIVER, State.CLOSE, State.ABANDONED}),
    State.ABANDONED: frozenset(),
}

FINAL = frozenset(state for state, onward in TRANSITIONS.items() if not onward)


class ForbiddenStep(BylawError):
    """A request was to move along a road that does not exist: our mistake."""


def step(current: State, to: State) -> State:
    """*to*, when a request may go there from *current*."""
    if to not in TRANSITIONS[current]:
        raise ForbiddenStep(f"a request in `{current}` cannot move to `{to}`")
    return to


def road(reply: Reply) -> tuple[State, ...]:
    """The states a request passes after SCOPE, given what it was answered with.

    An answer with an autonomy level waits for acceptance; one without (policy, decision) has nothing to accept.
    """
    match reply.status:
        case "answered":
            onward = State.CLOSE if reply.level is None else State.ACCEPT
            return (State.PLAN, State.EXECUTE, State.DELIVER, onward)
        case "needs_choice" | "needs_fact":
            return (State.DELIVER, State.CLOSE)  # the session keeps what was asked; the next utterance is a new request
        case "pending" | "recommended":
            return (State.PLAN, State.DELIVER, State.ACCEPT)
        case "escalated":
            return (State.ESCALATED,)
        case "refused":
            return (State.REFUSED,)
