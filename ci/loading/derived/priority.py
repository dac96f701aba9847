"""The priority level of a policy, derived from its metadata (seed 000, stage 3). A lower number wins.

The rows of the table are tried in the order of `rules/priorities.yaml` (1, 2, 5, 3, 4), so a department's policy that
expires is situational, and a regulatory one stays regulatory.
"""

from __future__ import annotations

from dataclasses import dataclass

from bylaw.authored.machines.layers import Priorities, PriorityName
from bylaw.authored.policies import Policy


@dataclass(frozen=True, slots=True)
class Level:
    """A policy's place in the lattice, and the metadata that put it there."""

    number: int
    name: PriorityName
    reason: str


def derive(policy: Policy, priorities: Priorities) -> Level:
    """The first row of the table that fits; a policy of a specific department when none does."""
    for name in priorities.order:
        reason = _reason(name, policy, priorities)
        if reason is not None:
            return Level(priorities.levels[name], name, reason)
    return Level(priorities.levels["department"], "department", f"owned by {policy.metadata.owner or 'nobody'}")


def _reason(name: PriorityName, policy: Policy, priorities: Priorities) -> str | None:
    metadata = policy.metadata
    domain = metadata.domain.casefold()
    match name:
        case "regulatory" if metadata.regulatory_linkage:
            return f"regulatory_linkage exists ({', '.join(metadata.regulatory_linkage)})"
        case "core_values" if domain in map(str.casefold, priorities.core_value_domains):
            return f"the domain {metadata.domain} is a core value"
        case "situational" if policy.is_temporary:
            return f"ends on {metadata.expiry_date}" if metadata.expiry_date else "tagged temporary"
        case "company" if domain in map(str.casefold, priorities.general_domains):
            return f"the domain {metadata.domain} is general operations"
        case "company" if metadata.owner.casefold() in map(str.casefold, priorities.cross_department_owners):
            return f"{metadata.owner} works across departments"
        case "department":
            return f"owned by {metadata.owner}" if policy.has_owner else "has no owner"
    return None
