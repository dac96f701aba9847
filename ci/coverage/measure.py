"""Which goals a case shows, read off the plain evaluator, and how much of a policy set its cases cover.

A case shows a bound when stepping over it, with all else unchanged, changes whether the rule fires and what is decided
about its subject. That a rule wins, and that a bound decides, only counts where the case expects something of it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from bylaw.logic.boxes.boxes import Box, lies_in
from bylaw.logic.boxes.truth import truth
from bylaw.logic.decide.evaluate import Decision
from bylaw.logic.formula.ir import Facts, Value
from ci.coverage.goals import Aim, Goal, Item, Kind
from ci.proofs.theory import Theory

PINNED = frozenset(("wins", "inside", "outside"))  # aims that count only where the case expects something of it
MAX_CACHED = 50_000


@dataclass(frozen=True, eq=False, slots=True)
class Tried:
    """A case: its facts, its day, and what it expects (None: everything): the keys, or `KEY: ACTION` of one duty."""

    facts: Mapping[str, Value]
    day: int
    expects: frozenset[str] | None = None


def expects(expected: Mapping[str, Any], canonical: Callable[[str], str] = str) -> frozenset[str]:
    """What a case expects, as `Tried` knows it: a mapping of duties speaks of its own actions alone."""
    found = set()
    for key, value in expected.items():
        found |= {f"{key}: {canonical(str(name))}" for name in value} if isinstance(value, Mapping) else {key}
    return frozenset(found)


class Reading:
    """What cases show of the rules of a theory."""

    def __init__(self, theory: Theory) -> None:
        self.theory = theory
        self.rules = theory.ruleset.rules
        self._components: dict[tuple[str, str], tuple[int, ...]] = {}
        self._decided: dict[tuple[object, ...], Decision] = {}

    # ---- what a rule is about ---------------------------------------------------------------------------------------

    def key(self, i: int) -> str:
        """The key under which a case expects what rule *i* says: its outcome, or the kind of its duty."""
        effect = self.rules[i].effect
        return effect.outcome if effect.outcome is not None else effect.kind

    def is_expected(self, i: int, tried: Tried) -> bool:
        """Does the case expect something of what rule *i* says?"""
        key, action = self.key(i), self.rules[i].effect.action
        return tried.expects is None or not tried.expects.isdisjoint((key, f"{key}: {action}"))

    def component(self, i: int) -> tuple[int, ...]:
        """The rules that speak about the subject of rule *i* and all their rivals, step by step: nobody else can
        change what is decided about it."""
        effect = self.rules[i].effect
        subject = (self.key(i), "" if effect.outcome is not None else effect.action)
        if subject not in self._components:
            reached: set[int] = set()
            todo = list(self.speakers(i))
            while todo:
                j = todo.pop()
                if j not in reached:
                    reached.add(j)
                    todo += self.theory.rivals.of(j)
            self._components[subject] = tuple(sorted(reached))
        return self._components[subject]

    def speakers(self, i: int) -> tuple[int, ...]:
        """The rules that answer the outcome of rule *i*, or put the same duty, ban or permission on its action."""
        effect = self.rules[i].effect
        if effect.outcome is not None:
            return self.theory.rivals.taking(effect.outcome)
        if effect.kind == "required":
            return tuple(j for j, rule in enumerate(self.rules) if effect.action in rule.effect.demands)
        alike = (effect.kind, effect.action)
        return tuple(j for j, rule in enumerate(self.rules) if (rule.effect.kind, rule.effect.action) == alike)

    # ---- what a case decides ----------------------------------------------------------------------------------------

    def decide(self, i: int, facts: Facts, day: int) -> Decision:
        """The decision as far as the subject of rule *i* goes."""
        among = self.component(i)
        key = (among, day, *sorted(facts.items()))
        if key not in self._decided:
            if len(self._decided) >= MAX_CACHED:
                self._decided.clear()
            self._decided[key] = self.theory.evaluator.decide(facts, day, among)
        return self._decided[key]

    def shows(self, i: int, decision: Decision) -> bool:
        """Is what rule *i* says decided, by whichever rule?"""
        effect = self.rules[i].effect
        if effect.outcome is not None:
            return decision.outcomes[effect.outcome].action == effect.action
        duties = {"required": decision.required, "prohibited": decision.prohibited, "permitted": decision.permitted}
        return effect.action in duties[effect.kind]

    def settled(self, i: int, decision: Decision) -> bool:
        """Can no unknown fact change what is decided about the subject of rule *i*?"""
        outcome = self.rules[i].effect.outcome
        return outcome not in decision.undecided if outcome is not None else not decision.missing_facts

    def fires(self, i: int, facts: Facts, day: int) -> bool:
        """Does rule *i* fire?"""
        return self.rules[i].holds_on(day) and truth(self.rules[i].guard, facts) is True

    def wins(self, i: int, facts: Facts, day: int) -> bool:
        """Does the effect of rule *i* stand, uncontradicted, and is what it says decided?"""
        if not self.fires(i, facts, day):
            return False
        decision, id = self.decide(i, facts, day), self.rules[i].rule_id
        is_lost = any(fired.rule_id == id for fired in decision.lost)
        return not is_lost and self.shows(i, decision) and not any(id in clash.rules for clash in decision.conflicts)

    # ---- what a case shows ------------------------------------------------------------------------------------------

    def met(self, goal: Goal, facts: Facts, day: int) -> bool:
        """Does the case show it?"""
        rule = self.rules[goal.rule]
        match goal.aim:
            case "fires":
                return self.fires(goal.rule, facts, day)
            case "wins":
                return self.wins(goal.rule, facts, day)
            case "region":
                assert goal.box is not None
                return rule.holds_on(day) and surely_in(goal.box, facts)
            case "otherwise":
                is_silent = rule.holds_on(day) and truth(rule.guard, facts) is False
                return is_silent and any(self.fires(j, facts, day) for j in goal.siblings)
            case "inside" | "outside":
                return self._decides(goal, facts, day)

    def _decides(self, goal: Goal, facts: Facts, day: int) -> bool:
        """Does the bound decide here, one step away from the other side?"""
        pair = self.stepped(goal, facts)
        if pair is None or not self.rules[goal.rule].holds_on(day):
            return False
        inner, outer = pair
        i, exists = goal.rule, self.theory.exists
        if truth(self.rules[i].guard, outer) is not False or not exists(inner, day) or not exists(outer, day):
            return False
        if not self.wins(i, inner, day):
            return False
        beyond = self.decide(i, outer, day)
        is_pinned = goal.aim == "inside" or self.rules[i].effect.outcome is None or self.settled(i, beyond)
        return is_pinned and not self.shows(i, beyond)

    def stepped(self, goal: Goal, facts: Facts) -> tuple[Facts, Facts] | None:
        """The case on the inner and on the outer side of the goal's bound; None when it does not stand at it."""
        assert goal.edge is not None
        edge = goal.edge
        there = edge.outside if goal.aim == "inside" else edge.inside
        if not lies_in_side(goal, facts):
            return None
        other = {**facts, edge.var: there.value}
        return (facts, other) if goal.aim == "inside" else (other, facts)


