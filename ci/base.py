"""What a repository looked like at another commit: its files, taken from git without touching the working tree."""

from __future__ import annotations

import subprocess
from collections.abc import Iterator
from datetime import date
from pathlib import Path

from bylaw.errors import BylawError, UsageError
from ci.files import FOLDERS, SUFFIXES, Content
from ci.source import MAX_BYTES

_FILE_MODES = (b"100644", b"100755")  # links are not followed: what they lead to may lie anywhere


def files_at(root: Path, ref: str) -> list[Content]:
    """The policy files of *root* at *ref*, in the order in which a folder would be read; none where none were yet.

    Raises UsageError when git does not know *ref*.
    """
    if ref.startswith("-"):
        raise UsageError(f"`{ref}` is not a git ref")
    commit = _git(root, "rev-parse", "--verify", "--quiet", f"{ref}^{{commit}}")
    if commit is None:
        raise UsageError(f"git does not know `{ref}` in `{root}`", "name a branch, a tag or a commit")
    listed = _git(root, "ls-tree", "-r", "-z", commit.decode().strip(), "--", *FOLDERS)
    if listed is None:
        raise BylawError(f"git does not list the files of `{root}` at `{ref}`")
    blobs = dict(sorted(_listed(listed), key=lambda item: _as_walked(item[0])))
    return [Content(path, data) for path, data in zip(blobs, _contents(root, list(blobs.values())), strict=True)]


def _listed(listed: bytes) -> Iterator[tuple[str, bytes]]:
    """Path and blob of every file that would be read."""
    for line in listed.split(b"\0"):
        about, _, name = line.partition(b"\t")
        mode, _, rest = about.partition(b" ")
        path = name.decode("utf-8", "backslashreplace")
        if (
            mode in _FILE_MODES
            and path.lower().endswith(SUFFIXES)
            and not any(part.startswith(".") for part in path.split("/"))
        ):
            yield path, rest.split()[1]


def _as_walked(path: str) -> tuple[int, list[tuple[bool, str]]]:
    """The order of a walk: folder by folder, and in each its files before its folders."""
    *folders, name = path.split("/")
    return FOLDERS.index(folders[0]), [*((True, folder) for folder in folders[1:]), (False, name)]


def _contents(root: Path, blobs: list[bytes]) -> Iterator[bytes]:
    """What the blobs hold, each up to one byte more than a file may have."""
    answer = _git(root, "cat-file", "--batch", given=b"".join(blob + b"\n" for blob in blobs))
    if answer is None:
        raise BylawError(f"git does not give out the files of `{root}`")
    at = 0
    for _ in blobs:
        end = answer.index(b"\n", at)
        size = int(answer[at:end].split()[2])
        yield answer[end + 1 : end + 1 + min(size, MAX_BYTES + 1)]
        at = end + size + 2


def committed_on(root: Path, ref: str) -> date | None:
    """The day of the commit that *ref* names."""
    shown = _git(root, "log", "-1", "--no-show-signature", "--format=%cs", f"{ref}^{{commit}}", "--")
    return date.fromisoformat(shown.decode().strip()) if shown else None


def _git(root: Path, *arguments: str, given: bytes = b"") -> bytes | None:
    try:
        answer = subprocess.run(
            ["git", "-C", str(root), *arguments], input=given, capture_output=True, timeout=120, check=False
        )
    except (OSError, subprocess.TimeoutExpired):
        return None
    return answer.stdout if answer.returncode == 0 else None
