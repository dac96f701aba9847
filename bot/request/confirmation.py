"""A person says yes or no to a plan that was shown: the request that showed it is closed, once, by whoever comes first.

Only who asked may say so. The same request may say it again: its first attempt may have died before the answer was
kept. A yes runs the plan in a request of its own; whether its rows are accepted is said of that one.
"""

from __future__ import annotations

from collections.abc import Callable
from datetime import datetime
from typing import TYPE_CHECKING

from bot.conversation import Question
from bot.evidence.store.engine import Store
from bot.evidence.store.tables import requests
from bot.evidence.store.tables.requests import Standing
from bot.lifecycle import Outcome
from bot.request.settlement import settle as settled
from bylaw.audit.entry import Checkpoint, after

if TYPE_CHECKING:
    from bot.analytics.plan.plans import Outcome as Word
    from bot.analytics.plan.plans import Settle

_ENDS: dict[Word, Outcome] = {
    "confirmed": Outcome.CONFIRMED,
    "declined": Outcome.DECLINED,
    "expired": Outcome.EXPIRED,
}


def settling(store: Store, clock: Callable[[], datetime], anchor: Callable[[Checkpoint], None]) -> Settle:
    """What closes the requests in *store*; *anchor* hears of each entry of the chain."""

    def settle(request_id: str, question: Question, word: Word) -> bool:
        note = f"{word} by {question.actor.id} in {question.request_id}"
        with store.writing() as connection:
            standing = requests.load(connection, request_id)
            if standing is None or not _is_theirs(standing, question):
                return False
            told = {"query": question.text, "by_request": question.request_id}
            entry = settled(connection, standing, _ENDS[word], question.actor, clock, note, told)
            if entry is None:
                return requests.steps(connection, request_id)[-1][2] == note
        anchor(after(entry))
        return True

    return settle


def _is_theirs(standing: Standing, question: Question) -> bool:
    """Did this person ask it, in this conversation?"""
    asked = standing.question
    return (asked.actor.id, asked.session_id) == (question.actor.id, question.session_id)
