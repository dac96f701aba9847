"""Which files beside the policies could not be read, and what that means: left out, untouchable, or too much to go on.

A decision record, a glossary term, a guide or a verified query is left out. Without an entity, a metric or a gotcha no
question about what it touches is answered. Nothing at all is compiled while a file of `rules/`, the calendar, a lookup
or a plan cannot be read.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import PurePosixPath
from typing import Any

from ci.findings import Finding
from ci.loading.file_kinds import kind_of_file
from ci.loading.load import Workspace

# Findings that say of what was written that it is not all there.
UNREPRESENTABLE = frozenset(("unreadable-file", "schema", "duplicate-key", "duplicate-id"))
LEFT_OUT = frozenset(("decisions", "glossary", "guides", "verified_queries"))
_TOUCHING = frozenset(("entities", "metrics", "gotchas"))
_POLICIES = frozenset(("vocabulary", "cases", "policies"))  # of them only rules can be lost: they are unproven
_NAMED_BY = {"gotchas": "id", "glossary": "term", "guides": "domain", "decisions": "id"}


@dataclass(frozen=True, slots=True)
class Unread:
    """A file of `context/` that could not be read. *touches*: entities and metrics, None where nobody knows which."""

    kind: str
    name: str
    path: str
    line: int
    reason: str
    touches: tuple[str, ...] | None = ()
    words: tuple[str, ...] = ()

    @property
    def notice(self) -> str:
        """One line for people."""
        then = "left out" if self.touches == () else "no question about what it touches is answered"
        return f"notice: {then}: {self.path}:{self.line}: {self.reason}"


def section_of(path: str) -> str | None:
    """What is read at *path*: policies, entities, …; None where nothing is."""
    kind = kind_of_file(path)
    if kind is not None:
        return kind.section
    top = path.partition("/")[0]
    return {"policies": "policies", "context": "decisions" if path.startswith("context/decisions") else None}.get(top)


def is_blocking(finding: Finding) -> bool:
    """Is nothing compiled while *finding* stands, whatever is allowed?"""
    if finding.id not in UNREPRESENTABLE:
        return False
    section = section_of(finding.at.path)
    is_misplaced = section is None and finding.at.path.startswith("context")
    return section not in _POLICIES | LEFT_OUT | _TOUCHING and not is_misplaced


def unread(workspace: Workspace, findings: Iterable[Finding]) -> tuple[Unread, ...]:
    """The files of `context/` that could not be read, or not all of them, by path."""
    first: dict[str, Finding] = {}
    for finding in findings:
        path = finding.at.path
        if finding.id in UNREPRESENTABLE and path.startswith("context") and not is_blocking(finding):
            first.setdefault(path, finding)
    return tuple(_of(path, finding, workspace) for path, finding in sorted(first.items()))


def _of(path: str, finding: Finding, workspace: Workspace) -> Unread:
    section, source = section_of(path), workspace.sources.get(path)
    data = source.data if source is not None and isinstance(source.data, dict) else {}
    written = data.get(_NAMED_BY.get(section or "", "name"))
    name = written if isinstance(written, str) else PurePosixPath(path).stem
    line = workspace.position(finding.at)[0]
    touches: tuple[str, ...] | None = ()
    if section is None:
        touches = None  # a misspelt folder may hold anything
    elif section == "gotchas":
        touches = _applies_to(data, workspace)
    elif section in _TOUCHING:
        touches = (name,)
    words = tuple(dict.fromkeys(_words(name, data))) if section in _TOUCHING - {"gotchas"} else ()
    return Unread(section or "context", name, path, line, finding.message, touches, words)


def _applies_to(data: dict[str, Any], workspace: Workspace) -> tuple[str, ...] | None:
    """The entities and metrics of a trap; None where one of them cannot be read."""
    written, known = data.get("applies_to"), workspace.context
    if not isinstance(written, list) or not written:
        return None
    there = {*known.entities, *known.metrics}
    named = [name for name in written if isinstance(name, str) and (name in there or workspace.is_lost(name))]
    return tuple(named) if len(named) == len(written) else None


def _words(name: str, data: dict[str, Any]) -> Iterator[str]:
    yield name.replace("_", " ").casefold()
    for key in ("label", "synonyms"):
        written = data.get(key)
        for word in written if isinstance(written, list) else (written,):
            if isinstance(word, str):
                yield word.casefold()
