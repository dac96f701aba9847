"""Whom GitHub asks about a file: what `CODEOWNERS` of the trusted branch says, and nothing that a policy says.

Only here does a review learn the names of accounts, so only who is written there is ever mentioned.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from pathlib import Path

from ci.loading.commits.git import text as text_of

PLACES = (Path(".github") / "CODEOWNERS", Path("CODEOWNERS"), Path("docs") / "CODEOWNERS")  # the first one counts
MOST_BYTES = 3_000_000  # GitHub reads no larger one
_HANDLE = re.compile(r"@[A-Za-z0-9](?:[A-Za-z0-9-]{0,38})(?:/[A-Za-z0-9._-]{1,100})?")


@dataclass(frozen=True, slots=True)
class Owners:
    """The lines of the file: a pattern and its handles. For a path the last line that matches decides."""

    lines: tuple[tuple[re.Pattern[str], tuple[str, ...]], ...] = ()

    def of(self, path: str) -> tuple[str, ...]:
        """The handles that answer for *path*, counted from the top of the repository."""
        return next((handles for pattern, handles in reversed(self.lines) if pattern.match(path)), ())


def owners_in(top: Path) -> Owners:
    """The owners that the repository at *top* names; nobody where it has no such file."""
    for place in PLACES:
        path = top / place
        if path.is_file() and not path.is_symlink() and path.stat().st_size <= MOST_BYTES:
            return read(path.read_text(encoding="utf-8", errors="replace"))
    return Owners()


def owners_at(top: Path, commit: str) -> Owners:
    """The owners that the repository at *top* names at a commit; nobody where it has no such file there."""
    for place in PLACES:
        said = text_of(top, "cat-file", "blob", f"{commit}:{place.as_posix()}")
        if said is not None and len(said) <= MOST_BYTES:
            return read(said)
    return Owners()


def read(text: str) -> Owners:
    """The owners that the text of a `CODEOWNERS` names. Addresses of mail are nobody who can be mentioned."""
    found = []
    for line in text.splitlines():
        pattern, *names = line.split(" #")[0].split() or [""]
        if not pattern or pattern.startswith(("#", "!")):
            continue
        handles = tuple(name for name in names if _HANDLE.fullmatch(name))
        found.append((re.compile(_expression(pattern)), handles))
    return Owners(tuple(found))


def _expression(pattern: str) -> str:
    """A pattern as GitHub reads it: from the top where it holds a slash, else at any depth; a folder is all in it."""
    bare = pattern.strip("/")
    anchored = pattern.startswith("/") or "/" in bare
    stars = {"**/": "(?:.*/)?", "**": ".*", "*": "[^/]*", "?": "[^/]"}
    parts = [stars.get(part, re.escape(part)) for part in re.split(r"(\*\*/|\*\*|\*|\?)", bare)]
    inside = "/.*" if pattern.endswith("/") else "" if bare.endswith("*") and anchored else "(?:/.*)?"
    return f"^{'' if anchored else '(?:.*/)?'}{''.join(parts)}{inside}$"
