"""What the registries share: a record from headers and sections, and links that stay where both ends were imported."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from bylaw.authored.decisions import STATUS_WORDS, slug_of
from bylaw.authored.moments import moment_of
from bylaw.authored.recorded import clipped
from ci.importers.draft import ContextDraft, Record
from ci.loading.records.document import document_of
from ci.loading.source import Unreadable

SECTION = "decisions/decisions"
LINKS = ("supersedes", "superseded_by", "amends", "based_on")
LONGEST = 20_000  # characters of one field
_DATE = re.compile(r"\d{1,4}[-/ ][A-Za-z0-9]{1,9}[-/ ]\d{1,4}")
_HELD = frozenset({"accepted", "rejected", "deprecated", "superseded", "retired"})


def sections_of(path: str, text: str) -> dict[str, str]:
    """The sections of a document by their headings in small letters, each with what stands below it."""
    try:
        document = document_of(path, text)
    except Unreadable:
        return {}
    return {one.title.casefold(): one.text for one in document.sections if one.title and one.text}


def day_in(text: Any) -> str | None:
    """The first day that *text* says, as ISO; None where it says none."""
    for written in (str(text or ""), *_DATE.findall(str(text or ""))):
        try:
            return moment_of(written).day.isoformat()
        except ValueError:
            continue
    return None


def enter(
    draft: ContextDraft, record: Record, said: Mapping[str, str], wanted: Mapping[str, Sequence[str]], where: str
) -> None:
    """Put *record* into *draft*, its texts from the sections that are *wanted* for each field; the rest is told."""
    taken: set[str] = set()
    for field, names in wanted.items():
        name = next((name for name in names if name in said and name not in taken), None)
        if name is not None:
            taken.add(name)
            record[field] = [said[name]] if field == "consequences" else said[name]
            if len(said[name]) > LONGEST:
                record[field] = clipped(said[name], LONGEST)
                draft.drop(f"{where}#{name}", f"it has more than {LONGEST:,} characters: its beginning is kept")
    if "rationale" not in record:
        draft.drop(where, "no section says why: a record needs a reason")
        return
    status = str(record.get("status") or "").casefold()
    state = STATUS_WORDS.get(status, status)
    if not record.get("decided_on") and state in _HELD:
        record["dated_by"] = "nothing"
        draft.drop(where, "no day of the decision is told: it stays undated")
    for name in sorted(said.keys() - taken):
        draft.drop(f"{where}#{name}", "this section is not taken: the registry has it")
    draft.add(SECTION, {key: value for key, value in record.items() if value not in (None, "", [])}, where)


def linked(draft: ContextDraft, of: Callable[[str], str | None]) -> None:
    """The links between the records as ids, *of* what was written; one that leads elsewhere is left behind."""
    records = draft.records[SECTION]
    for id, record in records.items():
        for name in LINKS:
            found = [of(written) or "" for written in record.get(name, [])]
            kept = [one for one in found if one in records and one != id]
            for written, one in zip(record.get(name, []), found, strict=True):
                if one not in kept:
                    draft.drop(f"{id}.{name}", f"`{str(written)[:60]}` was not imported with it")
            if kept:
                record[name] = list(dict.fromkeys(kept))
            else:
                record.pop(name, None)


def tags_of(*said: Any) -> list[str]:
    """What a registry sorts its records by."""
    return [slug for one in said if isinstance(one, str) and (slug := slug_of(one, "_"))]
