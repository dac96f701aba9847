"""Which declared priorities say something else than the metadata."""

from __future__ import annotations

from collections.abc import Iterator

from ci.findings import Finding, Place
from ci.loading.derived.record import PolicyRecord
from ci.proofs.answers import Reply, of_policies
from ci.proofs.inquiry import Inquiry


def priority_mismatch(inquiry: Inquiry) -> Iterator[Reply]:
    """A declared priority says what the metadata says."""
    priorities = inquiry.workspace.rules.priorities
    for policy_id, record in inquiry.each_policy("comparing priorities"):
        declared = record.policy.metadata.priority
        if declared is None:
            continue
        is_right = priorities.level_of(declared) == record.level.number
        told = () if is_right else (_finding(record, declared),)
        yield Reply(of_policies(policy_id), "PROVEN" if is_right else "COUNTEREXAMPLE", told)


def _finding(record: PolicyRecord, declared: int | str) -> Finding:
    policy_id = record.policy.policy_id
    return Finding(
        "priority-mismatch",
        f"policy `{policy_id}` declares the priority `{declared}`, but its metadata make it level "
        f"{record.level.number} ({record.level.name}): {record.level.reason}",
        Place(record.path, ("metadata", "priority")),
        policies=(policy_id,),
        help="the derived level holds; correct `priority`, or leave it out",
        detail={"written": str(declared), "replacement": _as(declared, record)},
    )


def _as(declared: int | str, record: PolicyRecord) -> str:
    """The derived level, as a number or as a name: like the declared one."""
    is_number = isinstance(declared, int) or declared.isdigit()
    return str(record.level.number) if is_number else record.level.name