def surely_in(box: Box, facts: Facts) -> bool:
    """Is the case inside the box, every fact that it speaks of known?"""
    is_inside = all(var in facts and lies_in(facts[var], where) for var, where in box.regions.items())
    return is_inside and all(truth(item, facts) is True for item in box.residue)


SHOWN_WHERE: Mapping[Aim, bool] = {  # what a guard reads where the goal may be shown
    "fires": True,
    "wins": True,
    "region": True,
    "inside": True,
    "outside": False,
    "otherwise": False,
}


def shown(reading: Reading, tried: Tried, goals: Iterable[Goal]) -> list[Goal]:
    """Those of *goals* that the case shows."""
    guards: dict[int, bool | None] = {}
    found = []
    for goal in goals:
        i = goal.rule
        if goal.edge is not None and not lies_in_side(goal, tried.facts):
            continue
        if i not in guards:
            guards[i] = truth(reading.rules[i].guard, tried.facts)
        if guards[i] is not SHOWN_WHERE[goal.aim]:
            continue
        is_pinned = goal.aim not in PINNED or reading.is_expected(i, tried)
        if is_pinned and reading.met(goal, tried.facts, tried.day):
            found.append(goal)
    return found


def lies_in_side(goal: Goal, facts: Facts) -> bool:
    """Does the case stand at the goal's bound, on the side it asks for?"""
    assert goal.edge is not None
    value = facts.get(goal.edge.var)
    side = goal.edge.inside if goal.aim == "inside" else goal.edge.outside
    return value is not None and lies_in(value, (side.near,))


# ---- coverage -------------------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Coverage:
    """What the cases show. `impossible` are goals that no case can show, so nobody counts them."""

    items: tuple[Item, ...]
    met: frozenset[Goal]
    impossible: frozenset[Goal] = frozenset()

    def counts(self, item: Item) -> bool:
        """Can cases cover it? A rule that never wins can still be seen to fire; half a bound is none."""
        out = [goal in self.impossible for goal in item.goals]
        return not all(out) if item.kind == "rule" else not any(out)

    def covers(self, item: Item) -> bool:
        """Is everything that cases can show of it shown?"""
        return self.counts(item) and all(goal in self.met or goal in self.impossible for goal in item.goals)

    def tally(self, kind: Kind | None = None, rules: Iterable[int] | None = None) -> tuple[int, int]:
        """How many items are covered, and of how many; of one kind, of some rules."""
        among = None if rules is None else frozenset(rules)
        counted = [
            item
            for item in self.items
            if (kind is None or item.kind == kind) and (among is None or item.rule in among) and self.counts(item)
        ]
        return sum(map(self.covers, counted)), len(counted)

    @property
    def open(self) -> tuple[Goal, ...]:
        """The goals that no case shows and that may be shown."""
        goals = (goal for item in self.items if self.counts(item) for goal in item.goals)
        return tuple(goal for goal in goals if goal not in self.met and goal not in self.impossible)


def share(tally: tuple[int, int]) -> float:
    """The share that is covered; all of nothing is all."""
    covered, count = tally
    return covered / count if count else 1.0


def measure(reading: Reading, items: Sequence[Item], cases: Iterable[Tried]) -> Coverage:
    """What *cases* show of *items*. A case that the invariants forbid shows nothing."""
    waiting = [goal for item in items for goal in item.goals]
    met: set[Goal] = set()
    for tried in cases:
        if reading.theory.exists(tried.facts, tried.day):
            met.update(shown(reading, tried, waiting))
            waiting = [goal for goal in waiting if goal not in met]
    return Coverage(tuple(items), frozenset(met))
