"""What a proof rests on, told: the policies that decide it, the invariants it takes, and who may read of them."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from ci.findings import Place
from ci.proofs.inquiry import Inquiry
from ci.proofs.standing import Core
from ci.proofs.theory import Theory


def listed(names: Sequence[str]) -> str:
    """`A`, `A and B`, `A, B and C`."""
    return f"{', '.join(names[:-1])} and {names[-1]}" if len(names) > 1 else "".join(names)


def resting_on(core: Core) -> str:
    """The end of a sentence that names the invariants it takes; empty when it takes none."""
    if not core.invariants:
        return ""
    named = listed([f"`{name}`" for name in core.invariants])
    return f" (given the {'invariant' if len(core.invariants) == 1 else 'invariants'} {named})"


def seen_with(theory: Theory, i: int, others: Iterable[int]) -> bool:
    """Does everybody who may be answered from rule *i* see *others* too? Else *i* is all that some people have."""
    rules = theory.ruleset.rules
    mine = set(rules[i].audience)
    return all(not rules[k].audience or (mine and mine <= set(rules[k].audience)) for k in others)


def place_of(inquiry: Inquiry, policy_id: str, constraint_id: str) -> Place:
    """Where an invariant was written."""
    record = inquiry.records[policy_id]
    written = record.policy.formal.constraints or () if record.policy.formal else ()
    for n, constraint in enumerate(written):
        if constraint.constraint_id == constraint_id:
            return Place(record.path, ("formal", "constraints", n))
    return Place(record.path)
