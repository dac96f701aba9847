"""What the unknown facts of one case could still change: which outcomes stay open, and which facts are worth asking.

Rules are looked at room by room (rules of two rooms never bear on one result). Where few are open, a diagram over all
completions answers exactly. Where many are, the open rules that could bear on an outcome are followed from rival to
rival; then a few telling completions are tried, and only when none of them differs is every way searched.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Hashable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property, partial, reduce
from itertools import islice
from operator import or_

from bylaw.logic.boxes import EVERYTHING, Box, TooManyBoxes, boxes, holds_in, meet, point, subtract
from bylaw.logic.contest import MOST_REMEMBERED, Contest, Duties, Rank, Verdict
from bylaw.logic.diagram import Diagram, TooWide, drawn
from bylaw.logic.firing import Look, Trace, bits
from bylaw.logic.ir import FALSE, Constraint, Facts, Formula, Ruleset, conj, names
from bylaw.logic.truth import possible, simplify, truth

MAX_BRANCHES = 2_000  # beyond that many ways the unknown facts could fall, an outcome counts as undecided
FEW = 10  # open boxes of one room that a diagram is tried for
TRIES = 6  # completions tried before all are searched

Rooms = dict[Hashable, "Room | None"]  # rooms as they were in other cases: what is open there decides the rest


@dataclass(frozen=True)
class Case:
    """What is known of one case: the facts, the rules that fire, those that stand, and those that still may fire."""

    contest: Contest
    boxes_of: Callable[[int], tuple[Box, ...] | None]
    look: Look | None  # what an index says of the case
    unlisted: int  # the rules that no index knows enough of
    places: Mapping[str, int]  # in which order facts are asked for
    fires_at: Callable[[Facts], int]  # the rules that fire in a full case
    remembered: Rooms
    facts: Facts
    day: int
    fires: int
    stands: int
    open: int

    @property
    def ruleset(self) -> Ruleset:
        """The rules."""
        return self.contest.ruleset


class Outlook:
    """The answers about one case."""

    def __init__(self, case: Case) -> None:
        self.case, self.contest = case, case.contest
        self._present = case.fires | case.open
        # of rules alike one that fires says as much as all: one more changes nothing
        self._open, self._alike = case.open, 0
        for rank, _ in self.contest.ranks_in(case.fires):
            self._open &= ~rank.members
            self._alike |= rank.first
        self._hopeless: dict[Rank, bool] = {}
        self._rooms: dict[int, Room | None] = {}
        self._unknown: dict[int, set[str]] = {}
        self._live = 0  # open rules that matter, of the rooms without a diagram

    # ---- what people are told ---------------------------------------------------------------------------------------

    def waits_for(self, outcome: str, action: str | None) -> Callable[[], tuple[str, ...]] | None:
        """What names the unknown facts that could change *outcome* from *action*; None when every completion agrees."""
        takers = self.contest.takers(outcome) & self._present
        number = self.contest.room_of(takers) if takers else -1
        if number not in self._open_rooms:
            return None
        room = self._room(number)
        if room is not None:
            return None if room.only_gives(outcome, action) else partial(self._turning, room, outcome, action)
        threats = self._threats(outcome, action)
        self._live |= threats
        return partial(self.facts_of, threats) if threats else None

    def _turning(self, room: Room, outcome: str, action: str | None) -> tuple[str, ...]:
        if outcome not in room.told:
            turning = room.turning(outcome)
            if not turning:  # only to be told for certain
                return self._named(self._influence(outcome, action) & self._open)
            told = self._ordered({var: self._counted(room)[var] for var in turning})
            if room.open & self.case.unlisted:
                return told
            room.told[outcome] = told
        return room.told[outcome]

    def missing(self, duties: Duties) -> tuple[str, ...]:
        """The unknown facts that could change anything. To be asked after the outcomes."""
        if not self._open:
            return ()
        rooms, wide = list[Room](), 0
        for number, members in self._open_rooms.items():
            room = self._room(number)
            if room is None:
                wide |= members
            else:
                rooms.append(room)
        live = self._live | (self._open_duties(duties, wide) if wide else 0)
        count = self._count(live)
        facts = set[str]()
        for room in rooms:
            facts.update(room.changing or (self._named(room.open) if room.is_changed else ()))
        if facts:
            facts.update(count)
            for room in rooms:
                for var, waiting in self._counted(room).items():
                    count[var] += waiting
            count = {var: count[var] for var in facts}
        return self._ordered(count)

    def _counted(self, room: Room) -> Mapping[str, int]:
        if room.open & self.case.unlisted:  # read from their guards, of which the boxes do not say everything
            return self._count(room.open)
        if room.count is None:
            room.count = self._count(room.open)
        return room.count

    def facts_of(self, rules: int) -> tuple[str, ...]:
        """The unknown facts that *rules* wait for, the one that most of them wait for first."""
        return self._ordered(self._count(rules))

    def _count(self, rules: int) -> dict[str, int]:
        """For each unknown fact how many of *rules* wait for it."""
        count = defaultdict[str, int](int)
        if self.case.look is not None and (listed := rules & ~self.case.unlisted):
            count.update(self.case.look.waiting(listed, self.case.facts))
        for i in bits(rules & self.case.unlisted):
            for var in self._unknown_of(i):
                count[var] += 1
        return count

    def _ordered(self, count: Mapping[str, int]) -> tuple[str, ...]:
        places = self.case.places
        return tuple(sorted(count, key=lambda var: (-count[var], places[var])))

    def _named(self, rules: int) -> tuple[str, ...]:
        """The unknown facts that *rules* name, those included that no value of would make a difference."""
        found = set[str]().union(*map(self._unknown_of, bits(rules)))
        return tuple(sorted(found, key=self.case.places.__getitem__))

    def _unknown_of(self, i: int) -> set[str]:
        """The unknown facts that rule *i* still waits for."""
        if i not in self._unknown:
            left = simplify(self.case.ruleset.rules[i].guard, self.case.facts)
            self._unknown[i] = names(left) - self.case.facts.keys()
        return self._unknown[i]

    # ---- few open rules ---------------------------------------------------------------------------------------------

    @cached_property
    def _open_rooms(self) -> dict[int, int]:
        found: dict[int, int] = {}
        left = self._open
        while left:
            room = self.contest.room_of(left)
            found[room] = left & self.contest.members_of(room)
            left ^= found[room]
        return found

    def _room(self, number: int) -> Room | None:
        """A room as a diagram of what is open there, None when that is too much."""
        if number not in self._rooms:
            self._rooms[number] = self._recalled(number)
        return self._rooms[number]

    def _recalled(self, number: int) -> Room | None:
        open_ = self._open_rooms[number]
        if open_.bit_count() > FEW:
            return None
        members, look = self.contest.members_of(number), self.case.look
        fires = self._alike & members
        is_bound = self.contest.is_constrained(number) and not self._bound.isdisjoint(self.contest.facts_of(number))
        left = self._left_of_invariants if is_bound else None
        if look is None or open_ & self.case.unlisted:
            return self._compared(number, fires, left, self._traced(open_))
        glance = number, fires, left, look.of_open(open_, number, members)
        try:
            return self.case.remembered[glance]
        except KeyError:
            return self._kept(glance, self._compared(number, fires, left, look.open_boxes(open_)))

    def _kept(self, asked: Hashable, room: Room | None) -> Room | None:
        remembered = self.case.remembered
        if len(remembered) >= MOST_REMEMBERED:
            remembered.clear()
        remembered[asked] = room
        return room

    def _compared(self, number: int, fires: int, left: Formula | None, trace: Trace | None) -> Room | None:
        """A room like another in every open box is that one, whatever else is known of either case."""
        if trace is None or len(trace[1]) > FEW:
            return None
        is_bound = left is not None and self._is_bound(trace)
        asked = number, fires, left if is_bound else None, trace
        if asked in self.case.remembered:
            return self.case.remembered[asked]
        return self._kept(asked, self._read_room(fires, self._open_rooms[number], trace, is_bound))

    def _is_bound(self, trace: Trace) -> bool:
        """Do the invariants still ask something of the facts that these boxes speak of?"""
        boxes_of, bound = self.case.boxes_of, self._bound
        return any(not bound.isdisjoint((boxes_of(i) or ())[n].regions) for i, n in trace[1])

    def _traced(self, rules: int) -> Trace | None:
        facts, open_, unknown = self.case.facts, list[tuple[int, int]](), set[str]()
        for i in bits(rules):
            guard = self.case.boxes_of(i)
            if guard is None:
                return None
            for n, box in enumerate(guard):
                if holds_in(box, facts):
                    open_.append((i, n))
                    unknown.update(box.regions)
        return frozenset(unknown.difference(facts)), tuple(open_)

    def _read_room(self, fires: int, open_: int, trace: Trace, is_bound: bool) -> Room | None:
        boxes_of, rank_of = self.case.boxes_of, self.contest.rank_of
        if any(box.residue for i in bits(open_) for box in boxes_of(i) or ()):
            return None
        existing = self._existing if is_bound else ()
        if existing is None:
            return None
        found = [_of_unknown((boxes_of(i) or ())[n], self.case.facts) for i, n in trace[1]]
        ranks = [rank_of[i] for i, _ in trace[1]]
        kinds = list(dict.fromkeys(ranks))

        def result(held: int) -> Verdict:
            return self.contest.verdict(reduce(or_, (kinds[n].members for n in bits(held)), fires))

        groups = [kinds.index(rank) for rank in ranks]
        try:
            diagram = drawn(found, groups, existing, self.case.ruleset.variables, result)
        except TooWide:
            return None
        return Room(diagram, open_, is_changed=any(end != result(0) for end in diagram.ends.values()))

    @cached_property
    def _existing(self) -> Sequence[Box] | None:
        """The completions that the invariants allow, as exact boxes. None when boxes do not say it."""
        left = self._left_of_invariants
        assert left is not None
        try:
            found = boxes(left, self.case.ruleset.variables)
        except TooManyBoxes:
            return None
        return found if all(box.is_exact for box in found) else None

    @cached_property
    def _bound(self) -> set[str]:
        """The facts of which the invariants still ask something."""
        return set() if self._left_of_invariants is None else names(self._left_of_invariants)

    @cached_property
    def _left_of_invariants(self) -> Formula | None:
        """What the invariants in force still ask, None for nothing. Facts that break one rule nothing out."""
        formulas = [c.formula for c in self.case.ruleset.constraints if in_force(c, self.case.day)]
        if not formulas:
            return None
        left = simplify(conj(formulas), self.case.facts)
        return None if left == FALSE else left

    # ---- many open rules --------------------------------------------------------------------------------------------

    def _threats(self, outcome: str, action: str | None) -> int:
        """The open rules that could change *outcome* from *action*; empty when every completion agrees."""
        found = self._influence(outcome, action) & self._open
        if found and action is not None and not self._can_differ(found, outcome, action):
            return 0
        return found

    def _influence(self, outcome: str, action: str | None) -> int:
        """The rules that answer *outcome* and, step by step, the rivals that do not give way to them."""
        takers = self._present & self.contest.takers(outcome)
        supporting = 0 if action is None else self.contest.supporting.get((outcome, action), 0)
        seen = todo = takers & ~(self._open & supporting)
        reached = 0
        while todo:
            rank, mine = next(self.contest.ranks_in(todo))
            todo ^= mine
            if self._is_hopeless(rank):
                continue
            reached |= mine
            further = rank.rivals & self._present & ~seen & ~rank.beaten
            seen |= further
            todo |= further
        return reached

    def _is_hopeless(self, rank: Rank) -> bool:
        """Does a secure rule remove such a rule in any case? One that is only banned may still win against others."""
        found = self._hopeless.get(rank)
        if found is None:
            removers = rank.beaters & self._secure
            found = bool(removers)
            if removers and not removers & ~self.contest.banning:
                found = not rank.beaten & rank.disputing & self._present
            self._hopeless[rank] = found
        return found

    @cached_property
    def _secure(self) -> int:
        """The standing rules that nothing unknown can remove."""
        contest, secure = self.contest, 0
        for i in sorted(bits(self.case.stands), key=lambda i: (contest.rank_of[i].level, i)):
            mine = contest.rank_of[i]
            if mine.beaters & self.case.fires:
                continue
            attackers = mine.beaters & self._open
            for attacker, its in contest.ranks_in(attackers):
                guards = attacker.beaters & secure
                if mine.disputing & its:
                    guards &= ~contest.banning
                if not guards:
                    break
            else:
                secure |= 1 << i
        return secure

    def _open_duties(self, duties: Duties, among: int) -> int:
        """Those *among* the open rules that could add or remove a duty, a prohibition or a permission."""
        found = 0
        told = {"required": duties[0], "prohibited": duties[1], "permitted": duties[2]}
        for rank, mine in self.contest.ranks_in(among):
            effect = rank.effect
            if self._is_hopeless(rank):
                continue
            adds = effect.kind != "outcome" and effect.action not in told[effect.kind]
            if adds or rank.beaten & self.case.stands:
                found |= mine
        return found

    def _can_differ(self, threats: int, outcome: str, action: str) -> bool:
        """Is there a completion, true to the invariants, in which *outcome* is not *action*? True when in doubt."""
        if self._is_seen_to_differ(threats, outcome, action):
            return True
        case, known = self.case, self.case.facts
        budget = [MAX_BRANCHES]
        ordered = list(bits(threats))

        def differs(piece: Box, k: int, fired: int) -> bool:
            budget[0] -= 1
            if budget[0] < 0:
                return True
            if k == len(ordered):
                return self.contest.action_of(self.contest.surviving(fired), outcome) != action
            guard = case.boxes_of(ordered[k])
            if guard is None:
                return True
            rest = [piece]
            for box in guard:
                if not holds_in(box, known) or not self._residue_possible(box):
                    continue
                unknown = _of_unknown(box, known)
                met = meet(piece, unknown)
                if met is not None and differs(met, k + 1, fired | 1 << ordered[k]):
                    return True
                if unknown.is_exact:
                    rest = [part for r in rest for part in subtract(r, unknown, case.ruleset.variables)]
            return any(differs(part, k + 1, fired) for part in rest)

        return any(differs(start, 0, case.fires) for start in self._existing_cases())

    def _is_seen_to_differ(self, threats: int, outcome: str, action: str) -> bool:
        """Does one of a few completions, in each of which some threat fires, have another answer?"""
        case, variables = self.case, self.case.ruleset.variables
        formulas = [c.formula for c in case.ruleset.constraints if in_force(c, case.day)]
        for i in islice(bits(threats), TRIES):
            guard = case.boxes_of(i)
            if guard is None:
                continue
            for box in guard:
                if not holds_in(box, case.facts):
                    continue
                tried = {**self.contest.anything, **point(_of_unknown(box, case.facts), variables), **case.facts}
                if not all(truth(formula, tried) for formula in formulas):
                    continue
                if self.contest.action_of(self.contest.surviving(case.fires_at(tried)), outcome) != action:
                    return True
        return False

    def _residue_possible(self, box: Box) -> bool:
        return all(possible(item, box, self.case.facts, self.case.ruleset.variables) for item in box.residue)

    def _existing_cases(self) -> Sequence[Box]:
        """The completions that the invariants allow, as boxes that may be too wide."""
        left = self._left_of_invariants
        if left is None:
            return [EVERYTHING]
        try:
            found = [box for box in boxes(left, self.case.ruleset.variables) if self._residue_possible(box)]
        except TooManyBoxes:
            found = []
        return found or [EVERYTHING]


class Room:
    """A room with few open rules, the diagram of all its completions, and what was told of it."""

    def __init__(self, diagram: Diagram[Verdict], open_: int, is_changed: bool) -> None:
        self._diagram, self.open = diagram, open_
        self.is_changed = is_changed  # from what is known now, by some completion
        self.told: dict[str, tuple[str, ...]] = {}
        self.count: Mapping[str, int] | None = None

    @cached_property
    def changing(self) -> list[str]:
        """The facts that can change anything."""
        return self._diagram.turning(lambda end: end)

    def turning(self, outcome: str) -> list[str]:
        """The facts that can change *outcome*."""
        return self._diagram.turning(lambda end: _answer(end, outcome))

    def only_gives(self, outcome: str, action: str | None) -> bool:
        """Does every completion end with that action?"""
        return all(_answer(end, outcome) == action for end in self._diagram.ends.values())


def _answer(end: Verdict, outcome: str) -> str | None:
    return next((action for asked, action in end[0] if asked == outcome), None)


def _of_unknown(box: Box, known: Facts) -> Box:
    return Box({var: where for var, where in box.regions.items() if var not in known}, box.residue)


def in_force(constraint: Constraint, day: int) -> bool:
    """Does the invariant hold on that day (an ordinal)?"""
    return (constraint.start is None or constraint.start <= day) and (constraint.end is None or day <= constraint.end)
