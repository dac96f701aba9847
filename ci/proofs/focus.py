"""What a run asks about: some policies, outcomes and cases. Everything else stays at hand as context."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from bylaw.logic.formula.ir import Ruleset
from ci.proofs.answers import Concern


@dataclass(frozen=True, slots=True)
class Focus:
    """The policies, the outcomes and the cases (a file and the position in it) that are asked about.

    Questions about a pair are asked when one of the two is among the policies. Where a focus is None, all is asked.
    """

    policies: frozenset[str] = frozenset()
    outcomes: frozenset[str] = frozenset()
    cases: frozenset[tuple[str, int]] = frozenset()

    @property
    def concerns(self) -> Iterator[Concern]:
        """All that is asked about."""
        yield from (("policy", id) for id in self.policies)
        yield from (("outcome", name) for name in self.outcomes)
        yield from (("case", path, index) for path, index in self.cases)

    def holds(self, concern: Concern) -> bool:
        """Is the policy, outcome or case asked about?"""
        match concern:
            case ("policy", id):
                return id in self.policies
            case ("outcome", name):
                return name in self.outcomes
            case ("case", path, int(index)):
                return (path, index) in self.cases
        return False


def asked_rules(ruleset: Ruleset, focus: Focus | None) -> Sequence[int]:
    """The rules (by index) of the policies in *focus*, ascending."""
    if focus is None:
        return range(len(ruleset.rules))
    return [i for i, rule in enumerate(ruleset.rules) if rule.policy_id in focus.policies]
