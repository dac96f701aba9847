"""The one right fix of a finding, as the new text of its line: what `check --fix` writes and a review suggests.

A finding offers a fix through its detail: `written` is the word that stands there, and `replacement` the right word,
quoted as its predecessor; or `spelled`, what takes the place of the word and of the quotes around it as it is.
Everything else of the line stays, comments too; where not exactly that word stands there, nothing is offered.
"""

from __future__ import annotations

import difflib
import json
import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass

from ci.findings import Finding

_PLAIN = re.compile(r"[A-Za-z_][A-Za-z0-9_.-]*")
_TAKEN = frozenset(("true", "false", "null"))  # words that YAML reads as something else than text


@dataclass(frozen=True, slots=True)
class Fix:
    """One line of one file, as it is and as it should be."""

    path: str
    line: int
    before: str
    after: str


def fixed_line(finding: Finding, text: str) -> str | None:
    """*text*, the line of the finding's place, with the right word in it; None where that word does not stand there."""
    written, right, exact = (finding.detail.get(key) for key in ("written", "replacement", "spelled"))
    if not isinstance(written, str) or not isinstance(exact or right, str) or finding.at.column is None:
        return None
    start = finding.at.column - 1
    for quote in ("", '"', "'"):
        there = f"{quote}{written}{quote}"
        after = text[start + len(there) : start + len(there) + 1]
        if text[start:].startswith(there) and not re.match(r"[\w.-]", after):
            return text[:start] + (exact or _scalar(str(right), quote, written)) + text[start + len(there) :]
    return None


def _scalar(word: str, quote: str, written: str) -> str:
    """*word* in the quotes that its predecessor had, or in some where YAML needs them; for a number a number."""
    is_number = word.isdigit() and written.isdigit()
    is_plain = is_number or (_PLAIN.fullmatch(word) and word.casefold() not in _TAKEN)
    return f"{quote}{word}{quote}" if is_plain else json.dumps(word, ensure_ascii=False)


def fixes(findings: Iterable[Finding], texts: Mapping[str, str]) -> Iterator[Fix]:
    """The fix of each finding that has one, at most one a line: the next reading finds the others."""
    taken: set[tuple[str, int]] = set()
    for finding in findings:
        path, line = finding.at.path, finding.at.line
        if line is None or (path, line) in taken or path not in texts:
            continue
        before = texts[path].split("\n")[line - 1]
        after = fixed_line(finding, before)
        if after is not None and after != before:
            taken.add((path, line))
            yield Fix(path, line, before, after)


def applied(text: str, lines: Iterable[Fix]) -> str:
    """*text* with those lines as they should be."""
    rows = text.split("\n")
    for fix in lines:
        rows[fix.line - 1] = fix.after
    return "\n".join(rows)


def difference(path: str, before: str, after: str) -> str:
    """What changes in one file, as a unified diff; empty where nothing does."""
    rows = difflib.unified_diff(before.splitlines(), after.splitlines(), f"a/{path}", f"b/{path}", lineterm="", n=2)
    return "".join(f"{row}\n" for row in rows)
