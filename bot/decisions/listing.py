"""Answers about many records: those of a person, a span of days, a tag or a state, and what waits for a decision."""

from __future__ import annotations

from collections.abc import Sequence

from bot.decisions.asked import Asked, fits, in_span
from bot.decisions.contract import Listed
from bot.decisions.evidence import anchor_shown, event_shown
from bot.decisions.unrecorded import label_of
from bylaw.authored.decisions import Decision, Decisions, Event
from bylaw.authored.machines.intents import Intent, Intents
from bylaw.authored.state import local_day, written_day
from bylaw.hold.item import HeldItem

_OPEN = ("proposed", "deferred")


def matching(asked: Asked, decisions: Decisions, intent: Intent) -> list[Decision]:
    """The decisions that the question is about, the oldest first."""
    known = decisions.decisions
    named = [known[id] for id in asked.anchors] if asked.anchors else list(known.values())
    if asked.waiting:
        return []
    if intent.lists == "pending":
        named = [one for one in named if one.status in _OPEN]
    found = [one for one in named if fits(one, asked.filters)]
    return sorted(found, key=lambda one: (str(one.decided_on or one.proposed_on or "9999"), one.id))


def waiting(asked: Asked, decisions: Decisions) -> list[Event]:
    """The events that led to no decision yet, the oldest first."""
    days = [one for one in asked.filters if one.item.named == "date"]
    found = [one for one in decisions.events.values() if not one.led_to and one.timestamp]
    found = [one for one in found if all(in_span(local_day(one), day) for day in days)]
    named = [one for one in found if one.id in asked.waiting] if asked.waiting else found
    return sorted(named, key=lambda one: (one.timestamp, one.id))


def listed(decisions: Sequence[Decision], events: Sequence[Event], intent: Intent, rules: Intents) -> Listed:
    """The evidence of a list, cut to as many as the rules let it tell."""
    total = len(decisions) + len(events)
    shown = decisions[: rules.search.listed]
    beside = events[: rules.search.listed - len(shown)]
    return Listed(
        decisions=tuple(anchor_shown(one, intent, rules) for one in shown),
        events=tuple(event_shown(one, rules) for one in beside),
        total=total,
        allowed_ids=(*(one.id for one in shown), *(one.id for one in beside)),
    )


def entries(shown: Listed, decisions: Decisions) -> list[str]:
    """What is told of each."""
    told = [label_of(decisions.decisions[one.id], decisions) for one in shown.decisions]
    for one in shown.events:
        event = decisions.events[one.id]
        told.append(f"{one.summary} ({written_day(local_day(event))}, no decision yet)")
    return told


def _said(one: HeldItem) -> str:
    """A filter as it is told back: a tag and a state by their names, else the words."""
    values = " or ".join(str(value) for value in one.item.values)
    return values if one.item.named in ("tag", "status") or not one.item.quote else one.item.quote


def counted(asked: Asked, shown: Listed, intent: Intent) -> str:
    """How many there are, and of what."""
    said = " ".join(map(_said, asked.filters))
    total, told = shown.total, len(shown.allowed_ids)

    if intent.lists == "pending":
        count = f"{total} {'record waits' if total == 1 else 'records wait'} for a decision"
    else:
        count = f"{total} decision{'' if total == 1 else 's'}{f' ({said})' if said else ''}"
    return f"{count}, the first {told} of them are told" if told < total else count
