"""`bylaw cases`: how much of the policies their cases cover, and the cases that are missing."""

from __future__ import annotations

from dataclasses import replace
from datetime import date
from pathlib import Path

from bylaw.authored.labels import labels
from bylaw.logic.decide.unproven import UnprovenRules
from bylaw.logic.formula.ir import Ruleset, ValueMisfit
from ci.coverage.goals import items
from ci.coverage.measure import Reading, Tried, expects
from ci.coverage.missing import MissingCase, survey
from ci.coverage.words import Report
from ci.formalize.stage import formalize
from ci.formalize.unproven import unproven
from ci.loading.derived.variables import variables
from ci.loading.load import Workspace, load
from ci.proofs.stage import ruleset_of
from ci.proofs.theory import Theory


def report(root: Path, at: date | None, today: date) -> Report:
    """The coverage of the repository at *root*, asked for the day *at*: by default that of a check."""
    workspace = load(root, at, today)
    return surveyed(workspace, workspace.at or today, workspace.commit_date or today)


def surveyed(workspace: Workspace, at: date, own_day: date) -> Report:
    """The coverage of a loaded workspace. Policies that take no part in the logic are not counted, and of what a rule
    that cannot be read may change no case is written: it would expect what nobody has decided.
    """
    known = variables(workspace.vocabulary)
    records, problems = formalize(workspace, known)
    ruleset = ruleset_of(workspace, records, known)
    ci = workspace.rules.ci
    theory = Theory(ruleset, at.toordinal(), ci.proofs.rlimit, ci.proofs.timeout_ms, ci.proofs.memory_mb)
    found = survey(Reading(theory), items(theory), tried(workspace, ruleset, own_day))
    missed = replace(ruleset, unproven=unproven(workspace, records, [*workspace.findings, *problems]))
    doubts = UnprovenRules(missed, theory.evaluator.conflicts)
    sure = [case for case in found.missing if not _is_doubtful(case, ruleset, doubts)]
    found = replace(found, missing=tuple(sure))
    threshold = float(ci.case_coverage_threshold)
    return Report(found, theory, labels(workspace.vocabulary), threshold, own_day.toordinal(), bool(doubts))


def _is_doubtful(case: MissingCase, ruleset: Ruleset, doubts: UnprovenRules) -> bool:
    return any(doubts.about(ruleset.rules[goal.rule].effect.action, case.day) for goal in case.goals)


def tried(workspace: Workspace, ruleset: Ruleset, day: date) -> list[Tried]:
    """The cases that can be read; *day* is that of cases which name none. `bylaw check` tells of the others."""
    found = []
    for entry in workspace.cases:
        case = entry.case
        try:
            facts = {name: ruleset.variables[name].read(value) for name, value in case.facts.items()}
        except (KeyError, ValueMisfit):
            continue
        found.append(Tried(facts, (case.at or day).toordinal(), expects(case.expect, workspace.vocabulary.canonical)))
    return found
