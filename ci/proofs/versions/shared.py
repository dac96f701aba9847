"""What two versions of a policy set share: the facts and values that both know, and the rules that are the same.

Cases are compared on the shared facts alone. A fact that only one side declares, or that changed its type or unit,
is unknown in every compared case; what the words of one side only are for is told beside the changes.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from functools import cached_property

from bylaw.logic.boxes.boxes import domain
from bylaw.logic.formula.ir import ConditionalRule, Effect, Ruleset, Variable, names


@dataclass(frozen=True, slots=True)
class WordChange:
    """A word that the two sides do not share as it is: `what` is fact, value, domain or outcome."""

    what: str
    name: str
    change: str
    values: tuple[str, ...] = ()


@dataclass(frozen=True)
class Shared:
    """The two versions side by side. Rules are named by their index in their own version."""

    before: Ruleset
    after: Ruleset

    @cached_property
    def variables(self) -> dict[str, Variable]:
        """The facts that both sides know, each with the values that both allow."""
        found = {}
        for name, old in sorted(self.before.variables.items()):
            new = self.after.variables.get(name)
            both = None if new is None else common(old, new)
            if both is not None:
                found[name] = both
        return found

    @cached_property
    def unshared(self) -> frozenset[str]:
        """The facts that cases are silent about: the two sides do not mean the same by them."""
        return frozenset({*self.before.variables, *self.after.variables} - self.variables.keys())

    @cached_property
    def words(self) -> tuple[WordChange, ...]:
        """Every fact, value, domain and outcome that differs, in a stable order."""
        return tuple(sorted(self._words(), key=lambda word: (word.what, word.name, word.change)))

    def _words(self) -> Iterator[WordChange]:
        for name in {*self.before.variables, *self.after.variables}:
            old, new = self.before.variables.get(name), self.after.variables.get(name)
            if old is None or new is None:
                yield WordChange("fact", name, "added" if old is None else "removed")
                continue
            if (old.kind, old.unit) != (new.kind, new.unit):
                yield WordChange("fact", name, f"{_kind(old)} → {_kind(new)}")
            elif (old.minimum, old.maximum) != (new.minimum, new.maximum):
                yield WordChange("domain", name, f"{_range(old)} → {_range(new)}")
            if new.kind == "enum" == old.kind:
                gained = tuple(value for value in new.values if value not in old.values)
                lost = tuple(value for value in old.values if value not in new.values)
                for change, values in (("added", gained), ("removed", lost)):
                    if values:
                        yield WordChange("value", name, change, values)
        for outcome in set(self.before.outcomes) ^ set(self.after.outcomes):
            yield WordChange("outcome", outcome, "added" if outcome in self.after.outcomes else "removed")

    # ---- rules ------------------------------------------------------------------------------------------------------

    @cached_property
    def pairs(self) -> dict[int, int]:
        """Rules that say the same on every day, before → after. INVARIANT: among them, who beats whom is the same."""
        found: dict[int, int] = {}
        by_id = {rule.rule_id: j for j, rule in enumerate(self.after.rules)}
        for i, rule in enumerate(self.before.rules):
            j = by_id.get(rule.rule_id)
            if j is not None and self._are_same(i, j):
                found[i] = j
        taken = set(found.values())
        spare = {self._content(self.after, j): j for j in range(len(self.after.rules)) if j not in taken}
        for i in range(len(self.before.rules)):
            if i not in found and not self._is_foreign(self.before, i):
                j = spare.pop(self._content(self.before, i), None)
                if j is not None:
                    found[i] = j
        return found

    @cached_property
    def loose(self) -> tuple[tuple[int, ...], tuple[int, ...]]:
        """The rules of each side that have no equal on the other."""
        paired = set(self.pairs.values())
        return (
            tuple(i for i in range(len(self.before.rules)) if i not in self.pairs),
            tuple(j for j in range(len(self.after.rules)) if j not in paired),
        )

    def _are_same(self, i: int, j: int) -> bool:
        one, two = self.before.rules[i], self.after.rules[j]
        return (
            one.effect == two.effect
            and (one.level, one.start, one.end) == (two.level, two.start, two.end)
            and one.guard == two.guard
            and self._standing(self.before, one) == self._standing(self.after, two)
            and not self._is_foreign(self.before, i)
        )

    def content(self, side: int, i: int) -> object:
        """Equal for two rules exactly when they do the same on a day on which both are in force."""
        ruleset = (self.before, self.after)[side]
        return (*self._content(ruleset, i)[:-1],) if not self._is_foreign(ruleset, i) else (side, i)

    def _content(self, ruleset: Ruleset, i: int) -> tuple[object, ...]:
        rule = ruleset.rules[i]
        return rule.effect, rule.guard, rule.level, self._standing(ruleset, rule), (rule.start, rule.end)

    def _standing(self, ruleset: Ruleset, rule: ConditionalRule) -> object:
        """What, besides its level, decides whom the rule beats and contradicts."""
        excluded = self._excluded(ruleset, rule.effect) if self.before.excludes != self.after.excludes else None
        if rule.policy_id not in self._overriding:
            return excluded
        return rule.policy_id, ruleset.overrides.get(rule.policy_id, frozenset()), excluded

    @cached_property
    def _overriding(self) -> frozenset[str]:
        """Every policy that overrides another, or is overridden, on either side."""
        found: set[str] = set()
        for overrides in (self.before.overrides, self.after.overrides):
            for policy, others in overrides.items():
                found |= {policy, *others}
        return frozenset(found)

    def _excluded(self, ruleset: Ruleset, effect: Effect) -> object:
        return frozenset(pair for pair in ruleset.excludes if pair[0] in effect.demands)

    def _is_foreign(self, ruleset: Ruleset, i: int) -> bool:
        return bool(self.unshared) and not self.unshared.isdisjoint(names(ruleset.rules[i].guard))

    @cached_property
    def foreign(self) -> tuple[tuple[int, ...], tuple[int, ...]]:
        """The rules of each side that speak of a fact the compared cases are silent about."""
        return (
            tuple(i for i in range(len(self.before.rules)) if self._is_foreign(self.before, i)),
            tuple(j for j in range(len(self.after.rules)) if self._is_foreign(self.after, j)),
        )


def common(old: Variable, new: Variable) -> Variable | None:
    """The fact with the values both versions of it allow; None when they do not mean the same, or allow none."""
    if old.unit != new.unit:
        return None
    if old.kind == "enum" == new.kind:
        values = tuple(value for value in new.values if value in old.values)
        return replace(new, values=values) if values else None
    kinds = {old.kind, new.kind}
    if len(kinds) > 1 and kinds != {"integer", "decimal"}:
        return None
    kind = old.kind if len(kinds) == 1 else "integer"  # the numbers that both can be
    lows = [bound for bound in (old.minimum, new.minimum) if bound is not None]
    highs = [bound for bound in (old.maximum, new.maximum) if bound is not None]
    both = replace(new, kind=kind, minimum=max(lows, default=None), maximum=min(highs, default=None))
    return both if domain(both) else None


def cycle(overrides: Mapping[str, frozenset[str]]) -> tuple[str, ...]:
    """Policies that override one another in a circle; empty when there are none."""
    waiting = {policy: set(others) & overrides.keys() for policy, others in overrides.items()}
    while free := {policy for policy, others in waiting.items() if not others}:
        waiting = {policy: others - free for policy, others in waiting.items() if policy not in free}
    if not waiting:
        return ()
    path = [min(waiting)]
    while (following := min(waiting[path[-1]])) not in path:
        path.append(following)
    return tuple(path[path.index(following) :])


def _kind(variable: Variable) -> str:
    return f"{variable.kind} in {variable.unit}" if variable.unit else variable.kind


def _range(variable: Variable) -> str:
    low = "" if variable.minimum is None else variable.show(variable.minimum)
    high = "" if variable.maximum is None else variable.show(variable.maximum)
    return f"{low}..{high}"
