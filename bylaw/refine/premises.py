"""What could be missing: the literals that may be premises, and which rule each set of them would make speak."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from bylaw.logic.formula.ir import And, Atom, Compare, Formula, Not, Or, names, negate
from bylaw.refine.notation import implied
from bylaw.refine.theory import Instance, Statement, Theory, conjuncts

MAX_CANDIDATES = 120


@dataclass(frozen=True)
class Missing:
    """What a rule lacks. With something under `blocked_by` it cannot speak: that contradicts what is known."""

    rule: str | None
    missing: tuple[str, ...]
    blocked_by: tuple[str, ...] = ()

    def document(self) -> dict[str, Any]:
        """As JSON."""
        return {"rule": self.rule, "missing": list(self.missing), "blocked_by": list(self.blocked_by)}


def candidates(theory: Theory) -> tuple[Mapping[str, Formula], bool]:
    """The literals that may be premises, by how they are written; and whether these are all that matter.

    Only a literal whose negation is tested somewhere can complete a proof. The goal is never its own premise, and of a
    word that nobody declared nothing is assumed.
    """
    if theory.goal is None:
        return {}, True
    found: dict[str, Formula] = {}
    goal = theory.goal
    for formula in (*(one.formula for one in _near(theory)), negate(goal)):
        for tested in _denied(formula, True):
            if tested != goal and names(tested) <= theory.declared:
                found.setdefault(f"if:{theory.spell(tested)}", tested)
    kept = dict(list(found.items())[:MAX_CANDIDATES])
    return kept, len(kept) == len(found)


def _near(theory: Theory) -> Iterator[Statement]:
    """The statements that have to do with the goal, the nearest first."""
    by_fact: dict[str, list[int]] = defaultdict(list)
    spoken = [names(one.formula) for one in theory.statements]
    for i, found in enumerate(spoken):
        for name in sorted(found):
            by_fact[name].append(i)
    todo, seen, facts = sorted(names(theory.goal)) if theory.goal else [], set[int](), set[str]()
    while todo:
        following: dict[str, None] = {}
        for fact in todo:
            facts.add(fact)
            for i in by_fact[fact]:
                if i not in seen:
                    seen.add(i)
                    yield theory.statements[i]
                    following.update(dict.fromkeys(sorted(spoken[i])))
        todo = [fact for fact in following if fact not in facts]


def _denied(formula: Formula, holds: bool) -> Iterator[Formula]:
    """The literals whose negation stands in the negation normal form of *formula*."""
    match formula:
        case And(items) | Or(items):
            for item in items:
                yield from _denied(item, holds)
        case Not(item):
            yield from _denied(item, not holds)
        case Atom() | Compare():
            yield negate(formula) if holds else formula


def blocked(theory: Theory, is_excluded: Callable[[Sequence[Formula]], bool]) -> Iterator[Missing]:
    """The rules that would give the goal, and what keeps each from it: literals that contradict what is known."""
    if theory.goal is None:
        return
    for rule in theory.rules:
        for one in rule.instances:
            literals = conjuncts(one.condition)
            if literals is None or not _gives(one, theory.goal):
                continue
            against = [item for item in literals if is_excluded([item])]
            if against:
                open_ = [item for item in literals if item not in against and not is_excluded([negate(item)])]
                spelled = tuple(map(theory.spell, open_))
                yield Missing(rule.name, spelled, tuple(map(theory.spell, against)))


def hints(theory: Theory) -> Iterator[Sequence[str]]:
    """What each rule asks for that would give the goal, as candidates are named."""
    if theory.goal is not None:
        for rule in theory.rules:
            for one in rule.instances:
                if (literals := conjuncts(one.condition)) is not None and _gives(one, theory.goal):
                    yield [f"if:{theory.spell(item)}" for item in literals]


def _gives(instance: Instance, goal: Formula) -> bool:
    """Does the conclusion hold the goal, as it stands or among others?"""
    conclusion = instance.conclusion
    items = conclusion.items if isinstance(conclusion, And) else (conclusion,)
    wanted = goal.items if isinstance(goal, And) else (goal,)
    return any(item in wanted for item in items)


def attributed(theory: Theory, sets: Iterable[Collection[str]], named: Mapping[str, Formula]) -> Iterator[Missing]:
    """Each premise set with the rule that asks for most of it; of equal ones the first. None where no rule does."""
    asked: list[tuple[str, set[Formula]]] = [
        (one.name, {*(conjuncts(instance.condition) or ()), *_denied(_body(instance), True)})
        for one in theory.statements
        if one.kind != "fact"
        for instance in one.instances
    ]
    for chosen in sets:
        literals = [named[name] for name in chosen]
        counted = [(sum(item in wanted for item in literals), -i) for i, (_, wanted) in enumerate(asked)]
        best = max(counted, default=(0, 0))
        rule = asked[-best[1]][0] if best[0] else None
        yield Missing(rule, tuple(sorted(name.removeprefix("if:") for name in chosen)))


def _body(instance: Instance) -> Formula:
    return implied(instance.condition, instance.conclusion)
