"""Which effects contradict each other, and which of two rivals gives way.

Different actions are not a contradiction by themselves. Two effects contradict when they answer one outcome
differently, when one demands (also through `implies`) what the other prohibits or what the other's demands exclude,
or when one permits what the other prohibits. The stronger of two rivals removes the other's effect; equals do not.
What is removed removes nobody, with one exception: a prohibition that removes the winner's action leaves the outcome
empty, so the winner of a dispute about an outcome wins it all the same.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Set

from bylaw.logic.formula.ir import ConditionalRule, Effect, Ruleset

FEW = 8  # rules to compare one by one before an index of all rivals is worth building


def contradicts(a: Effect, b: Effect, excludes: frozenset[tuple[str, str]]) -> bool:
    """May *a* and *b* not both stand in one case? Symmetric."""
    if any(outcome == other and action != act for outcome, action in a.takes for other, act in b.takes):
        return True
    for one, two in ((a, b), (b, a)):
        if two.kind == "prohibited" and (
            two.action in one.demands or (one.kind == "permitted" and one.action == two.action)
        ):
            return True
    return bool(excludes) and any((x, y) in excludes for x in a.demands for y in b.demands)


def beats(a: ConditionalRule, b: ConditionalRule, overrides: Mapping[str, frozenset[str]]) -> bool:
    """Does *a* remove *b*'s effect where they contradict? By level, or among equals by a declared override."""
    if a.level != b.level:
        return a.level < b.level
    return b.policy_id in overrides.get(a.policy_id, ())


class Rivals:
    """The contradictions of a ruleset, looked up by outcome and action instead of among all pairs."""

    def __init__(self, ruleset: Ruleset) -> None:
        self.ruleset = ruleset
        self._taking: dict[str, dict[str, list[int]]] = defaultdict(lambda: defaultdict(list))
        self._demanding: dict[str, list[int]] = defaultdict(list)
        self._prohibiting: dict[str, list[int]] = defaultdict(list)
        self._permitting: dict[str, list[int]] = defaultdict(list)
        self._excluded: dict[str, list[str]] = defaultdict(list)
        self._of: dict[int, tuple[int, ...]] = {}
        for i, rule in enumerate(ruleset.rules):
            for outcome, action in rule.effect.takes:
                self._taking[outcome][action].append(i)
            for action in rule.effect.demands:
                self._demanding[action].append(i)
            if rule.effect.kind == "prohibited":
                self._prohibiting[rule.effect.action].append(i)
            if rule.effect.kind == "permitted":
                self._permitting[rule.effect.action].append(i)
        for one, other in sorted(ruleset.excludes):
            self._excluded[one].append(other)

    def taking(self, outcome: str) -> tuple[int, ...]:
        """The rules (by index) that answer *outcome*."""
        answering = self._taking.get(outcome, {}).values()
        return tuple(sorted({i for rules in answering for i in rules}))

    def of(self, i: int) -> tuple[int, ...]:
        """The rules whose effect contradicts that of rule *i*, ascending. Rivals need not ever fire together."""
        found = self._of.get(i)
        if found is None:
            effect = self.ruleset.rules[i].effect
            found = self._of[i] = tuple(sorted(set(self._meeting(effect)) - {i}))
        return found

    def among(self, i: int, rules: Set[int]) -> list[int]:
        """The rivals of rule *i* among *rules*, ascending. For a few rules nobody else is looked at."""
        if len(rules) > FEW:
            return [j for j in self.of(i) if j in rules]
        everyone, excludes = self.ruleset.rules, self.ruleset.excludes
        mine = everyone[i].effect
        return [j for j in sorted(rules) if j != i and contradicts(mine, everyone[j].effect, excludes)]

    def _meeting(self, effect: Effect) -> Iterator[int]:
        for outcome, action in effect.takes:
            for other_action, rules in self._taking[outcome].items():
                if other_action != action:
                    yield from rules
        for action in effect.demands:
            yield from self._prohibiting.get(action, ())
            for other in self._excluded.get(action, ()):
                yield from self._demanding.get(other, ())
        if effect.kind == "prohibited":
            yield from self._demanding.get(effect.action, ())
            yield from self._permitting.get(effect.action, ())
        if effect.kind == "permitted":
            yield from self._prohibiting.get(effect.action, ())

    def beats(self, i: int, j: int) -> bool:
        """Does rule *i* remove rule *j*'s effect where both fire?"""
        return beats(self.ruleset.rules[i], self.ruleset.rules[j], self.ruleset.overrides)

    def disputes(self, i: int, j: int) -> bool:
        """Do the two answer one outcome differently? Then the stronger wins, even where its own action is banned."""
        mine, its = self.ruleset.rules[i].effect.takes, self.ruleset.rules[j].effect.takes
        return any(outcome == other and action != act for outcome, action in mine for other, act in its)

    def bans(self, i: int) -> bool:
        """Does rule *i* prohibit something?"""
        return self.ruleset.rules[i].effect.kind == "prohibited"

    def surviving(self, firing: Iterable[int]) -> set[int]:
        """The firing rules whose effect stands: no stronger rival removes it that stands, or wins their dispute."""
        fires = set(firing)
        known: dict[tuple[int, bool], bool] = {}

        def prevails(i: int, despite_bans: bool) -> bool:
            key = (i, despite_bans)
            if key not in known:
                known[key] = True  # INVARIANT: "beats" has no cycle; a cycle of overrides is a finding, not a crash
                known[key] = not any(
                    self.beats(j, i) and not (despite_bans and self.bans(j)) and prevails(j, self.disputes(j, i))
                    for j in self.among(i, fires)
                )
            return known[key]

        return {i for i in sorted(fires) if prevails(i, False)}
