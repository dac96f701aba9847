"""`bylaw check`: one run over a repository, and with a base only what is new since then counts."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import date
from pathlib import Path

from ci import pipeline
from ci.base import checkout
from ci.findings import Finding
from ci.load import Workspace
from ci.proofs.inquiry import Progress


@dataclass(frozen=True, slots=True)
class Checked:
    """The findings, and the fingerprints of those that the base already had."""

    workspace: Workspace
    findings: tuple[Finding, ...]
    existing: frozenset[str]

    @property
    def failed(self) -> bool:
        """Does a new finding of severity error stand?"""
        return any(f.severity == "error" and f.fingerprint not in self.existing for f in self.findings)


def check(
    root: Path, at: date | None, today: date, base: str | None = None, progress: Progress | None = None
) -> Checked:
    """Check *root*. Both sides are asked for the same day, so that time alone makes nothing new."""
    done = pipeline.run(root, at, today, progress)
    existing: frozenset[str] = frozenset()
    if base is not None:
        with checkout(root, base) as old:
            before = pipeline.run(old, done.at, today, progress)
        existing = frozenset(finding.fingerprint for finding in before.findings)
    return Checked(done.workspace, done.findings, existing)
