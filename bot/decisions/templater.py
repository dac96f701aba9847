"""Answers without a model: a template says what matters, the most important first, and what fits is said.

A template sees the evidence only. Its paragraphs are thoughts, its lines their sentences, told while there is room.
"""

from __future__ import annotations

import re
from datetime import datetime
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING

from bot.decisions.contract import DecisionAnswer, Evidence
from bot.decisions.validate import mandatory_ids
from bylaw.authored.decisions import clipped
from bylaw.authored.machines.intents import Intent, Intents
from bylaw.errors import BylawError

if TYPE_CHECKING:
    from jinja2 import Environment

TEMPLATES = Path(__file__).parent / "templates"

_SMALLEST = 100  # characters: a clipped thought shorter than this is not worth beginning


def render(intent: Intent, evidence: Evidence, rules: Intents) -> DecisionAnswer:
    """The answer of the intent's template. It cites what the intent demands and the events it was given."""
    from jinja2 import TemplateNotFound

    try:
        template = _environment().get_template(f"{intent.template}.j2")
    except TemplateNotFound:
        raise BylawError(
            f"the intent's template `{intent.template}` is not there",
            f"`rules/intents.yaml` may name {', '.join(sorted(path.stem for path in TEMPLATES.glob('*.j2')))}",
        ) from None
    text = template.render(
        anchor=evidence.anchor,
        events=evidence.events,
        preceding=evidence.transitions.preceding,
        succeeding=evidence.transitions.succeeding,
    )
    demanded = mandatory_ids(evidence, intent)
    supporting = [
        id for id in evidence.allowed_ids if id in demanded or any(id == event.id for event in evidence.events)
    ]
    return DecisionAnswer(
        short_answer=_fitting(text, rules.lengths.short_answer, tuple(rules.prompt.forbidden_text)),
        supporting_ids=tuple(supporting or [evidence.anchor.id]),
    )


def _fitting(text: str, bound: int, forbidden: tuple[str, ...]) -> str:
    """What of *text* fits in *bound*, paragraph by paragraph.

    A line that does not fit ends its paragraph, so that no sentence is left out between two that are said; where a
    paragraph would be lost whole and there is room to tell something, its first line is clipped.
    """
    for banned in forbidden:
        text = text.replace(banned, "")
    said = ""
    for paragraph in re.split(r"\n\s*\n", text):
        for number, line in enumerate(filter(None, (" ".join(line.split()) for line in paragraph.splitlines()))):
            room = bound - len(said) - (1 if said else 0)
            if len(line) > room:
                if number == 0 and room >= min(_SMALLEST, bound):
                    said = f"{said} {clipped(line, room)}".strip()
                break
            said = f"{said} {line}".strip()
    return said


def _sentences(text: str) -> str:
    """One sentence a line."""
    return re.sub(r"(?<=[.!?])\s+", "\n", _ended(text))


def _day(timestamp: str | None) -> str:
    """`2012-04-30T09:00:00Z` as people write it: `30 April 2012`."""
    if timestamp is None:
        return "an unknown day"
    moment = datetime.fromisoformat(timestamp.replace("Z", "+00:00"))
    return f"{moment.day} {moment:%B} {moment.year}"


def _ended(text: str) -> str:
    """*text* with a full stop, unless it ends in a sign of its own."""
    return text if text.endswith((".", "!", "?", "…")) else f"{text}."


@cache
def _environment() -> Environment:
    from jinja2 import Environment as Templates
    from jinja2 import FileSystemLoader, StrictUndefined  # only where a decision is told

    # Data never becomes a template, and a text in Slack or a terminal is not HTML: nothing is escaped here.
    environment = Templates(
        loader=FileSystemLoader(TEMPLATES), undefined=StrictUndefined, trim_blocks=True, lstrip_blocks=True
    )
    environment.filters["day"] = _day
    environment.filters["ended"] = _ended
    environment.filters["sentences"] = _sentences
    return environment
