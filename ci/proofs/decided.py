"""Findings about a policy say which decision it comes from, and how that one stands."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import replace

from bylaw.authored.causes import Causes
from ci.findings import Finding
from ci.loading.load import Workspace

MOST = 3  # decisions that one finding names


def with_decisions(findings: Iterable[Finding], workspace: Workspace) -> Iterator[Finding]:
    """*findings*, those about policies with the decisions behind these in what helps."""
    decisions = workspace.decisions
    if not decisions.decisions:
        yield from findings
        return
    causes = Causes(decisions)
    named = {file.policy.policy_id: file.policy.metadata.decision for file in workspace.policies}
    for finding in findings:
        found = [(id, one) for id in finding.policies for one in causes.told("policy", id, named.get(id))]
        words = [f"`{id}` comes from {one.words}" for id, one in found[:MOST]]
        yield replace(finding, help="; ".join([*filter(None, (finding.help,)), *words])) if words else finding
