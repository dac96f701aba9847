"""A plan that waits for a yes: kept with the conversation, and run later exactly as it was shown, or not at all.

It belongs to the person whose conversation it is, it expires with the level that it has, and a newer bundle that
makes another statement of it is shown before anything runs.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any, Literal

from pydantic import Field, ValidationError

from bot.analytics.reading import Bound
from bot.conversation import Binding, Choice, Question, Reply, Spoken
from bylaw.language.text import words_of
from bylaw.semantic.query import SemanticQuery

Word = Literal["yes", "no", "both"]
Outcome = Literal["confirmed", "declined", "expired"]
# Closes the request that showed a plan; False where that was done before, by another request than the one that asks.
Settle = Callable[[str, Question, Outcome], bool]

CHOICES = (Choice(value="yes", label="Run it"), Choice(value="no", label="Do not run it"))
GONE = "No plan waits for a yes or a no: ask the question again."
SECOND = "That plan was confirmed, or closed, already: nothing ran a second time."
DROPPED = "All right, nothing ran."
SAME = "The catalogue has changed since the plan was shown; the statement is the same."
CHANGED = "The catalogue has changed since you saw the plan, and so has the statement."
HOW = "Say yes to run it, no to leave it."  # behind every plan that may run
UNCLEAR = "I do not see whether that is a yes or a no: nothing ran. Shall I run it?"

_YES = (
    "yes|yes please|yeah|yep|yup|ok|okay|sure|fine|right|correct|confirm|confirmed|i confirm|approved|go|go ahead|"
    "go for it|proceed|continue|do it|do that|run|run it|run that|run the query|execute|execute it|please do|"
    "sounds good|looks good|that is right|that's right|make it so"
)
_NO = (
    "no|nope|nah|stop|cancel|cancel it|cancel that|abort|do not|don't|do not run it|don't run it|do not do it|"
    "don't do it|do not run that|don't run that|never mind|nevermind|forget it|leave it|not now|rather not"
)
_COURTESY = "please|thanks|thank you|then|now"


def _pattern(phrases: str) -> str:
    longest_first = sorted(phrases.split("|"), key=lambda phrase: (-len(phrase), phrase))
    return "|".join(re.escape(phrase) for phrase in longest_first)


_PIECE = re.compile(rf"(?:(?P<no>{_pattern(_NO)})|(?P<yes>{_pattern(_YES)})|{_pattern(_COURTESY)})(?![\w'])")
_CARRIES_ON = r"(?=(?:and|but|or|only|just|instead|rather|make|actually|i mean|i meant)\b)"
_OPENING = re.compile(
    rf"\W*(?:(?:yes|yeah|yep|ok|okay|sure)\b[\s,;.:!–-]*|(?:no|nope|nah)(?:\s*[,;.:!–]\s*|\s+{_CARRIES_ON}))",
    re.IGNORECASE,
)
_BETWEEN = re.compile(r"[\s,;.:!–-]*")


class Waiting(Spoken):
    """A plan that was shown in the reply to `request_id`. `author` names the model that proposed it."""

    request_id: str
    text: str
    query: SemanticQuery
    bindings: tuple[Binding, ...] = ()
    stakes: tuple[str, ...] = ()
    rivals: int = 0
    options: dict[str, Any] = Field(default_factory=dict)
    sql: str
    bundle_etag: str
    author: str | None = None
    shown_at: datetime
    expires_at: datetime | None = None

    def is_over(self, now: datetime) -> bool:
        """Is it too late to confirm it?"""
        return self.expires_at is not None and now >= self.expires_at


@dataclass(frozen=True, slots=True)
class Assent:
    """A yes to the plan `held`, said in `question`."""

    held: Waiting
    question: Question
    settle: Settle

    def covers(self, reply: Reply) -> bool:
        """Is the plan of *reply* the one that was confirmed, and is it not for a person to answer by now?"""
        return reply.sql == self.held.sql and reply.status in ("pending", "recommended")

    def noted(self, reply: Reply) -> Reply:
        """*reply*, saying so where the catalogue is another one than the plan was made from."""
        if reply.bundle_etag == self.held.bundle_etag:
            return reply
        if reply.sql == self.held.sql:
            return reply.model_copy(update={"caveats": (*reply.caveats, SAME)})
        return reply.model_copy(update={"text": f"{CHANGED} {reply.text}"})

    def is_first(self) -> bool:
        """Close the request that showed the plan; False where that was done before."""
        return self.settle(self.held.request_id, self.question, "confirmed")


def heard(text: str) -> Word | None:
    """The yes or the no that *text* is, `both` where it is one and the other; None for everything that says more."""
    left = " ".join(text.lower().replace("’", "'").split()).strip(" .!,;")
    found: set[str] = set()
    while left:
        piece = _PIECE.match(left)
        if piece is None:
            return None
        found |= {word for word in ("yes", "no") if piece[word]}
        left = left[piece.end() :]
        left = left[_at(_BETWEEN, left) :]
    if len(found) > 1:
        return "both"
    return "yes" if "yes" in found else "no" if "no" in found else None


def hurries(text: str, phrases: Iterable[str]) -> bool:
    """Is *text* one of the *phrases* by which people ask for no more care, and nothing beside it?"""
    return words_of(text) in {words_of(phrase) for phrase in phrases}


def beyond(text: str) -> str:
    """What *text* says after a yes or a no that opens it: "no, only 2025" says "only 2025"."""
    rest = text[_at(_OPENING, text) :].strip()
    return rest or text


def waiting(state: Mapping[str, Any]) -> Waiting | None:
    """The plan that waits in *state*; one that this version cannot read counts as none."""
    try:
        return Waiting.model_validate(state["waiting"]) if state.get("waiting") else None
    except ValidationError:
        return None


def kept(question: Question, reply: Reply, bound: Bound) -> dict[str, Any]:
    """The plan that *reply* shows, for the state of the conversation."""
    minutes = reply.acceptance.timeout_minutes if reply.acceptance else None
    held = Waiting(
        request_id=question.request_id,
        text=question.text,
        query=bound.query,
        bindings=bound.bindings,
        stakes=bound.stakes,
        rivals=bound.rivals,
        author=bound.author,
        options=question.options,
        sql=reply.sql or "",
        bundle_etag=reply.bundle_etag,
        shown_at=question.asked_at,
        expires_at=None if minutes is None else question.asked_at + timedelta(minutes=minutes),
    )
    return held.model_dump(mode="json")


def without(state: Mapping[str, Any]) -> dict[str, Any]:
    """*state* with no plan waiting in it."""
    return {name: value for name, value in state.items() if name != "waiting"}


def expired(held: Waiting) -> str:
    """What is told of a plan that was confirmed too late."""
    return (
        f"The plan of {held.shown_at:%Y-%m-%d %H:%M} waited too long and is not run any more: ask the question again."
    )


def always(_request_id: str, _question: Question, _outcome: Outcome) -> bool:
    """Nobody keeps requests here: there is nothing to close."""
    return True


def _at(pattern: re.Pattern[str], text: str) -> int:
    found = pattern.match(text)
    return found.end() if found else 0
