"""Which files a policy repository consists of, and their bytes. Nothing outside the root is ever read.

Whoever remembers what files held gives their signatures: of a file that lies there as it did then only its state is
asked, as git does it. A signature taken while the file could still change unseen (the clock of a disk is coarse) is
never remembered.
"""

from __future__ import annotations

import hashlib
import os
import stat
import time
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import TypeAlias

from ci.findings import Finding, Place
from ci.loading.limits import MAX_BYTES
from ci.loading.records.sources import PATHS as SOURCES
from ci.loading.records.sources import SUFFIXES as DOCUMENTS
from ci.loading.records.sources import folders_of, sources_in

FOLDERS = ("policies", "context", "rules")
SUFFIXES = (".yaml", ".yml", ".json")
LINES = (".jsonl", ".ndjson")  # records that look as if they were read


Signature: TypeAlias = tuple[int, int, int, int]  # size, when the data and the file changed (ns), inode
SETTLED_NS = 3_000_000_000  # what changed less long ago may change again without another signature


class Changed(Exception):
    """A file does not hold any more what was believed of it by its signature: everything has to be read."""


@dataclass(frozen=True, slots=True)
class Content:
    """A file as it lies on the disk; `path` is relative to the root, with `/`. One byte too many says: too large.

    `signature` is None where the file may change without another one.
    """

    path: str
    data: bytes
    signature: Signature | None = field(default=None, compare=False)

    @property
    def digest(self) -> str:
        """What it says, in 32 letters."""
        return digest_of(self.data)

    def __reduce__(self) -> tuple[type[Content], tuple[str, bytes]]:
        """Whoever gets it elsewhere has no such file: the bytes go along, and how it lay there does not matter."""
        return Content, (self.path, self.data)


class Untouched(Content):
    """A file that lies there as it did when its digest was taken. It is read when somebody looks into it."""

    __slots__ = ("_digest", "_place")
    __setattr__ = object.__setattr__  # one is made for every file of a large repository

    def __init__(self, path: str, signature: Signature, digest: str, place: str) -> None:
        self.path = path  # type: ignore[misc]  # frozen for everybody else
        self.signature = signature  # type: ignore[misc]
        self._digest = digest
        self._place = place

    @property
    def digest(self) -> str:
        """What it says, in 32 letters."""
        return self._digest

    @property
    def data(self) -> bytes:
        """What it holds. Raises Changed where that is something else by now."""
        try:
            data = _bytes(self._place, self.signature[0]) if self.signature else b""
        except OSError:
            raise Changed(self.path) from None
        if digest_of(data) != self._digest:
            raise Changed(self.path)
        return data


@dataclass(frozen=True, slots=True)
class Known:
    """What was read before, by path: how it lay there, and its digest."""

    signatures: Mapping[str, Signature]
    digests: Mapping[str, str]


NOTHING = Known({}, {})


def digest_of(data: bytes) -> str:
    """What *data* say, in 32 letters."""
    return hashlib.sha256(data).hexdigest()[:32]


def contents(root: Path, known: Known = NOTHING) -> Iterator[Content | Finding]:
    """Every YAML and JSON file under the folders of *root*, in the order of their names; what cannot be read, said.

    After them come the Markdown files of the folders that `context/decisions/sources.yaml` names.

    Of those *known* nothing is read where their signature is what it was.
    """
    real_root = os.path.realpath(root)
    settled = time.time_ns() - SETTLED_NS
    named: list[tuple[str, bytes]] = []
    for folder in FOLDERS:
        if os.path.lexists(root / folder):
            for item in _walk(root, folder, real_root, known, settled):
                if item_path := _names_sources(item):
                    named.append((item_path, item.data))  # type: ignore[union-attr]  # a finding names none
                yield item
    for path, data in named[:1]:
        yield from _documents(root, path, data, known, settled)


def _names_sources(item: Content | Finding) -> str | None:
    return item.path if isinstance(item, Content) and item.path in SOURCES else None


def _documents(root: Path, path: str, data: bytes, known: Known, settled: int) -> Iterator[Content | Finding]:
    """The Markdown files of the folders that *path* names, in the order of their names."""
    for folder in folders_of(root, sources_in(path, data), path):
        if isinstance(folder, Finding):
            yield folder
            continue
        try:
            with os.scandir(root / folder) as found:
                entries = sorted((one for one in found if not one.name.startswith(".")), key=_name)
        except OSError as problem:
            yield _unreadable(folder, f"the folder cannot be read: {_reason(problem)}")
            continue
        for entry in entries:
            inner = f"{folder}/{entry.name}"
            if not entry.name.lower().endswith(DOCUMENTS) or _is_folder(entry):
                continue
            if (before := known.signatures.get(inner)) is not None and _signature_at(entry) == before:
                yield Untouched(inner, before, known.digests[inner], entry.path)
            elif entry.is_symlink():
                yield _unreadable(inner, "this is a link, and a folder of records holds files")
            else:
                yield _content(entry, inner, os.path.realpath(root), settled)


