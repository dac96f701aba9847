"""Answers without a model: a template says what matters, most important line first, and what fits is said.

A template sees the evidence only. Each of its lines is one thought; lines are joined until the answer is full.
"""

from __future__ import annotations

from datetime import datetime
from functools import cache
from pathlib import Path

from jinja2 import Environment, FileSystemLoader, StrictUndefined, TemplateNotFound

from bot.decisions.contract import Answer, Evidence
from bot.decisions.validate import mandatory_ids
from bylaw.authored.decisions import clipped
from bylaw.authored.intents import Intent, Intents
from bylaw.errors import BylawError

TEMPLATES = Path(__file__).parent / "templates"

_SMALLEST = 40  # characters: a clipped thought shorter than this is not worth beginning


def render(intent: Intent, evidence: Evidence, rules: Intents) -> Answer:
    """The answer of the intent's template. It cites what the intent demands and the events it was given."""
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
    return Answer(
        short_answer=_fitting(text.splitlines(), rules.lengths.short_answer, tuple(rules.prompt.forbidden_text)),
        supporting_ids=tuple(supporting or [evidence.anchor.id]),
    )


def _fitting(lines: list[str], bound: int, forbidden: tuple[str, ...]) -> str:
    """As many lines as fit in *bound*, in order; the first that does not fit is clipped and ends the answer."""
    said = ""
    for line in lines:
        for text in forbidden:
            line = line.replace(text, "")
        thought = " ".join(line.split())
        room = bound - len(said) - (1 if said else 0)
        if thought and len(thought) <= room:
            said = f"{said} {thought}".strip()
        elif thought and room >= min(_SMALLEST, bound):
            return f"{said} {clipped(thought, room)}".strip()
    return said


def _day(timestamp: str) -> str:
    """`2012-04-30T09:00:00Z` as people write it: `30 April 2012`."""
    moment = datetime.fromisoformat(timestamp.replace("Z", "+00:00"))
    return f"{moment.day} {moment:%B} {moment.year}"


def _ended(text: str) -> str:
    """*text* with a full stop, unless it ends in a sign of its own."""
    return text if text.endswith((".", "!", "?", "…")) else f"{text}."


@cache
def _environment() -> Environment:
    # Data never becomes a template, and a text in Slack or a terminal is not HTML: nothing is escaped here.
    environment = Environment(
        loader=FileSystemLoader(TEMPLATES), undefined=StrictUndefined, trim_blocks=True, lstrip_blocks=True
    )
    environment.filters["day"] = _day
    environment.filters["ended"] = _ended
    return environment
