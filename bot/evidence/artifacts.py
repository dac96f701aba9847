"""What a request read and wrote, kept by content: the name of an artifact is the sha256 of its bytes.

Write-once; equal contents are stored once. Here the shelf is a folder or any file system of fsspec by URL; by default
it is the store itself (`bot.evidence.store.tables.papers`).
"""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence, Set
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol

from bylaw.canonical import canonical_json, settle_folder, write_atomically
from bylaw.errors import BylawError

if TYPE_CHECKING:
    from fsspec.spec import AbstractFileSystem  # type: ignore[import-untyped]  # fsspec ships no types

_AT_ONCE = 500  # deletions in one request to a bucket
_BUNDLE = b'{"bundle_metadata":'  # how one begins: it is canonical JSON
_FINGERPRINT = re.compile(r"[0-9a-f]{64}")


class ArtifactError(BylawError):
    """An artifact that is not there, or whose bytes are no longer those of its name."""


@dataclass(frozen=True, slots=True)
class Paper:
    """Text that is JSON, and its fingerprint."""

    name: str
    text: str


def paper(value: Any) -> Paper:
    """*value* as canonical JSON."""
    return written(canonical_json(value))


def written(text: str) -> Paper:
    """*text*, which is JSON, with exactly these bytes."""
    return Paper(hashlib.sha256(text.encode()).hexdigest(), text)


def checked(name: str) -> str:
    """*name*, when it can be a fingerprint. Raises ArtifactError."""
    if not _FINGERPRINT.fullmatch(name):
        raise ArtifactError(f"`{name}` is not the name of an artifact", "names are 64 hexadecimal digits")
    return name


Needed = Callable[[Set[str]], Set[str]]  # of some papers, those that somebody needs by now


class Shelf(Protocol):
    """Where papers are kept, before the transaction that records them or within it."""

    def before(self, kept: Iterable[Paper]) -> None:
        """Called first, with nothing locked."""
        ...

    def within(self, connection: Any, kept: Iterable[Paper]) -> None:
        """Called in the transaction on *connection*."""
        ...

    def remove(self, names: Sequence[str]) -> int:
        """Take papers away for good, with nothing locked; how many lay here. Raises ArtifactError."""
        ...

    def older(self, moment: datetime) -> Sequence[str]:
        """The papers that were kept before *moment* and that may be nobody's. Raises ArtifactError."""
        ...

    def remove_within(self, connection: Any, names: Sequence[str], unless: Needed) -> int:
        """The same in the transaction on *connection*: those that nobody needs once nobody can begin to."""
        ...

    def put(self, value: Any) -> str:
        """Keep *value* by itself; its fingerprint."""
        ...

    def put_text(self, text: str) -> str:
        """Keep *text* by itself; its fingerprint."""
        ...

    def get(self, name: str) -> Any:
        """The value of an artifact. Raises ArtifactError."""
        ...

    def get_text(self, name: str) -> str:
        """The text of an artifact. Raises ArtifactError."""
        ...


