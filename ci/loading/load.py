"""Files → Workspace: everything that people wrote, as models, and everything that could not be read, as findings."""

from __future__ import annotations

import gc
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from datetime import date
from pathlib import Path

from bylaw.authored.business import Business
from bylaw.authored.context import Context
from bylaw.authored.decisions import Decisions
from bylaw.authored.machines.rules import Rules
from bylaw.authored.vocabulary import Vocabulary
from bylaw.collection import RARELY, no_collection
from bylaw.errors import UsageError
from ci.findings import Finding, Place, Route
from ci.loading.commits.first_commits import dated
from ci.loading.commits.revision import Revision, revision
from ci.loading.decision_records import ingest
from ci.loading.derived.histories import filled
from ci.loading.file_kinds import CaseEntry, PolicyFile, Reader, declared_twice
from ci.loading.files import FOLDERS, NOTHING, Content, Known, contents
from ci.loading.source import Source, locate
from ci.loading.words import EVERY_WORD, VocabularyFile, merged
from ci.progress import Progress, each

__all__ = ["CaseEntry", "PolicyFile", "VocabularyFile", "Workspace", "load", "position"]


@dataclass(frozen=True, slots=True)
class Beyond:
    """What is known of files that are not read here: the ids and domains of their policies, and the words they use."""

    policy_ids: frozenset[str] = frozenset()
    domains: frozenset[str] = frozenset()
    words: frozenset[str] = frozenset()


@dataclass(frozen=True)
class Workspace:
    """A policy repository, or a part of it, as it was read. `findings` are those of reading it.

    `at` is the day that questions are asked for. `policy_ids` also holds policies that do not fit their model, and
    those of the parts that are not read; `lost_words` are words declared where a vocabulary does not fit.
    """

    root: Path
    sources: Mapping[str, Source]
    vocabulary: Vocabulary
    vocabularies: tuple[VocabularyFile, ...]
    policies: tuple[PolicyFile, ...]
    cases: tuple[CaseEntry, ...]
    context: Context
    decisions: Decisions
    rules: Rules
    business: Business = field(default_factory=Business)
    findings: tuple[Finding, ...] = ()
    commit: str | None = None
    commit_date: date | None = None
    committed_at: str | None = None
    at: date | None = None
    policy_ids: frozenset[str] = frozenset()
    lost_words: frozenset[str] = frozenset()
    word_paths: Mapping[tuple[str, str], str] = field(default_factory=dict)
    beyond: Beyond = Beyond()

    def place(self, path: str, *route: str | int, on_key: bool = False) -> Place:
        """A place in one of the files; its line is found when a report is made."""
        return Place(path, route, on_key)

    def position(self, place: Place) -> tuple[int, int]:
        """Line and column of *place*, both from 1."""
        return position(self.sources, place)

    def line(self, path: str, route: Route) -> int:
        """The line of the value at *route* in the file *path*."""
        return self.position(Place(path, route))[0]

    def path_of_word(self, section: str, name: str) -> str:
        """The file that declares the word: `path_of_word("facts", "has_receipt")`."""
        return self.word_paths.get((section, name), "policies/vocabulary.yaml")

    def is_lost(self, word: str) -> bool:
        """Is *word* unknown only because a vocabulary file does not fit? Then that finding says it all."""
        return word in self.lost_words or EVERY_WORD in self.lost_words


def position(sources: Mapping[str, Source], place: Place) -> tuple[int, int]:
    """Line and column of *place*: its own when it has them, the start of the file when that could not be read."""
    if place.line is not None:
        return place.line, place.column or 1
    source = sources.get(place.path)
    return locate(source, place.route, place.on_key) if source else (1, 1)


def load(root: Path, at: date | None = None, today: date | None = None, progress: Progress | None = None) -> Workspace:
    """Read the repository at *root*. Asked for the day *at*; left out, for the commit's day, outside git *today*.

    Raises UsageError where there is no repository to read.
    """
    found = files_of(root)
    shown = revision(root)
    return read(root, found, shown, at or shown.commit_date or today, progress=progress)


def rules_of(root: Path) -> Rules:
    """The rules of the repository at *root*; those that a new one has where there is none yet."""
    is_there = any((root / folder).exists() for folder in FOLDERS)
    return (load(root) if is_there else read(root, [], Revision(), None)).rules


def files_of(root: Path, known: Known = NOTHING) -> Iterator[Content | Finding]:
    """The files of the repository at *root*; see `contents`. Raises UsageError where there is none."""
    if not root.is_dir():
        raise UsageError(f"`{root}` is no folder", help="--root names the folder of a policy repository")
    if not any((root / folder).exists() for folder in FOLDERS):
        folders = ", ".join(f"{folder}/" for folder in FOLDERS)
        raise UsageError(f"`{root}` holds none of {folders}", help="`bylaw init DIR` makes a policy repository")
    return contents(root, known)


def read(
    root: Path,
    found: Iterable[Content | Finding],
    shown: Revision,
    at: date | None,
    beyond: Beyond = Beyond(),
    progress: Progress | None = None,
) -> Workspace:
    """The workspace that *found* make, in the order of their names; *beyond* is the rest of the repository."""
    reader = Reader()
    with no_collection():
        for content in each("reading", list(found), progress):
            if isinstance(content, Finding):
                reader.lose(content)
            else:
                reader.take(content)
    reader.take_documents()
    words = merged(reader.vocabularies)
    policies, twice = _unique(reader.policies)
    rules = reader.rules()
    decisions, unlinked = ingest(dated(reader.decisions, root), rules.intents.lengths, reader.lost_words)
    cases = filled(reader.cases, words.vocabulary, rules.tools.keys)
    return Workspace(
        root=root,
        sources=reader.sources,
        vocabulary=words.vocabulary,
        vocabularies=tuple(sorted(reader.vocabularies, key=lambda file: file.path)),
        policies=policies,
        cases=tuple(sorted(cases, key=lambda entry: (entry.path, entry.index))),
        context=reader.context(),
        decisions=decisions,
        rules=rules,
        business=reader.business(),
        findings=(*reader.findings, *words.findings, *twice, *unlinked),
        commit=shown.commit,
        commit_date=shown.commit_date,
        committed_at=shown.committed_at,
        at=at,
        policy_ids=frozenset(reader.policy_ids) | beyond.policy_ids,
        lost_words=frozenset(reader.lost_words),
        word_paths=words.paths,
        beyond=beyond,
    )


@contextmanager
def rare_collection() -> Iterator[None]:
    """What forms cycles is small and soon done with, so only the young are searched, in larger portions.

    Searching the whole growing heap is a third of the time of 10,000 files.
    """
    before = gc.get_threshold()
    gc.set_threshold(*RARELY)
    try:
        yield
    finally:
        gc.set_threshold(*before)


def _unique(files: list[PolicyFile]) -> tuple[tuple[PolicyFile, ...], list[Finding]]:
    """Policies by id; of two files with one id the first by name counts, and the second is told."""
    kept: dict[str, PolicyFile] = {}
    findings = []
    for file in sorted(files, key=lambda file: (file.policy.policy_id, file.path)):
        first = kept.setdefault(file.policy.policy_id, file)
        if first is not file:
            findings.append(declared_twice("policy", file.policy.policy_id, "policy_id", file.path, first.path))
    return tuple(kept.values()), findings
