"""Which rules speak to this case, and what follows. The reference reading of the logic: no solver here.

Three-valued throughout: an unknown fact satisfies neither a test nor its negation. A rule fires only when its guard
is known to be true; an outcome is decided only if, besides, every completion of the unknown facts agrees.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from itertools import chain, product
from math import prod

from bylaw.logic.boxes.boxes import Box, TooManyBoxes, boxes, holds_in, point
from bylaw.logic.boxes.diagram import Marks, Shapes
from bylaw.logic.boxes.packed_counts import PackedCounts
from bylaw.logic.boxes.truth import Reading, possible, reader
from bylaw.logic.decide.asking import Asking
from bylaw.logic.decide.case import Basis, Case
from bylaw.logic.decide.completions import Completions, View
from bylaw.logic.decide.conflicts import MOST_REMEMBERED, Conflicts, Rivals, Stand
from bylaw.logic.decide.firing import Firing, as_bits, bits
from bylaw.logic.decide.ground import Ground, ground
from bylaw.logic.decide.unproven import UnprovenRules
from bylaw.logic.formula.ir import Facts, Ruleset, Unproven, Value, Variable, names

MOST_RULES = 64  # in a room that is remembered: with more it is hardly ever in the same state again
MOST_STATES = 4_000  # looked at before anybody asks
MOST_GROUNDS = 64  # kept at a time: those of some rooms on a few days

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


NOBODY = OutcomeResult()


@dataclass(frozen=True, slots=True)
class Decision:
    """What holds in a case. `undecided` names, per outcome, the unknown facts that could still change it.

    `unproven` are the rules in force that could not be read. What they may change is in no outcome, and neither
    required nor permitted; `withheld` are the actions that would be. What is prohibited stays so.
    """

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
    unproven: tuple[Unproven, ...] = ()
    withheld: tuple[str, ...] = ()


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
    """`decide` for many cases: sets of rules are built once, boxes of a guard when they are first needed.

    *is_indexed*: which rules fire is looked up rather than tried, worth its building for whoever decides all day.
    """

    def __init__(self, ruleset: Ruleset, is_indexed: bool = False) -> None:
        self.ruleset = ruleset
        self.rivals = Rivals(ruleset)
        self._is_indexed = is_indexed
        self._boxes: dict[int, tuple[Box, ...] | None] = {}
        self._views: dict[Hashable, View] = {}
        self._grounds: dict[tuple[int, int], Ground] = {}
        self._wholes: dict[int, int] = {}  # some rules → all rules of their rooms
        self._results: dict[tuple[str, int], OutcomeResult] = {}
        self._asked: dict[int, tuple[str, ...]] = {}
        self._shapes = Shapes(ruleset.variables)
        self._marks: dict[int, tuple[Marks, ...]] = {}
        self._readers: dict[int, Reading] = {}
        self.invariants = [(constraint, reader(constraint.formula)) for constraint in ruleset.constraints]
        self._by_id = {rule.rule_id: i for i, rule in enumerate(ruleset.rules)}

    @cached_property
    def conflicts(self) -> Conflicts:
        """Who contradicts whom, as sets."""
        return Conflicts(self.ruleset)

    @cached_property
    def unproven(self) -> UnprovenRules:
        """The rules that could not be read, and what they may change."""
        return UnprovenRules(self.ruleset, self.conflicts)

    @cached_property
    def index(self) -> Firing:
        """Which rules a case makes fire, as a look-up. Made with all else that depends on no case."""
        found = Firing(self.ruleset, self.boxes_of, self.lanes)
        for i in range(len(self.ruleset.rules)):
            self.marks_of(i)
            self._asked_by(i)
        for i in bits(found.loose | ~found.plain & as_bits(range(len(self.ruleset.rules)))):
            self.reader_of(i)
        self._shapes.prepare()
        self.conflicts.prepare()
        self._scopes = {
            room: found.scope(self.conflicts.members_of(room)) for room in set(self.conflicts.rooms.values())
        }
        return found

    def prepare(self) -> None:
        """Look at the rooms with the fewest states in every one of them: nobody waits for what is new there."""
        day = max((rule.start for rule in self.ruleset.rules if rule.start is not None), default=1)
        rooms = [self.conflicts.members_of(room) for room in sorted(self._scopes)] if self.index else []
        left, few = MOST_STATES, [members for members in rooms if members.bit_count() <= MOST_RULES]
        for members, values in sorted(((members, self._telling(members, day)) for members in few), key=_states):
            left -= prod(map(len, values.values()))
            if left < 0:
                return
            for state in product(*values.values()):
                known = {var: value for var, value in zip(values, state, strict=True) if value is not None}
                self._looked_up(known, day, True, members)

    def _telling(self, rules: int, day: int) -> dict[str, list[Value | None]]:
        """For each fact that *rules* name: None, and a value for every way in which it is allowed."""
        found: dict[str, list[Value | None]] = {}
        on, variables = self.ground(rules, day), self.ruleset.variables
        for var in sorted(self.conflicts.facts_of(self.conflicts.rooms[next(bits(rules))])):
            parts = {allowed: Box({var: where}) for where, allowed in on.parts.get(var, ())}
            found[var] = [None, *[point(box, variables)[var] for box in parts.values()]]
        return found

    def index_of(self, rule_id: str) -> int:
        """The position of a rule in the ruleset."""
        return self._by_id[rule_id]

    def knows(self, rule_id: str) -> bool:
        """Is there a rule of that id?"""
        return rule_id in self._by_id

    def boxes_of(self, i: int) -> tuple[Box, ...] | None:
        """The guard of rule *i* as boxes; None when it needs too many."""
        if i not in self._boxes:
            try:
                self._boxes[i] = boxes(self.ruleset.rules[i].guard, self.ruleset.variables)
            except TooManyBoxes:
                self._boxes[i] = None
        return self._boxes[i]

    def marks_of(self, i: int) -> tuple[Marks, ...]:
        """The boxes of rule *i* by the numbers of their regions; none when it needs too many."""
        if i not in self._marks:
            self._marks[i] = tuple(map(self._shapes.marks, self.boxes_of(i) or ()))
        return self._marks[i]

    def reader_of(self, i: int) -> Reading:
        """What reads the guard of rule *i* in a case."""
        if i not in self._readers:
            self._readers[i] = reader(self.ruleset.rules[i].guard)
        return self._readers[i]

    def ground(self, rules: int, day: int) -> Ground:
        """What cases lie on for *rules* (as bits) and all that bear on the same results."""
        whole = self._wholes.get(rules)
        if whole is None:
            if len(self._wholes) >= MOST_GROUNDS:
                self._wholes.clear()
            whole = sum(map(self.conflicts.members_of, {self.conflicts.rooms[i] for i in bits(rules)}))
            self._wholes[rules] = whole
        asked = whole, day
        if asked not in self._grounds:
            if len(self._grounds) >= MOST_GROUNDS:
                self._grounds.clear()
            self._grounds[asked] = ground(self.ruleset, self.boxes_of, *asked)
        return self._grounds[asked]

    def firing(self, facts: Facts, day: int, among: Iterable[int] | None = None) -> tuple[list[int], list[int]]:
        """The rules in force that fire, and those that some completion of the unknown facts would make fire."""
        if among is None and self._is_indexed:
            look = self.index.look(facts, day)
            fires, open_ = self.read(facts, look.unsettled)
            return list(bits(look.sure | fires)), list(bits(look.open | open_))
        in_force = range(len(self.ruleset.rules)) if among is None else among
        return self._tried(facts, (i for i in in_force if self.ruleset.rules[i].holds_on(day)))

    def _tried(self, facts: Facts, among: Iterable[int]) -> tuple[list[int], list[int]]:
        fires, open_ = [], []
        for i in among:
            reading = self.reader_of(i)(facts)
            if reading is True:
                fires.append(i)
            elif reading is not False and self._is_possible(i, facts):
                open_.append(i)
        return fires, open_

    def read(self, facts: Facts, rules: int) -> tuple[int, int]:
        """Of *rules* (as bits) those that fire, and those that still may, by reading their guards."""
        if not rules:
            return 0, 0
        fires, open_ = self._tried(facts, bits(rules))
        return as_bits(fires), as_bits(open_)

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
        stands = self.conflicts.surviving(as_bits(sorted(firing)))
        return Standing(firing, frozenset(bits(stands)), self.conflicts.clashes(stands))

    def answer(self, standing: Standing, outcome: str) -> tuple[str | None, int | None]:
        """The action that an outcome gets and the rule that gives it; (None, None) for nobody or a clash."""
        takers = [i for i in standing.stands if any(o == outcome for o, _ in self._takes(i))]
        actions = {action for i in takers for o, action in self._takes(i) if o == outcome}
        if len(actions) != 1 or any(i in takers or j in takers for i, j in standing.clashes):
            return None, None
        return actions.pop(), self.conflicts.first(as_bits(takers))

    def _takes(self, i: int) -> tuple[tuple[str, str], ...]:
        return self.ruleset.rules[i].effect.takes

    def decide(
        self, facts: Facts, day: int, among: Iterable[int] | None = None, names_unknown: bool = True
    ) -> Decision:
        """What holds in the case with these *facts* on that *day* (a proleptic ordinal).

        With *among* only those rules are read: right for what no other rule can influence. Without *names_unknown*
        the decision says which outcomes are undecided, and not for which facts: that is most of the work.
        """
        if among is None and self._is_indexed:
            views = self._looked_up(facts, day, names_unknown)
        else:
            views = self._compared(facts, day, among, names_unknown)
        fires = changing = live = drawn = 0
        standing, winners, waits = list[Stand](), dict[str, int](), dict[str, tuple[str, ...]]()
        for view in views:
            if view.fires:
                fires |= view.fires
                standing.append(view.stand)
                winners.update(view.winners)
            if not names_unknown:
                waits.update(dict.fromkeys(view.undecided, ()))
            elif view.asked:
                waits.update(view.asked.waits)
                changing |= view.asked.changing
                live += view.asked.live
                drawn += view.asked.drawn
        results = dict.fromkeys(self.ruleset.outcomes, NOBODY)
        asked: dict[str, None] = {}
        for outcome in self.ruleset.outcomes:
            if outcome in winners:
                winner = winners[outcome]
                results[outcome] = self._result(outcome, winner)
                asked.update(dict.fromkeys(self._asked_by(winner)))
        stands = sum([stand.stands for stand in standing])
        variables = self.ruleset.variables
        found = Decision(
            outcomes=results,
            required=tuple(sorted([action for stand in standing for action in stand.duties[0]])),
            prohibited=tuple(sorted([action for stand in standing for action in stand.duties[1]])),
            permitted=tuple(sorted([action for stand in standing for action in stand.duties[2]])),
            fired=tuple(map(self._fired.__getitem__, bits(fires))),
            lost=tuple(map(self._fired.__getitem__, bits(fires & ~stands))),
            conflicts=tuple([self._conflict(i, j) for i, j in sorted(chain(*[stand.clashes for stand in standing]))]),
            missing_facts=self.asked(changing | live, live + (drawn if changing else 0)),
            path=tuple([f"{var}={_shown(variables[var], facts[var])}" for var in asked if var in facts]),
            undecided={o: self.asking.in_turn(waits[o]) for o in results if o in waits},
        )
        return self._hedged(found, day) if self.ruleset.unproven else found

    def _hedged(self, found: Decision, day: int) -> Decision:
        """*found* without what unproven rules may change."""
        unproven = self.unproven
        open_ = {outcome for outcome in found.outcomes if unproven.about_outcome(outcome, day)}
        withheld = [name for name in (*found.required, *found.permitted) if unproven.about(name, day)]
        return replace(
            found,
            outcomes={name: NOBODY if name in open_ else result for name, result in found.outcomes.items()},
            required=tuple(name for name in found.required if name not in withheld),
            permitted=tuple(name for name in found.permitted if name not in withheld),
            undecided={name: facts for name, facts in found.undecided.items() if name not in open_},
            unproven=unproven.in_force(day),
            withheld=tuple(sorted({*withheld})),
        )

    def _looked_up(self, facts: Facts, day: int, names_unknown: bool, among: int = -1) -> list[View]:
        """Every room in which something *among* fires or may fire: as it was when a case last left it in this state."""
        look, found = self.index.look(facts, day), list[View]()
        case = Case(self.basis, facts, day, look, 0, lambda full: self.fires_at(full, day))
        state, views, scopes = look.state, self._views, self._scopes
        unread, bound = look.some & self.index.unread, 0
        if self.conflicts.constrained and case.bound:
            bound = self.index.rules_of(look.possible & self.index.speaking(case.bound))
        for room, mine in self.conflicts.rooms_in(look.some & among):
            asked: Hashable = state & scopes[room]
            fires = open_ = 0
            if mine & bound:
                asked = asked, case.left_by_points if mine & unread else case.left_by_cells
            if mine & unread:
                fires, open_ = self.read(facts, mine & look.unsettled)
                asked = asked, fires, open_, tuple(map(case.waits_of, bits(mine & unread)))
            view = views.get(asked)
            if view is None or (names_unknown and view.asked is None):
                if not mine & unread:
                    fires, open_ = self.read(facts, mine & look.unsettled)
                outlook = Completions(case, room, look.sure & mine | fires, look.open & mine | open_)
                view = outlook.view(names_unknown)
                is_read_anew = outlook.is_singular and (self.ruleset.constraints or mine & unread)
                if not is_read_anew and mine.bit_count() <= MOST_RULES:
                    if len(views) >= MOST_REMEMBERED:
                        views.clear()
                    views[asked] = view
            found.append(view)
        return found

    def fires_at(self, full: Facts, day: int) -> int:
        """The rules that fire in a case, as bits."""
        look = self.index.look(full, day)
        return look.sure | self.read(full, look.unsettled)[0]

    def _compared(self, facts: Facts, day: int, among: Iterable[int] | None, names_unknown: bool) -> list[View]:
        """The same with every rule tried."""
        fires, open_ = map(as_bits, self.firing(facts, day, among))
        case = Case(self.basis, facts, day, None, open_, lambda full: fires | self.read(full, open_)[0])
        rooms = self.conflicts.rooms_in(fires | open_)
        return [Completions(case, room, fires & mine, open_ & mine).view(names_unknown) for room, mine in rooms]

    @cached_property
    def basis(self) -> Basis:
        """What all cases of the ruleset share."""
        return Basis(
            conflicts=self.conflicts,
            boxes_of=self.boxes_of,
            marks_of=self.marks_of,
            reader_of=self.reader_of,
            invariants=self.invariants,
            shapes=self._shapes,
            lanes=self.lanes,
            remembered={},
        )

    @cached_property
    def lanes(self) -> PackedCounts:
        """The facts in the order in which they are asked for."""
        formulas = (*(rule.guard for rule in self.ruleset.rules), *(c.formula for c in self.ruleset.constraints))
        named = set[str]().union(*map(names, formulas))
        return PackedCounts(sorted(named, key=self.question_order), len(self.ruleset.rules))

    def _result(self, outcome: str, winner: int) -> OutcomeResult:
        found = self._results.get((outcome, winner))
        if found is None:
            rule = self.ruleset.rules[winner]
            action = dict(rule.effect.takes)[outcome]
            found = self._results[outcome, winner] = OutcomeResult(action, rule.policy_id, rule.rule_id)
        return found

    @cached_property
    def _fired(self) -> Sequence[Fired]:
        return [Fired(rule.policy_id, rule.rule_id, rule.effect.action) for rule in self.ruleset.rules]

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

    def _asked_by(self, i: int) -> tuple[str, ...]:
        if i not in self._asked:
            self._asked[i] = tuple(sorted(names(self.ruleset.rules[i].guard), key=self.question_order))
        return self._asked[i]

    @cached_property
    def asking(self) -> Asking:
        """The order in which facts are asked for."""
        return Asking(self.ruleset.variables, self.ruleset.steps, self.ruleset.rules)

    def asked(self, facts: int, counts: int) -> tuple[str, ...]:
        """The facts of a set of `lanes`, the one with the highest of *counts* first, no step before an earlier one."""
        return self.asking.in_turn(self.lanes.ordered(facts, counts))

    def question_order(self, var: str) -> int:
        """The place of a fact among all that are asked for (seed 001, decision nodes)."""
        return self.asking.place[var]


def _states(room: tuple[int, Mapping[str, Sequence[Value | None]]]) -> tuple[int, int]:
    members, values = room
    return prod(map(len, values.values())), members


def _shown(variable: Variable, value: Value) -> str:
    if isinstance(value, bool):
        return "true" if value else "false"
    return value if isinstance(value, str) else str(variable.show(value))
