"""`bylaw check`: one run over a repository, and with a base only what is new since then counts."""

from __future__ import annotations

from dataclasses import dataclass, replace
from datetime import date
from pathlib import Path

from ci import pipeline
from ci.base import checkout
from ci.findings import Finding, graded, known_before
from ci.load import Workspace
from ci.pipeline import Run
from ci.proofs.inquiry import Progress


@dataclass(frozen=True, slots=True)
class Checked:
    """The findings, and the fingerprints of those that the base already had."""

    workspace: Workspace
    findings: tuple[Finding, ...]
    existing: frozenset[str] = frozenset()

    @property
    def new(self) -> tuple[Finding, ...]:
        """The findings that the base did not have."""
        return tuple(f for f in self.findings if f.fingerprint not in self.existing)

    @property
    def failed(self) -> bool:
        """Does a new finding of severity error stand?"""
        return any(finding.severity == "error" for finding in self.new)


def check(
    root: Path, at: date | None, today: date, base: str | None = None, progress: Progress | None = None
) -> Checked:
    """Check *root*. Both sides are asked for the same day, so that time alone makes nothing new."""
    done = pipeline.run(root, at, today, progress)
    if base is None:
        return Checked(done.workspace, done.findings)
    with checkout(root, base) as old:
        return against(pipeline.run(old, done.at, today, progress), done)


def against(before: Run, after: Run) -> Checked:
    """What *after* has that *before* had not, each new finding on a line that changed where one is part of it."""
    from ci.diff import outcome_changes  # only a check against a base compares versions

    existing = known_before(after.findings, before.findings)
    old = {path: source.text for path, source in before.workspace.sources.items()}
    changed = {path for path, source in after.workspace.sources.items() if old.get(path) != source.text}
    findings = [f if f.fingerprint in existing else anchored(f, changed) for f in after.findings]
    findings += outcome_changes(before, after)
    return Checked(after.workspace, tuple(graded(findings, after.workspace.rules.ci.severities)), existing)


def anchored(finding: Finding, changed: set[str]) -> Finding:
    """The finding at the first of its places that lies in a *changed* file, its own place among the related ones."""
    if finding.at.path in changed:
        return finding
    for i, (place, note) in enumerate(finding.related):
        if place.path in changed:
            rest = (*finding.related[:i], *finding.related[i + 1 :])
            side = finding.detail.get("side")
            own = (finding.at, side if isinstance(side, str) else "the other side")
            return replace(finding, at=place, related=(own, *rest), detail={**finding.detail, "side": note})
    return finding
