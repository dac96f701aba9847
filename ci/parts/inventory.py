"""The files of a repository on a day: what each of them says, as a digest, and parts of them as small repositories."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from datetime import date
from functools import cached_property
from pathlib import Path

from ci.loading.commits.revision import Revision
from ci.loading.file_kinds import kind_of_file
from ci.loading.files import Content, Signature, Untouched, digest_of
from ci.loading.load import Beyond, Workspace
from ci.loading.records.sources import PATHS as SOURCES
from ci.parts.card_table import Cards
from ci.parts.cards import Card, is_policy
from ci.parts.part import File, Part, Selection, path_of


@dataclass(frozen=True)
class Inventory:
    """The files by path, in the order in which they are read. `at` is the day that questions are asked for.

    A file that is the very same one in the inventory *beside* this one is not read again.
    """

    root: Path
    files: Mapping[str, File]
    shown: Revision
    at: date
    beside: Inventory | None = None

    @cached_property
    def digests(self) -> dict[str, str]:
        """What each file says, in 32 letters."""
        if self.beside is None:
            return {path: _digest(file) for path, file in self.files.items()}
        there, known = self.beside.files, self.beside.digests
        return {path: known[path] if there.get(path) is file else _digest(file) for path, file in self.files.items()}

    @cached_property
    def signatures(self) -> dict[str, Signature]:
        """How each file lay there when it was read, where that can be relied on."""
        found = ((path, file.signature) for path, file in self.files.items() if isinstance(file, Content))
        return {path: signature for path, signature in found if signature is not None}

    @property
    def read_count(self) -> int:
        """How many files had to be read to know what they say."""
        return sum(type(file) is not Untouched for file in self.files.values())

    @cached_property
    def policies(self) -> Mapping[str, File]:
        """The files that hold a policy."""
        return {path: file for path, file in self.files.items() if is_policy(path)}

    @cached_property
    def shared(self) -> tuple[str, ...]:
        """The files that hold anything else."""
        return tuple(path for path in self.files if path not in self.policies)

    @cached_property
    def words(self) -> tuple[str, ...]:
        """The files that every part reads: the words, the rules, and how documents are read."""
        return tuple(path for path in self.shared if says_words(path) or path in SOURCES)

    def part(self, paths: Iterable[str], beyond: Beyond, asked: Selection) -> Part:
        """The part of these files."""
        wanted = {*paths}
        files = tuple(file for path, file in self.files.items() if path in wanted)
        return Part(self.root, files, self.shown, self.at, beyond, asked)

    def workspace(self) -> Workspace:
        """All of it."""
        return self.part(self.files, Beyond(), Selection()).read()


def inventory(
    root: Path, found: Iterable[File], shown: Revision, at: date, beside: Inventory | None = None
) -> Inventory:
    """The files that were *found* in *root*; of those of another version the same files are known already."""
    return Inventory(root, {path_of(file): file for file in found}, shown, at, beside)


def says_words(path: str) -> bool:
    """Is it a vocabulary, or one of the rules?"""
    room = kind_of_file(path)
    return room is not None and room.section in ("vocabulary", "rules")


def is_decisive(path: str) -> bool:
    """May a change in the file change every answer? Waivers change none: they say which answers fail."""
    room = kind_of_file(path)
    return says_words(path) and room is not None and room.identity != "waivers"


def beyond(cards: Mapping[str, Card]) -> Beyond:
    """What all policies together add to a part that does not read them."""
    held = Cards.of(cards)
    return Beyond(
        frozenset(held.ids),
        frozenset(kind.domain for kind in held.kinds if kind.domain is not None),
        frozenset(word for kind in held.kinds for word in kind.words),
    )


def _digest(file: File) -> str:
    return file.digest if isinstance(file, Content) else digest_of(f"{file.id} {file.message}".encode())
