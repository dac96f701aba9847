"""Python enhancement proposals: headers as mail has them, and sections underlined."""

from __future__ import annotations

import re
from collections.abc import Sequence
from email.parser import HeaderParser

from ci.importers.draft import ContextDraft, Record
from ci.importers.registries.records import day_in, enter, linked, sections_of, tags_of
from ci.importers.semantic.foreign import Foreign

_HEAD = re.compile(r"\s*PEP:\s*\d+\s*$", re.MULTILINE)
_PERSON = re.compile(r"\s*<[^>]*>")
_WANTED = {"rationale": ("rationale", "motivation", "abstract"), "context": ("motivation", "abstract")}


def claims(file: Foreign) -> bool:
    """Does the file begin with the header of a PEP?"""
    return _HEAD.match(file.text[:200]) is not None


def import_(files: Sequence[Foreign], draft: ContextDraft) -> None:
    """Every PEP among *files* as a record."""
    for file in files:
        if claims(file):
            _entered(file, draft)
    linked(draft, _id)


def _entered(file: Foreign, draft: ContextDraft) -> None:
    head = HeaderParser().parsestr(file.text.lstrip())
    number = int("".join(filter(str.isdigit, str(head["PEP"])))[:7])
    body = head.get_payload()
    said = sections_of(file.path, body if isinstance(body, str) else "")
    record: Record = {
        "id": f"pep-{number:04}",
        "aliases": [f"PEP {number}"],
        "number": number,
        "option": " ".join(str(head["Title"] or f"PEP {number}").split()),
        "status": str(head["Status"] or "").strip(),
        "proposed_on": day_in(head["Created"]),
        "decided_on": day_in(head["Resolution"]),
        "deciders": _people(head["PEP-Delegate"] or head["BDFL-Delegate"]),
        "consulted": _people(head["Sponsor"]),
        "tags": tags_of("pep", head["Type"], head["Topic"]),
        "supersedes": _numbers(head["Replaces"]),
        "superseded_by": _numbers(head["Superseded-By"]),
        "based_on": _numbers(head["Requires"]),
        "x-extra": {"authors": _people(head["Author"])} if head["Author"] else {},
    }
    if record["proposed_on"] and record["decided_on"] and record["proposed_on"] > record["decided_on"]:
        draft.drop(file.path, "it was created after its resolution: the day of creation is left out")
        record.pop("proposed_on")
    enter(draft, record, said, _WANTED, file.path)


def _people(said: str | None) -> list[str]:
    return [name for part in (said or "").split(",") if (name := " ".join(_PERSON.sub("", part).split()))]


def _numbers(said: str | None) -> list[str]:
    return re.findall(r"\d+", said or "")


def _id(written: str) -> str | None:
    return f"pep-{int(written):04}" if written.isdigit() and len(written) < 8 else None
