"""Many pairs, one cause, one finding: contradictions that share a policy or a pair of actions are told once.

A group keeps the pair that represents it and counts the rest. Small numbers are not grouped: there every pair is
its own finding.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from heapq import heapify, heappop, heappush

from ci.proofs.conflicts.conflict import Clash, subject
from ci.proofs.theory import Theory

FEWEST = 5  # so many pairs with one cause are a group
MANY = 5  # so many policies that each contradict a group the same way have one cause themselves

Key = tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Group:
    """Clashes with one cause. `hub` is the policy that takes part in all of them, None when no single one does."""

    clashes: tuple[Clash, ...]
    hub: str | None = None

    @property
    def representative(self) -> Clash:
        """The pair that the finding shows."""
        return self.clashes[0]

    @property
    def others(self) -> tuple[Clash, ...]:
        """The pairs that it only counts."""
        return self.clashes[1:]


def grouped(theory: Theory, clashes: Sequence[Clash]) -> list[Group]:
    """*clashes* by cause, in the order of their first members. What was not answered stays on its own.

    First, greedily, the policy that explains most of what is left; then what remains by subject and pair of actions.
    """
    answered = [clash for clash in clashes if clash.verdict.status == "COUNTEREXAMPLE"]
    groups = [Group((clash,)) for clash in clashes if clash.verdict.status != "COUNTEREXAMPLE"]
    left = dict(enumerate(answered))
    by_actions: dict[Key, list[Group]] = defaultdict(list)
    for hub, members in _hubs(theory, answered):
        group = Group(tuple(left.pop(n) for n in members), hub)
        by_actions[_actions(theory, group.representative)].append(group)
    loose: dict[Key, list[Clash]] = defaultdict(list)
    for clash in left.values():
        loose[_actions(theory, clash)].append(clash)
    for key in sorted({*by_actions, *loose}):
        groups += _joined(by_actions.get(key, []), loose.get(key, []))
    return sorted(groups, key=lambda group: (group.representative.first, group.representative.second))


def _joined(hubs: list[Group], loose: list[Clash]) -> list[Group]:
    """What clashes by one pair of actions: the policies behind it one by one, or all at once when they are many."""
    if len(hubs) >= MANY:
        pairs = [*(clash for group in hubs for clash in group.clashes), *loose]
        return [Group(tuple(sorted(pairs, key=lambda clash: (clash.first, clash.second))))]
    if len(loose) >= FEWEST:
        return [*hubs, Group(tuple(loose))]
    return [*hubs, *(Group((clash,)) for clash in loose)]


def _hubs(theory: Theory, clashes: Sequence[Clash]) -> Iterator[tuple[str, list[int]]]:
    """Policies that explain at least FEWEST clashes, the one that explains most first, each clash used once."""
    members: dict[Key, list[int]] = defaultdict(list)
    for n, clash in enumerate(clashes):
        for key in _sides(theory, clash):
            members[key].append(n)
    waiting = [(-len(mine), key) for key, mine in members.items() if len(mine) >= FEWEST]
    heapify(waiting)
    taken: set[int] = set()
    while waiting:
        count, key = heappop(waiting)
        free = [n for n in members[key] if n not in taken]
        if len(free) == -count:
            taken.update(free)
            yield key[0], free
        elif len(free) >= FEWEST:  # others took some: its turn comes later
            heappush(waiting, (-len(free), key))


def _sides(theory: Theory, clash: Clash) -> set[Key]:
    """Each of the two policies, with what they clash about and how it ends for that policy."""
    rules = theory.ruleset.rules
    about = subject(theory, clash.first, clash.second)
    ends = ("open", "open") if clash.winner is None else ("wins", "loses")
    first, second = (clash.second, clash.first) if clash.winner == clash.second else (clash.first, clash.second)
    return {(rules[first].policy_id, about, ends[0]), (rules[second].policy_id, about, ends[1])}


def _actions(theory: Theory, clash: Clash) -> Key:
    rules = theory.ruleset.rules
    pair = sorted(f"{rules[i].effect.kind} {rules[i].effect.action}" for i in (clash.first, clash.second))
    step = "open" if clash.winner is None else f"{rules[clash.winner].level}"
    return subject(theory, clash.first, clash.second), *pair, step