def _walk(root: Path, folder: str, real_root: str, known: Known, settled: int) -> Iterator[Content | Finding]:
    waiting, signatures = [folder], known.signatures
    visited: set[str] = set()
    while waiting:
        path = waiting.pop()
        real = os.path.realpath(root / path)
        if astray := _led_astray(real, real_root):
            yield _unreadable(path, astray)
            continue
        if real in visited:
            yield _unreadable(path, "the link leads back to a folder that is read already")
            continue
        visited.add(real)
        try:
            with os.scandir(root / path) as found:
                entries = sorted((entry for entry in found if not entry.name.startswith(".")), key=_name)
        except OSError as problem:
            yield _unreadable(path, f"the folder cannot be read: {_reason(problem)}")
            continue
        folders = []
        for entry in entries:
            inner = f"{path}/{entry.name}"
            if (before := signatures.get(inner)) is not None and _signature_at(entry) == before:
                yield Untouched(inner, before, known.digests[inner], entry.path)
            elif _is_folder(entry):
                if entry.is_symlink() and _is_read_anyway(os.path.realpath(entry.path), real_root):
                    yield _unreadable(inner, "the link leads to a folder that is read at its own place")
                else:
                    folders.append(inner)
            elif entry.name.lower().endswith(SUFFIXES):
                yield _content(entry, inner, real_root, settled)
            elif entry.name.lower().endswith(LINES):
                help = "write it as YAML or JSON, or keep it elsewhere: logs are given to a verb by name"
                yield Finding("unread-file", f"nothing reads `{entry.name}`", Place(_shown(inner), line=1), help=help)
        waiting += reversed(folders)


def _name(entry: os.DirEntry[str]) -> str:
    return entry.name


def _is_folder(entry: os.DirEntry[str]) -> bool:
    try:
        return entry.is_dir()
    except OSError:  # a link that leads to itself: reading it as a file says so
        return False


def _signature_at(entry: os.DirEntry[str]) -> Signature | None:
    """The signature of an ordinary file; None for a link, whose target is not what lies here, and anything else."""
    try:
        status = entry.stat(follow_symlinks=False)
    except OSError:
        return None
    return _signature(status) if stat.S_ISREG(status.st_mode) else None


def _signature(status: os.stat_result) -> Signature:
    return status.st_size, status.st_mtime_ns, status.st_ctime_ns, status.st_ino


def _content(entry: os.DirEntry[str], path: str, real_root: str, settled: int) -> Content | Finding:
    if entry.is_symlink() and (astray := _led_astray(os.path.realpath(entry.path), real_root)):
        return _unreadable(path, astray)
    try:
        status = entry.stat()
        if not stat.S_ISREG(status.st_mode):
            return _unreadable(path, "this is no ordinary file")  # reading a pipe would wait for ever
        is_settled = status.st_ctime_ns < settled and status.st_mtime_ns < settled
        data = _bytes(entry.path, status.st_size)
        return Content(_shown(path), data, _signature(status) if is_settled else None)
    except OSError as problem:
        return _unreadable(path, f"the file cannot be read: {_reason(problem)}")


def _bytes(path: str, size: int) -> bytes:
    """What the file holds, one byte more than may be read at most. No stream: ten thousand files are opened here."""
    descriptor = os.open(path, os.O_RDONLY | os.O_CLOEXEC)
    try:
        # Python sets aside as many bytes as it is asked for: asking for the most is slow for a small file.
        data = os.read(descriptor, min(size, MAX_BYTES) + 1)
        while data and len(data) != size and len(data) <= MAX_BYTES:  # it has grown, or its size is not told
            if not (more := os.read(descriptor, MAX_BYTES + 1 - len(data))):
                break
            data += more
        return data
    finally:
        os.close(descriptor)


def _led_astray(real: str, real_root: str) -> str | None:
    """Why nothing is read at *real*, to which a link may have led: what is hidden may hold somebody's secrets."""
    if not _is_inside(real, real_root):
        return "the link leads out of the repository"
    if f"{os.sep}." in real[len(real_root) :]:
        return "the link leads to a hidden file"
    return None


def _is_inside(real: str, real_root: str) -> bool:
    return real == real_root or real.startswith(real_root.rstrip(os.sep) + os.sep)


def _is_read_anyway(real: str, real_root: str) -> bool:
    """Is *real* one of the folders that are read, in one of them, or the root that holds them?"""
    read = (os.path.realpath(f"{real_root}/{folder}") for folder in FOLDERS)
    return real == real_root or any(_is_inside(real, folder) for folder in read)


def _reason(problem: OSError) -> str:
    return (problem.strerror or "the system gives no reason").lower()


def _shown(path: str) -> str:
    """A name that is not UTF-8 is still printed, and hashed; git's own names are shown alike."""
    return os.fsencode(path).decode("utf-8", "backslashreplace")


def _unreadable(path: str, message: str) -> Finding:
    help = (
        "put the file itself in its place"
        if message.startswith("the link")
        else "let the check read it, or take it away"
    )
    return Finding("unreadable-file", message, Place(_shown(path), line=1, column=1), help=help)