@dataclass(frozen=True)
class Artifacts:
    """One shelf: the folder `base` of `fs`, which is of this machine if `is_folder`; `failures` are what it raises."""

    fs: AbstractFileSystem
    base: str
    url: str = ""
    is_folder: bool = False
    failures: tuple[type[Exception], ...] = (OSError,)

    def before(self, kept: Iterable[Paper]) -> None:
        """Keep the papers: whoever records them finds them here."""
        for one in kept:
            self._put(one)

    def within(self, connection: Any, kept: Iterable[Paper]) -> None:
        """Nothing: they lie here already."""

    def remove(self, names: Sequence[str]) -> int:
        """Delete the papers for good; how many lay here. What is no longer there is no failure: it was asked before."""
        with self._told("removed"):
            self.fs.invalidate_cache()
            there = self._there(sorted({checked(name) for name in names}))
            for at in range(0, len(there), _AT_ONCE):
                self._delete(there[at : at + _AT_ONCE])
            if self.is_folder:
                for folder in sorted({Path(path).parent for path in there}):
                    settle_folder(folder)
        return len(there)

    def older(self, moment: datetime) -> Sequence[str]:
        """The papers that were kept before *moment*: of one whose process died over it no entry speaks.

        No bundle is among them: it says nothing of anybody, and answers may come from it still.
        """
        with self._told("read"):
            self.fs.invalidate_cache()
            found = {str(path): _kept_at(known) for path, known in self.fs.find(self.base, detail=True).items()}
        named = {Path(path).stem for path, at in found.items() if at is not None and at < moment}
        return sorted(name for name in named if _FINGERPRINT.fullmatch(name) and not self._is_bundle(name))

    def _is_bundle(self, name: str) -> bool:
        with self._told("read"), suppress(FileNotFoundError):
            return bool(self.fs.cat_file(self._path(name), end=len(_BUNDLE)) == _BUNDLE)
        return False

    def _delete(self, places: list[str]) -> None:
        try:
            self.fs.rm(places)
        except FileNotFoundError:  # somebody else deletes them too
            for place in places:
                with suppress(FileNotFoundError):
                    self.fs.rm_file(place)

    def remove_within(self, connection: Any, names: Sequence[str], unless: Needed) -> int:
        """Nothing: no transaction holds for what lies here."""
        return 0

    def _there(self, names: Sequence[str]) -> list[str]:
        """The places of those that lie here; many are looked up in one list of all."""
        places = [self._path(name) for name in names]
        if len(places) < _AT_ONCE:
            return [path for path in places if self.fs.exists(path)]
        found = set(map(str, self.fs.find(self.base)))
        return [path for path in places if path in found]

    def put(self, value: Any) -> str:
        """Keep *value* as canonical JSON; its fingerprint."""
        return self._put(paper(value))

    def put_text(self, text: str) -> str:
        """Keep *text*, which is JSON, with exactly these bytes; its fingerprint."""
        return self._put(written(text))

    def _put(self, one: Paper) -> str:
        path = self._path(one.name)
        if self.is_folder:
            with self._told("kept"):
                if not self.fs.exists(path):
                    write_atomically(Path(path), one.text)
            return one.name
        # one request that needs no right but to write: an object is there whole or not at all
        with self._told("kept"), suppress(FileExistsError):
            self.fs.pipe_file(path, one.text.encode(), mode="create")
        return one.name

    @contextmanager
    def _told(self, done: str) -> Iterator[None]:
        """Say in words what keeps the place from being used."""
        try:
            yield
        except self.failures as error:
            reason = str(error) or type(error).__name__
            raise ArtifactError(
                f"artifacts cannot be {done} at `{self.url}`: {reason}", "look at BYLAW_ARTIFACTS and its credentials"
            ) from error

    def get(self, name: str) -> Any:
        """The value of the artifact *name*; raises ArtifactError when it is missing or was altered."""
        return json.loads(self.get_text(name))

    def get_text(self, name: str) -> str:
        """The bytes of the artifact *name* as text; raises ArtifactError when it is missing or was altered."""
        with self._told("read"):
            try:
                data: bytes = self.fs.cat_file(self._path(name))
            except FileNotFoundError:
                raise ArtifactError(f"the artifact `{name}` is not on the shelf") from None
        if hashlib.sha256(data).hexdigest() != name:
            raise ArtifactError(f"the artifact `{name}` was altered after it was written")
        return data.decode()

    def _path(self, name: str) -> str:
        return f"{self.base}/{checked(name)[:2]}/{name}.json"


def shelf(url: str, root: Path) -> Artifacts:
    """The shelf at *url*; a path without a scheme is a folder, relative to *root*."""
    from fsspec.core import url_to_fs  # type: ignore[import-untyped]  # heavy, and few keep papers apart; no types
    from fsspec.implementations.local import LocalFileSystem  # type: ignore[import-untyped]  # fsspec ships no types

    where = url if "://" in url else str((root / url).absolute())
    try:
        fs, base = url_to_fs(where)
    except ImportError as error:
        raise BylawError(f"artifacts cannot be kept at `{url}`: {error}", _extra(url)) from error
    except ValueError as error:
        raise BylawError(f"artifacts cannot be kept at `{url}`: {error}", _FOLDER) from error
    return Artifacts(fs, str(base).rstrip("/"), url, isinstance(fs, LocalFileSystem), _failures(url))


def _kept_at(known: Mapping[str, Any]) -> datetime | None:
    """When a file was kept, by what its file system calls that; None where it does not say."""
    said = next((known[name] for name in ("LastModified", "mtime", "created") if known.get(name)), None)
    return datetime.fromtimestamp(said, UTC) if isinstance(said, int | float) else said


_FOLDER = "set BYLAW_ARTIFACTS to a folder"


def _is_bucket(url: str) -> bool:
    return url.startswith(("s3://", "s3a://"))


def _extra(url: str) -> str:
    return "install `bylaw-policies[s3]`" if _is_bucket(url) else _FOLDER


def _failures(url: str) -> tuple[type[Exception], ...]:
    """What the file system at *url* raises; the client of a bucket has words of its own for no credentials."""
    if not _is_bucket(url):
        return (OSError,)
    from botocore.exceptions import BotoCoreError  # type: ignore[import-untyped]  # botocore ships no types

    return OSError, BotoCoreError
