"""Who stands where one rule fires, as formulas: a Boolean for every rule that can matter there, defined once.

`stands` is the case as it is; `spared` is the same case without the rule in question. Formulas stay as long as the
neighbours are many, however deep they remove one another.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from itertools import combinations

from bylaw.logic.formula.ir import Atom, Formula, Value, Variable, conj, disj, negate
from bylaw.logic.solver.solver import Solver, SolverAnswer
from ci.proofs.nearby import Item, Nearby, items
from ci.proofs.theory import Theory

WINS = " but for bans"  # a world's second reading: who wins disputes about outcomes, prohibited or not


class Referee:
    """The solver for duels: one for all rules of a theory."""

    def __init__(self, theory: Theory) -> None:
        self.theory = theory

    @cached_property
    def reasoner(self) -> Solver:
        """Z3 over the facts and one Boolean a rule and reading."""
        rules = range(len(self.theory.ruleset.rules))
        marks = [mark(world, j) for world in ("stands", "spared") for j in rules]
        bannable = [j for j in rules if self.theory.removers(j, True) != list(self.theory.stronger(j))]
        marks += [mark(f"{world}{WINS}", j) for world in ("stands", "spared") for j in bannable]
        own = {name: Variable(name, "boolean") for name in marks}
        return self.theory.reasoner.extended(own)


def mark(world: str, i: int) -> str:
    """The name of a Boolean that no fact has: a fact's name is one word."""
    return f"{world} {i}"


