"""Several readings of one question: the same, or side by side with their figures until the person picks one.

What was picked is remembered with the conversation: the same question is not asked back twice.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from pydantic import ValidationError

from bot.analytics.reading import Bound
from bot.analytics.reply.present import figure_of
from bot.conversation import Binding, Choice, Spoken, Turn
from bylaw.canonical import canonical_json
from bylaw.semantic.query import SemanticQuery

VALUES = ("the first reading", "the second reading")
BOTH = "Two readers understand this differently. Which one do you mean?"
_MOST = 20  # picks that a conversation remembers


class Picked(Spoken):
    """A reading as it is kept with the conversation. `author` is the model that proposed it."""

    query: SemanticQuery
    bindings: tuple[Binding, ...] = ()
    stakes: tuple[str, ...] = ()
    author: str | None = None

    def bound(self) -> Bound:
        """The reading; who picked it has seen it, so it needs no further yes."""
        return Bound(self.query, self.bindings, self.stakes)


@dataclass(frozen=True, slots=True)
class Choosing:
    """The question and the reading of it that was picked; which *words* of it mean what *name* says from now on."""

    text: str
    reading: Picked
    words: str = ""
    name: str = ""


def kept(bound: Bound) -> dict[str, Any]:
    """A reading, for the state of the conversation."""
    made = Picked(query=bound.query, bindings=bound.bindings, stakes=bound.stakes, author=bound.author)
    return made.model_dump(mode="json")


def is_same(one: Turn, other: Turn) -> bool:
    """Do both give the same rows? What a column is called, and where it stands, is no matter."""
    mine, theirs = one.reply, other.reply
    if mine.status != "answered" or theirs.status != "answered" or len(mine.columns) != len(theirs.columns):
        return False

    def told(rows: Sequence[Sequence[Any]]) -> Counter[str]:
        return Counter(canonical_json(sorted(map(repr, row))) for row in rows)

    return told(mine.rows) == told(theirs.rows)


def choices(said: Sequence[str], turns: Sequence[Turn]) -> tuple[Choice, ...]:
    """Each reading in words of its plan, with its figures where both may run alone."""
    is_computed = all(turn.reply.status == "answered" for turn in turns)
    labels = [
        f"{text}: {figure_of(turn.reply.text)}" if is_computed else text for text, turn in zip(said, turns, strict=True)
    ]
    return tuple(Choice(value=value, label=label) for value, label in zip(VALUES, labels, strict=True))


def offered(
    text: str, readings: Sequence[Bound], told: Sequence[Choice], words: str = "", names: Sequence[str] = ()
) -> dict[str, Any]:
    """What the state keeps until one of the readings is picked. *words* are those that mean the *names* in turn."""
    of = [
        {"value": one.value, "label": one.label, "is": kept(each), "name": name}
        for one, each, name in zip(told, readings, names or [""] * len(readings), strict=True)
    ]
    return {"asked": text, "of": of, "words": words}


def picked(text: str, state: Mapping[str, Any]) -> Choosing | None:
    """The reading that *text* picks, or that was picked before for the same question; None where none was."""
    said = _plain(text)
    waiting = state.get("readings")
    try:
        offer: Mapping[str, Any] = waiting if isinstance(waiting, dict) else {"of": ()}
        for one in offer["of"]:
            first = _plain(one["label"]).partition(":")[0]
            if said in (_plain(one["value"]), _plain(one["label"]), first):
                words, name = str(offer.get("words") or ""), str(one.get("name") or "")
                return Choosing(str(offer["asked"]), Picked.model_validate(one["is"]), words, name)
        known = state.get("picks")
        if isinstance(known, dict) and said in known:
            return Choosing(text, Picked.model_validate(known[said]))
    except (KeyError, TypeError, ValidationError):
        return None  # another version kept it
    return None


def remembered(text: str, reading: Picked, state: Mapping[str, Any]) -> dict[str, Any]:
    """The picks of the conversation with this one, the newest last."""
    known = state.get("picks")
    picks = dict(known) if isinstance(known, dict) else {}
    picks.pop(_plain(text), None)
    picks[_plain(text)] = reading.model_dump(mode="json")
    return dict(list(picks.items())[-_MOST:])


def _plain(text: str) -> str:
    return " ".join(text.lower().split()).strip(" .?!")
