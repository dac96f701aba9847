"""A repository checked in parts, each as a small repository of its own: what changed since the last check, or a share
of the whole for every worker.

A part holds the policies that are asked about and everyone who may matter to them; the pipeline does not know that
there is more. Answers about parts, put together, are those of the whole: `affected` says why.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import date
from functools import cached_property
from pathlib import Path

from bylaw.logic.boxes.boxes import Box
from bylaw.logic.decide.evaluate import Evaluator
from bylaw.logic.formula.ir import ValueMisfit
from ci import pipeline
from ci.findings import Finding, Place
from ci.formalize.stage import formalize
from ci.loading.commits.revision import Revision
from ci.loading.derived.variables import variables
from ci.loading.file_kinds import kind_of_file
from ci.loading.files import Content
from ci.loading.load import Beyond, Workspace, read
from ci.parts.cards import Card, cards, is_policy, spot, unread
from ci.pipeline import Run
from ci.proofs.answers import Statuses
from ci.proofs.conflicts.conflict import subject
from ci.proofs.focus import Focus
from ci.proofs.stage import ruleset_of
from ci.proofs.theory import Theory

File = Content | Finding  # a file as it lies there, or why it cannot be read
CASE_FINDINGS = ("failing-case", "violated-invariant", "unknown-answer")


@dataclass(frozen=True)
class Selection:
    """What is asked about: policies by path and by id, outcomes, cases by file and position; `shared` is all the rest.

    The ids are also those that a changed file had before: what was said of them is asked anew.
    """

    paths: frozenset[str] = frozenset()
    ids: frozenset[str] = frozenset()
    outcomes: frozenset[str] = frozenset()
    cases: frozenset[tuple[str, int]] = frozenset()
    shared: bool = False

    @property
    def focus(self) -> Focus:
        """The same for the proofs."""
        return Focus(self.ids, self.outcomes, self.cases)

    @cached_property
    def names(self) -> frozenset[str]:
        """The policies, by either name."""
        return self.paths | self.ids

    def owns(self, finding: Finding) -> bool:
        """Is *finding* an answer to one of these questions?"""
        match concerns(finding):
            case ("case", path, index):
                return (path, index) in self.cases
            case ("outcome", name):
                return name in self.outcomes
            case ("policies", *names):
                return not self.names.isdisjoint(names)
        return self.shared


def concerns(finding: Finding) -> tuple[str | int, ...]:
    """What a finding is about: a case, an outcome, some policies, or what all of them share."""
    room = kind_of_file(finding.at.path)
    section, route = room.section if room is not None else "", finding.at.route
    if section == "cases" and finding.id in CASE_FINDINGS and route:
        return ("case", finding.at.path, route[0])
    if section == "vocabulary" and finding.id in ("gap", "unknown-answer") and route[:1] == ("outcomes",):
        return ("outcome", route[1])
    if section == "policies" or finding.policies:
        return ("policies", finding.at.path, *finding.policies)
    return ("shared",)


@dataclass(frozen=True)
class Part:
    """A small repository: its files, the day it is asked for, what lies beyond it, and what it is asked about."""

    root: Path
    files: tuple[File, ...]
    shown: Revision
    at: date
    beyond: Beyond
    asked: Selection

    def read(self) -> Workspace:
        """The part as a workspace."""
        return read(self.root, self.files, self.shown, self.at, self.beyond)


@dataclass(frozen=True)
class PartAnswer:
    """What was found about a part, every place with its line.

    `statuses` say how each question was answered of those asked about; `clashing` are the policies that contradict each
    other, by subject.
    """

    findings: tuple[Finding, ...]
    statuses: Statuses = field(default_factory=dict)
    clashing: Mapping[str, tuple[str, ...]] = field(default_factory=dict)


def survey(part: Part) -> dict[str, Card]:
    """A card for every policy of *part*; nothing is asked."""
    workspace = part.read()
    known = variables(workspace.vocabulary)
    records, _ = formalize(workspace, known)
    return {**_lost(part.files), **cards(workspace, records, Evaluator(ruleset_of(workspace, records, known)))}


def ask(part: Part) -> PartAnswer:
    """What is found about what *part* is asked about."""
    return answered(_run(part), part.asked)


def survey_and_ask(part: Part) -> tuple[dict[str, Card], PartAnswer]:
    """The cards of the policies that *part* is asked about, and what is found: read once for both."""
    run = _run(part)
    found = surveyed(run, part.files)
    return {path: card for path, card in found.items() if path in part.asked.paths}, answered(run, part.asked)


def _run(part: Part) -> Run:
    return pipeline.check(part.read(), part.at, None, part.asked.focus)


def answered(run: Run, asked: Selection) -> PartAnswer:
    """What *run* found about what was *asked*."""
    return PartAnswer(tuple(settled(run.workspace, filter(asked.owns, run.raw))), run.proofs.statuses, clashing(run))


def surveyed(run: Run, files: Iterable[File]) -> dict[str, Card]:
    """A card for every policy among the *files* that *run* read."""
    return {**_lost(files), **cards(run.workspace, run.proofs.records, run.proofs.evaluator)}


def _lost(files: Iterable[File]) -> dict[str, Card]:
    """Cards for files as if none could be read: those that could have better ones."""
    return {path: unread(path) for path in map(path_of, files) if is_policy(path)}


def path_of(file: File) -> str:
    """Where the file lies."""
    return file.path if isinstance(file, Content) else file.at.path


def settled(workspace: Workspace, findings: Iterable[Finding]) -> Iterator[Finding]:
    """*findings* with the line and column of every place, so that they can be told without the text."""

    def at(place: Place) -> Place:
        line, column = workspace.position(place)
        return replace(place, line=line, column=column)

    for finding in findings:
        related = tuple((at(place), note) for place, note in finding.related)
        yield replace(finding, at=at(finding.at), related=related)


def clashing(run: Run) -> dict[str, tuple[str, ...]]:
    """The policies (by path) that contradict another one about each subject."""
    theory = Theory(run.ruleset, run.at.toordinal(), 0)
    found: dict[str, set[int]] = defaultdict(set)
    for clash in run.proofs.clashes:
        found[subject(theory, clash.first, clash.second)].update((clash.first, clash.second))
    files = {record.policy.policy_id: record.path for record in run.proofs.records}
    paths = [files[rule.policy_id] for rule in run.ruleset.rules]
    return {about: tuple(sorted({paths[i] for i in who})) for about, who in sorted(found.items())}


Boxes = Mapping[str, Sequence[Box | None]]  # where cases lie, by file and position


def case_boxes(workspace: Workspace) -> Boxes:
    """Where the cases of every file lie, by position; None where a case's facts fit no vocabulary, or it does not."""
    known = variables(workspace.vocabulary)
    found: dict[str, list[Box | None]] = {}
    for entry in workspace.cases:
        boxes = found.setdefault(entry.path, [])
        boxes += [None] * (entry.index - len(boxes))
        try:
            boxes.append(spot({name: known[name].read(value) for name, value in entry.case.facts.items()}))
        except (KeyError, ValueMisfit):
            boxes.append(None)
    return found


def joined(findings: Sequence[Finding], replaced: Selection, answers: Iterable[PartAnswer]) -> list[Finding]:
    """*findings* without those that are asked anew, and what the *answers* say instead."""
    kept = [finding for finding in findings if not replaced.owns(finding)]
    return [*kept, *(finding for answer in answers for finding in answer.findings)]
