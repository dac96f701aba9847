"""One repository as an author has it open: the files of the disk, with unsaved text over them, checked again and again.

Each check asks only what the last change can affect. It knows nothing of the protocol: `ci.editor.server` speaks it.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from datetime import date
from pathlib import Path

from bylaw.authored.labels import labels
from bylaw.logic.words.prose import rule_in_words
from ci.check import checked_again
from ci.findings import Finding, Place
from ci.fixes import fixed_line
from ci.formalize.stage import formalize
from ci.loading.commits.revision import Revision, revision
from ci.loading.derived.variables import variables
from ci.loading.files import NOTHING, Changed, Content
from ci.loading.load import Beyond, Workspace, files_of
from ci.loading.source import shown
from ci.parts.inventory import Inventory, inventory
from ci.parts.part import Selection
from ci.parts.snapshot import Snapshot

_WORD = re.compile(r"[A-Za-z_][A-Za-z0-9_-]*")
SECTIONS = ("facts", "actions", "outcomes", "terms")


@dataclass(frozen=True, slots=True)
class Offer:
    """A word to choose, and what it is."""

    word: str
    about: str


@dataclass(frozen=True, slots=True)
class Replacement:
    """A line as it should be, for a finding that has one right fix."""

    title: str
    line: int
    text: str


@dataclass
class OpenRepository:
    """A repository and what is typed in it. `texts` are unsaved files, by path from the root."""

    root: Path
    today: date
    texts: dict[str, str] = field(default_factory=dict)
    _last: Snapshot | None = None
    _now: Inventory | None = None
    _workspace: Workspace | None = None
    _words: Workspace | None = None
    _rows: dict[str, list[str]] = field(default_factory=dict)

    # ---- checking ---------------------------------------------------------------------------------------------------

    def findings(self) -> Mapping[str, tuple[Finding, ...]]:
        """What a check of the repository as it is typed says, by file; every place carries its line and column."""
        try:
            return self._checked()
        except Changed:  # a file was saved while this read
            self._last = None
            return self._checked()

    def _checked(self) -> Mapping[str, tuple[Finding, ...]]:
        self._now = self._read()
        self._words = self._workspace = None
        self._rows = {}
        self._last, found = checked_again(self._last, self._now)
        by_path: dict[str, list[Finding]] = defaultdict(list)
        for one in found:
            by_path[one.at.path].append(self._located(one))
        return {path: tuple(found) for path, found in sorted(by_path.items())}

    def _read(self) -> Inventory:
        known = self._last.known if self._last is not None else NOTHING
        disk = files_of(self.root, known)
        found = [one for one in disk if not (isinstance(one, Content) and one.path in self.texts)]
        typed = [Content(path, text.encode("utf-8", "surrogatepass")) for path, text in self.texts.items()]
        files = sorted([*found, *typed], key=lambda one: one.path if isinstance(one, Content) else one.at.path)
        return inventory(self.root, files, Revision(), revision(self.root).commit_date or self.today)

    def rows(self, path: str) -> list[str]:
        """The lines of a file as it was checked; none where there is no such file, or another one by now."""
        if path not in self._rows:
            self._now = self._now or self._read()
            file = self._now.files.get(path)
            try:
                self._rows[path] = shown(path, file.data).text.split("\n") if isinstance(file, Content) else []
            except Changed:
                self._rows[path] = []
        return self._rows[path]

    def _located(self, finding: Finding) -> Finding:
        places = [finding.at, *(place for place, _ in finding.related)]
        if all(place.line is not None for place in places):
            return finding
        at, *others = (self._placed(place) for place in places)
        related = tuple((place, note) for place, (_, note) in zip(others, finding.related, strict=True))
        return replace(finding, at=at, related=related)

    def _placed(self, place: Place) -> Place:
        line, column = self.workspace.position(place)
        return replace(place, line=line, column=column)

    @property
    def workspace(self) -> Workspace:
        """Everything that is written, as models."""
        if self._workspace is None:
            try:
                self._workspace = (self._now or self._read()).workspace()
            except Changed:
                self._last = None
                self._workspace = self._read().workspace()
        return self._workspace

    @property
    def words(self) -> Workspace:
        """What the vocabularies and the rules say: without the policies it is there at once."""
        if self._words is None:
            now = self._now or self._read()
            self._words = now.part(now.words, Beyond(), Selection()).read()
        return self._words

    # ---- words ------------------------------------------------------------------------------------------------------

    def offers(self, line: str, column: int, lines: list[str]) -> list[Offer]:
        """The words that may stand at *column* (from 0) of *line*; *lines* are those above it, the nearest first."""
        before = line[:column]
        key = next((found for found in reversed(re.findall(r"([A-Za-z_]+):", before))), None)
        if re.search(r"[:\[,]\s*[\w\"'-]*$", before) is None or key is None:
            return []
        vocabulary = self.words.vocabulary
        match key:
            case "parameter" | "value_of":
                return [Offer(name, fact.label or fact.type) for name, fact in sorted(vocabulary.facts.items())]
            case "action" | "replaces" | "must_tell":
                return [Offer(name, action.label or "") for name, action in sorted(vocabulary.actions.items())]
            case "requires":
                flags = [Offer(n, f.label or "") for n, f in sorted(vocabulary.facts.items()) if f.type == "boolean"]
                ids = [
                    Offer(name, "condition") for text in (line, *lines) for name in re.findall(r"\bid: *(\w+)", text)
                ]
                return [
                    *ids,
                    *flags,
                    *(Offer(name, "term") for name in sorted(vocabulary.terms)),
                    Offer("within_window", ""),
                ]
            case "value":
                return self._values(" ".join([line, *lines[:4]]))
            case "overrides" | "policies":
                return [Offer(f.policy.policy_id, f.policy.metadata.source) for f in self.workspace.policies]
            case "outcome":
                return [Offer(name, outcome.label or "") for name, outcome in sorted(vocabulary.outcomes.items())]
            case "owner":
                return [Offer(name, "") for name in sorted({f.policy.metadata.owner for f in self.workspace.policies})]
            case "domain":
                return [Offer(name, "") for name in sorted({f.policy.metadata.domain for f in self.workspace.policies})]
        return []

    def _values(self, around: str) -> list[Offer]:
        """The values of the fact that the condition around the cursor names."""
        named = re.search(r"\bparameter: *(\w+)", around)
        kind = re.search(r"\btype: *(\w+)", around)
        vocabulary = self.words.vocabulary
        name = named[1] if named else vocabulary.default_fact(kind[1], "*") if kind else None
        fact = vocabulary.facts.get(name or "")
        if fact is None:
            return []
        values = ["true", "false"] if fact.type == "boolean" else list(fact.values)
        return [Offer(value, name or "") for value in values]

    def word_at(self, line: str, column: int) -> str | None:
        """The word that *column* (from 0) of *line* stands in."""
        return next((found[0] for found in _WORD.finditer(line) if found.start() <= column <= found.end()), None)

    def meaning(self, word: str) -> str | None:
        """What a declared word or a policy means, as Markdown; None for any other word."""
        vocabulary = self.words.vocabulary
        if (fact := vocabulary.facts.get(word)) is not None:
            values = ", ".join(fact.values) or " ".join(part for part in (fact.type, fact.unit or "") if part)
            return f"**{word}**, a fact: {fact.label or word}\n\n{values}"
        if (action := vocabulary.actions.get(word)) is not None:
            answers = f"\n\nanswers `{action.outcome}`" if action.outcome else ""
            return f"**{word}**, an action: {action.label or word}{answers}"
        if (outcome := vocabulary.outcomes.get(word)) is not None:
            return f"**{word}**, an outcome: {outcome.label or word}"
        return self._policy(word)

    def _policy(self, word: str) -> str | None:
        """A policy in words: whose it is, and each of its rules."""
        file = next((one for one in self.workspace.policies if one.policy.policy_id == word), None)
        if file is None:
            return None
        known = variables(self.workspace.vocabulary)
        (record,), _ = formalize(replace(self.workspace, policies=(file,)), known)
        spoken = labels(self.workspace.vocabulary)
        said = {name: action.label for name, action in self.workspace.vocabulary.actions.items() if action.label}
        rules = "\n".join(f"- {rule_in_words(rule, spoken, said)}" for rule in record.rules)
        rules = "\n".join([rules, *(f"- “{text}” (not checked by logic)" for text in record.texts)]).strip()
        return f"**{word}** {file.policy.metadata.source} ({file.policy.metadata.owner})\n\n{rules}"

    def definition(self, word: str) -> Place | None:
        """Where the word is declared, or the policy written."""
        for section in SECTIONS:
            if word in getattr(self.words.vocabulary, section):
                place = Place(self.words.path_of_word(section, word), (section, word), on_key=True)
                line, column = self.words.position(place)
                return replace(place, line=line, column=column)
        file = next((one for one in self.workspace.policies if one.policy.policy_id == word), None)
        return None if file is None else self._placed(Place(file.path, ("policy_id",)))

    def references(self, word: str) -> Iterator[Place]:
        """Every place where the word stands by itself, in the order of the files; none of a word that means nothing."""
        if self.definition(word) is None:
            return
        found = re.compile(rf"(?<![\w-]){re.escape(word)}(?![\w-])")
        for path, source in sorted(self.workspace.sources.items()):
            for number, text in enumerate(source.text.splitlines(), 1):
                for hit in found.finditer(text.partition(" #")[0]):
                    yield Place(path, line=number, column=hit.start() + 1)

    def fix(self, finding: Finding) -> Replacement | None:
        """The line of a finding with its one right correction."""
        source = self.workspace.sources.get(finding.at.path)
        if source is None or finding.at.line is None:
            return None
        before = source.text.split("\n")[finding.at.line - 1]
        after = fixed_line(finding, before)
        written = finding.detail.get("spelled") or finding.detail.get("replacement")
        return None if after is None else Replacement(f"write {written}", finding.at.line, after)

    def cases_of(self, path: str) -> list[tuple[int, str]]:
        """For the policy in *path*, or each case of a cases file: a line and what stands above it."""
        file = next((one for one in self.workspace.policies if one.path == path), None)
        if file is None:
            return []
        name, domain = file.policy.policy_id, file.policy.metadata.domain
        own = [one for one in self.workspace.cases if name in one.case.policies or one.path.split("/")[1] == domain]
        count = f"{len(own)} {'case' if len(own) == 1 else 'cases'} of `{domain}`"
        return [(self.workspace.line(path, ("policy_id",)), f"{count}, owned by {file.policy.metadata.owner}")]
