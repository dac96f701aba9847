"""What rules that could not be read may change: the one place where every door asks it.

Such a rule may demand, permit, prohibit or lift anything that it speaks of, at any level. So nothing is decided of what
it speaks of, nor of what rules join to that: rules of one room bear on each other's results (`Conflicts.rooms`).
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Iterable, Mapping, Sequence
from functools import cached_property
from typing import Any

from bylaw.logic.decide.conflicts import Conflicts
from bylaw.logic.formula.ir import Ruleset, Unproven

_Words = tuple[Collection[str], Collection[str]]  # actions, outcomes


class UnprovenRules:
    """The unproven rules of a ruleset, by the actions and outcomes that they may change."""

    def __init__(self, ruleset: Ruleset, conflicts: Conflicts) -> None:
        self._ruleset, self._conflicts = ruleset, conflicts
        self._all = ruleset.unproven

    def __bool__(self) -> bool:
        return bool(self._all)

    def in_force(self, day: int) -> tuple[Unproven, ...]:
        """Those that would hold on *day* (a proleptic ordinal), by path and line."""
        return tuple(one for one in self._all if one.holds_on(day))

    def about(self, action: str, day: int) -> tuple[Unproven, ...]:
        """Those that may change what is decided of *action* (a canonical name) on *day*."""
        return tuple(one for one in self._by_action.get(action, self._unlimited) if one.holds_on(day))

    def about_outcome(self, outcome: str, day: int) -> tuple[Unproven, ...]:
        """Those that may change which action *outcome* takes on *day*."""
        return tuple(one for one in self._by_outcome.get(outcome, self._unlimited) if one.holds_on(day))

    def about_any(self, outcomes: Iterable[str], actions: Iterable[str], day: int) -> tuple[Unproven, ...]:
        """Those that may change any of these *outcomes* and *actions* on *day*, in their order."""
        found = {one for name in outcomes for one in self.about_outcome(name, day)}
        found.update(one for name in actions for one in self.about(name, day))
        return tuple(one for one in self._all if one in found) if found else ()

    @cached_property
    def _unlimited(self) -> tuple[Unproven, ...]:
        """Those that may speak of anything, also of words that no rule uses."""
        return tuple(one for one in self._all if one.is_everything)

    @cached_property
    def _by_action(self) -> Mapping[str, Sequence[Unproven]]:
        return self._filed(0)

    @cached_property
    def _by_outcome(self) -> Mapping[str, Sequence[Unproven]]:
        return self._filed(1)

    def _filed(self, kind: int) -> Mapping[str, Sequence[Unproven]]:
        found: dict[str, set[int]] = defaultdict(set)
        for i, words in enumerate(self._changing):
            for word in words[kind]:
                found[word].add(i)
        always = {i for i, one in enumerate(self._all) if one.is_everything}
        return {word: [self._all[i] for i in sorted(those | always)] for word, those in found.items()}

    @cached_property
    def _changing(self) -> Sequence[_Words]:
        """For each of them the actions and outcomes that it may change; of those that may change all, none by name."""
        return [((), ()) if one.is_everything else self._words_of(one) for one in self._all]

    def _words_of(self, one: Unproven) -> _Words:
        actions, outcomes = one.reach.union(one.actions), one.outcomes
        met = actions.union(*(self._excluded.get(name, ()) for name in actions))
        rooms = {room for name in met for room in self._speaking.get(("action", name), ())}
        rooms |= {room for name in outcomes for room in self._speaking.get(("outcome", name), ())}
        words = [word for room in rooms for word in self._spoken[room]]
        joined = {kind: {name for of, name in words if of == kind} for kind in ("action", "outcome")}
        return {*actions, *one.beside, *joined["action"]}, {*outcomes, *joined["outcome"]}

    @cached_property
    def _excluded(self) -> Mapping[str, set[str]]:
        found: dict[str, set[str]] = defaultdict(set)
        for name, other in self._ruleset.excludes:
            found[name].add(other)
        return found

    @cached_property
    def _spoken(self) -> Mapping[int, set[tuple[str, str]]]:
        """Room → the actions and outcomes that its rules speak of, each with its kind."""
        found: dict[int, set[tuple[str, str]]] = defaultdict(set)
        for i, rule in enumerate(self._ruleset.rules):
            effect = rule.effect
            words = found[self._conflicts.rooms[i]]
            words.update(("action", name) for name in (effect.action, *effect.demands))
            words.update(("outcome", outcome) for outcome, _ in effect.takes)
        return found

    @cached_property
    def _speaking(self) -> Mapping[tuple[str, str], set[int]]:
        """Word → the rooms whose rules speak of it."""
        found: dict[tuple[str, str], set[int]] = defaultdict(set)
        for room, words in self._spoken.items():
            for word in words:
                found[word].add(room)
        return found


def document(rule: Unproven, readers: Collection[str] | None = None) -> dict[str, Any]:
    """The rule as the doors tell of it: to those with the roles *readers*, to whoever runs the program where None.

    Of a rule for others it is told that there is one, and what it may change.
    """
    is_shown = readers is None or not rule.audience or not set(rule.audience).isdisjoint(readers)
    return {
        "policy_id": rule.policy_id,
        "path": rule.path if is_shown else None,
        "line": rule.line if is_shown else None,
        "actions": list(rule.actions),
        "outcomes": list(rule.outcomes),
        "finding": rule.finding,
        "reason": rule.reason if is_shown else "it is not for you to read",
        "owner": rule.owner,
    }
