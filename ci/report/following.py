"""What may only follow from a policy that cannot be read: a person mends the policy first.

A misspelt key takes a whole policy out of every proof. Cases then fail and outcomes have gaps that nobody wrote.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import PurePosixPath

from ci.findings import ID_OF_GATES, Finding

# Errors that leave a policy, or the words of all policies, out of what is proved.
CAUSES = frozenset(
    (
        "unreadable-file",
        "schema",
        "unknown-fact",
        "unknown-action",
        "unknown-requirement",
        "type-mismatch",
        "unit-mismatch",
        "value-out-of-domain",
        "invalid-expression",
    )
)
FOLLOWING = frozenset(
    ("failing-case", "gap", "outcome-change", "never-wins", "idle-override", "unused-word", "unused-condition")
)
# These tell what comes of the others, each of what comes before it here.
_LATE = ("conflict", "unused-condition", "unused-word", "idle-override", "never-wins", "gap", "failing-case")
_NOT_PROVED = frozenset(("cases",))  # files by their stem: what is wrong in them changes no rule


def in_order(findings: Sequence[Finding]) -> list[Finding]:
    """What a change does to its own checks; then words of the vocabulary, all else, what may only follow, notices."""
    return sorted(findings, key=_rank)


def _rank(finding: Finding) -> int:
    if finding.id == ID_OF_GATES:
        return -1
    if finding.severity == "notice":
        return 2 + len(_LATE)
    if finding.id in _LATE:
        return 2 + _LATE.index(finding.id)
    return int(not (finding.severity == "error" and PurePosixPath(finding.at.path).stem == "vocabulary"))


def apart(findings: Sequence[Finding]) -> tuple[list[Finding], list[Finding]]:
    """What to mend first, and those of *findings* that may be gone then; none where every policy was read.

    A case follows from what lies in its own folder or above it, everything else from any policy.
    """
    causes = {PurePosixPath(one.at.path).parent for one in findings if _is_cause(one)}
    first: list[Finding] = []
    later: list[Finding] = []
    for one in findings:
        (later if causes and one.id in FOLLOWING and _is_near(one, causes) else first).append(one)
    return first, later


def _is_cause(finding: Finding) -> bool:
    if finding.severity != "error" or finding.id not in CAUSES:
        return False
    path = PurePosixPath(finding.at.path)
    return path.parts[:1] == ("policies",) and path.stem not in _NOT_PROVED


def _is_near(finding: Finding, causes: set[PurePosixPath]) -> bool:
    return finding.id != "failing-case" or not causes.isdisjoint(PurePosixPath(finding.at.path).parents)
