"""A finding: what someone wrote that is wrong or worth knowing, with its place and no idea of how it is printed.

The ids and default severities are the contract of the command; `rules/ci.yaml` may change a severity, never an id.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from typing import Any, Literal

from bylaw.canonical import fingerprint

Severity = Literal["error", "warning", "notice", "off"]
Status = Literal["PROVEN", "COUNTEREXAMPLE", "UNKNOWN", "SKIPPED"]
Route = tuple[str | int, ...]

SEVERITIES: Mapping[str, Severity] = {
    # logic
    "conflict": "error",
    "resolved-conflict": "notice",
    "gap": "warning",
    "dead-rule": "error",
    "never-wins": "warning",
    "redundant-rule": "warning",
    "violated-invariant": "error",
    "unreachable-exception": "warning",
    "failing-case": "error",
    "graph-differs": "error",
    "outcome-change": "notice",
    "unknown-answer": "error",
    "changed-check": "warning",
    # words
    "unknown-fact": "error",
    "unknown-action": "error",
    "unknown-requirement": "error",
    "unknown-target": "error",
    "type-mismatch": "error",
    "unit-mismatch": "error",
    "value-out-of-domain": "error",
    "invalid-expression": "error",
    "unused-word": "notice",
    # files
    "unreadable-file": "error",
    "schema": "error",
    "duplicate-key": "error",
    "duplicate-id": "error",
    "dangling-reference": "error",
    # meaning
    "priority-mismatch": "warning",
    "missing-owner": "warning",
    "empty-policy": "warning",
    "unformalized-exception": "warning",
    "taken-conditions": "warning",
    "idle-replaces": "warning",
    "lifts-all": "warning",
    "explicit-pattern": "warning",
    "changed-meaning": "notice",
    "calendar-unit": "notice",
    "idle-permission": "warning",
    "quote-mismatch": "warning",
    "misplaced-policy": "warning",
    "assumed-fact": "warning",
    "negative-label": "warning",
    "doubled-unit": "warning",
    "missing-form": "warning",
    "unaskable": "warning",
    "odd-character": "warning",
    "inactive-policy": "notice",
    "not-yet-in-force": "warning",
    "expiring-policy": "notice",
    "idle-override": "notice",
    "idle-waiver": "warning",
    "unused-condition": "warning",
    "unused-setting": "warning",
    "unread-file": "warning",
    # decisions
    "extra-field": "notice",
    "long-text": "notice",
    "undated-decision": "notice",
    "unknown-status": "warning",
    "decision-edited": "warning",
    "supersession": "warning",
    "decision-chronology": "warning",
    "decision-cycle": "warning",
    "duplicate-number": "warning",
    "overdue-review": "warning",
    "unresolved-affects": "warning",
    "missing-template": "error",
    "unkept-decision": "error",
    # context
    "invalid-sql": "error",
    "unknown-column": "error",
    "relationship-cardinality": "error",
    "key-violated": "error",
    "ambiguous-synonym": "warning",
    "closed-entity": "notice",
    "unserved-task": "warning",
    # tools of agents
    "unbound-fact": "warning",
    "assertable-money": "warning",
    "uncallable-tool": "warning",
    "untyped-key": "warning",
    # measured in a warehouse
    "missing-table": "error",
    "missing-column": "error",
    "column-type": "warning",
    "untagged-pii": "warning",
    "orphaned-rows": "warning",
    "enum-drift": "warning",
    "empty-filter": "warning",
    "stale-data": "warning",
    "schema-drift": "warning",
    "unmeasured": "error",
}


ID_OF_GATES = "changed-check"  # what a change does to its own checks is told first, and is never off


@dataclass(frozen=True, slots=True)
class Place:
    """A file and a route into its data: `("conditions", 1, "value")`. Lines are found when a report is made.

    `on_key` points at the key of the route's last step instead of its value (an unknown or misspelt key).
    """

    path: str
    route: Route = ()
    on_key: bool = False
    line: int | None = None  # set where no route exists: a file that could not be parsed
    column: int | None = None


@dataclass(frozen=True, slots=True)
class Finding:
    """One thing to tell an author. `policies` and `rules` name what it is about; `message` is for people.

    A finding that stands for many has a fingerprint for each of them in `members`.
    """

    id: str
    message: str
    at: Place
    policies: tuple[str, ...] = ()
    rules: tuple[str, ...] = ()
    help: str | None = None
    related: tuple[tuple[Place, str], ...] = ()
    counterexample: Mapping[str, Any] | None = None
    status: Status | None = None
    detail: Mapping[str, Any] = field(default_factory=dict)
    severity: Severity = "error"
    members: tuple[str, ...] = ()

    @property
    def fingerprint(self) -> str:
        """Identity across edits: id, policies and rules; for findings about files, path and words. Never a line."""
        about: Any = [list(self.policies), list(self.rules)]
        if not self.rules:
            about = [*about, self.at.path, [str(step) for step in self.at.route], self.message]
        return fingerprint([self.id, about])[:16]

    def seen_from(self, i: int) -> Finding:
        """The finding at its related place *i*; its own place is then the first of the related ones."""
        place, note = self.related[i]
        side = self.detail.get("side")
        own = (self.at, side if isinstance(side, str) else "the other side")
        rest = (*self.related[:i], *self.related[i + 1 :])
        return replace(self, at=place, related=(own, *rest), detail={**self.detail, "side": note})


def known_before(findings: Iterable[Finding], before: Iterable[Finding]) -> frozenset[str]:
    """The fingerprints of those *findings* that say nothing which those *before* did not say."""
    told = {print_ for finding in before for print_ in (finding.fingerprint, *finding.members)}
    return frozenset(
        finding.fingerprint
        for finding in findings
        if all(print_ in told for print_ in finding.members or (finding.fingerprint,))
    )


def graded(findings: Iterable[Finding], severities: Mapping[str, Severity]) -> list[Finding]:
    """The findings with the repository's own severities, `off` left out, in a stable order."""
    kept: list[Finding] = []
    for finding in findings:
        severity = severities.get(finding.id, SEVERITIES[finding.id])
        if severity == "off" and finding.id == ID_OF_GATES:
            severity = "notice"
        if severity != "off":
            kept.append(replace(finding, severity=severity))
    rank = {"error": 0, "warning": 1, "notice": 2}
    return sorted(kept, key=lambda f: (rank[f.severity], f.at.path, f.id, _in_order(f.at.route), f.message))


def gates_first(findings: Iterable[Finding]) -> tuple[Finding, ...]:
    """*findings* with what a change does to its own checks before everything else, otherwise in their order."""
    return tuple(sorted(findings, key=lambda finding: finding.id != ID_OF_GATES))


def _in_order(route: Route) -> list[tuple[int, str]]:
    """What *route* sorts by: the tenth item comes after the second."""
    return [(step, "") if isinstance(step, int) else (-1, step) for step in route]
