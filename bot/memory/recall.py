"""What is remembered of the person who asks, as it was when they asked (seed 004, A.3): it shapes their answers alone.

What was recalled is kept with the request, so that the answer can be rebuilt when more has been learned.
"""

from collections.abc import Mapping
from datetime import date
from typing import Any

from pydantic import Field

from bot.conversation import Spoken
from bot.evidence.store.connection import Connection
from bot.evidence.store.tables import candidates, corrections
from bot.memory import preferences
from bot.memory.changes import Change


def in_days(day: date) -> str:
    """`3 March 2026`."""
    return f"{day.day} {day:%B %Y}"


class OwnCorrection(Spoken):
    """A correction of the asker's own, and the day they made it."""

    correction_id: str
    change: Change
    made_on: date

    @property
    def day(self) -> str:
        """`3 March`, as people say it."""
        return in_days(self.made_on)


class SharedChange(Spoken):
    """What many corrected and a merged pull request made shared knowledge, and on which day it was here."""

    change: Change
    merged_on: date
    pull_request: str | None = None


class Recalled(Spoken):
    """What is remembered of one person, and what was learned from many. Empty: nothing."""

    actor_id: str = ""
    corrections: tuple[OwnCorrection, ...] = ()
    shared: tuple[SharedChange, ...] = ()
    preferences: dict[str, str] = Field(default_factory=dict)

    def __bool__(self) -> bool:
        return bool(self.corrections or self.shared or self.preferences)


NOTHING = Recalled()


def recall(connection: Connection, actor_id: str) -> Recalled:
    """What is remembered of the person and shapes their answers."""
    own = tuple(
        OwnCorrection(
            correction_id=one.correction_id,
            change=Change(object=one.object, field=one.field, new=one.new),
            made_on=one.at.date(),
        )
        for one in corrections.applied(connection, actor_id)
        if one.object is not None and one.field is not None and one.new is not None
    )
    liked = preferences.of(connection, actor_id)
    shared = tuple(
        SharedChange(
            change=Change.model_validate(one.change),
            merged_on=one.merged_at.date(),
            pull_request=one.pull_request,
        )
        for one in candidates.merged(connection)
        if one.merged_at is not None
    )
    if not (own or shared or liked):
        return NOTHING
    return Recalled(actor_id=actor_id, corrections=own, shared=shared, preferences=liked)


def told(recalled: Recalled) -> dict[str, Any]:
    """*recalled* as JSON, to be kept with the request."""
    return recalled.model_dump(mode="json")


def retold(kept: Mapping[str, Any] | None) -> Recalled:
    """What `told` wrote down; requests of earlier versions recalled nothing."""
    return NOTHING if not kept else Recalled.model_validate(kept)
