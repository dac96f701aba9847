"""`bylaw cases --mutants`: would the cases notice a wrong edit? Every part of every policy is taken away once, every
bound moved, and the cases replayed. An edit that no case notices comes with the case that would.

An edit that changes no case at all is no mistake that anybody could see: that is proven, and counted apart.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from datetime import date
from functools import partial
from pathlib import Path
from typing import Any, Literal

import click

from bylaw.authored.labels import labels
from bylaw.authored.policies import Case
from bylaw.logic.decide.evaluate import Evaluator
from bylaw.logic.formula.ir import Facts, Ruleset, ValueMisfit
from bylaw.logic.words.prose import case_in_words
from ci.coverage.missing import expected
from ci.coverage.mutations import Mutation, mutations
from ci.coverage.words import LONGEST_NAME
from ci.formalize.stage import formalize
from ci.loading.derived.record import PolicyRecord
from ci.loading.derived.variables import variables
from ci.loading.load import Workspace, load
from ci.progress import Progress, each
from ci.proofs.entry import entry
from ci.proofs.questions.failing_case import differences
from ci.proofs.stage import ruleset_of
from ci.proofs.theory import Theory
from ci.proofs.versions.change import changes
from ci.proofs.versions.changed import Change
from ci.proofs.versions.regions import Limits

Fate = Literal["killed", "refused", "equivalent", "survived", "unknown"]
FATES: dict[Fate, str] = {
    "killed": "noticed by a case",
    "refused": "stopped by the check",
    "equivalent": "change no case",
    "survived": "noticed by no case",
    "unknown": "not decided within the budget",
}


COUNTED = "noticed by a case or stopped by the check, of all that change a case"


@dataclass(frozen=True, slots=True)
class Killing:
    """The case that would notice a surviving edit, as an entry of a cases file."""

    path: str
    text: str


@dataclass(frozen=True, slots=True)
class Mutant:
    """A wrong edit and what became of it; *line* is where it was made."""

    mutation: Mutation
    line: int
    fate: Fate
    case: Killing | None = None


@dataclass(frozen=True, slots=True)
class Mutants:
    """Every mutant of a repository, in the order of its files."""

    mutants: tuple[Mutant, ...]
    failing_count: int = 0  # cases that fail without any edit

    @property
    def survivors(self) -> tuple[Mutant, ...]:
        """Those that no case notices, and those that could not be decided."""
        return tuple(one for one in self.mutants if one.fate in ("survived", "unknown"))

    def entries(self) -> list[tuple[str, str]]:
        """The cases that would notice the survivors, each once: its file, and its text."""
        return list(dict.fromkeys((one.case.path, one.case.text) for one in self.survivors if one.case is not None))

    def yaml(self) -> str:
        """The cases to paste, each below the edit that nothing else notices."""
        told = {one.case: one for one in reversed(self.survivors) if one.case is not None}
        return "".join(
            f"# {case.path}\n# {one.mutation.policy.policy_id} {one.mutation.said} would not be noticed\n{case.text}\n"
            for case, one in reversed(told.items())
        )

    def text(self) -> str:
        """The survivors with their cases, and the count of each fate."""
        lines = []
        for one in self.survivors:
            lines.append(
                click.style(f"{one.mutation.path}:{one.line}: {one.mutation.said}: {FATES[one.fate]}", fg="yellow")
            )
            lines += [f"  {row}" for row in one.case.text.splitlines()] if one.case is not None else []
        counts = {fate: sum(one.fate == fate for one in self.mutants) for fate in FATES}
        summed = ", ".join(f"{count} {FATES[fate]}" for fate, count in counts.items() if count)
        lines.append(f"{len(self.mutants)} wrong edits: {summed}" if self.mutants else "there is nothing to edit")
        if caught := [one for one in self.mutants if one.fate != "equivalent"]:
            share = 100 * (len(caught) - len(self.survivors)) // len(caught)
            lines.append(f"killed: {share} % ({COUNTED})")
        if self.failing_count:
            noun = "case fails" if self.failing_count == 1 else "cases fail"
            lines.append(f"{self.failing_count} {noun} already without an edit and can notice none: run `bylaw check`")
        return "\n".join(lines)

    def json(self) -> str:
        """The same as one JSON document."""
        counts = {fate: sum(one.fate == fate for one in self.mutants) for fate in FATES}
        survivors = [
            {
                "path": one.mutation.path,
                "line": one.line,
                "policy_id": one.mutation.policy.policy_id,
                "edit": one.mutation.said,
                "fate": one.fate,
                "case": None if one.case is None else {"path": one.case.path, "text": one.case.text},
            }
            for one in self.survivors
        ]
        return json.dumps({"count": len(self.mutants), **counts, "survivors": survivors}, indent=2, ensure_ascii=False)


def mutants(
    root: Path, at: date | None, today: date, progress: Progress | None = None, only_whole: bool = False
) -> Mutants:
    """Every mutant of the repository at *root*, held against its cases as of *at*.

    With *only_whole* those alone that take a rule or an exception away or move a bound.
    """
    workspace = load(root, at, today)
    laboratory = Laboratory.of(workspace, workspace.at or today, workspace.commit_date or today)
    edits = [
        (record, mutation)
        for record in laboratory.records
        if record.in_logic
        for file in workspace.policies
        if file.path == record.path
        for mutation in mutations(file, workspace.sources[file.path].data)
        if mutation.is_whole or not only_whole
    ]
    held = tuple(laboratory.held(record, mutation) for record, mutation in each("editing", edits, progress))
    return Mutants(held, laboratory.failing_count)


@dataclass(frozen=True)
class Laboratory:
    """One repository, read once: what is edited, and the cases that hold in it."""

    workspace: Workspace
    records: Sequence[PolicyRecord]
    theory: Theory
    cases: Sequence[tuple[str, Case, Facts, int]]  # domain, case, facts, day
    own_day: int
    failing_count: int = 0

    @classmethod
    def of(cls, workspace: Workspace, at: date, own_day: date) -> Laboratory:
        """The laboratory of *workspace*; a case that fails already notices nothing."""
        known = variables(workspace.vocabulary)
        records, _ = formalize(workspace, known)
        ruleset = ruleset_of(workspace, records, known)
        theory = _theory(workspace, ruleset, at.toordinal())
        written = list(_cases(workspace, ruleset, own_day))
        cases = [one for one in written if not _fails(theory.evaluator, workspace, one)]
        return cls(workspace, records, theory, cases, own_day.toordinal(), len(written) - len(cases))

    def held(self, record: PolicyRecord, mutation: Mutation) -> Mutant:
        """What becomes of one wrong edit."""
        told = partial(Mutant, mutation, self.workspace.line(mutation.path, mutation.route))
        edited = replace(self.workspace, policies=(replace_policy(self.workspace, mutation),))
        (other,), _ = formalize(edited, self.theory.ruleset.variables)
        if not other.in_logic:
            return told("refused")
        records = [other if one is record else one for one in self.records]
        ruleset = ruleset_of(self.workspace, records, self.theory.ruleset.variables)
        evaluator, domain = Evaluator(ruleset), record.policy.metadata.domain
        nearest = sorted(self.cases, key=lambda case: case[0] != domain)
        if any(_fails(evaluator, self.workspace, case) for case in nearest):
            return told("killed")
        budgets = self.workspace.rules.ci.proofs
        limits = Limits(budgets.change_boxes, budgets.change_pieces)
        found = changes(self.theory, _theory(self.workspace, ruleset, self.theory.at), limits)
        if found.changes:
            return told("survived", self._killing(found.changes[0], domain))
        return told("unknown" if found.unknown else "equivalent")

    def _killing(self, change: Change, domain: str) -> Killing:
        decision = self.theory.evaluator.decide(change.facts, change.day)
        subject = change.subject
        key = subject.name if subject.kind == "outcome" else subject.kind
        shown = {name: self.theory.ruleset.variables[name].show(value) for name, value in sorted(change.facts.items())}
        words = case_in_words(change.facts, labels(self.workspace.vocabulary)) or "nothing is known"
        text = entry(
            f"{words[: LONGEST_NAME - 40]}, {key.replace('_', ' ')}",
            shown,
            {key: expected(decision, key, subject.name)},
        )
        if change.day != self.own_day:
            text = text.replace("\n", f'\n  at: "{date.fromordinal(change.day).isoformat()}"\n', 1)
        return Killing(f"policies/{domain}/cases.yaml", text)


def replace_policy(workspace: Workspace, mutation: Mutation) -> Any:
    """The policy file with the edit in it."""
    file = next(file for file in workspace.policies if file.path == mutation.path)
    return replace(file, policy=mutation.policy)


def _theory(workspace: Workspace, ruleset: Ruleset, at: int) -> Theory:
    budgets = workspace.rules.ci.proofs
    return Theory(ruleset, at, budgets.rlimit, budgets.timeout_ms, budgets.memory_mb)


def _cases(workspace: Workspace, ruleset: Ruleset, own_day: date) -> Iterator[tuple[str, Case, Facts, int]]:
    for one in workspace.cases:
        try:
            facts = {name: ruleset.variables[name].read(value) for name, value in one.case.facts.items()}
        except (KeyError, ValueMisfit):
            continue  # the lint of cases has a finding for it
        yield one.path.split("/")[1], one.case, facts, (one.case.at or own_day).toordinal()


def _fails(evaluator: Evaluator, workspace: Workspace, case: tuple[str, Case, Facts, int]) -> bool:
    _, written, facts, day = case
    decision = evaluator.decide(facts, day, names_unknown=False)
    return next(differences(workspace.vocabulary, written, decision), None) is not None
