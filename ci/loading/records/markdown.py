"""ADR Markdown as a third syntax of decision records: its fields as a source with places, like that of a YAML file."""

from __future__ import annotations

from array import array
from collections.abc import Iterator, Mapping
from typing import Any

from bylaw.authored.decision_sources import DecisionSource
from ci.findings import Finding, Place
from ci.loading.records.adr import is_record, record_of
from ci.loading.records.document import document_of
from ci.loading.records.told import Told
from ci.loading.source import Marks, Source, decoded

AS_IT_IS = DecisionSource(folder="adr")  # how a document is read that no source names
_SHIFT = 21

_UNDATED = "the day of its first commit is told where git knows it: write a line like `Date: 2026-01-31`"
_UNKNOWN = (
    "it is read as proposed until it says proposed, accepted, rejected, deprecated, superseded, retired or deferred"
)


def read(path: str, content: bytes, source: DecisionSource | None) -> tuple[Source | None, list[Finding]]:
    """The record in *content*, None where no decision is written in it, and what a reader should be told.

    Raises Unreadable.
    """
    text = decoded(content)
    document = document_of(path, text)
    if not is_record(path, document, source or AS_IT_IS):
        message = "no decision is written in it: it has no section like `## Decision`, and no status"
        help = (
            "an index or a template may stay; a record needs `## Status`, `## Context` and `## Decision`; what other "
            "headings mean is said under `words` in context/decisions/sources.yaml"
        )
        return None, [Finding("unread-file", message, Place(path, line=1), help=help)]
    told = record_of(path, document, source or AS_IT_IS)
    if "rationale" not in told.fields:
        help = "write what was decided, and why, under a heading `## Decision` or `## Decision Outcome`"
        return None, [Finding("schema", "no section says what was decided", Place(path, line=1), help=help)]
    return _source(path, text, told.fields, told.lines), list(_notes(path, told))


def _notes(path: str, told: Told) -> Iterator[Finding]:
    for id, words, line in told.notes:
        if id == "undated-decision":
            message = words or "the document does not say when this was decided"
            yield Finding(id, message, Place(path, line=line), help=_UNDATED)
        else:
            yield Finding(id, f"the status `{words[:60]}` is none that is known", Place(path, line=line), help=_UNKNOWN)
    status, line = told.fields.get("status", "accepted"), told.lines.get("status", 1)
    if "status" in told.extra and all(id != "unknown-status" for id, _, _ in told.notes):
        message = f"the status `{' '.join(told.extra['status'].split())[:80]}` is read as `{status}`"
        yield Finding("extra-field", message, Place(path, line=line), help="what is written is kept in `x-extra`")
    if kept := sorted(set(told.extra) - {"status", "status_links", "source_owner", "date"}):
        names = ", ".join(f"`{name}`" for name in kept[:8]) + (f" and {len(kept) - 8} more" if kept[8:] else "")
        message = f"kept in `x-extra`, because no field has that name: {names}"
        place = Place(path, line=told.lines.get("x-extra", 1))
        yield Finding("extra-field", message, place, help="nothing is lost; an answer does not tell it")


def _source(path: str, text: str, fields: Mapping[str, Any], lines: Mapping[str, int]) -> Source:
    """*fields* as a source in which each of them stands on its line."""
    keys: list[str | None] = [None, *fields]
    places = array("Q", [1 << _SHIFT, *(lines.get(name, 1) << _SHIFT for name in fields)])
    ends = array("L", [len(keys), *range(2, len(keys) + 1)])
    return Source(path, text, dict(fields), Marks(keys, array("Q", [0, *places[1:]]), places, ends))
