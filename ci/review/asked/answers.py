"""What bylaw says to a command: about the files of one commit, read from git and never checked out.

Nothing in those files can run; whoever may not read them does not see the comment either.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from datetime import date
from functools import cached_property
from pathlib import Path
from typing import Any

from bylaw.authored.labels import labels
from bylaw.errors import UsageError
from bylaw.github.text import code, fenced, quiet
from bylaw.logic.decide.evaluate import Decision, decide
from bylaw.logic.formula.ir import Facts, ValueMisfit
from bylaw.logic.words.prose import case_in_words
from ci import pipeline
from ci.diff import diff
from ci.loading.commits.base_commit import committed_on, files_at
from ci.loading.commits.git import commit_of, text
from ci.loading.commits.revision import Revision
from ci.loading.load import read
from ci.loading.schema.nearest import did_you_mean
from ci.pipeline import Run
from ci.report.changes import render as changes_in_words
from ci.review.asked.commands import Why

LONGEST = 50_000  # of what is quoted in one answer
_MOST_RULES = 30


@dataclass(frozen=True)
class Head:
    """The newest commit of a pull request, as a checkout knows it, and the commit that it is merged into."""

    root: Path
    sha: str
    base_sha: str
    at: date | None
    today: date

    @cached_property
    def run(self) -> Run:
        """Everything that a check finds at the commit. Raises UsageError where git does not know it."""
        day = committed_on(self.root, self.sha)
        at = self.at or day or self.today
        workspace = read(self.root, files_at(self.root, self.sha), Revision(commit_date=day), at)
        return pipeline.check(workspace, at)

    @property
    def left_at(self) -> str:
        """The commit at which the branch left its base. Raises UsageError where they share none."""
        found = text(self.root, "merge-base", *(commit_of(self.root, sha) for sha in (self.base_sha, self.sha)))
        if not found:
            raise UsageError("the commit and its base share no history here", "fetch the whole history first")
        return found.split()[0]


def why(asked: Why, head: Head) -> str:
    """What holds in the case, and by which rules. Raises UsageError for facts or a case that are not there."""
    run = head.run
    facts = _read(run, asked.facts if asked.facts is not None else _facts_of(run, asked.case))
    found = decide(run.deciding, facts, run.at.toordinal())
    words = case_in_words(facts, labels(run.workspace.vocabulary)) if facts else "nothing is known"
    return "\n".join([f"**{quiet(words)}**, on {run.at}:", "", *_said(found, run), *_rules(found)])


def changes(head: Head) -> str:
    """Which cases change outcome, as `bylaw diff` tells it."""
    found = diff(head.left_at, head.sha, head.root, head.at, head.today)
    told = changes_in_words(found)
    if len(told) > LONGEST:
        told = told[:LONGEST].rsplit("\n", 1)[0] + "\n… more: run `bylaw diff`\n"
    return fenced(told, "text")


def _facts_of(run: Run, name: str) -> dict[str, Any]:
    cases = {entry.case.name: entry.case.facts for entry in run.workspace.cases}
    if name not in cases:
        near = did_you_mean(name, cases)
        raise UsageError(f"no case is called {code(name)}", near or "give the facts as JSON")
    return dict(cases[name])


def _read(run: Run, facts: dict[str, Any]) -> Facts:
    variables = run.ruleset.variables
    read_facts = {}
    for name, value in sorted(facts.items()):
        if name not in variables:
            raise UsageError(f"the fact {code(name)} is not declared", did_you_mean(name, variables))
        try:
            read_facts[name] = variables[name].read(value)
        except ValueMisfit as error:
            raise UsageError(str(error)) from None
    return read_facts


def _said(found: Decision, run: Run) -> Iterator[str]:
    for name, result in sorted(found.outcomes.items()):
        if result.action is not None:
            yield f"- {code(name)}: **{quiet(result.action)}**, says {code(result.policy_id or '')}"
        elif missing := found.undecided.get(name):
            yield f"- {code(name)}: open; it still depends on {', '.join(map(code, missing))}"
        else:
            yield f"- {code(name)}: nobody decides it"
    for what in ("required", "prohibited", "permitted"):
        if actions := getattr(found, what):
            yield f"- {what}: {', '.join(map(code, actions))}"
    for rule in found.unproven:
        about = ", ".join(map(code, dict.fromkeys((*rule.outcomes, *rule.actions))))
        yield f"- not decided: {about}; a rule in {code(f'{rule.path}:{rule.line}')} cannot be read"
    for conflict in found.conflicts:
        yield f"- {' and '.join(map(code, sorted(conflict.policies)))} contradict each other, and neither gives way"


def _rules(found: Decision) -> Iterator[str]:
    if not found.fired:
        yield "\nNo rule fires."
        return
    yield "\n<details><summary>the rules that fire</summary>\n"
    lost = {rule.rule_id for rule in found.lost}
    for rule in found.fired[:_MOST_RULES]:
        gives_way = " (gives way)" if rule.rule_id in lost else ""
        yield f"- {code(rule.rule_id)}: {quiet(rule.action)}{gives_way}"
    if len(found.fired) > _MOST_RULES:
        yield f"- and {len(found.fired) - _MOST_RULES} more"
    yield "\n</details>"
