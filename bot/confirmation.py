"""A person says yes or no to a plan that was shown: the request that showed it is closed, once, by whoever comes first.

Only who asked may say so. The same request may say it again: its first attempt may have died before the answer was
kept.
"""

from __future__ import annotations

from collections.abc import Callable
from datetime import datetime

from bot.analytics.plans import Outcome, Settle
from bot.conversation import Question
from bot.lifecycle import State
from bot.store import audit, querylog, requests
from bot.store.engine import Store
from bot.store.requests import Standing
from bylaw.audit.entry import Checkpoint, after

_ENDS = {"confirmed": State.CLOSE, "declined": State.CLOSE, "expired": State.ABANDONED}


def settling(store: Store, clock: Callable[[], datetime], anchor: Callable[[Checkpoint], None]) -> Settle:
    """What closes the requests in *store*; *anchor* hears of each entry of the chain."""

    def settle(request_id: str, question: Question, outcome: Outcome) -> bool:
        note = f"{outcome} by {question.actor.id} in {question.request_id}"
        with store.writing() as connection:
            standing = requests.load(connection, request_id)
            if standing is None or not _is_theirs(standing, question):
                return False
            if not requests.advance(connection, request_id, _ENDS[outcome], note, clock()):
                return requests.steps(connection, request_id)[-1][2] == note
            if outcome == "confirmed":
                querylog.accept(connection, request_id)
            entry = audit.append(connection, _entry(standing, question, outcome), clock, request_id)
        anchor(after(entry))
        return True

    return settle


def _is_theirs(standing: Standing, question: Question) -> bool:
    """Did this person ask it, in this conversation?"""
    asked = standing.question
    return (asked.actor.id, asked.session_id) == (question.actor.id, question.session_id)


def _entry(standing: Standing, question: Question, outcome: Outcome) -> dict[str, object]:
    """The audit entry: which plan, shown where, and the words and the request that settled it."""
    assert standing.reply is not None  # a request that can be moved on has one
    return {
        "event": outcome,
        "request_id": standing.request_id,
        "session_id": question.session_id,
        "actor": question.actor.model_dump(),
        "query": question.text,
        "by_request": question.request_id,
        "bundle_etag": standing.reply.bundle_etag,
        "commit": standing.reply.commit,
        "artifacts": dict(standing.artifacts),
    }
