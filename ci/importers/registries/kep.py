"""Kubernetes enhancement proposals: `kep.yaml`, and the README beside it."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from pathlib import PurePosixPath
from typing import Any

from ci.importers.draft import ContextDraft, Record
from ci.importers.registries.records import day_in, enter, linked, sections_of, tags_of
from ci.importers.semantic.foreign import Foreign

_WANTED = {"rationale": ("motivation", "summary"), "context": ("summary",), "consequences": ("drawbacks",)}
_NUMBER = re.compile(r"(?:^|/)(\d{1,6})-[^/]*/?$")


def claims(file: Foreign) -> bool:
    """Is it the `kep.yaml` of a KEP?"""
    return PurePosixPath(file.path).name == "kep.yaml" and any("title" in one for one in file.mappings)


def import_(files: Sequence[Foreign], draft: ContextDraft) -> None:
    """Every KEP among *files* as a record, its reasons from the README in the same folder."""
    texts = {file.path: file.text for file in files if PurePosixPath(file.path).name.lower() == "readme.md"}
    by_folder = {str(PurePosixPath(path).parent): text for path, text in texts.items()}
    for file in files:
        if claims(file):
            folder = PurePosixPath(file.path).parent
            said = sections_of(file.path, by_folder.get(str(folder), ""))
            _entered(file.mappings[0], said, file.path, draft)
    linked(draft, _id)


def _entered(head: Mapping[str, Any], said: Mapping[str, str], where: str, draft: ContextDraft) -> None:
    number = str(head.get("kep-number") or "")
    if not number.isdigit() or len(number) > 7:
        draft.drop(where, "`kep-number` is no number")
        return
    record: Record = {
        "id": f"kep-{number}",
        "aliases": [f"KEP-{number}"],
        "number": int(number),
        "option": str(head.get("title")),
        "status": str(head.get("status") or ""),
        "proposed_on": day_in(head.get("creation-date")),
        "deciders": _words(head.get("approvers")),
        "consulted": _words(head.get("reviewers")),
        "tags": tags_of("kep", head.get("owning-sig")),
        "supersedes": _words(head.get("replaces")),
        "superseded_by": _words(head.get("superseded-by")),
        "x-extra": {"authors": _words(head.get("authors"))},
    }
    enter(draft, record, said, _WANTED, where)


def _words(said: Any) -> list[str]:
    listed = said if isinstance(said, list) else [said]
    return [str(one).strip() for one in listed if isinstance(one, str | int) and str(one).strip()]


def _id(written: str) -> str | None:
    found = _NUMBER.search(written) or re.fullmatch(r"(?:KEP-?)?(\d{1,6})", written.strip(), re.IGNORECASE)
    return f"kep-{int(found[1])}" if found else None
