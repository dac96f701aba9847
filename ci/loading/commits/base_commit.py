"""What a repository looked like at another commit: its files, taken from git without touching the working tree."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Iterator, Mapping
from datetime import date
from pathlib import Path

from bylaw.errors import BylawError, UsageError
from ci.loading.commits.git import commit_of, git, reading, text
from ci.loading.files import FOLDERS, SUFFIXES, Content
from ci.loading.limits import MAX_BYTES
from ci.loading.records.sources import PATHS as SOURCES
from ci.loading.records.sources import SUFFIXES as DOCUMENTS
from ci.loading.records.sources import fixed_part, source_for, sources_in

_SHA1 = 40  # letters of a name; a repository whose objects are named by SHA-256 has 64
_FILE_MODES = (b"100644", b"100755")  # links are not followed: what they lead to may lie anywhere


def files_at(root: Path, ref: str, here: Iterable[object] = ()) -> list[Content]:
    """The policy files of *root* at *ref*, in the order in which a folder would be read; none where none were yet.

    Of the files *here* those that git holds alike are given back themselves: git is asked only for the others, and
    whoever compares both sides sees at once what is the same. Raises UsageError when git does not know *ref*.
    """
    commit, known = commit_of(root, ref), tuple(here)
    files = _taken(root, dict(_listed(root, commit, FOLDERS, SUFFIXES)), known)
    files.sort(key=lambda file: _as_walked(file.path))
    sources = next((sources_in(file.path, file.data) for file in files if file.path in SOURCES), [])
    if not sources:
        return files
    below = sorted({fixed_part(source) for _, source in sources})
    documents = {path: blob for path, blob in _listed(root, commit, below, DOCUMENTS) if source_for(path, sources)}
    return [*files, *_taken(root, dict(sorted(documents.items())), known)]


def _taken(root: Path, blobs: Mapping[str, bytes], here: Iterable[object]) -> list[Content]:
    """The files that git has under these names; those that lie *here* alike are given back themselves."""
    same = {file.path: file for file in here if isinstance(file, Content) and _is_blob(file.data, blobs.get(file.path))}
    others = {path: blob for path, blob in blobs.items() if path not in same}
    read = dict(zip(others, _contents(root, list(others.values())), strict=True))
    return [same[path] if path in same else Content(path, read[path]) for path in blobs]


def _is_blob(data: bytes, name: bytes | None) -> bool:
    """Is *name* the one that git gives to a file which holds *data*?"""
    if name is None:
        return False
    digest = hashlib.sha1 if len(name) == _SHA1 else hashlib.sha256
    return digest(b"blob %d\0%b" % (len(data), data), usedforsecurity=False).hexdigest().encode() == name


def _listed(root: Path, commit: str, folders: Iterable[str], suffixes: tuple[str, ...]) -> Iterator[tuple[str, bytes]]:
    """Path and blob of every file below *folders* that would be read."""
    listed = git(root, "ls-tree", "-r", "-z", commit, "--", *folders)
    if listed is None:
        raise BylawError(f"git does not list the files of `{root}` at `{commit}`")
    for line in listed.split(b"\0"):
        about, _, name = line.partition(b"\t")
        mode, _, rest = about.partition(b" ")
        path = name.decode("utf-8", "backslashreplace")
        if (
            mode in _FILE_MODES
            and path.lower().endswith(suffixes)
            and not any(part.startswith(".") for part in path.split("/"))
        ):
            yield path, rest.split()[1]


def _as_walked(path: str) -> tuple[int, list[tuple[bool, str]]]:
    """The order of a walk: folder by folder, and in each its files before its folders."""
    *folders, name = path.split("/")
    return FOLDERS.index(folders[0]), [*((True, folder) for folder in folders[1:]), (False, name)]


def _contents(root: Path, blobs: list[bytes]) -> Iterator[bytes]:
    """What the blobs hold, each up to one byte more than a file may have; the rest of a large one is not kept."""
    failed = BylawError(f"git does not give out the files of `{root}`")
    with reading(root, "cat-file", "--batch", given=b"".join(blob + b"\n" for blob in blobs)) as (stream, _):
        for _ in blobs:
            about = stream.readline().split()
            if len(about) != 3 or about[1] != b"blob":  # it is missing: objects are not fetched
                raise failed
            size = int(about[2])
            data = stream.read(min(size, MAX_BYTES + 1))
            left = size + 1 - len(data)
            while left > 0 and (skipped := stream.read(min(left, MAX_BYTES))):
                left -= len(skipped)
            if left:
                raise failed
            yield data


def committed_on(root: Path, ref: str) -> date | None:
    """The day of the commit that *ref* names; None where git knows none."""
    try:
        shown = text(root, "log", "-1", "--no-show-signature", "--format=%cs", commit_of(root, ref), "--")
    except UsageError:
        return None
    return date.fromisoformat(shown.strip()) if shown else None
