"""The words of a question about decisions, read once: by the matcher and the holder, by an id, or by a reference."""

from __future__ import annotations

from dataclasses import replace
from datetime import date

from bot.ask.ground import ground_for
from bot.ask.matcher.match import match
from bot.ask.recorded import records_for
from bot.decisions.asked import Asked, assemble, slug_in
from bot.index import BundleIndex
from bylaw.authored.decisions import Decisions
from bylaw.hold.hold import hold
from bylaw.hold.item import Reading


def read_question(text: str, day: date, user: str, index: BundleIndex) -> Asked:
    """What *text* asks, as the matcher reads it; kept, since it is read for its kind and for its answer."""
    return index.recently(_matched)(text, day, user)


def _matched(index: BundleIndex, text: str, day: date, user: str) -> Asked:
    ground, decisions = ground_for(index, "decision", day, user), records_for(index, user)
    asked = assemble(hold(text, match(text, ground), ground, "matcher"), decisions)
    if (named := slug_in(text, decisions)) is None:
        return asked
    token, anchor = named  # an id is meant whole: its parts are no words
    left = tuple(one for one in asked.reading.residue if one.text.casefold() not in token.casefold())
    return replace(asked, anchors=(anchor,), waiting=(), reading=replace(asked.reading, residue=left))


def without_residue(reading: Reading) -> Reading:
    """The reading of a choice: its words are an id, and nothing of them is left over."""
    return replace(reading, residue=())


def is_identity(asked: Asked, decisions: Decisions) -> bool:
    """Is the decision named by its id or its number?"""
    quotes = [one.item.quote or "" for one in asked.reading.items if one.item.kind == "anchor"]
    return any(quote.casefold() in decisions.decisions or any(map(str.isdigit, quote[-1:])) for quote in quotes)


def referred(reference: str, asked: Asked, day: date, user: str, index: BundleIndex, decisions: Decisions) -> Asked:
    """*asked* of the decision that a caller refers to outright: by id, by number, or in words."""
    if reference in decisions.decisions:
        return replace(asked, anchors=(reference,), reading=without_residue(asked.reading))
    found = read_question(reference, day, user, index)
    return replace(asked, anchors=found.anchors, waiting=found.waiting, reading=found.reading)
