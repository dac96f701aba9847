"""How ADR Markdown calls the parts of a record: headings, and the keys of front matter, status lines and tables."""

from __future__ import annotations

from collections.abc import Mapping

from bylaw.authored.decision_sources import Format

_NYGARD: Mapping[str, str] = {
    "status": "status",
    "date": "date",
    "context": "context",
    "decision": "rationale",
    "proposal": "rationale",
    "consequences": "consequences",
}
_MADR: Mapping[str, str] = {
    "context and problem statement": "context",
    "decision drivers": "decision_drivers",
    "considered options": "options",
    "options considered": "options",
    "alternatives considered": "options",
    "decision outcome": "rationale",
    "positive consequences": "consequences",
    "negative consequences": "consequences",
    "confirmation": "confirmation",
    "validation": "confirmation",
    "pros and cons of the options": "arguments",
}
_OTHERS: Mapping[str, str] = {  # Tyree and Akerman, Alexandrian, and the links of log4brains
    "issue": "context",
    "discussion": "context",
    "solution": "rationale",
    "argument": "rationale",
    "positions": "options",
    "implications": "consequences",
    "links": "relations",
    "related decisions": "relations",
}
HEADINGS: Mapping[Format, Mapping[str, str]] = {
    "auto": {**_NYGARD, **_MADR, **_OTHERS},
    "nygard": _NYGARD,
    "madr": {**_NYGARD, **_MADR},
    "log4brains": {**_NYGARD, **_MADR, "links": "relations"},
}

# Key of a line like `Date: 2017-07-14`, of a table or of the front matter → field of the record.
KEYS: Mapping[str, str] = {
    "title": "option",
    "status": "status",
    "state": "status",
    "date": "date",
    "decided": "date",
    "decided on": "date",
    "decision date": "date",
    "proposed on": "proposed_on",
    "deciders": "deciders",
    "decider": "deciders",
    "decision maker": "deciders",
    "decision makers": "deciders",
    "decided by": "deciders",
    "consulted": "consulted",
    "informed": "informed",
    "tags": "tags",
    "review by": "review_by",
    "supersedes": "supersedes",
    "superseded by": "superseded_by",
    "amends": "amends",
    "amended by": "amended_by",
    "affects": "affects",
    "aliases": "aliases",
    "audience": "audience",
}
PEOPLE = frozenset({"deciders", "consulted", "informed"})
DAYS = frozenset({"date", "proposed_on", "review_by"})

# How a status line says what one record does to another; adr-tools itself long wrote `superceded`.
RELATIONS: Mapping[str, str] = {
    "superseded by": "superseded_by",
    "superceded by": "superseded_by",
    "replaced by": "superseded_by",
    "supersedes": "supersedes",
    "supercedes": "supersedes",
    "replaces": "supersedes",
    "amended by": "amended_by",
    "amends": "amends",
}

# What the first word of an argument says of the option (MADR).
ARGUMENTS: Mapping[str, str] = {"good": "pros", "pro": "pros", "bad": "cons", "con": "cons", "neutral": "neutral"}
