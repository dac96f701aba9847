"""RFCs as the Rust project writes them: a list of keys, then sections; what was merged is accepted."""

from __future__ import annotations

import re
from collections.abc import Sequence
from pathlib import PurePosixPath

from ci.importers.draft import ContextDraft, Record
from ci.importers.registries.records import day_in, enter, sections_of, tags_of
from ci.importers.semantic.foreign import Foreign

_KEY = re.compile(r"^[-*] *(Feature Name|Start Date|RFC PR)s?:\s*(.*)$", re.MULTILINE | re.IGNORECASE)
_NUMBER = re.compile(r"(\d{1,7})-")
_WANTED = {"rationale": ("motivation", "summary"), "context": ("summary",), "consequences": ("drawbacks",)}


def claims(file: Foreign) -> bool:
    """Does the file begin with the keys of an RFC, and its name with a number?"""
    keys = {key.casefold() for key, _ in _KEY.findall(file.text[:2_000])}
    return "rfc pr" in keys and _NUMBER.match(PurePosixPath(file.path).name) is not None


def import_(files: Sequence[Foreign], draft: ContextDraft) -> None:
    """Every RFC among *files* as a record."""
    for file in files:
        if claims(file):
            _entered(file, draft)


def _entered(file: Foreign, draft: ContextDraft) -> None:
    stem = PurePosixPath(file.path).stem
    head = {key.casefold(): value.strip(" `") for key, value in _KEY.findall(file.text[:2_000])}
    found = _NUMBER.match(stem)
    assert found is not None
    number, name = int(found[1]), stem[found.end() :].replace("-", " ")
    record: Record = {
        "id": f"rfc-{number:04}",
        "aliases": [f"RFC {number}"],
        "number": number,
        "option": name[:1].upper() + name[1:] or f"RFC {number}",
        "status": "accepted",
        "proposed_on": day_in(head.get("start date")),
        "tags": tags_of("rfc"),
        "x-extra": {key.replace(" ", "_"): value for key, value in head.items() if value},
    }
    enter(draft, record, sections_of(file.path, file.text), _WANTED, file.path)
