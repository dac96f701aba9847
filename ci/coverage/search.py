"""The smallest telling case that shows a goal: the facts a guard needs, then those the outcome still waits for.

Values are the least surprising that do: those that people already wrote in cases first. What trying does not find is
asked of the solver, which also proves that a goal is out of reach.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Literal

from bylaw.logic.boxes.boxes import Box, Region, TooManyBoxes, boxes, domain, lies_in, point
from bylaw.logic.boxes.truth import simplify, truth
from bylaw.logic.formula.ir import Atom, Facts, Formula, Value, conj, disj, names, negate
from bylaw.logic.words.readable import as_formula, listed
from ci.coverage.formulas import put
from ci.coverage.goals import Goal, cut_points
from ci.coverage.measure import Reading, Tried

BUDGET = 120  # cases tried for one goal before the solver is asked
MAX_RULES = 300  # rules about one subject; beyond that the solver's question is not put
MAX_PAIRS = 2_000  # of them that may contradict each other, each a formula of its own; beyond that likewise

Status = Literal["found", "impossible", "unknown"]


@dataclass(frozen=True, slots=True)
class SearchResult:
    """A case that shows a goal, or why there is none."""

    status: Status
    facts: Mapping[str, Value] = field(default_factory=dict)


class Search:
    """Looks for cases; *cases* are those that exist, for the values people use."""

    def __init__(self, reading: Reading, cases: Iterable[Tried]) -> None:
        self.reading, self.theory = reading, reading.theory
        self.variables = self.theory.ruleset.variables
        used: dict[str, Counter[Value]] = {}
        for tried in cases:
            for var, value in tried.facts.items():
                used.setdefault(var, Counter())[value] += 1
        self._used = used
        self._points: dict[tuple[int, ...], Mapping[str, list[Value]]] = {}
        self._possible: dict[Formula, bool] = {}
        self._left = 0

    def case_for(self, goal: Goal) -> SearchResult:
        """A case on the goal's day that shows it."""
        self._left = BUDGET
        for wanted in self._starts(goal):
            facts = self._complete(goal, {}, wanted)
            if facts is not None:
                return SearchResult("found", self.theory.fewest(facts, lambda fewer: self._confirms(goal, fewer)))
        return self._asked(goal)

    def is_shown_near(self, goal: Goal, facts: Facts) -> bool:
        """Is the goal shown where the case is *facts*, but for what the guard or the bound want otherwise?"""
        return any(self._confirms(goal, {**facts, **self._moved(facts, wanted)}) for wanted in self._starts(goal))

    def _moved(self, facts: Facts, wanted: Mapping[str, Region]) -> Facts:
        left = {var: where for var, where in wanted.items() if var not in facts or not lies_in(facts[var], where)}
        return point(Box(left), self.variables)

    def _confirms(self, goal: Goal, facts: Facts) -> bool:
        """Does the case show the goal whatever its unknown facts are, and can it exist?"""
        reading, i = self.reading, goal.rule
        if not reading.met(goal, facts, goal.day):
            return False
        both = sides(reading, goal, facts)
        are_settled = all(reading.settled(i, reading.decide(i, side, goal.day)) for side in both)
        return are_settled and self._can_exist(goal, facts)

    def _can_exist(self, goal: Goal, facts: Facts) -> bool:
        """Do the unknown facts have values that the invariants allow, on both sides of the goal's bound?"""
        pair = sides(self.reading, goal, facts)
        left = conj([simplify(formula, side) for formula in self.theory.invariants(goal.day) for side in pair])
        if left not in self._possible:
            try:
                found = boxes(left, self.variables)
                is_sure = not found or any(box.is_exact for box in found)
            except TooManyBoxes:
                found, is_sure = (), False
            self._possible[left] = bool(found) if is_sure else self.theory.reasoner.check([left]).status == "sat"
        return self._possible[left]

    # ---- by trying --------------------------------------------------------------------------------------------------

    def _starts(self, goal: Goal) -> Iterator[Mapping[str, Region]]:
        """Where to look: what the facts of a guard's box may be, the goal's own bound narrowed to one value."""
        if goal.box is not None:
            yield goal.box.regions
            return
        rules = goal.siblings if goal.aim == "otherwise" else (goal.rule,)
        for rule in rules:
            guard = self.theory.evaluator.boxes_of(rule)
            for box in (Box({}),) if guard is None else guard:
                if goal.edge is None:
                    yield box.regions
                elif guard is None or goal.edge.var in box.regions:
                    at = goal.edge.inside.value
                    where = box.regions.get(goal.edge.var)
                    if where is None or lies_in(at, where):
                        side = goal.edge.inside if goal.aim == "inside" else goal.edge.outside
                        yield {**box.regions, goal.edge.var: (((side.value, 0), (side.value, 1)),)}

    def _complete(self, goal: Goal, facts: dict[str, Value], wanted: Mapping[str, Region]) -> dict[str, Value] | None:
        """*facts* with what is missing, so that the goal is shown; None when no value tried does."""
        if self._left <= 0 or self._is_hopeless(goal, facts):
            return None
        var = next((var for var in sorted(wanted) if var not in facts), None)
        if var is None:
            self._left -= 1
            if self._confirms(goal, facts):
                return facts
            var = next((var for var in self._waiting(goal, facts) if var not in facts), None)
            if var is None:
                return None
        for value in self._values(goal, var, wanted.get(var)):
            found = self._complete(goal, {**facts, var: value}, wanted)
            if found is not None:
                return found
        return None

    def _is_hopeless(self, goal: Goal, facts: Facts) -> bool:
        guard = truth(self.reading.rules[goal.rule].guard, facts)
        return guard is (goal.aim in ("outside", "otherwise")) or not self.theory.exists(facts, goal.day)

    def _waiting(self, goal: Goal, facts: Facts) -> Iterator[str]:
        """The unknown facts that could decide it, the most telling first."""
        reading = self.reading
        guards = [simplify(reading.rules[i].guard, facts) for i in (goal.rule, *goal.siblings)]
        yield from sorted(set[str]().union(*map(names, guards)))
        for side in sides(reading, goal, facts):
            decision = reading.decide(goal.rule, side, goal.day)
            for missing in decision.undecided.values():
                yield from missing
            yield from decision.missing_facts

    def _values(self, goal: Goal, var: str, where: Region | None) -> Iterator[Value]:
        """Values to try for a fact, the least surprising first: those of other cases, then one for each stretch."""
        among = self.reading.component(goal.rule)
        if among not in self._points:
            self._points[among] = cut_points(self.theory, among)
        variable = self.variables[var]
        region = domain(variable) if where is None else where
        used = self._used.get(var, Counter())
        known = [value for value, _ in sorted(used.items(), key=lambda item: (-item[1], str(item[0])))]
        told = [point(Box({var: region}), {var: variable})[var]]
        tried = dict.fromkeys([*known, *told, *self._points[among].get(var, []), *listed(region, variable)])
        return (value for value in tried if lies_in(value, region))

    # ---- by the solver ----------------------------------------------------------------------------------------------

    def _asked(self, goal: Goal) -> SearchResult:
        among = self.reading.component(goal.rule)
        if len(among) > MAX_RULES or sum(len(self._equals(i, goal.day)) for i in among) > 2 * MAX_PAIRS:
            return SearchResult("unknown")
        rules = tuple(sorted({*among, goal.rule, *goal.siblings}))
        formulas = self._formulas(goal)
        verdict = self.theory.solve(formulas, goal.day, rules, lambda facts: self._confirms(goal, facts))
        if verdict.status == "PROVEN":
            return SearchResult("impossible")
        return SearchResult("unknown") if verdict.facts is None else SearchResult("found", verdict.facts)

    def _formulas(self, goal: Goal) -> list[Formula]:
        """True together exactly in the full cases that show the goal."""
        i, day, rules = goal.rule, goal.day, self.reading.rules
        match goal.aim:
            case "fires":
                return [rules[i].guard]
            case "wins":
                return [self._wins(i, day)]
            case "region":
                assert goal.box is not None
                return [as_formula(goal.box, self.variables)]
            case "otherwise":
                beside = [rules[j].guard for j in goal.siblings if rules[j].holds_on(day)]
                return [negate(rules[i].guard), disj(beside)]
        assert goal.edge is not None
        var, here = goal.edge.var, goal.edge.inside if goal.aim == "inside" else goal.edge.outside
        inner, outer = goal.edge.inside.value, goal.edge.outside.value
        return [
            Atom(var, "==", here.value),
            put(self._wins(i, day), var, inner),
            negate(put(rules[i].guard, var, outer)),
            negate(put(self._shown(i, day), var, outer)),
            *(put(formula, var, side) for formula in self.theory.invariants(day) for side in (inner, outer)),
        ]

    def _wins(self, i: int, day: int) -> Formula:
        stands = self.theory.stands(i, day)
        return conj([stands, *(negate(self.theory.stands(j, day)) for j in self._equals(i, day)), self._shown(i, day)])

    def _equals(self, i: int, day: int) -> list[int]:
        """The rivals of rule *i* that are in force and may meet it, of which neither gives way."""
        rivals = self.theory.rivals
        apart = [j for j in self.theory.candidates.of(i) if not rivals.beats(i, j) and not rivals.beats(j, i)]
        return [j for j in apart if self.reading.rules[j].holds_on(day)]

    def _shown(self, i: int, day: int) -> Formula:
        """What rule *i* says is decided, by whichever rule."""
        effect = self.reading.rules[i].effect
        speakers = [j for j in self.reading.speakers(i) if self.reading.rules[j].holds_on(day)]
        stands = {j: self.theory.stands(j, day) for j in speakers}
        if effect.outcome is None:
            return disj(stands.values())
        taken = {j: {a for o, a in self.reading.rules[j].effect.takes if o == effect.outcome} for j in speakers}
        yes = [stands[j] for j in speakers if taken[j] == {effect.action}]
        no = [stands[j] for j in speakers if taken[j] != {effect.action}]
        clashes = [conj([stands[j], self.theory.stands(k, day)]) for j in speakers for k in self._equals(j, day)]
        return conj([disj(yes), *map(negate, no), *map(negate, clashes)])


def sides(reading: Reading, goal: Goal, facts: Facts) -> Sequence[Facts]:
    """The case, and where the goal is about a bound also the case one step over it."""
    return (facts,) if goal.edge is None else reading.stepped(goal, facts) or (facts,)
