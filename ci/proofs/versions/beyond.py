"""What changes of one subject on one day where boxes would be too many: the solver is asked for every way it can.

Who stands is a Boolean for every rule of either side, defined once, as in a duel. For each pair of things that may hold
before and after, the solver finds a case or proves that there is none. The region is then told by its bound: the
change lies where one of the named rules fires, and a case of it is shown.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property

from bylaw.errors import WitnessMismatch
from bylaw.logic.formula.ir import FALSE, TRUE, Atom, Facts, Formula, Variable, conj, disj, negate
from bylaw.logic.solver.solver import Solver
from ci.proofs.versions.influence import Side
from ci.proofs.versions.pieces import Space
from ci.proofs.versions.regions import Entry, Held
from ci.proofs.versions.sharedcase import Unanswered


@dataclass(frozen=True, slots=True)
class Shown:
    """One way in which what holds changes: a full case of it, and the entries of which one fires in every such case."""

    before: Held
    after: Held
    facts: Facts
    bound: tuple[int, ...]


def mark(n: int, i: int, despite_bans: bool = False) -> str:
    """The name of a Boolean that no fact has, a fact's name being one word: rule *i* of side *n* stands."""
    return f"{('before', 'after')[n]} {i}{' but for bans' if despite_bans else ''}"


def fires(k: int) -> str:
    """The name of the Boolean that says whether the entry at position *k* fires."""
    return f"fires {k}"


def _is(name: str) -> Formula:
    return Atom(name, "==", True)


class Beyond:
    """One subject on one day. `sides` are (before, after); every entry says all it needs of the compared facts."""

    def __init__(
        self, space: Space, entries: Sequence[Entry], sides: tuple[Side, Side], axioms: Sequence[Formula], day: int
    ) -> None:
        self.space, self.entries, self.sides, self.axioms, self.day = space, entries, sides, axioms, day
        self.subject = sides[0].subject
        self._position: tuple[dict[int, int], dict[int, int]] = ({}, {})
        for k, entry in enumerate(entries):
            for n, i in enumerate((entry.before, entry.after)):
                if i is not None:
                    self._position[n][i] = k

    def shown(
        self,
        solver: Callable[[Mapping[str, Variable]], Solver],
        held: Callable[[Facts], tuple[Held, Held]],
        completed: Callable[[Facts], Facts],
    ) -> Iterator[Shown]:
        """Every way it changes, each with a case that *held*, the plain reading, confirms. Raises Unanswered."""
        asked = solver({name: Variable(name, "boolean") for name in self._marks()})
        base = [*self._definitions(), *self.axioms]
        seen: list[Formula] = []
        while True:
            answer = asked.check([*base, self._differs(), *seen])
            if answer.status == "unsat":
                return
            if answer.model is None:
                raise Unanswered(self.day, answer.reason or "the solver gave up")
            facts = completed({name: value for name, value in answer.model.items() if name in self.space.variables})
            before, after = held(facts)
            this = conj([self._holds(0, before), self._holds(1, after)])
            if before == after or negate(this) in seen:
                raise WitnessMismatch(f"the plain reading does not confirm the case {facts}", "please report it")
            yield Shown(before, after, facts, self._bound(asked, base, this))
            seen.append(negate(this))

    def _bound(self, asked: Solver, base: Sequence[Formula], this: Formula) -> tuple[int, ...]:
        """The entries that differ of which one fires wherever the change is *this*; as few as the solver can tell."""
        differing = [k for k, entry in enumerate(self.entries) if entry.is_changed]
        named = {str(k): negate(_is(fires(k))) for k in differing}
        kept = asked.core({"": conj([*base, this]), **named})
        return tuple(k for k in differing if str(k) in kept) or tuple(differing)

    # ---- formulas ---------------------------------------------------------------------------------------------------

    def _marks(self) -> Iterator[str]:
        yield from map(fires, range(len(self.entries)))
        for n in (0, 1):
            for i in self._position[n]:
                yield from (mark(n, i), mark(n, i, True))

    def guard(self, k: int) -> Formula:
        """Where the entry at position *k* is known to fire."""
        return self.space.as_formula(self.entries[k].read, silent=FALSE)

    def _definitions(self) -> Iterator[Formula]:
        """What the Booleans mean."""
        for k in range(len(self.entries)):
            yield _same(_is(fires(k)), self.guard(k))
        for n, side in enumerate(self.sides):
            rivals, known = side.theory.rivals, self._position[n]
            for i, k in known.items():
                stronger = [j for j in side.stronger[i] if j in known]
                for despite_bans in (False, True):
                    removers = [j for j in stronger if not (despite_bans and rivals.bans(j))]
                    removed = [_is(mark(n, j, rivals.disputes(j, i))) for j in removers]
                    yield _same(_is(mark(n, i, despite_bans)), conj([_is(fires(k)), *map(negate, removed)]))

    @cached_property
    def _values(self) -> list[Held]:
        """What may hold of the subject, on either side."""
        if self.subject.kind != "outcome":
            return [False, True]
        return [None, *sorted({*self._answers[0], *self._answers[1]})]

    def _differs(self) -> Formula:
        return disj([negate(_same(self._holds(0, value), self._holds(1, value))) for value in self._values])

    def _holds(self, n: int, value: Held) -> Formula:
        """True exactly where *value* holds of the subject on side *n*."""
        if self.subject.kind != "outcome":
            said = disj([_is(mark(n, i)) for i in self.sides[n].speakers if i in self._position[n]])
            return said if value else negate(said)
        if value is None:
            return conj([negate(answer) for answer in self._answers[n].values()])
        return self._answers[n].get(str(value), FALSE)

    @cached_property
    def _answers(self) -> tuple[Mapping[str, Formula], Mapping[str, Formula]]:
        return self._answered(0), self._answered(1)

    def _answered(self, n: int) -> dict[str, Formula]:
        """For each action: where it is the outcome's answer on side *n*, alone and undisputed."""
        side, known = self.sides[n], self._position[n]
        rules = side.theory.ruleset.rules
        takers: dict[str, list[int]] = defaultdict(list)
        for i in sorted(known):
            for outcome, action in rules[i].effect.takes:
                if outcome == self.subject.name:
                    takers[action].append(i)
        given = {action: disj([_is(mark(n, i)) for i in who]) for action, who in takers.items()}
        calm = conj([negate(conj([_is(mark(n, i)), _is(mark(n, j))])) for i, j in self._disputes(n, takers)])
        return {
            action: conj([given[action], *(negate(other) for name, other in given.items() if name != action), calm])
            for action in given
        }

    def _disputes(self, n: int, takers: Mapping[str, Sequence[int]]) -> Iterator[tuple[int, int]]:
        """Rules that answer, and equals that contradict them without answering otherwise."""
        answers: dict[int, set[str]] = defaultdict(set)
        for action, who in takers.items():
            for i in who:
                answers[i].add(action)
        for i in sorted(answers):
            for j in sorted(self.sides[n].equal[i]):
                if j in self._position[n] and answers[i] | answers.get(j, set()) == answers[i] and len(answers[i]) == 1:
                    yield i, j


def _same(one: Formula, other: Formula) -> Formula:
    if other == TRUE:
        return one
    if other == FALSE:
        return negate(one)
    return disj([conj([one, other]), conj([negate(one), negate(other)])])
