"""What decisions on record say of what was found in a repository checked in parts: no part knows it alone."""

from __future__ import annotations

from collections.abc import Sequence

from ci import pipeline
from ci.findings import Finding
from ci.lint.references import decisions_of_policies, is_unrecorded
from ci.loading.records.sources import SUFFIXES
from ci.loading.unread import section_of
from ci.parts.inventory import Inventory, beyond
from ci.parts.part import Part, Selection, settled
from ci.parts.snapshot import Snapshot


def of_records(side: Snapshot, files: Inventory) -> tuple[Finding, ...]:
    """The findings of *side*, with what its decisions say of them. Read are the records and the policies they mean."""
    records = [path for path in files.shared if is_record(path)]
    kinds = dict(enumerate(side.cards.kinds))
    if not records and not any(kind.decision for kind in kinds.values()):
        return side.findings
    words = [*files.words, *records]
    found = _part(side, files, words).read()
    known = found.decisions
    named = {one.policy for each in known.decisions.values() for one in each.confirmation if one.policy}
    standing = [finding for finding in side.findings if not is_unrecorded(finding)]
    told = {id for finding in standing for id in finding.policies}
    lost = {n for n, kind in kinds.items() if kind.decision is not None and known.named(kind.decision) is None}
    policies = {*side.cards.named(named | told), *side.cards.of_kinds(lost)}
    workspace = _part(side, files, [*words, *policies]).read() if policies else found
    return tuple(settled(workspace, pipeline.of_records([*standing, *decisions_of_policies(workspace)], workspace)))


def _part(side: Snapshot, files: Inventory, paths: Sequence[str]) -> Part:
    return files.part(paths, beyond(side.cards), Selection())


def is_record(path: str) -> bool:
    """Does the file hold a record of decision memory, or say where some lie?"""
    return path.lower().endswith(SUFFIXES) or section_of(path) in ("decisions", "decision_sources")
