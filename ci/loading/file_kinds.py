"""One file → its models. The table FILE_KINDS says which folder holds which model.

One bad file never hides the others. What no row matches is told, because a misspelt folder would silently mean nothing.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import cache
from pathlib import PurePosixPath
from typing import Any

from pydantic import BaseModel

from bylaw.authored.business import Business, Objective, Project, Strategy
from bylaw.authored.calendar import Calendar
from bylaw.authored.context import Context, Entity, GlossaryTerm, Gotcha, Guide, Metric, VerifiedQuery
from bylaw.authored.decision_sources import DecisionSources
from bylaw.authored.decisions import Decision, Event, Transition
from bylaw.authored.machines.rules import RULE_FILES, CiRules, Rules
from bylaw.authored.policies import Case, FormalDraft, Policy
from bylaw.authored.tools import Lookup
from bylaw.authored.vocabulary import Vocabulary
from ci.findings import Finding, Place
from ci.loading.decision_records import Sourced, extra_fields
from ci.loading.files import Content
from ci.loading.records.markdown import read as read_document
from ci.loading.records.sources import SUFFIXES as DOCUMENTS
from ci.loading.records.sources import Numbered, source_for, sources_of
from ci.loading.rules import effective, load_defaults, unknown_severities
from ci.loading.schema.nearest import did_you_mean
from ci.loading.schema.schema_findings import clip, described, fitted
from ci.loading.source import Source, Unreadable, read
from ci.loading.words import EVERY_WORD, VocabularyFile, salvaged


@dataclass(frozen=True, slots=True)
class FileKind:
    """A kind of file: its path without suffix (`**/` is any number of folders, `*` one name), and what it holds.

    `identity` is the field by which a record is known.
    """

    pattern: str
    section: str
    model: type[BaseModel]
    identity: str


# The first row that matches holds.
FILE_KINDS: tuple[FileKind, ...] = (
    FileKind("policies/**/vocabulary", "vocabulary", Vocabulary, ""),
    FileKind("policies/**/cases", "cases", Case, "name"),
    FileKind("policies/**/*.formal", "drafts", FormalDraft, "policy_id"),
    FileKind("policies/**/*", "policies", Policy, "policy_id"),
    FileKind("context/entities/**/*", "entities", Entity, "name"),
    FileKind("context/metrics/**/*", "metrics", Metric, "name"),
    FileKind("context/gotchas/**/*", "gotchas", Gotcha, "id"),
    FileKind("context/glossary/**/*", "glossary", GlossaryTerm, "term"),
    FileKind("context/guides/**/*", "guides", Guide, "domain"),
    FileKind("context/verified_queries/**/*", "verified_queries", VerifiedQuery, "name"),
    FileKind("context/lookups/**/*", "lookups", Lookup, "name"),
    FileKind("context/calendar", "calendar", Calendar, ""),
    FileKind("context/business/objectives/**/*", "objectives", Objective, "id"),
    FileKind("context/business/strategies/**/*", "strategies", Strategy, "id"),
    FileKind("context/business/projects/**/*", "projects", Project, "id"),
    FileKind("context/decisions/sources", "decision_sources", DecisionSources, ""),
    FileKind("context/decisions/**/decisions/*", "decisions", Decision, "id"),
    FileKind("context/decisions/**/events/*", "decisions", Event, "id"),
    FileKind("context/decisions/**/transitions/*", "decisions", Transition, "id"),
    *(FileKind(f"rules/{name}", "rules", model, name) for name, model in RULE_FILES.items()),
)
# What `context/decisions/sources.yaml` names: ADR Markdown, wherever it lies.
DOCUMENT = FileKind("**/*", "decisions", Decision, "id")
_ONE_OF = {
    "entities": "entity",
    "metrics": "metric",
    "gotchas": "gotcha",
    "glossary": "glossary term",
    "guides": "guide for the domain",
    "verified_queries": "verified query",
    "lookups": "lookup",
    "objectives": "objective",
    "strategies": "strategy",
    "projects": "project",
    "rules/": "file of rules",
    "context/": "file",
}
COLLECTIONS = ("entities", "metrics", "gotchas", "glossary", "guides", "verified_queries", "lookups")
PLANS = ("objectives", "strategies", "projects")


@dataclass(frozen=True, slots=True)
class PolicyFile:
    """One policy and the file that says it."""

    policy: Policy
    path: str


@dataclass(frozen=True, slots=True)
class CaseEntry:
    """One case of a cases file: item *index* of its list."""

    case: Case
    path: str
    index: int


class Reader:
    """Takes the files of a repository one by one, in the order of their names, and keeps what they say."""

    def __init__(self) -> None:
        self.findings: list[Finding] = []
        self.sources: dict[str, Source] = {}
        self.vocabularies: list[VocabularyFile] = []
        self.policies: list[PolicyFile] = []
        self.cases: list[CaseEntry] = []
        self.decisions: list[Sourced] = []
        self._documents: list[Content] = []
        self._sources: list[Numbered] = []
        self.policy_ids: set[str] = set()
        self.lost_words: set[str] = set()
        self._records: dict[str, dict[str, Any]] = {section: {} for section in (*COLLECTIONS, *PLANS)}
        self._paths: dict[tuple[str, str], str] = {}  # (section, identity) -> file
        self._calendar = Calendar()
        self._rules: dict[str, str] = {}  # name -> file

    def take(self, content: Content) -> None:
        """Read one file into the kind it belongs to; a document waits until it is known who reads it."""
        if is_document(content.path):
            self._documents.append(content)
            return
        try:
            source = read(content.path, content.data)
        except Unreadable as problem:
            self._cannot_read(content.path, problem)
            return
        self.sources[content.path] = source
        self._tell_duplicates(source)
        kind = kind_of_file(content.path)
        if kind is None:
            self.findings.append(_homeless(content.path))
        else:
            self._enter(source, kind)

    def take_documents(self) -> None:
        """Read the documents that were taken: now it is known which source names each."""
        for content in sorted(self._documents, key=lambda one: one.path):
            named = source_for(content.path, self._sources)
            if named is None:  # an editor may hold any document open
                continue
            try:
                source, notes = read_document(content.path, content.data, named)
            except Unreadable as problem:
                self._cannot_read(content.path, problem)
                continue
            self.findings += notes
            if source is not None:
                self.sources[content.path] = source
                self._enter(source, DOCUMENT)

    def _cannot_read(self, path: str, problem: Unreadable) -> None:
        place = Place(path, line=problem.line, column=problem.column)
        detail = {"excerpt": problem.written} if problem.written else {}
        self.lose(Finding(problem.kind, problem.message, place, help=problem.help, detail=detail))

    def lose(self, finding: Finding) -> None:
        """A file that cannot be read at all: others may name what it would have declared."""
        self.findings.append(finding)
        path = PurePosixPath(finding.at.path)
        if path.parts[0] == "policies":
            self.lost_words |= {EVERY_WORD} if path.stem == "vocabulary" else set()
            self.policy_ids.add(path.stem)
        elif path.parts[0] == "context" or is_document(finding.at.path):
            self.lost_words.add(path.stem)

    def _enter(self, source: Source, kind: FileKind) -> None:
        identity = kind.identity
        match kind.section:
            case "vocabulary":
                vocabulary, findings, lost = salvaged(source.data, source.path)
                self.findings += findings
                self.lost_words |= lost if vocabulary is not None else {EVERY_WORD}
                if vocabulary is not None:
                    self.vocabularies.append(VocabularyFile(vocabulary, source.path))
            case "cases":
                self._enter_cases(source)
            case "policies":
                self._enter_policy(source)
            case "drafts":
                self.findings += fitted(FormalDraft, source.data, source.path)[1]
            case "decision_sources":
                self.findings += fitted(DecisionSources, source.data, source.path)[1]
                if self._is_first("context/", "decision sources", source.path):
                    self._sources = sources_of(source.data)
            case "rules":
                if self._is_first("rules/", identity, source.path):
                    self._rules[identity] = source.path
            case _:
                record, findings = fitted(kind.model, source.data, source.path)
                self.findings += findings
                if kind.section == "decisions":
                    self.findings += extra_fields(kind.model, source)
                if record is None and isinstance(source.data, dict):
                    self.lost_words.add(str(source.data.get(kind.identity)))
                self._keep(record, kind, source.path)

    def _keep(self, record: BaseModel | None, kind: FileKind, path: str) -> None:
        """Put a record of context/ where it is found by its name."""
        if isinstance(record, Decision | Event | Transition):
            self.decisions.append(Sourced(record, path))
        elif isinstance(record, Calendar):
            if self._is_first("context/", "calendar", path):
                self._calendar = record
        elif record is not None:
            name = getattr(record, kind.identity)
            if self._is_first(kind.section, name, path, kind.identity):
                self._records[kind.section][name] = record

    def _enter_policy(self, source: Source) -> None:
        policy, findings = fitted(Policy, source.data, source.path)
        self.findings += findings
        if policy is None:
            written = source.data.get("policy_id") if isinstance(source.data, dict) else None
            self.policy_ids.add(str(written or PurePosixPath(source.path).stem))
            return
        self.policy_ids.add(policy.policy_id)
        self.policies.append(PolicyFile(policy, source.path))
        name = source.path.rpartition("/")[2]
        stem, dot, suffix = name.rpartition(".")
        if stem != policy.policy_id:
            of_file = re.fullmatch(rf"POL-(IMP-)?{re.escape(policy.metadata.domain.upper())}-\d{{3,}}", stem)
            self.findings.append(
                Finding(
                    "schema",
                    f"the file is named `{name}`, and the policy in it `{policy.policy_id}`",
                    Place(source.path, ("policy_id",)),
                    policies=(policy.policy_id,),
                    help=f"a policy lies in a file of its name: `{policy.policy_id}{dot}{suffix}`",
                    detail={"written": policy.policy_id, "replacement": stem} if of_file else {},
                )
            )

    def _enter_cases(self, source: Source) -> None:
        if not isinstance(source.data, list):
            message = f"a file of cases should be a list, not {described(source.data)}"
            help = "begin each case with `- `: `- {name: …, facts: {…}, expect: {…}}`"
            self.findings.append(Finding("schema", message, Place(source.path), help=help))
            return
        for i, item in enumerate(source.data):
            case, findings = fitted(Case, item, source.path, (i,))
            self.findings += findings
            if case is not None:
                self.cases.append(CaseEntry(case, source.path, i))

    def _is_first(self, section: str, identity: str, path: str, key: str = "") -> bool:
        """Is this the first record of that name? A second one is told, and does not count."""
        first = self._paths.setdefault((section, identity), path)
        if first != path:
            what = _ONE_OF.get(section, section)
            self.findings.append(declared_twice(what, identity, key, path, first))
        return first == path

    def _tell_duplicates(self, source: Source) -> None:
        for duplicate in source.duplicates:
            first = Place(source.path, line=duplicate.first_line, column=duplicate.first_column)
            self.findings.append(
                Finding(
                    "duplicate-key",
                    f"the key `{clip(duplicate.key)}` is given twice",
                    Place(source.path, line=duplicate.line, column=duplicate.column),
                    help="the first one counts: delete one of them",
                    related=((first, "first given here"),),
                )
            )

    def context(self) -> Context:
        """Everything under context/ but the decisions."""
        paths = {f"{section}/{name}": path for (section, name), path in self._paths.items() if section in COLLECTIONS}
        records: dict[str, Any] = {section: dict(sorted(self._records[section].items())) for section in COLLECTIONS}
        # Each record fitted its model already: making it sure once more would ready every model of context/.
        return Context.model_construct(**records, calendar=self._calendar, paths=dict(sorted(paths.items())))

    def business(self) -> Business:
        """Everything under context/business/."""
        paths = {f"{section}/{name}": path for (section, name), path in self._paths.items() if section in PLANS}
        records: dict[str, Any] = {section: dict(sorted(self._records[section].items())) for section in PLANS}
        return Business.model_construct(**records, paths=dict(sorted(paths.items())))

    def rules(self) -> Rules:
        """The rules that hold here; for a file that does not fit, the packaged ones."""
        found: dict[str, Any] = {}
        for name, model in sorted(RULE_FILES.items()):
            found[name] = _default(name)
            if (path := self._rules.get(name)) is None:
                continue
            own = self.sources[path].data
            if not isinstance(own, dict):
                message = f"the file should be a mapping, not {described(own)}"
                self.findings.append(Finding("schema", message, Place(path)))
                continue
            record, findings = fitted(model, effective(name, _packaged()[name], own), path)
            self.findings += findings
            if record is not None:
                found[name] = record
                if isinstance(record, CiRules):
                    self.findings += unknown_severities(record, path)
        return Rules(**found)


def kind_of_file(path: str) -> FileKind | None:
    """Which row of FILE_KINDS a file belongs to; a document is a decision."""
    if is_document(path):
        return DOCUMENT
    folder, _, name = path.rpartition("/")
    bare = name.rpartition(".")[0]
    if bare.endswith(_DRAFT):
        return _kind(folder, f"{_OTHER}{_DRAFT}")
    return _kind(folder, bare if bare in _NAMED or not bare else _OTHER)


def is_document(path: str) -> bool:
    """Is it a Markdown file? The only ones that are read are those of the folders that `sources.yaml` names."""
    return path.endswith(DOCUMENTS) or path.lower().endswith(DOCUMENTS)


# A hundred thousand paths lie in few folders: a file is of the kind of its neighbours, unless a row names it.
_NAMED = frozenset(kind.pattern.rpartition("/")[2] for kind in FILE_KINDS) - {"*"}
_OTHER, _DRAFT = "*", ".formal"


@cache
def _kind(folder: str, bare: str) -> FileKind | None:
    """The row for a file in *folder* with the name *bare*, which stands for every name that no row names."""
    found = _patterns().fullmatch(f"{folder}/{bare}")
    return FILE_KINDS[found.lastindex - 1] if found is not None and found.lastindex else None


def declared_twice(what: str, id: str, key: str, path: str, first: str) -> Finding:
    """The finding at the second of two files that declare one record."""
    route = (key,) if key else ()
    return Finding(
        "duplicate-id",
        f"the {what} `{id}` is declared twice",
        Place(path, route),
        policies=(id,) if what == "policy" else (),
        help="give one of them another name, or delete one of the files",
        related=((Place(first, route), "first declared here"),),
    )


def _homeless(path: str) -> Finding:
    """A file that means nothing: most often its folder is misspelt."""
    bare, parts = path.rpartition(".")[0], path.split("/")
    if path.startswith("context/decisions/"):
        help = "records lie in decisions/, events/ and transitions/ under context/decisions/"
    else:
        known = sorted({kind.pattern.partition("/*")[0] for kind in FILE_KINDS})
        nearest = did_you_mean(bare if parts[0] == "rules" else "/".join(parts[:2]), known)
        help = nearest or f"what is read: {', '.join(known)}"
    return Finding("schema", f"the file `{path}` is in no place that anything reads", Place(path), help=help)


@cache
def _patterns() -> re.Pattern[str]:
    """All rows at once, each a group."""
    return re.compile("|".join(f"({_pattern(kind.pattern)})" for kind in FILE_KINDS))


def _pattern(pattern: str) -> str:
    parts = {"**/": "(?:.+/)?", "*": "[^/]+"}
    return "".join(parts.get(part) or re.escape(part) for part in re.split(r"(\*\*/|\*)", pattern))


@cache
def _packaged() -> dict[str, dict[str, Any]]:
    return load_defaults()


@cache
def _default(name: str) -> BaseModel:
    return RULE_FILES[name].model_validate(_packaged()[name])
