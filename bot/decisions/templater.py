"""Answers without a model: a template says what matters, the most important first, and what fits is said.

A template sees the evidence only. Its paragraphs are thoughts, its lines their sentences, told while there is room. A
paragraph that begins with a dash is a step: of steps that do not all fit it is said how many are told.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import date
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

from bot.decisions.contract import (
    Considered,
    DecisionAnswer,
    Evidence,
    EvidenceEvent,
    EvidenceTransition,
    Listed,
    Related,
    Relation,
)
from bot.decisions.validate import mandatory_ids
from bylaw.authored.decisions import clipped
from bylaw.authored.machines.intents import Intent, Intents
from bylaw.authored.state import ACCEPTED, written_day
from bylaw.errors import BylawError
from bylaw.hold.text import see

if TYPE_CHECKING:
    from jinja2 import Environment

TEMPLATES = Path(__file__).parent / "templates"

_SMALLEST = 100  # characters: a clipped thought shorter than this is not worth beginning
_STEP = "- "
_ITEM_NUMBER = re.compile(r"(?:^|[:;.!?]\s)\(?\d{1,2}[.)]$")  # "the steps are: 1." goes on
_HEADING = re.compile(r"(?m)^[ \t]*#{1,6}[ \t]+|^[ \t]*[*+-][ \t]+")

_LINK = re.compile(r"!?\[([^\[\]\n]{1,300})\]\([^()\s]{1,500}\)")


@dataclass(frozen=True, slots=True)
class Rendered:
    """The short answer, and the whole of it where the short one had to leave something out."""

    answer: DecisionAnswer
    whole: str


def render(
    intent: Intent, evidence: Evidence, rules: Intents, state: str, option: Considered | None = None, reachable: int = 0
) -> Rendered:
    """The answer of the intent's template. It cites what the intent demands, what its state names, and the events.

    *option* is the one that was asked about beside the chosen one; *reachable* counts all steps that there are.
    """
    text = _text(intent, {**_known(evidence, state), "option": option})
    demanded = mandatory_ids(evidence, intent) | _named_ids(evidence)
    supporting = [
        id for id in evidence.allowed_ids if id in demanded or any(id == event.id for event in evidence.events)
    ]
    return _rendered(text, supporting or [evidence.anchor.id], rules, reachable)


def render_list(intent: Intent, listed: Listed, entries: Sequence[str], count: str, rules: Intents) -> Rendered:
    """The answer about many records: how many, and each of those that are shown."""
    text = _text(intent, {"count": count, "entries": entries})
    return _rendered(text, listed.allowed_ids, rules, listed.total)


def _rendered(text: str, supporting: Sequence[str], rules: Intents, total: int) -> Rendered:
    for banned in rules.prompt.forbidden_text:
        text = text.replace(banned, "")
    paragraphs = _paragraphs(text)
    short = _fitting(paragraphs, rules.lengths.short_answer, total)
    whole = "\n".join(" ".join(lines) for lines in paragraphs)
    return Rendered(DecisionAnswer(short_answer=short, supporting_ids=tuple(supporting)), whole)


def _text(intent: Intent, known: Mapping[str, Any]) -> str:
    from jinja2 import TemplateNotFound

    try:
        template = _environment().get_template(f"{intent.template}.j2")
    except TemplateNotFound:
        raise BylawError(
            f"the intent's template `{intent.template}` is not there",
            f"`rules/intents.yaml` may name {', '.join(template_names())}",
        ) from None
    return template.render(**known)


def template_names() -> tuple[str, ...]:
    """The templates that an intent may name."""
    return tuple(sorted(path.stem for path in TEMPLATES.glob("*.j2")))


def _known(evidence: Evidence, state: str) -> dict[str, Any]:
    """What a template may tell."""
    anchor, related = evidence.anchor, evidence.related or ()
    by: dict[Relation, list[Related]] = {}
    for one in related:
        by.setdefault(one.relation, []).append(one)
    deciders = anchor.deciders or ((anchor.decision_maker,) if anchor.decision_maker else ())
    is_told = anchor.status in (None, "rejected") and anchor.decision_maker
    return {
        "anchor": anchor,
        "state": state,
        "stands": anchor.status is None,
        "is_open": anchor.status in ("proposed", "deferred"),
        "by": f" by {anchor.decision_maker}" if is_told else "",
        "day": None if (day := day_of(anchor)) is None else written_day(day),
        "deciders": deciders,
        "events": evidence.events,
        "preceding": evidence.transitions.preceding,
        "succeeding": evidence.transitions.succeeding,
        "replacing": by.get("superseded_by", ()),
        "amending": by.get("amended_by", ()),
        "replaced": by.get("supersedes", ()),
        "passed": {one.id: one for one in (*by.get("before", ()), *by.get("after", ()))},
    }


def _named_ids(evidence: Evidence) -> frozenset[str]:
    """The other decisions that the answer names."""
    return frozenset(one.id for one in evidence.related or ())


def _paragraphs(text: str) -> list[list[str]]:
    found = ([" ".join(line.split()) for line in one.splitlines()] for one in re.split(r"\n\s*\n", text))
    return [lines for one in found if (lines := [line for line in one if line])]


def _fitting(paragraphs: Sequence[Sequence[str]], bound: int, total: int) -> str:
    """What of *paragraphs* fits in *bound*, and how many of the steps are told where not all are.

    A line that does not fit ends its paragraph, so that no sentence is left out between two that are said; where a
    paragraph would be lost whole and there is room to tell something, its first line is clipped.
    """
    steps = [one for one in paragraphs if one[0].startswith(_STEP)]
    total = max(total, len(steps)) if steps else 0
    said, told = _told(paragraphs, bound, len(steps))
    if told < total:
        said, told = _told(paragraphs, bound - len(_of(total, total)), len(steps))
        said += _of(told, total)
    return said


def _of(told: int, total: int) -> str:
    return f" ({told} of {total} are told here.)"


def _told(paragraphs: Sequence[Sequence[str]], bound: int, steps: int) -> tuple[str, int]:
    said, told = "", 0
    for paragraph in paragraphs:
        is_step = paragraph[0].startswith(_STEP)
        if is_step and told and len(said) + len(paragraph[0]) > bound:
            break
        for number, line in enumerate(paragraph):
            line = line.removeprefix(_STEP) if is_step else line
            room = bound - len(said) - (1 if said else 0)
            if len(line) > room:
                if number == 0 and room >= min(_SMALLEST, bound):
                    said = f"{said} {clipped(line, room)}".strip()
                break
            said = f"{said} {line}".strip()
            told += is_step and number == 0
    return said, told


def _plain(text: str) -> str:
    """*text* as people read it aloud: without marks of headings, lists, emphasis and links."""
    return " ".join(see(_unmarked(text)).text.seen.split())


def _unmarked(text: str) -> str:
    return _LINK.sub(r"\1", _HEADING.sub("", text))


def _sentences(text: str) -> str:
    """One sentence a line; the number of a list item is no end of one."""
    seen = see(_unmarked(text)).text
    said: list[str] = []
    for one in seen.passages:
        sentence = " ".join(seen.seen[one.start : one.end].split())
        if said and _ITEM_NUMBER.search(said[-1]):
            said[-1] = f"{said[-1]} {sentence}"
        else:
            said.append(sentence)
    return _ended("\n".join(filter(None, said)))


def day_of(record: Any) -> date | None:
    """The local day of a record as evidence shows it."""
    said = record.day or (getattr(record, "timestamp", None) or "")[:10]
    return date.fromisoformat(said) if said else None


def _day(record: EvidenceEvent | EvidenceTransition) -> str:
    return written_day(day_of(record))


def _dated(record: EvidenceTransition) -> str:
    return f" ({_day(record)})" if day_of(record) is not None else ""


def _named(one: Related) -> str:
    """Another decision, with its day, and its state where it does not stand."""
    day = written_day(date.fromisoformat(one.day)) if one.day else ""
    status = "" if one.status in (None, ACCEPTED) else str(one.status)
    beside = ", ".join(filter(None, (one.called, status, day)))
    return f"“{_plain(one.option)}”{f' ({beside})' if beside else ''}"


def _listing(names: Iterable[str]) -> str:
    *rest, last = names
    return f"{', '.join(rest)} and {last}" if rest else last


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
    filters = (_day, _dated, _ended, _listing, _named, _plain, _sentences)
    environment.filters.update({one.__name__.lstrip("_"): one for one in filters})
    return environment
