"""The page of a finding id: what it means, why it matters, an example that has it and one that has not.

The two sentences stand in `ci.help.meanings`, the rest is data in `ci/help/pages/`. The examples are small
repositories: each is laid over `ci/help/pages/base.yaml`, and the tests run the real check on both.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

from ci.findings import SEVERITIES, Severity
from ci.help.meanings import MEANINGS
from ci.loading.source import parse

PAGES = Path(__file__).parent / "pages"
BASE = "base"

Files = Mapping[str, str]


@dataclass(frozen=True, slots=True)
class Page:
    """What is told about one finding id, with an example that has it and one that has not."""

    id: str
    severity: Severity
    what: str
    todo: str
    why: str
    bad: Files
    good: Files
    before: Files | None = None  # what the change started from, where the finding is about a change
    data: str = ""  # the SQL that fills the warehouse, where the finding is about its rows


def page(id: str) -> Page | None:
    """The page of *id*; None when there is no such finding."""
    if id not in SEVERITIES:
        return None
    what, todo = MEANINGS[id]
    return Page(id, SEVERITIES[id], what, todo, **_read(id))


def pages() -> tuple[Page, ...]:
    """Every page, in the order of the ids."""
    return tuple(one for id in SEVERITIES if (one := page(id)) is not None)


def base() -> Files:
    """The files that every example is laid over."""
    files: Files = _read(BASE)["files"]
    return files


@cache
def _read(name: str) -> Mapping[str, Any]:
    """What the file says under its keys."""
    path = PAGES / f"{name}.yaml"
    data: Mapping[str, Any] = parse(path.name, path.read_text(encoding="utf-8")).data
    return data
