"""The states of a request (seed 004, section 8.2) and the roads between them, as one table.

INTAKE → SCOPE → PLAN → EXECUTE → DELIVER → ACCEPT → CLOSE; a request may also be refused, escalated, revised, expired
or abandoned. What was delivered is settled once: `ENDS` says where each outcome leads.
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
    EXPIRED = "EXPIRED"
    REVISED = "REVISED"


class Outcome(StrEnum):
    """What became of an answer. The first three take it as it is: by word, by use, by saying nothing in time."""

    ACCEPTED = "accepted"
    IMPLICIT = "implicit"
    TIMEOUT = "timeout"
    CONFIRMED = "confirmed"  # the plan that was shown runs, in the request that said yes
    DECLINED = "declined"
    REVISED = "revised"
    ABANDONED = "abandoned"
    EXPIRED = "expired"


ENDS: Mapping[Outcome, State] = {
    Outcome.ACCEPTED: State.CLOSE,
    Outcome.IMPLICIT: State.CLOSE,
    Outcome.TIMEOUT: State.CLOSE,
    Outcome.CONFIRMED: State.CLOSE,
    Outcome.DECLINED: State.CLOSE,
    Outcome.REVISED: State.REVISED,
    Outcome.ABANDONED: State.ABANDONED,
    Outcome.EXPIRED: State.EXPIRED,
}

# was the answer taken as it is? no entry: nobody said
TAKEN: Mapping[Outcome, bool] = {
    Outcome.ACCEPTED: True,
    Outcome.IMPLICIT: True,
    Outcome.TIMEOUT: True,
    Outcome.REVISED: False,
}


_OUT = frozenset({State.REFUSED, State.ESCALATED, State.ABANDONED})

TRANSITIONS: Mapping[State, frozenset[State]] = {
    State.INTAKE: frozenset({State.SCOPE}) | _OUT,
    # DELIVER from here: a choice or a missing fact is asked for before anything is planned.
    State.SCOPE: frozenset({State.PLAN, State.DELIVER}) | _OUT,
    # DELIVER from here: recommended, or halted by the resource check; nothing ran.
    State.PLAN: frozenset({State.EXECUTE, State.DELIVER}) | _OUT,
    State.EXECUTE: frozenset({State.DELIVER}) | _OUT,
    State.DELIVER: frozenset({State.ACCEPT, State.CLOSE, State.ESCALATED, State.ABANDONED}),
    # A plan that is confirmed and a question that is put in other words go on as requests of their own.
    State.ACCEPT: frozenset({State.CLOSE, State.REVISED, State.EXPIRED, State.ESCALATED, State.ABANDONED}),
    State.CLOSE: frozenset(),
    State.REFUSED: frozenset(),
    # a human answers, or closes without an answer
    State.ESCALATED: frozenset({State.DELIVER, State.CLOSE, State.REVISED, State.ABANDONED}),
    State.ABANDONED: frozenset(),
    State.EXPIRED: frozenset(),
    State.REVISED: frozenset(),
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
