"""What every format is given: the findings, what they point into, and how much of them may be shown."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from bylaw.authored.machines.rules import ReportCaps
from ci.findings import Finding
from ci.loading.source import Source
from ci.proofs.answers import Answered


@dataclass(frozen=True, slots=True)
class Report:
    """What a check found, and how much of it may be shown. `caps` is None where everything is asked for.

    `folder` leads from the top of the git repository to the root, and ends in a slash unless it is empty.
    """

    findings: Sequence[Finding]
    sources: Mapping[str, Source]
    caps: ReportCaps | None = None
    existing: frozenset[str] = field(default_factory=frozenset)
    has_base: bool = False
    folder: str = ""
    questions: Sequence[Answered] = ()
