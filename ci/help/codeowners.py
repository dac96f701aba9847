"""`.github/CODEOWNERS` from the owners that the policies name: whoever answers for a policy reviews its changes.

Lines above the mark are people's own and stay. In the file the last line that matches a path decides.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterator, Sequence
from pathlib import Path, PurePosixPath

from bylaw.canonical import write_atomically
from bylaw.errors import UsageError
from ci.loading.load import PolicyFile, load
from ci.scaffold import PLACE

FILE = Path(".github") / "CODEOWNERS"
MARK = "# From here on written by `bylaw init --codeowners`, from `metadata.owner` of the policies."

_ACCOUNT = re.compile(r"@[A-Za-z0-9-]+(/[A-Za-z0-9._-]+)?|[^@\s]+@[^@\s]+\.[^@\s]+")
_ORGANISATION = re.compile(r"[A-Za-z0-9]([A-Za-z0-9-]{0,37}[A-Za-z0-9])?")


def rewrite(root: Path, organisation: str) -> Path:
    """Write the file of the repository at *root* anew, below its mark; the path written."""
    checked(organisation)
    path = root / FILE
    try:
        before = path.read_text(encoding="utf-8") if path.exists() else ""
        write_atomically(path, codeowners(load(root).policies, organisation, before))
    except OSError as error:
        raise UsageError(f"cannot write `{path}`: {error.strerror or error}") from None
    return path


def checked(organisation: str) -> str:
    """*organisation* where GitHub may have one of that name. Raises UsageError."""
    if not _ORGANISATION.fullmatch(organisation):
        raise UsageError(f"`{organisation}` is no name of a GitHub organisation")
    return organisation


def codeowners(policies: Sequence[PolicyFile], organisation: str, before: str = "") -> str:
    """The whole file: what stands above the mark in *before*, then a line for each folder and each owner's policies."""
    kept = before.partition(MARK)[0].rstrip("\n").replace(f"@{PLACE}/", f"@{organisation}/")
    own = [kept, ""] if kept else []
    return "\n".join([*own, MARK, *_lines(policies, organisation)]) + "\n"


def team(owner: str, organisation: str) -> str:
    """Whom GitHub asks for *owner*: the account or address it is, or the organisation's team of that name."""
    if _ACCOUNT.fullmatch(owner.strip()):
        return owner.strip()
    return f"@{organisation}/{re.sub(r'[^a-z0-9]+', '-', owner.casefold()).strip('-')}"


def _lines(policies: Sequence[PolicyFile], organisation: str) -> Iterator[str]:
    """A folder goes to all owners in it; where they are several, each policy to its own."""
    folders: dict[str, dict[str, str]] = defaultdict(dict)
    for file in policies:
        if file.policy.has_owner:
            folder = PurePosixPath(file.path).parent.as_posix()
            folders[folder][file.path] = team(file.policy.metadata.owner, organisation)
    for folder, files in sorted(folders.items()):
        teams = sorted(set(files.values()))
        yield f"/{_pattern(folder)}/ {' '.join(teams)}"
        if len(teams) > 1:
            yield from (f"/{_pattern(path)} {one}" for path, one in sorted(files.items()))


def _pattern(path: str) -> str:
    """*path* as a pattern. What a pattern cannot spell there is any one letter: GitHub knows no escapes for it."""
    return re.sub(r"[\\*?\[\]#!\s]", "?", path)
