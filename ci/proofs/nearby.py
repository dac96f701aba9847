"""What matters where one rule fires: full cases in its guard, who else fires there, and what follows with and without.

Rules that speak of one outcome or one action form a crowd; only rules of common crowds can change each other's
effects. Everything here is the plain reading of full cases; `ci.proofs.standing` puts the same into formulas.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from functools import cached_property
from typing import TypeAlias

from bylaw.logic.boxes.boxes import Box, Region, TooManyBoxes, domain, meets, point, uncovered
from bylaw.logic.boxes.truth import truth
from bylaw.logic.decide.firing import bits
from bylaw.logic.formula.ir import Effect, Facts, Value
from ci.proofs.candidates import Index
from ci.proofs.theory import Theory, Verdict

Item: TypeAlias = tuple[str, str, str]  # what an effect adds to a case: (kind, outcome or "", action)
Key: TypeAlias = tuple[str, str]


def items(effect: Effect) -> tuple[Item, ...]:
    """What *effect* adds to a case where it stands, its own action first."""
    taken = effect.takes
    answered = {action for _, action in taken}
    duties = [("required", "", action) for action in effect.demands if action not in answered]
    if effect.kind in ("prohibited", "permitted"):
        duties.append((effect.kind, "", effect.action))
    found = [*(("outcome", outcome, action) for outcome, action in taken), *duties]
    return tuple(sorted(found, key=lambda item: item[2] != effect.action))


class Nearby:
    """The neighbours of every rule of a theory, and the cases in which they meet."""

    def __init__(self, theory: Theory) -> None:
        self.theory = theory
        self._crowds: dict[Key, Crowd] = {}
        self._bases: dict[int, Facts | Verdict | None] = {}
        self._keys_of: dict[Effect, Sequence[Key]] = {}
        self._met: tuple[int, int | None, tuple[int, ...]] = (-1, None, ())  # of the last question about `meeting`

    @cached_property
    def all_days(self) -> list[int]:
        """Every day on which a rule or an invariant starts to hold or stops."""
        return self.theory.days()

    # ---- who matters --------------------------------------------------------------------------------------------

    @cached_property
    def _members(self) -> Mapping[Key, list[int]]:
        members: dict[Key, list[int]] = defaultdict(list)
        for i, rule in enumerate(self.theory.ruleset.rules):
            for key in dict.fromkeys(self._own_keys(rule.effect)):
                members[key].append(i)
        return members

    @cached_property
    def _outcome_of(self) -> Mapping[str, str]:
        return {action: outcome for rule in self.theory.ruleset.rules for outcome, action in rule.effect.takes}

    @cached_property
    def _excluded(self) -> Mapping[str, list[str]]:
        excluded: dict[str, list[str]] = defaultdict(list)
        for one, other in sorted(self.theory.ruleset.excludes):
            excluded[one].append(other)
        return excluded

    def _home(self, action: str) -> Key:
        """The crowd of those who demand *action*."""
        outcome = self._outcome_of.get(action)
        return ("demand", action) if outcome is None else ("outcome", outcome)

    def _own_keys(self, effect: Effect) -> Iterator[Key]:
        yield from (self._home(action) for action in effect.demands)
        if effect.kind in ("prohibited", "permitted"):
            yield ("ban", effect.action)

    def _keys(self, effect: Effect) -> Sequence[Key]:
        """The crowds in which everyone is who supports or contradicts *effect*, each once."""
        if effect not in self._keys_of:
            self._keys_of[effect] = tuple(dict.fromkeys(self._all_keys(effect)))
        return self._keys_of[effect]

    def _all_keys(self, effect: Effect) -> Iterator[Key]:
        yield from self._own_keys(effect)
        if effect.kind in ("prohibited", "permitted"):
            yield self._home(effect.action)
        for action in effect.demands:
            yield ("ban", action)
            yield from map(self._home, self._excluded.get(action, ()))

    def _crowd(self, key: Key) -> Crowd:
        if key not in self._crowds:
            self._crowds[key] = Crowd(self.theory, self._members.get(key, ()))
        return self._crowds[key]

    def around(self, i: int, case: Facts, day: int | None) -> list[int]:
        """The neighbours of rule *i* that fire in a full *case*, in force on *day* (None: whenever)."""
        rules = self.theory.ruleset.rules
        found = {j for key in self._keys(rules[i].effect) for j in self._crowd(key).firing(case) if j != i}
        return sorted(j for j in found if day is None or rules[j].holds_on(day))

    def group(self, i: int, case: Facts, day: int) -> set[int]:
        """Rule *i* and everyone who fires in the full *case* and is joined to it by neighbours that fire there."""
        rules = self.theory.ruleset.rules
        reached, done, todo = {i}, set[Key](), [i]
        while todo:
            for key in self._keys(rules[todo.pop()].effect):
                if key not in done:
                    done.add(key)
                    new = {j for j in self._crowd(key).firing(case) if rules[j].holds_on(day)} - reached
                    reached |= new
                    todo += sorted(new)
        return reached

    def meeting(self, i: int, day: int | None) -> Sequence[int]:
        """Rule *i* and everyone joined to it by neighbours that may fire where rule *i* fires, on *day* or whenever."""
        if self._met[:2] != (i, day):
            self._met = (i, day, tuple(self._meeting(i, day)))
        return self._met[2]

    def _meeting(self, i: int, day: int | None) -> list[int]:
        rules, mine = self.theory.ruleset.rules, self.theory.evaluator.boxes_of(i) or (Box({}),)
        reached, done, todo, effects = {i}, set[Key](), [rules[i].effect], set[Effect]()
        while todo:
            for key in self._keys(todo.pop()):
                if key not in done:
                    done.add(key)
                    found = {j for box in mine for j in self._crowd(key).meeting(box)}
                    new = {j for j in found if day is None or rules[j].holds_on(day)} - reached
                    reached |= new
                    todo += {rules[j].effect for j in new} - effects
                    effects.update(todo)
        return sorted(reached)

    # ---- cases --------------------------------------------------------------------------------------------------

    def base(self, day: int) -> Facts | Verdict | None:
        """A full case that the invariants of *day* allow; None when there is none, a verdict when that is unknown."""
        if day not in self._bases:
            everything = {name: domain(variable) for name, variable in self.theory.ruleset.variables.items()}
            empty = [name for name, where in everything.items() if not where]
            case = point(Box({n: w for n, w in everything.items() if w}), self.theory.ruleset.variables)
            invariants = self.theory.invariants(day)
            if empty or all(truth(formula, case) for formula in invariants):
                self._bases[day] = case
            else:
                answer = self.theory.reasoner.check(invariants)
                self._bases[day] = (
                    None
                    if answer.status == "unsat"
                    else Verdict("UNKNOWN", day=day, reason=answer.reason)
                    if answer.model is None
                    else {**case, **answer.model}
                )
        return self._bases[day]

    def completed(self, facts: Facts, day: int) -> dict[str, Value]:
        """*facts* with a value for every other fact; may break an invariant if it mixes."""
        base = self.base(day)
        return {**(base if isinstance(base, Mapping) else {}), **facts}

    def case_in(self, i: int, piece: Box, day: int) -> dict[str, Value] | None:
        """A full case in *piece* in which rule *i* fires and that exists on *day*; None when the first guess is not."""
        if not isinstance(self.base(day), Mapping):
            return None
        case = self.completed(point(piece, self.theory.ruleset.variables), day)
        is_case = truth(self.theory.ruleset.rules[i].guard, case) is True and self.theory.exists(case, day)
        return case if is_case else None

    def clearing(self, i: int, others: Collection[int], day: int) -> tuple[dict[str, Value] | None, bool]:
        """A full case on *day* that fires rule *i* and none of *others*, by boxes; and whether there surely is none."""
        theory = self.theory
        covers = [box for k in others for box in theory.evaluator.boxes_of(k) or () if box.is_exact]
        guard = theory.evaluator.boxes_of(i)
        is_covered = guard is not None
        for box in guard or ():
            try:
                piece = uncovered(box, covers, theory.ruleset.variables, theory.guard_pieces)
            except TooManyBoxes:
                is_covered = False
                continue
            case = None if piece is None else self.case_in(i, piece, day)
            if case is not None and not any(truth(theory.ruleset.rules[k].guard, case) for k in others):
                return case, False
            is_covered = is_covered and piece is None
        return None, is_covered

    # ---- what follows -------------------------------------------------------------------------------------------

    def stands(self, i: int, case: Facts, day: int) -> bool:
        """Does rule *i* fire in the full *case*, and does nobody remove its effect?"""
        return i in self.theory.evaluator.standing(self.group(i, case, day)).stands

    def holds(self, i: int, case: Facts, day: int) -> bool:
        """Does it stand without anybody of equal rank standing against it?"""
        standing = self.theory.evaluator.standing(self.group(i, case, day))
        return i in standing.stands and not any(i in clash for clash in standing.clashes)

    def differs(self, i: int, case: Facts, day: int) -> bool:
        """Would the full *case* get something else if rule *i* did not exist?"""
        group = self.group(i, case, day)
        return self.following(group) != self.following(group - {i})

    def following(self, firing: Iterable[int]) -> frozenset[Item]:
        """What a case gets in which exactly *firing* fire: answers of outcomes, duties, prohibitions, permissions."""
        evaluator = self.theory.evaluator
        standing = evaluator.standing(firing)
        added = {item for i in standing.stands for item in items(self.theory.ruleset.rules[i].effect)}
        outcomes = {outcome for kind, outcome, _ in added if kind == "outcome"}
        answers = {("outcome", o, action) for o in outcomes if (action := evaluator.answer(standing, o)[0]) is not None}
        return frozenset({item for item in added if item[0] != "outcome"} | answers)


class Crowd:
    """Some rules, and which of them fire in a case or may fire in a box, found without asking each of them."""

    def __init__(self, theory: Theory, members: Iterable[int]) -> None:
        self._rules = theory.ruleset.rules
        pairs = [(i, box) for i in members for box in _shape(theory, i)]
        self._owners = [i for i, _ in pairs]
        self._boxes = [box for _, box in pairs]
        self._index = Index(self._boxes)
        self._facts = sorted({var for box in self._boxes for var in box.regions})

    def firing(self, case: Facts) -> Iterator[int]:
        """The rules that fire in a full case."""
        spot = Box({var: _spot(case[var]) for var in self._facts if var in case})
        for i in dict.fromkeys(self._owners[n] for n in bits(self._index.meeting(spot))):
            if truth(self._rules[i].guard, case) is True:
                yield i

    def meeting(self, box: Box) -> set[int]:
        """The rules that may fire in *box*, by its regions alone."""
        near = bits(self._index.meeting(box))
        is_exact = self._index.is_exact(box)
        return {self._owners[n] for n in near if is_exact or meets(self._boxes[n], box)}


def _shape(theory: Theory, i: int) -> tuple[Box, ...]:
    found = theory.evaluator.boxes_of(i)
    return (Box({}),) if found is None else found


def _spot(value: Value) -> Region:
    return frozenset((value,)) if isinstance(value, bool | str) else (((value, 0), (value, 1)),)
