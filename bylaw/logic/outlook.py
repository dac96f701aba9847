"""What the unknown facts of one case could still change: which outcomes stay open, and which facts are worth asking.

Rules are looked at room by room (rules of two rooms never bear on one result). Where few are open, a diagram over all
completions answers exactly. Where many are, the open rules that could bear on an outcome are followed from rival to
rival; then a few telling completions are tried, and only when none of them differs is every way searched.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property, partial
from itertools import islice

from bylaw.logic.boxes import EVERYTHING, Box, TooManyBoxes, boxes, holds_in, meet, point, subtract
from bylaw.logic.contest import MOST_REMEMBERED, Contest, Duties, Rank, Stand
from bylaw.logic.diagram import Layout, Marks, Shapes, TooWide, laid_out
from bylaw.logic.firing import Look, Trace, bits
from bylaw.logic.ir import FALSE, Constraint, Facts, Formula, Ruleset, conj
from bylaw.logic.room import Room
from bylaw.logic.truth import Reading, possible, simplify, truth

MAX_BRANCHES = 2_000  # beyond that many ways the unknown facts could fall, an outcome counts as undecided
FEW = 10  # open boxes of one room that a diagram is tried for
TRIES = 6  # completions tried before all are searched

Rooms = dict[Hashable, Room | None]  # rooms as they were in other cases: what is open there decides the rest


@dataclass(frozen=True)
class Case:
    """What is known of one case: the facts, the rules that fire, those that stand, and those that still may fire."""

    contest: Contest
    boxes_of: Callable[[int], tuple[Box, ...] | None]
    marks_of: Callable[[int], tuple[Marks, ...]]
    reader_of: Callable[[int], Reading]
    invariants: Sequence[tuple[Constraint, Reading]]
    shapes: Shapes
    look: Look | None  # what an index says of the case
    unlisted: int  # the rules that no index knows enough of
    asking: Sequence[str]  # the facts in the order in which they are asked for
    places: Mapping[str, int]  # and each one's place there
    fires_at: Callable[[Facts], int]  # the rules that fire in a full case
    remembered: Rooms
    facts: Facts
    day: int
    fires: int
    standing: Mapping[int, Stand]  # of every room in which something fires
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
        self._open = case.open
        for stand in case.standing.values():
            self._open &= ~stand.kin
        self._hopeless: dict[Rank, bool] = {}
        self._open_rooms = dict(self.contest.rooms_in(self._open))
        self._rooms: dict[int, Room | None] = {}
        self._unknown: dict[int, frozenset[str]] = {}
        self._live = 0  # open rules that matter, of the rooms without a diagram

    # ---- what people are told ---------------------------------------------------------------------------------------

    def waits_for(self, outcome: str, action: str | None) -> Callable[[], tuple[str, ...]] | None:
        """What names the unknown facts that could change *outcome* from *action*; None when every completion agrees."""
        number = self.contest.home.get(outcome, -1)
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
            count = self._counted(room)
            told = self._ordered({var: count[var] for var in turning})
            if room.open & self.case.unlisted:
                return told
            room.told[outcome] = told
        return room.told[outcome]

    def missing(self, duties: Duties) -> tuple[str, ...]:
        """The unknown facts that could change anything. To be asked after the outcomes."""
        if not self._open:
            return ()
        facts, wide, drawn, alone = set[str](), 0, 0, self._alone()
        for number, members in self._open_rooms.items():
            if members & alone:
                continue
            room = self._room(number)
            if room is None:
                wide |= members
            else:
                drawn |= members
                facts.update(room.changing or (self._named(room.open) if room.is_changed else ()))
        live = alone | self._live | (self._open_duties(duties, wide) if wide else 0)
        count = self._count(live)
        if drawn and (facts or alone):
            facts.update(count)
            every = self._count(live | drawn)
            count = {var: every[var] for var in facts}
        return self._ordered(count)

    def _alone(self) -> int:
        """The open rules beside which nothing fires or may fire in their rooms: all that one waits for turns it."""
        if self.case.look is None:
            return 0
        single, standing = self.case.look.by_one_box() & self.contest.lonely, self.case.standing
        rooms = self._open_rooms.items()
        return sum([mine for room, mine in rooms if mine & single and mine.bit_count() == 1 and room not in standing])

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
        places, width = self.case.places, len(self.case.places)
        first = sorted([places[var] - waiting * width for var, waiting in count.items()])
        return tuple([self.case.asking[place % width] for place in first])

    def _named(self, rules: int) -> tuple[str, ...]:
        """The unknown facts that *rules* name, those included that no value of would make a difference."""
        found = set[str]().union(*map(self._unknown_of, bits(rules)))
        return self._ordered(dict.fromkeys(found, 0))

    def _unknown_of(self, i: int) -> frozenset[str]:
        """The unknown facts that rule *i* still waits for."""
        if i not in self._unknown:
            self._unknown[i] = _waits(self.case.reader_of(i)(self.case.facts))
        return self._unknown[i]

    # ---- few open rules ---------------------------------------------------------------------------------------------

    def _room(self, number: int) -> Room | None:
        """A room as a diagram of what is open there, None when that is too much."""
        if number not in self._rooms:
            self._rooms[number] = self._recalled(number, self._open_rooms[number])
        return self._rooms[number]

    def _recalled(self, number: int, open_: int) -> Room | None:
        if open_.bit_count() > FEW:
            return None
        contest, case, left = self.contest, self.case, None
        ranks = case.standing[number].ranks if number in case.standing else 0
        if number in contest.constrained and not self._bound.isdisjoint(contest.facts_of(number)):
            left = self._left_of_invariants
        if case.look is None or open_ & case.unlisted:
            return self._compared(number, open_, ranks, left, self._traced(open_))
        if left is not None:
            return self._compared(number, open_, ranks, left, case.look.open_boxes(open_))
        glance = number, ranks, case.look.of_open(open_, number, contest.members_of(number))
        if glance in case.remembered:
            return case.remembered[glance]
        return self._kept(glance, self._compared(number, open_, ranks, left, case.look.open_boxes(open_)))

    def _kept(self, asked: Hashable, room: Room | None) -> Room | None:
        remembered = self.case.remembered
        if len(remembered) >= MOST_REMEMBERED:
            remembered.clear()
        remembered[asked] = room
        return room

    def _compared(self, number: int, open_: int, ranks: int, left: Formula | None, trace: Trace | None) -> Room | None:
        """A room like another in every open box is that one, whatever else is known of either case."""
        if trace is None or len(trace[1]) > FEW:
            return None
        is_bound = left is not None and self._is_bound(trace)
        asked: Hashable = (number, ranks, trace)
        if not is_bound and asked in self.case.remembered:
            return self.case.remembered[asked]
        kinds, layout = self._laid_out(open_, trace, is_bound)
        if is_bound:  # what an invariant leaves of a fact matters only by the cells that it leaves
            asked = (number, ranks, trace, layout)
            if asked in self.case.remembered:
                return self.case.remembered[asked]
        try:
            found = layout and Room(self.contest, ranks, open_, kinds, layout)
        except TooWide:
            found = None
        return self._kept(asked, found)

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

    def _laid_out(self, open_: int, trace: Trace, is_bound: bool) -> tuple[Iterable[int], Layout | None]:
        """The ranks that open boxes are of, and how these lie; None when boxes do not say it."""
        case, rank_of = self.case, self.contest.rank_of
        unlisted = open_ & case.unlisted
        if unlisted and any(box.residue for i in bits(unlisted) for box in case.boxes_of(i) or ()):
            return (), None
        if is_bound and self._existing is None:
            return (), None
        facts, marks_of = case.facts, case.marks_of
        found, groups = list[Marks](), list[int]()
        group_of: dict[int, int] = {}
        for i, n in trace[1]:
            found.append([mark for mark in marks_of(i)[n] if mark[0] not in facts])
            groups.append(group_of.setdefault(rank_of[i].number, len(group_of)))
        existing, shapes = self._bounds if is_bound else ((), case.shapes)
        return group_of, laid_out(found, groups, existing, shapes)

    @cached_property
    def _bounds(self) -> tuple[Sequence[Marks], Shapes]:
        """The completions that the invariants allow, by numbers that are of this case alone."""
        for i in bits(self._open if self.case.look is None else 0):  # an index has numbered everybody
            self.case.marks_of(i)  # INVARIANT: whoever is met here has the numbers that hold everywhere
        shapes = Shapes(self.case.ruleset.variables, self.case.shapes)
        return [shapes.marks(box) for box in self._existing or ()], shapes

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
    def _bound(self) -> frozenset[str]:
        """The facts of which the invariants still ask something."""
        case = self.case
        found = [read(case.facts) for constraint, read in case.invariants if in_force(constraint, case.day)]
        if any(each is False for each in found):
            return frozenset()
        return frozenset[str]().union(*map(_waits, found))

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


def _waits(reading: bool | frozenset[str]) -> frozenset[str]:
    return frozenset() if isinstance(reading, bool) else reading


def _of_unknown(box: Box, known: Facts) -> Box:
    return Box({var: where for var, where in box.regions.items() if var not in known}, box.residue)


def in_force(constraint: Constraint, day: int) -> bool:
    """Does the invariant hold on that day (an ordinal)?"""
    return (constraint.start is None or constraint.start <= day) and (constraint.end is None or day <= constraint.end)
