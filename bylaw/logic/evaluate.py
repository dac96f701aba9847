"""Which rules speak to this case, and what follows. The reference reading of the logic: no solver here.

Three-valued throughout: an unknown fact satisfies neither a test nor its negation. A rule fires only when its guard
is known to be true; an outcome is decided only if, besides, every completion of the unknown facts agrees.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property, reduce
from operator import or_

from bylaw.logic.boxes import Box, TooManyBoxes, boxes, holds_in
from bylaw.logic.contest import NOTHING, Contest, Duties, Stand
from bylaw.logic.diagram import Marks, Shapes
from bylaw.logic.firing import Firing, Look, as_bits, bits
from bylaw.logic.ground import Ground, ground
from bylaw.logic.ir import Facts, Ruleset, Variable, names
from bylaw.logic.outlook import Case, Outlook, Rooms
from bylaw.logic.rivalry import Rivals
from bylaw.logic.truth import Reading, possible, reader

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
    """`decide` for many cases: sets of rules are built once, boxes of a guard when they are first needed.

    *is_indexed*: which rules fire is looked up rather than tried, worth its building for whoever decides all day.
    """

    def __init__(self, ruleset: Ruleset, is_indexed: bool = False) -> None:
        self.ruleset = ruleset
        self.rivals = Rivals(ruleset)
        self._is_indexed = is_indexed
        self._boxes: dict[int, tuple[Box, ...] | None] = {}
        self._rooms: Rooms = {}
        self._grounds: dict[tuple[int, int], Ground] = {}
        self._asked: dict[int, tuple[str, ...]] = {}
        self._shapes = Shapes(ruleset.variables)
        self._marks: dict[int, tuple[Marks, ...]] = {}
        self._readers: dict[int, Reading] = {}
        self._invariants = [(constraint, reader(constraint.formula)) for constraint in ruleset.constraints]
        self._by_id = {rule.rule_id: i for i, rule in enumerate(ruleset.rules)}

    @cached_property
    def contest(self) -> Contest:
        """Who contradicts whom, as sets."""
        return Contest(self.ruleset)

    @cached_property
    def index(self) -> Firing:
        """Which rules a case makes fire, as a look-up. Made with all else that depends on no case."""
        found = Firing(self.ruleset, self.boxes_of)
        for i in range(len(self.ruleset.rules)):
            self.marks_of(i)
            self._asked_by(i)
        for i in bits(found.loose | ~found.plain & as_bits(range(len(self.ruleset.rules)))):
            self.reader_of(i)
        self._shapes.prepare()
        self.contest.prepare()
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
        rooms = {self.contest.rooms[i] for i in bits(rules)}
        asked = sum(map(self.contest.members_of, rooms)), day
        if asked not in self._grounds:
            if len(self._grounds) >= MOST_GROUNDS:
                self._grounds.clear()
            self._grounds[asked] = ground(self.ruleset, self.boxes_of, *asked)
        return self._grounds[asked]

    def firing(self, facts: Facts, day: int, among: Iterable[int] | None = None) -> tuple[list[int], list[int]]:
        """The rules in force that fire, and those that some completion of the unknown facts would make fire."""
        if among is None and self._is_indexed:
            fires, open_, _ = self._looked_up(facts, day)
            return list(bits(fires)), list(bits(open_))
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

    def _looked_up(self, facts: Facts, day: int) -> tuple[int, int, Look]:
        look = self.index.look(facts, day)
        if not look.unsettled:
            return look.sure, look.open, look
        fires, open_ = self._tried(facts, bits(look.unsettled))
        return look.sure | as_bits(fires), look.open | as_bits(open_), look

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
        return actions.pop(), self._first(takers)

    def _first(self, takers: Iterable[int]) -> int:
        return min(takers, key=self._strength.__getitem__)

    def _takes(self, i: int) -> tuple[tuple[str, str], ...]:
        return self.ruleset.rules[i].effect.takes

    def decide(
        self, facts: Facts, day: int, among: Iterable[int] | None = None, names_unknown: bool = True
    ) -> Decision:
        """What holds in the case with these *facts* on that *day* (a proleptic ordinal).

        With *among* only those rules are read: right for what no other rule can influence. Without *names_unknown*
        the decision says which outcomes are undecided, and not for which facts: that is most of the work.
        """
        case = self._case(facts, day, among)
        outlook, home = Outlook(case), self.contest.home
        results: dict[str, OutcomeResult] = {}
        undecided: dict[str, tuple[str, ...]] = {}
        asked: dict[str, None] = {}
        for outcome in self.ruleset.outcomes:
            action = case.standing.get(home.get(outcome, -1), NOTHING).actions.get(outcome)
            waits_for = outlook.waits_for(outcome, action)
            if waits_for is not None:
                undecided[outcome] = waits_for() if names_unknown else ()
            if action is None or waits_for is not None:
                results[outcome] = NOBODY
                continue
            winner = self._first(bits(case.stands & self.contest.taking[outcome][action]))
            rule = self.ruleset.rules[winner]
            results[outcome] = OutcomeResult(action, rule.policy_id, rule.rule_id)
            asked.update(dict.fromkeys(self._asked_by(winner)))
        required, prohibited, permitted = duties = _together(case.standing.values())
        clashes = sorted(pair for stand in case.standing.values() for pair in stand.clashes)
        return Decision(
            outcomes=results,
            required=required,
            prohibited=prohibited,
            permitted=permitted,
            fired=tuple(map(self._fired.__getitem__, bits(case.fires))),
            lost=tuple(map(self._fired.__getitem__, bits(case.fires & ~case.stands))),
            conflicts=tuple(self._conflict(i, j) for i, j in clashes),
            missing_facts=outlook.missing(duties) if names_unknown else (),
            path=tuple(f"{var}={_shown(self.ruleset.variables[var], facts)}" for var in asked if var in facts),
            undecided=undecided,
        )

    def _case(self, facts: Facts, day: int, among: Iterable[int] | None) -> Case:
        look: Look | None = None
        if among is None and self._is_indexed:
            fires, open_, look = self._looked_up(facts, day)
        else:
            fires, open_ = map(as_bits, self.firing(facts, day, among))

        def fires_at(full: Facts) -> int:
            if among is None and self._is_indexed:
                return self._looked_up(full, day)[0]
            return fires | as_bits(self._tried(full, bits(open_))[0])

        standing = {room: self.contest.stand(mine) for room, mine in self.contest.rooms_in(fires)}
        return Case(
            contest=self.contest,
            boxes_of=self.boxes_of,
            marks_of=self.marks_of,
            reader_of=self.reader_of,
            invariants=self._invariants,
            shapes=self._shapes,
            look=look,
            unlisted=open_ if look is None else self.index.loose,
            asking=self._asking,
            places=self._places,
            fires_at=fires_at,
            remembered=self._rooms,
            facts=facts,
            day=day,
            fires=fires,
            standing=standing,
            stands=reduce(or_, (stand.stands for stand in standing.values()), 0),
            open=open_,
        )

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
    def _asking(self) -> Sequence[str]:
        return sorted(self.ruleset.variables, key=self.question_order)

    @cached_property
    def _places(self) -> Mapping[str, int]:
        return {var: n for n, var in enumerate(self._asking)}

    @cached_property
    def _strength(self) -> Sequence[int]:
        """The place of every rule among all, the strongest first."""
        rules = self.ruleset.rules
        order = sorted(range(len(rules)), key=lambda i: (rules[i].level, rules[i].rule_id))
        return [n for _, n in sorted(zip(order, range(len(rules)), strict=True))]

    def question_order(self, var: str) -> tuple[int, str]:
        """Booleans are asked first, then enums, then numbers and dates (seed 001, decision nodes)."""
        return _QUESTION_ORDER.get(self.ruleset.variables[var].kind, 2), var


_QUESTION_ORDER = {"boolean": 0, "enum": 1}


def _together(standing: Iterable[Stand]) -> Duties:
    """The duties of all rooms."""
    kinds: list[list[str]] = [[], [], []]
    for stand in standing:
        for kind, actions in zip(kinds, stand.duties, strict=True):
            kind += actions
    required, prohibited, permitted = map(tuple, map(sorted, kinds))
    return required, prohibited, permitted


def _shown(variable: Variable, facts: Facts) -> str:
    value = variable.show(facts[variable.name])
    return str(value).lower() if isinstance(value, bool) else str(value)
