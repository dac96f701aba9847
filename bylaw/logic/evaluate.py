"""Which rules speak to this case, and what follows. The reference reading of the logic: no solver here.

Three-valued throughout: an unknown fact satisfies neither a test nor its negation. A rule fires only when its guard
is known to be true; an outcome is decided only if, besides, every completion of the unknown facts agrees.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

from bylaw.logic.boxes import EVERYTHING, Box, TooManyBoxes, boxes, holds_in, meet, subtract
from bylaw.logic.ir import (
    ConditionalRule,
    Facts,
    Ruleset,
    Variable,
    conj,
    names,
)
from bylaw.logic.rivalry import Rivals
from bylaw.logic.truth import possible, simplify, truth

MAX_BRANCHES = 2_000  # beyond that many ways the unknown facts could fall, an outcome counts as undecided


# ---- a case ---------------------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Fired:
    """A rule that fired, and the action it speaks of."""

    policy_id: str
    rule_id: str
    action: str


@dataclass(frozen=True, slots=True)
class Conflict:
    """Rules that fired together, contradict each other, and of which neither gives way.

    `outcome` is what they contradict each other about (None for duties alone); `outcomes` are all they leave open.
    """

    policies: tuple[str, ...]
    rules: tuple[str, ...]
    outcome: str | None
    action: str
    outcomes: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class OutcomeResult:
    """Who decided an outcome; all None when nobody did, or not yet."""

    action: str | None = None
    policy_id: str | None = None
    rule_id: str | None = None


@dataclass(frozen=True, slots=True)
class Decision:
    """What holds in a case. `undecided` names, per outcome, the unknown facts that could still change it."""

    outcomes: Mapping[str, OutcomeResult]
    required: tuple[str, ...]
    prohibited: tuple[str, ...]
    permitted: tuple[str, ...]
    fired: tuple[Fired, ...]
    lost: tuple[Fired, ...]
    conflicts: tuple[Conflict, ...]
    missing_facts: tuple[str, ...]
    path: tuple[str, ...]
    undecided: Mapping[str, tuple[str, ...]] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Standing:
    """The rules of one case by index: which fire, whose effect stands, which contradict each other unresolved."""

    fires: frozenset[int]
    stands: frozenset[int]
    clashes: tuple[tuple[int, int], ...]


def decide(ruleset: Ruleset, facts: Facts, day: int) -> Decision:
    """What *ruleset* says about the case on that *day* (a proleptic ordinal). For many cases keep an `Evaluator`."""
    return Evaluator(ruleset).decide(facts, day)


class Evaluator:
    """`decide` for many cases: indexes are built once, boxes of a guard when they are first needed."""

    def __init__(self, ruleset: Ruleset) -> None:
        self.ruleset = ruleset
        self.rivals = Rivals(ruleset)
        self._boxes: dict[int, tuple[Box, ...] | None] = {}
        self._rivals: dict[int, frozenset[int]] = {}
        self._by_id = {rule.rule_id: i for i, rule in enumerate(ruleset.rules)}

    def index_of(self, rule_id: str) -> int:
        """The position of a rule in the ruleset."""
        return self._by_id[rule_id]

    def rivals_of(self, i: int) -> frozenset[int]:
        """The rules whose effect contradicts that of rule *i*."""
        if i not in self._rivals:
            self._rivals[i] = frozenset(self.rivals.of(i))
        return self._rivals[i]

    def boxes_of(self, i: int) -> tuple[Box, ...] | None:
        """The guard of rule *i* as boxes; None when it needs too many."""
        if i not in self._boxes:
            try:
                self._boxes[i] = boxes(self.ruleset.rules[i].guard, self.ruleset.variables)
            except TooManyBoxes:
                self._boxes[i] = None
        return self._boxes[i]

    def firing(self, facts: Facts, day: int, among: Iterable[int] | None = None) -> tuple[list[int], list[int]]:
        """The rules in force that fire, and those that some completion of the unknown facts would make fire."""
        fires, open_ = [], []
        for i in range(len(self.ruleset.rules)) if among is None else among:
            rule = self.ruleset.rules[i]
            if not rule.holds_on(day):
                continue
            reading = truth(rule.guard, facts)
            if reading:
                fires.append(i)
            elif reading is None and self._is_possible(i, facts):
                open_.append(i)
        return fires, open_

    def _is_possible(self, i: int, facts: Facts) -> bool:
        guard = self.boxes_of(i)
        if guard is None:
            return True
        return any(holds_in(box, facts) and self._residue_possible(box, facts) for box in guard)

    def _residue_possible(self, box: Box, facts: Facts) -> bool:
        return all(possible(item, box, facts, self.ruleset.variables) for item in box.residue)

    def standing(self, fires: Iterable[int]) -> Standing:
        """Resolve a set of firing rules."""
        firing = frozenset(fires)
        stands = self.rivals.surviving(firing)
        clashes = tuple((i, j) for i in sorted(stands) for j in self.rivals.among(i, stands) if i < j)
        return Standing(firing, frozenset(stands), clashes)

    def answer(self, standing: Standing, outcome: str) -> tuple[str | None, int | None]:
        """The action that an outcome gets and the rule that gives it; (None, None) for nobody or a clash."""
        takers = [i for i in standing.stands if any(o == outcome for o, _ in self._takes(i))]
        actions = {action for i in takers for o, action in self._takes(i) if o == outcome}
        if len(actions) != 1 or any(i in takers or j in takers for i, j in standing.clashes):
            return None, None
        winner = min(takers, key=lambda i: (self.ruleset.rules[i].level, self.ruleset.rules[i].rule_id))
        return actions.pop(), winner

    def _takes(self, i: int) -> tuple[tuple[str, str], ...]:
        return self.ruleset.rules[i].effect.takes

    def decide(self, facts: Facts, day: int, among: Iterable[int] | None = None) -> Decision:
        """What holds in the case with these *facts* on that *day* (a proleptic ordinal).

        With *among* only those rules are read: right for what no other rule can influence.
        """
        fires, open_ = self.firing(facts, day, among)
        standing = self.standing(fires)
        outlook = Outlook(self, facts, day, standing, frozenset(open_))
        results: dict[str, OutcomeResult] = {}
        undecided: dict[str, tuple[str, ...]] = {}
        path: list[str] = []
        for outcome in self.ruleset.outcomes:
            action, winner = self.answer(standing, outcome)
            threats = outlook.threats(outcome, action)
            if threats:
                undecided[outcome] = outlook.facts_of(threats)
            if action is None or winner is None or threats:
                results[outcome] = OutcomeResult()
                continue
            rule = self.ruleset.rules[winner]
            results[outcome] = OutcomeResult(action, rule.policy_id, rule.rule_id)
            path.extend(step for step in self._steps(rule, facts) if step not in path)
        duties = self._duties(standing)
        live = {i for threats in outlook.seen.values() for i in threats} | outlook.open_duties(duties)
        return Decision(
            outcomes=results,
            required=duties["required"],
            prohibited=duties["prohibited"],
            permitted=duties["permitted"],
            fired=tuple(self._fired(i) for i in sorted(standing.fires)),
            lost=tuple(self._fired(i) for i in sorted(standing.fires - standing.stands)),
            conflicts=tuple(self._conflict(i, j) for i, j in standing.clashes),
            missing_facts=outlook.facts_of(live),
            path=tuple(path),
            undecided=undecided,
        )

    def _duties(self, standing: Standing) -> dict[str, tuple[str, ...]]:
        duties: dict[str, set[str]] = {"required": set(), "prohibited": set(), "permitted": set()}
        for i in standing.stands:
            effect = self.ruleset.rules[i].effect
            taken = {action for _, action in effect.takes}
            duties["required"].update(action for action in effect.demands if action not in taken)
            if effect.kind in ("prohibited", "permitted"):
                duties[effect.kind].add(effect.action)
        return {kind: tuple(sorted(actions)) for kind, actions in duties.items()}

    def _fired(self, i: int) -> Fired:
        rule = self.ruleset.rules[i]
        return Fired(rule.policy_id, rule.rule_id, rule.effect.action)

    def _conflict(self, i: int, j: int) -> Conflict:
        one, two = self.ruleset.rules[i], self.ruleset.rules[j]
        taken = [{outcome for outcome, _ in rule.effect.takes} for rule in (one, two)]
        open_ = sorted(taken[0] | taken[1])
        return Conflict(
            policies=tuple(sorted({one.policy_id, two.policy_id})),
            rules=tuple(sorted((one.rule_id, two.rule_id))),
            outcome=min(taken[0] & taken[1], default=open_[0] if open_ else None),
            action=one.effect.action,
            outcomes=tuple(open_),
        )

    def _steps(self, rule: ConditionalRule, facts: Facts) -> list[str]:
        used = [var for var in sorted(names(rule.guard), key=self.question_order) if var in facts]
        return [f"{var}={_shown(self.ruleset.variables[var], facts)}" for var in used]

    def question_order(self, var: str) -> tuple[int, str]:
        """Booleans are asked first, then enums, then numbers and dates (seed 001, decision nodes)."""
        return {"boolean": 0, "enum": 1}.get(self.ruleset.variables[var].kind, 2), var


def _shown(variable: Variable, facts: Facts) -> str:
    value = variable.show(facts[variable.name])
    return str(value).lower() if isinstance(value, bool) else str(value)


class Outlook:
    """What the unknown facts of one case could still change."""

    def __init__(self, evaluator: Evaluator, facts: Facts, day: int, standing: Standing, open_: frozenset[int]) -> None:
        self.evaluator, self.facts, self.day, self.standing, self.open = evaluator, facts, day, standing, open_
        self.seen: dict[str, frozenset[int]] = {}
        self._left: dict[int, frozenset[str]] = {}

    def threats(self, outcome: str, action: str | None) -> frozenset[int]:
        """The open rules that could change *outcome* from *action*; empty when every completion agrees."""
        if not self.open:
            return frozenset()
        found = self._influence(outcome, action) & self.open
        if found and action is not None and not self._can_differ(found, outcome, action):
            found = frozenset()
        self.seen[outcome] = found
        return found

    def _influence(self, outcome: str, action: str | None) -> frozenset[int]:
        """The rules that answer *outcome* and, step by step, the rivals that do not give way to them."""
        rivals = self.evaluator.rivals
        present = self.standing.fires | self.open
        takers = present.intersection(rivals.taking(outcome))
        todo = [i for i in takers if i in self.standing.fires or not self._only_supports(i, outcome, action)]
        seen, reached = set(todo), set()
        while todo:
            i = todo.pop()
            if self._is_hopeless(i):
                continue
            reached.add(i)
            further = {j for j in (self.evaluator.rivals_of(i) & present) - seen if not rivals.beats(i, j)}
            seen |= further
            todo += further
        return frozenset(reached)

    def _only_supports(self, i: int, outcome: str, action: str | None) -> bool:
        effect = self.evaluator.ruleset.rules[i].effect
        return i in self.open and not effect.implied and (outcome, action) in effect.takes

    def _is_hopeless(self, i: int) -> bool:
        """Does a secure rule remove rule *i* in any case? One that is only banned may still win against others."""
        rivals, its = self.evaluator.rivals, self.evaluator.rivals_of(i)
        removers = [j for j in its & self.secure if rivals.beats(j, i)]
        if not removers or not all(map(rivals.bans, removers)):
            return bool(removers)
        present = self.standing.fires | self.open
        return not any(rivals.beats(i, j) and rivals.disputes(i, j) for j in its & present)

    @cached_property
    def secure(self) -> frozenset[int]:
        """The standing rules that nothing unknown can remove."""
        rivals, rivals_of = self.evaluator.rivals, self.evaluator.rivals_of
        secure: set[int] = set()
        for i in sorted(self.standing.stands, key=lambda i: (self.evaluator.ruleset.rules[i].level, i)):
            mine = rivals_of(i)
            attackers = [j for j in mine & self.open if rivals.beats(j, i)]
            held_off = all(
                any(
                    rivals.beats(k, j) and not (rivals.bans(k) and rivals.disputes(j, i)) for k in rivals_of(j) & secure
                )
                for j in attackers
            )
            if held_off and not any(rivals.beats(j, i) for j in mine & self.standing.fires):
                secure.add(i)
        return frozenset(secure)

    def _can_differ(self, threats: frozenset[int], outcome: str, action: str) -> bool:
        """Is there a completion, true to the invariants, in which *outcome* is not *action*? True when in doubt."""
        evaluator = self.evaluator
        known = dict(self.facts)
        budget = [MAX_BRANCHES]
        ordered = sorted(threats)

        def differs(piece: Box, k: int, fired: tuple[int, ...]) -> bool:
            budget[0] -= 1
            if budget[0] < 0:
                return True
            if k == len(ordered):
                standing = evaluator.standing((*self.standing.fires, *fired))
                return evaluator.answer(standing, outcome)[0] != action
            guard = evaluator.boxes_of(ordered[k])
            if guard is None:
                return True
            rest = [piece]
            for box in guard:
                if not holds_in(box, known) or not evaluator._residue_possible(box, known):
                    continue
                unknown = Box({v: r for v, r in box.regions.items() if v not in known}, box.residue)
                met = meet(piece, unknown)
                if met is not None and differs(met, k + 1, (*fired, ordered[k])):
                    return True
                if unknown.is_exact:
                    rest = [part for r in rest for part in subtract(r, unknown, evaluator.ruleset.variables)]
            return any(differs(part, k + 1, fired) for part in rest)

        return any(differs(start, 0, ()) for start in self._existing_cases(known))

    def _existing_cases(self, known: Facts) -> list[Box]:
        """The completions that the invariants in force allow, as boxes over the unknown facts.

        Facts that break an invariant by themselves describe a case that does not exist; then nothing is excluded.
        """
        in_force = [c.formula for c in self.evaluator.ruleset.constraints if _in_force(c, self.day)]
        left = simplify(conj(in_force), known)
        try:
            found = [box for box in boxes(left, self.evaluator.ruleset.variables) if self._fits(box, known)]
        except TooManyBoxes:
            found = []
        return found or [EVERYTHING]

    def _fits(self, box: Box, known: Facts) -> bool:
        return all(possible(item, box, known, self.evaluator.ruleset.variables) for item in box.residue)

    def open_duties(self, duties: Mapping[str, tuple[str, ...]]) -> set[int]:
        """The open rules that could add or remove a duty, a prohibition or a permission."""
        rules, rivals = self.evaluator.ruleset.rules, self.evaluator.rivals
        found = set()
        for i in self.open:
            effect = rules[i].effect
            if self._is_hopeless(i):
                continue
            adds = effect.kind != "outcome" and effect.action not in duties[effect.kind]
            if adds or any(rivals.beats(i, j) for j in self.evaluator.rivals_of(i) & self.standing.stands):
                found.add(i)
        return found

    def facts_of(self, rules: Iterable[int]) -> tuple[str, ...]:
        """The unknown facts in the guards of *rules*, the one that most of them wait for first."""
        waiting: Counter[str] = Counter()
        for i in rules:
            waiting.update(self._open_facts(i))
        return tuple(sorted(waiting, key=lambda var: (-waiting[var], self.evaluator.question_order(var))))

    def _open_facts(self, i: int) -> frozenset[str]:
        """The unknown facts that the guard of rule *i* still depends on."""
        if i not in self._left:
            left = simplify(self.evaluator.ruleset.rules[i].guard, self.facts)
            self._left[i] = frozenset(names(left) - self.facts.keys())
        return self._left[i]


def _in_force(constraint: Any, day: int) -> bool:
    return (constraint.start is None or constraint.start <= day) and (constraint.end is None or day <= constraint.end)