@dataclass
class Duel:
    """Rule *i* on *day* among *around*: everyone who can matter where it fires, itself included."""

    nearby: Nearby
    referee: Referee
    i: int
    day: int
    around: Sequence[int]
    _near: dict[int, list[int]] = field(default_factory=dict, init=False)

    @property
    def theory(self) -> Theory:
        """The rules and invariants."""
        return self.nearby.theory

    @property
    def guard(self) -> Formula:
        """Where rule *i* fires."""
        return self.theory.ruleset.rules[self.i].guard

    def rivals(self, j: int) -> list[int]:
        """The rivals of rule *j* among those around that may fire together with it."""
        if j not in self._near:
            self._near[j] = [k for k in self.theory.candidates.of(j) if k in self._among]
        return self._near[j]

    def stronger(self, j: int) -> list[int]:
        """Those among them who remove its effect where they stand."""
        return [k for k in self.theory.stronger(j) if k in self._among]

    @cached_property
    def _among(self) -> frozenset[int]:
        return frozenset(self.around)

    @cached_property
    def touched(self) -> frozenset[int]:
        """Rule *i* and everyone who may stand or fall with it."""
        reached, todo = {self.i}, [self.i]
        while todo:
            j = todo.pop()
            new = [k for k in self.rivals(j) if k not in reached and self.theory.rivals.beats(j, k)]
            reached.update(new)
            todo += new
        return frozenset(reached)

    # ---- formulas -----------------------------------------------------------------------------------------------

    def stands(self, j: int, world: str = "stands", despite_bans: bool = False) -> Formula:
        """The Boolean that says whether rule *j* stands in that world, or *despite bans* wins its disputes."""
        way = WINS if despite_bans and self._is_bannable(j) else ""
        return Atom(mark(f"{world if j in self.touched else 'stands'}{way}", j), "==", True)

    def removes(self, k: int, j: int, world: str = "stands") -> Formula:
        """The Boolean that says whether rule *k*, a stronger one, removes the effect of rule *j*."""
        return self.stands(k, world, self.theory.rivals.disputes(k, j))

    def definitions(self, world: str = "stands") -> list[Formula]:
        """What the Booleans of that world mean."""
        rules = self.theory.ruleset.rules
        found = []
        for j in self.around:
            if world == "spared" and j not in self.touched:
                continue
            for despite_bans in (False, True) if self._is_bannable(j) else (False,):
                own = self.stands(j, world, despite_bans)
                if world == "spared" and j == self.i:
                    found.append(negate(own))
                    continue
                removers = [k for k in self.stronger(j) if not (despite_bans and self.theory.rivals.bans(k))]
                removed = [self.removes(k, j, world) for k in removers]
                found.append(_same(own, conj([rules[j].guard, *map(negate, removed)])))
        return found

    def _is_bannable(self, j: int) -> bool:
        return any(map(self.theory.rivals.bans, self.stronger(j)))

    def difference(self) -> Formula:
        """Where the case gets something else without rule *i*."""
        supporters: dict[Item, list[int]] = {}
        for j in self.around:
            for item in items(self.theory.ruleset.rules[j].effect):
                supporters.setdefault(item, []).append(j)
        parts = []
        for item, who in sorted(supporters.items()):
            if item[0] != "outcome" and self.touched & set(who):
                before, after = (disj([self.stands(j, world) for j in who]) for world in ("stands", "spared"))
                parts.append(negate(_same(before, after)))
        near = self.touched | {k for j in self.touched for k in self.rivals(j)}
        outcomes = {item[1] for item, who in supporters.items() if item[0] == "outcome" and near & set(who)}
        for outcome in sorted(outcomes):
            actions = {item[2]: who for item, who in sorted(supporters.items()) if item[:2] == ("outcome", outcome)}
            now, then = (self._answers(actions, world) for world in ("stands", "spared"))
            parts += [negate(_same(now[action], then[action])) for action in sorted(actions)]
        return disj(parts)

    def _answers(self, actions: Mapping[str, Sequence[int]], world: str) -> dict[str, Formula]:
        """For each action of an outcome: where it is the outcome's answer."""
        given = {action: disj([self.stands(j, world) for j in who]) for action, who in actions.items()}
        apart = [conj([given[a], given[b]]) for a, b in combinations(sorted(given), 2)]
        takers = {j for who in actions.values() for j in who}
        answering = {j: {a for a, who in actions.items() if j in who} for j in takers}
        for j in sorted(takers):
            apart += [
                conj([self.stands(j, world), self.stands(k, world)])
                for k in self.rivals(j)
                if not self._is_apart(answering[j], answering.get(k, set())) and not self._is_decided(j, k)
            ]
        clean = conj(map(negate, apart))
        return {action: conj([given[action], clean]) for action in given}

    def _is_apart(self, mine: set[str], its: set[str]) -> bool:
        return any(a != b for a in mine for b in its)

    def _is_decided(self, j: int, k: int) -> bool:
        return self.theory.rivals.beats(j, k) or self.theory.rivals.beats(k, j)

    # ---- questions ----------------------------------------------------------------------------------------------

    def ask(self, *formulas: Formula) -> SolverAnswer:
        """Unsat iff no existing case of the day in which rule *i* fires satisfies *formulas*."""
        return self.referee.reasoner.check([self.guard, *formulas, *self.theory.invariants(self.day)])

    def outside(self, others: Collection[int]) -> SolverAnswer:
        """Unsat iff rule *i* fires in no existing case without one of *others*; a model is a full case."""
        case, is_covered = self.nearby.clearing(self.i, others, self.day)
        if case is not None:
            return SolverAnswer("sat", case)
        if is_covered:
            return SolverAnswer("unsat")
        rules = self.theory.ruleset.rules
        answer = self.ask(*(negate(rules[k].guard) for k in others))
        return answer if answer.model is None else SolverAnswer("sat", self.case(answer.model))

    def case(self, model: Mapping[str, Value]) -> dict[str, Value]:
        """The solver's case without its Booleans, completed."""
        known = self.theory.ruleset.variables
        return self.nearby.completed({name: value for name, value in model.items() if name in known}, self.day)

    def core(self, base: Iterable[Formula], named: Mapping[str, Formula]) -> Core:
        """Which of *named*, and which invariants, already exclude *base* where rule *i* fires."""
        invariants = self.theory.constraints(self.day)
        everything = {"": conj([self.guard, *base]), **named}
        everything |= {f"invariant {n}": constraint.formula for n, constraint in enumerate(invariants)}
        kept = self.referee.reasoner.core(everything)
        return Core(
            tuple(name for name in named if name in kept),
            tuple(constraint.constraint_id for n, constraint in enumerate(invariants) if f"invariant {n}" in kept),
        )


@dataclass(frozen=True, slots=True)
class Core:
    """What a proof needed: names of its own, and invariants."""

    names: tuple[str, ...] = ()
    invariants: tuple[str, ...] = ()


def _same(one: Formula, other: Formula) -> Formula:
    return disj([conj([one, other]), conj([negate(one), negate(other)])])


NOTHING = Core()


def rules_of(core: Core) -> Iterator[int]:
    """The rules that a core names by their index."""
    return (int(name) for name in core.names)
