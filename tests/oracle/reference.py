"""The reference: what `bylaw decide` must print and `bylaw check` must find, by trying every case of a finite grid.

Slow and plain. What single policies mean is read in `tests/oracle/meaning.py`; here many of them meet.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterable, Iterator, Mapping
from datetime import date
from fractions import Fraction
from functools import cached_property
from typing import Any

from tests.oracle.meaning import (
    Case,
    Effect,
    Formula,
    PolicyReader,
    Words,
    atoms,
    expression,
    level,
    mentioned,
    truth,
)

SEED_PRIORITIES = {
    "core_value_domains": ["safety", "privacy", "ethics"],
    "cross_department_owners": [],
    "general_domains": [],
}


class Reference:
    """What a set of policies says, by trying."""

    def __init__(
        self,
        vocabulary: Mapping[str, Any],
        policies: Iterable[Mapping[str, Any]],
        priorities: Any = None,
    ) -> None:
        self.words = Words(vocabulary)
        priorities = {**SEED_PRIORITIES, **(priorities or {})}
        self.effects: list[Effect] = []
        self.liftings: list[tuple[str, Formula]] = []
        self.invariants: list[tuple[Mapping[str, Any], Formula]] = []
        for policy in sorted(policies, key=lambda p: str(p["policy_id"])):
            is_implicit = str(policy["policy_id"]).startswith("POL-IMP-")
            if is_implicit and not policy.get("discovery", {}).get("human_validated"):
                continue  # "Implicit policies are inactive until `discovery.human_validated: true`"
            reader = PolicyReader(self.words, policy, level(policy["metadata"], priorities))
            self.effects += reader.effects()
            self.liftings += [(str(policy["policy_id"]), holds) for holds in reader.liftings]
            for constraint in (policy.get("formal") or {}).get("constraints", []):
                self.invariants.append((policy, expression(constraint["expression"], self.words)))

    # ---- the finite grid of cases

    @cached_property
    def grid(self) -> dict[str, list[Any]]:
        """For every mentioned fact, values that tell all tests apart: each constant, and points between them."""
        formulas = [e.guard for e in self.effects] + [formula for _, formula in (*self.invariants, *self.liftings)]
        single = [test for formula in formulas for test in atoms(formula)]
        linked = [test for test in single if test[0] == "compare"]
        constants: dict[str, set[Fraction]] = {fact: set() for f in formulas for fact in mentioned(f)}
        for test in single:
            if test[0] == "test" and self._is_number(test[1]):
                constants[test[1]] |= set(test[3] if isinstance(test[3], tuple) else [test[3]])
        for _ in linked:  # facts that are compared share their constants
            for _, fact, _, other, ratio in linked:
                if self._is_number(fact):
                    constants[fact] |= {value * ratio for value in constants[other]}
                    constants[other] |= {value / ratio for value in constants[fact]}
        compared = {test[1] for test in linked} | {test[3] for test in linked}
        return {fact: self._values(fact, seen, fact in compared) for fact, seen in sorted(constants.items())}

    def _is_number(self, fact: str) -> bool:
        return self.words.facts()[fact]["type"] in ("integer", "decimal", "date")

    def _values(self, fact: str, constants: set[Fraction], is_compared: bool) -> list[Any]:
        declared = self.words.facts()[fact]
        if declared["type"] == "boolean":
            return [False, True]
        if declared["type"] == "enum":
            return sorted(declared["values"])
        ends = {key: self.words.read(fact, declared[key]) for key in ("minimum", "maximum") if key in declared}
        low, high = ends.get("minimum"), ends.get("maximum")
        marks = sorted({*constants, *ends.values()} or {Fraction(0)})
        is_whole = declared["type"] != "decimal"
        points = set(marks)
        for a, b in itertools.pairwise([marks[0] - 4, *marks, marks[-1] + 4]):
            if is_whole:
                inside = [Fraction(n) for n in range(a.__floor__() + 1, b.__ceil__())]
                points |= {inside[0], inside[-1]} if inside and is_compared else set(inside[:1])
            else:
                points |= {a + (b - a) / 4, a + (b - a) * 3 / 4} if is_compared else {(a + b) / 2}
        return sorted(
            p
            for p in points
            if (not is_whole or p.denominator == 1) and (low is None or low <= p) and (high is None or p <= high)
        )

    def cases(self, known: Case | None = None) -> Iterator[dict[str, Any]]:
        """Every completion of the *known* facts."""
        known = known or {}
        open_ = [fact for fact in self.grid if fact not in known]
        for values in itertools.product(*(self.grid[fact] for fact in open_)):
            yield {**known, **dict(zip(open_, values, strict=True))}

    # ---- who fires, who stands

    def in_force(self, policy: Mapping[str, Any], day: date) -> bool:
        """Both ends of a period are included."""
        start, end = (policy["metadata"].get(key) for key in ("effective_date", "expiry_date"))
        return not ((start and day < date.fromisoformat(str(start))) or (end and day > date.fromisoformat(str(end))))

    def exists(self, case: Case, day: date) -> bool:
        """ "cases that break one do not exist"."""
        return all(truth(f, case) is not False for policy, f in self.invariants if self.in_force(policy, day))

    def fires(self, case: Case, day: date) -> list[Effect]:
        """ "a rule fires only when its guard is known to be true"."""
        return [e for e in self.effects if self.in_force(e.policy, day) and truth(e.guard, case) is True]

    def disputes(self, a: Effect, b: Effect) -> bool:
        """Two actions of one outcome."""
        return any(o in b.takes and b.takes[o] != action for o, action in a.takes.items())

    def contradict(self, a: Effect, b: Effect) -> bool:
        """ "two actions of one outcome; required against prohibited (through implies, same_as); two required actions
        that exclude each other"; `permitted` "contradicts only a prohibition of the same action"."""
        if self.disputes(a, b) or any(self.words.excludes(x, y) for x in a.demands for y in b.demands):
            return True
        return any(
            y.kind == "prohibited" and (y.action in x.demands or (x.kind == "permitted" and x.action == y.action))
            for x, y in ((a, b), (b, a))
        )

    def beats(self, a: Effect, b: Effect) -> bool:
        """ "different levels: the higher wins"; "overrides win over a rule of the same or a lower level"."""
        if a.level != b.level:
            return a.level < b.level
        return b.policy_id in a.policy.get("overrides", [])

    def standing(self, fired: list[Effect]) -> list[Effect]:
        """ "Dominance removes the loser's contradicted effect", and what was removed removes nobody. But "a
        prohibition that removes the winner's action leaves the outcome empty": who lost to the winner stays lost."""

        def holds(effect: Effect, despite_bans: bool = False) -> bool:
            return not any(
                self.beats(other, effect)
                and self.contradict(other, effect)
                and not (despite_bans and other.kind == "prohibited")
                and holds(other, despite_bans=self.disputes(other, effect))
                for other in fired
            )

        return [effect for effect in fired if holds(effect)]

    def clashes(self, standing: list[Effect]) -> list[tuple[Effect, Effect]]:
        """Contradictions that nobody wins."""
        return [(a, b) for a, b in itertools.combinations(standing, 2) if self.contradict(a, b)]

    # ---- decide

    def known(self, case: Case, day: date) -> dict[str, Any]:
        """What the rules that fire say, before asking whether unknown facts could change it."""
        fired = self.fires(case, day)
        standing = self.standing(fired)
        clashes = self.clashes(standing)
        outcomes: dict[str, tuple[str | None, set[str]]] = {}
        for outcome in self.words.data.get("outcomes", {}):
            takers = [e for e in standing if outcome in e.takes]
            actions = {e.takes[outcome] for e in takers}
            # "In an unresolved conflict the outcome's action is null"
            is_open = len(actions) != 1 or any(e in takers for pair in clashes for e in pair)
            outcomes[outcome] = (None, set()) if is_open else (actions.pop(), {e.policy_id for e in takers})
        taken = {(id(e), action) for e in standing for action in e.takes.values()}
        return {
            "outcomes": outcomes,
            # "`decide.required` is closed under `implies`"; an outcome's action is listed under its outcome
            "required": sorted({a for e in standing for a in e.demands if (id(e), a) not in taken}),
            "prohibited": sorted({e.action for e in standing if e.kind == "prohibited"}),
            "permitted": sorted({e.action for e in standing if e.kind == "permitted"}),
            "fired": sorted((e.policy_id, e.action) for e in fired),
            "lost": sorted((e.policy_id, e.action) for e in fired if e not in standing),
            "conflicts": sorted({tuple(sorted({a.policy_id, b.policy_id})) for a, b in clashes}),
        }

    def decide(self, case: Case, day: date) -> dict[str, Any]:
        """ "An outcome is decided only if, besides, every completion of the unknown facts agrees"."""
        now = self.known(case, day)
        if all(fact in case for fact in self.grid):
            return {**now, "must_miss": set(), "may_miss": set()}
        # "cases that break [an invariant] do not exist"; facts that break one by themselves rule nothing out
        existing = [full for full in self.cases(case) if self.exists(full, day)]
        ends = [(full, self.known(full, day)) for full in existing or self.cases(case)]
        for outcome, (action, _) in now["outcomes"].items():
            if any(end["outcomes"][outcome][0] != action for _, end in ends):
                now["outcomes"][outcome] = (None, set())
        unknown = [fact for fact in self.grid if fact not in case]
        return {**now, "must_miss": self._turning(ends, unknown), "may_miss": self._open_facts(case, day)}

    def _turning(self, ends: list[tuple[dict[str, Any], dict[str, Any]]], unknown: list[str]) -> set[str]:
        """The facts whose value alone changes a result somewhere: "could still change a result"."""
        turning = set()
        for fact in unknown:
            seen: dict[Any, Any] = {}
            for full, end in ends:
                rest = tuple(value for name, value in full.items() if name != fact)
                answer = {name: action for name, (action, _) in end["outcomes"].items()}
                result = (answer, end["required"], end["prohibited"], end["permitted"])
                if seen.setdefault(rest, result) != result:
                    turning.add(fact)
                    break
        return turning

    def _open_facts(self, case: Case, day: date) -> set[str]:
        """The unknown facts of the rules that are neither known to fire nor known not to."""
        open_ = [e.guard for e in self.effects if self.in_force(e.policy, day) and truth(e.guard, case) is None]
        return {fact for guard in open_ for fact in mentioned(guard)} - case.keys()

    # ---- check

    def days(self, at: date) -> list[date]:
        """ "for that day, for every later day on which a policy starts, and for the day after one ends"."""
        later = set()
        for policy in [e.policy for e in self.effects]:
            start, end = (policy["metadata"].get(key) for key in ("effective_date", "expiry_date"))
            later |= {date.fromisoformat(str(start))} if start else set()
            later |= {date.fromordinal(date.fromisoformat(str(end)).toordinal() + 1)} if end else set()
        return [at, *sorted(day for day in later if day > at)]

    def findings(self, at: date) -> dict[str, set[Any]]:
        """Pairs in conflict, pairs that the lattice resolves, outcomes with a hole, and rules that never fire."""
        found: dict[str, set[Any]] = {"conflict": set(), "resolved-conflict": set(), "gap": set()}
        complete = [name for name, o in self.words.data.get("outcomes", {}).items() if o.get("complete")]
        cases = list(self.cases())
        firing = [[e for e in self.effects if truth(e.guard, case)] for case in cases]
        for day in self.days(at):
            seen: set[frozenset[int]] = set()
            for case, everyone in zip(cases, firing, strict=True):
                fired = [e for e in everyone if self.in_force(e.policy, day)]
                if not self.exists(case, day) or (key := frozenset(map(id, fired))) in seen:
                    continue
                seen.add(key)
                self._look_at(fired, complete, found)
        alive = {id(e) for fired in firing for e in fired}
        could = {id(e) for e in self.effects if any(truth(e.would, case) for case in cases)}
        for name, is_exception in (("dead-rule", False), ("unreachable-exception", True)):
            mine = [e for e in self.effects if e.is_exception == is_exception]
            found[name] = {(e.policy_id, e.action) for e in mine if id(e) not in could}
            found[f"{name}?"] = {(e.policy_id, e.action) for e in mine if id(e) not in alive}
        idle = {(id_, "none") for id_, holds in self.liftings if not any(truth(holds, case) for case in cases)}
        found["unreachable-exception"] |= idle
        found["unreachable-exception?"] |= idle
        return found

    def _look_at(self, fired: list[Effect], complete: list[str], found: dict[str, set[Any]]) -> None:
        standing = self.standing(fired)
        found["conflict"] |= {tuple(sorted({a.policy_id, b.policy_id})) for a, b in self.clashes(standing)}
        for a, b in itertools.permutations(fired, 2):
            if a in standing and self.beats(a, b) and self.contradict(a, b):
                found["resolved-conflict"].add(tuple(sorted({a.policy_id, b.policy_id})))
        for outcome in complete:
            if not any(outcome in e.takes for e in standing):  # a clash is told as a conflict, not as a gap
                found["gap"].add(outcome)
