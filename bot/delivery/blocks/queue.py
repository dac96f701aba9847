"""What waits for a steward in Slack: a button under the notice, the candidate in a form, a second form for a no."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from bot.delivery.blocks import kit

REVIEW, OPEN, REJECT = "candidate_review", "candidate_open", "candidate_reject"
WHY = "candidate_why"
ANSWER, SETTLED, WORDS = "objection_answer", "objection_settled", "objection_words"
_TITLE = "Correction of many"
_MOST_REASONS = 10


def buttons(letter: Mapping[str, Any]) -> list[kit.Block]:
    """How a steward goes on from the notice of a candidate, an owner from that of an objection; else nothing."""
    kind, _, named = str(letter.get("event")).partition(":")
    if kind == "objection" and named:
        return [kit.actions([kit.button("Answer…", ANSWER, named, "primary")])]
    if letter.get("event") != "candidate":
        return []
    return [kit.actions([kit.button("Review…", REVIEW, str(letter["about"]), "primary")])]


def candidate(name: str, change: str, reasons: Sequence[str], told: str | None = None) -> dict[str, Any]:
    """The candidate, who said why, and what may be done with it; *told* is what became of it."""
    shown = [kit.section(change), kit.context(name)]
    shown += [kit.context(*reasons[:_MOST_REASONS])] if reasons else []
    decide = kit.actions([kit.button("Open pull request", OPEN, name, "primary"), kit.button("Reject…", REJECT, name)])
    shown += [decide] if told is None else [kit.section(told)] if told else []
    return {"type": "modal", "title": kit.plain(_TITLE), "close": kit.plain("Close"), "blocks": shown}


def objection(name: str, lines: Sequence[str]) -> dict[str, Any]:
    """What somebody says is wrong, and the field for the answer."""
    return {
        "type": "modal",
        "callback_id": SETTLED,
        "private_metadata": name,
        "title": kit.plain("An answer is wrong"),
        "submit": kit.plain("Send"),
        "close": kit.plain("Cancel"),
        "blocks": [
            *(kit.section(line) for line in lines[:_MOST_REASONS]),
            kit.asked("Your answer. Who said so is told.", WORDS, kit.typed(WORDS, is_long=True)),
        ],
    }


def no(name: str) -> dict[str, Any]:
    """The form for a no, and why."""
    return {
        "type": "modal",
        "callback_id": REJECT,
        "private_metadata": name,
        "title": kit.plain("Reject"),
        "submit": kit.plain("Reject"),
        "close": kit.plain("Back"),
        "blocks": [kit.asked("Why? Who corrected it is told.", WHY, kit.typed(WHY, is_long=True))],
    }
