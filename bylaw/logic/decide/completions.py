"""What the unknown facts could still change in one room of a case: which outcomes stay open, which facts to ask for.

Rules of two rooms never bear on one result. Where few rules are open, the answer is exact: pairs of completions show
that every fact matters, or else a diagram over all completions tells which do; facts that are compared with each other
are asked together there.
Where many are, the open rules that could bear on an outcome are followed from rival to rival; then a few telling
completions are tried, and only when none of them differs is every way searched.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable, Mapping, Sequence
from functools import cached_property
from itertools import islice
from operator import ne
from typing import NamedTuple, TypeVar

from bylaw.logic.boxes.boxes import EVERYTHING, Box, TooManyBoxes, boxes, holds_in, meet, point, subtract
from bylaw.logic.boxes.diagram import Bearing, Diagram, Layout, Tie, TooWide, drawn, laid_out
from bylaw.logic.boxes.truth import possible, truth
from bylaw.logic.decide.case import Case
from bylaw.logic.decide.component import Component, explored, held_by, seen
from bylaw.logic.decide.conflicts import NOTHING, Rank, Stand
from bylaw.logic.decide.firing import Look, Trace, bits
from bylaw.logic.decide.linked_facts import Member, member
from bylaw.logic.decide.pairs import turning
from bylaw.logic.formula.ir import Facts

_End = TypeVar("_End", bound=Hashable)

MAX_BRANCHES = 2_000  # beyond that many ways the unknown facts could fall, an outcome counts as undecided
FEW = 10  # open boxes of one room that a diagram is tried for
TRIES = 6  # completions tried before all are searched


class OpenFacts(NamedTuple):
    """What people are told of the unknown facts of a room: sets and counts of them by lanes.

    `waits` names those that could change an undecided outcome, `changing` are those that can surely change anything,
    `live` says how many open rules that matter wait for each, and `drawn` the same of rules that a diagram has read.
    """

    waits: Mapping[str, tuple[str, ...]]
    changing: int = 0
    live: int = 0
    drawn: int = 0


class View(NamedTuple):
    """A room as a case sees it: what fires and stands, who wins an outcome, which are undecided, and what is asked."""

    fires: int
    stand: Stand
    winners: tuple[tuple[str, int], ...]
    undecided: tuple[str, ...]
    asked: OpenFacts | None  # None where nobody wanted to know


class Completions:
    """One room of one case: the rules that fire there, and those that still may."""

    def __init__(self, case: Case, number: int, fires: int, open_: int) -> None:
        self.case, self.basis, self.conflicts, self.number = case, case.basis, case.basis.conflicts, number
        self.fires, self.stand = fires, self.conflicts.stand(fires) if fires else NOTHING
        self._present = fires | open_
        # of rules alike one that fires says as much as all: one more changes nothing
        self.open = open_ & ~self.stand.kin
        self._hopeless: dict[Rank, bool] = {}
        self._threats: dict[str, int] = {}
        self._linked: dict[tuple[int, int], Member] = {}  # open boxes that compare unknown facts
        self.is_singular = False  # did an answer need more of the case than which boxes its facts allow?

    @property
    def is_wide(self) -> bool:
        """Is more open than a diagram is tried for?"""
        return self.open.bit_count() > FEW

    # ---- what people are told ---------------------------------------------------------------------------------------

    def view(self, names_unknown: bool) -> View:
        """All that is said of the room."""
        winners, undecided = list[tuple[str, int]](), list[str]()
        for outcome in self.conflicts.outcomes_of(self.number):
            action = self.stand.actions.get(outcome)
            if self.open and self._is_undecided(outcome, action):
                undecided.append(outcome)
            elif action is not None:
                winners.append(
                    (outcome, self.conflicts.first(self.stand.stands & self.conflicts.taking[outcome][action]))
                )
        asked = self._asked(undecided) if names_unknown else None
        return View(self.fires, self.stand, tuple(winners), tuple(undecided), asked)

    def _is_undecided(self, outcome: str, action: str | None) -> bool:
        if self._room is not None:
            return not self._room.only_gives(outcome, action)
        self._threats[outcome] = self._threatening(outcome, action)
        return bool(self._threats[outcome])

    def _asked(self, undecided: Iterable[str]) -> OpenFacts:
        if not self.open:
            return NOTHING_ASKED
        if self._is_alone():
            waiting = self.case.count(self.open)
            return OpenFacts({}, waiting, waiting)
        room = self._room
        if room is None:
            live = self._open_duties()
            for threats in self._threats.values():
                live |= threats
            waits = {outcome: self._named(0, self._threats[outcome]) for outcome in undecided}
            return OpenFacts(waits, live=self.case.count(live))
        count = self.case.count(self.open)
        waits = {outcome: self._turning(room, outcome, count) for outcome in undecided}
        changing = room.changing or (self._waiting(self._telling(undecided)) if room.is_changed else 0)
        return OpenFacts(waits, changing, drawn=count)

    def _telling(self, undecided: Iterable[str]) -> int:
        """The open rules of which one will fire and change what is said, though no single fact changes it."""
        found = self._open_duties()
        for outcome in undecided:
            found |= self._influence(outcome, self.stand.actions.get(outcome)) & self.open
        return found or self.open

    def _named(self, facts: int, rules: int) -> tuple[str, ...]:
        """The facts that *rules* wait for, and *facts*, the one that most of them wait for first."""
        count = self.case.count(rules)
        return self.basis.lanes.ordered(facts | count, count)

    def _turning(self, room: Component, outcome: str, count: int) -> tuple[str, ...]:
        lanes = self.basis.lanes
        if outcome in room.turning:
            return lanes.ordered(room.turning[outcome], count)
        named = self._waiting(self._influence(outcome, self.stand.actions.get(outcome)) & self.open)
        return lanes.ordered(named, 0)  # only to be told for certain

    def _waiting(self, rules: int) -> int:
        """The unknown facts that *rules* name, those included that no value of would make a difference."""
        found = 0
        for i in bits(rules):
            found |= self.case.waits_of(i)
        return found

    def _is_alone(self) -> bool:
        """Is it one open rule beside which nothing fires or may fire? All that such a one waits for turns it."""
        look, rules = self.case.look, self.open
        if look is None or self.fires or rules & (rules - 1) or not rules & self.conflicts.lonely:
            return False
        return look.is_one_box(rules)

    # ---- few open rules ---------------------------------------------------------------------------------------------

    @cached_property
    def _room(self) -> Component | None:
        """The room as a diagram of what is open there, None when that is too much."""
        if self.is_wide:
            return None
        look = self._look
        try:
            trace = look.open_boxes(self.open) if look else self._traced(self.open)
            return None if trace is None or len(trace[1]) > FEW else self._compared(self._may_be_bound, look, trace)
        except TooWide:
            return None

    @property
    def _may_be_bound(self) -> bool:
        """Do the invariants in force say something of the facts of this room that is not known yet?"""
        number, case = self.number, self.case
        if number not in self.conflicts.constrained or case.bound.isdisjoint(self.conflicts.facts_of(number)):
            return False
        return case.left is not None

    def diagram(
        self, result: Callable[[int], _End], budget: int, bearing: Callable[[int, tuple[int, ...]], Bearing]
    ) -> Diagram[_End] | None:
        """Every completion of the case: what *result* says of the ranks (by number, as bits) that fire there.

        *bearing* says of ranks that fire, and of others that may, which of these can still change it. None where that
        takes more than *budget* situations, or comparisons between facts that nothing here can order.
        """
        firing, rules = self.stand.ranks, self._bearing(bearing)
        try:
            trace = self._look.open_boxes(rules) if self._look else self._traced(rules)
            if trace is None:
                return None
            kinds, layout = self._laid_out(trace, self._may_be_bound and self._is_bound(trace))
            return drawn(layout, lambda held: result(_with(firing, kinds, held)), budget, bearing(firing, kinds))
        except TooWide:
            return None

    def turned(self, result: Callable[[int], Hashable], bearing: Callable[[int, tuple[int, ...]], Bearing]) -> int:
        """The facts that open rules wait for (by lanes), where pairs of completions show of each that it turns the
        *result*; none when in doubt: then a diagram says it.
        """
        look, rules = self._look, self._bearing(bearing)
        if look is None or not rules:
            return 0
        boxes = look.boxes_of(rules)
        if self._may_be_bound and boxes & look.firing.speaking(self.case.bound):
            return 0
        return turning(look, boxes, held_by(self.conflicts, self.stand.ranks, look, result), ne)

    @cached_property
    def _look(self) -> Look | None:
        """What the index says, where it knows all open rules."""
        return None if self.open & self.case.unlisted else self.case.look

    def _bearing(self, bearing: Callable[[int, tuple[int, ...]], Bearing]) -> int:
        """The open rules without those of ranks that change nothing in any way."""
        ranks = sorted([(rank.number, mine) for rank, mine in self.conflicts.ranks_in(self.open)])
        found = bearing(self.stand.ranks, tuple([number for number, _ in ranks]))(0, (1 << len(ranks)) - 1)
        return sum([ranks[n][1] for n in bits(found)])

    def _compared(self, may_be_bound: bool, look: Look | None, trace: Trace) -> Component | None:
        """A room like another in every open box is that one, whatever else is known of either case."""
        is_bound = may_be_bound and self._is_bound(trace)
        if is_bound or self._linked:
            return self._explored(trace, is_bound)

        def found() -> Component | None:
            room = seen(self.conflicts, self.number, self.stand.ranks, look, trace) if look else None
            return room or self._explored(trace, False)

        return self.basis.once((self.number, self.stand.ranks, trace), found)

    def _explored(self, trace: Trace, is_bound: bool) -> Component | None:
        """The same of rooms whose open boxes lie alike, of which an invariant may leave only a part."""
        kinds, layout = self._laid_out(trace, is_bound)

        def found() -> Component | None:
            try:
                return explored(self.conflicts, self.basis.lanes, self.stand.ranks, kinds, layout)
            except TooWide:
                return None

        return self.basis.once((self.stand.ranks, kinds, layout), found)

    def _is_bound(self, trace: Trace) -> bool:
        """Do the invariants still ask something of the facts that these boxes speak of?"""
        bound = self.case.bound
        spoken = (fact for i, n in trace[1] for fact in self._box(i, n).facts)
        return not bound.isdisjoint(spoken)

    def _box(self, i: int, n: int) -> Box:
        return (self.basis.boxes_of(i) or ())[n]

    def _traced(self, rules: int) -> Trace | None:
        facts, open_, unknown = self.case.facts, list[tuple[int, int]](), set[str]()
        for i in bits(rules):
            guard = self.basis.boxes_of(i)
            if guard is None:
                return None
            for n, box in enumerate(guard):
                if not holds_in(box, facts):
                    continue
                if not box.is_exact:
                    self.is_singular = self.is_singular or not facts.keys().isdisjoint(box.facts)
                    found = member(box, facts) if self._residue_possible(box) else None
                    if found is None:
                        continue
                    self._linked[i, n] = found
                open_.append((i, n))
                unknown.update(box.regions)
        return frozenset(unknown.difference(facts)), tuple(open_)

    def _laid_out(self, trace: Trace, is_bound: bool) -> tuple[tuple[int, ...], Layout]:
        """The ranks that open boxes are of, and how these lie. Raises TooWide where points do not say it."""
        case, rank_of = self.case, self.conflicts.rank_of
        there = case.existing if is_bound else ()
        if there is None:
            raise TooWide
        kinds = tuple(sorted({rank_of[i].number for i, _ in trace[1]}))
        group_of = {number: n for n, number in enumerate(kinds)}
        groups = [group_of[rank_of[i].number] for i, _ in trace[1]]
        found = [self.basis.marks_of(i)[n] for i, n in trace[1]]
        ties: Sequence[Tie] = ()
        if self._linked or not all(box.is_exact for box, _ in there):
            asking = [self._linked.get((i, n)) or member(self._box(i, n), case.facts) for i, n in trace[1]]
            ties = self.basis.ties([one for one in (*asking, *(one for _, one in there)) if one], len(there))
        existing, shapes = case.bounds if is_bound else ((), self.basis.shapes)
        return kinds, laid_out(found, groups, existing, shapes, case.facts, ties)

    # ---- many open rules --------------------------------------------------------------------------------------------

    def _threatening(self, outcome: str, action: str | None) -> int:
        """The open rules that could change *outcome* from *action*; empty when every completion agrees."""
        found = self._influence(outcome, action) & self.open
        if found and action is not None and not self._can_differ(found, outcome, action):
            return 0
        return found

    def _influence(self, outcome: str, action: str | None) -> int:
        """The rules that answer *outcome* and, step by step, the rivals that do not give way to them."""
        takers = self._present & self.conflicts.takers(outcome)
        supporting = 0 if action is None else self.conflicts.supporting.get((outcome, action), 0)
        seen = todo = takers & ~(self.open & supporting)
        reached = 0
        while todo:
            rank, mine = next(self.conflicts.ranks_in(todo))
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
            if removers and not removers & ~self.conflicts.banning:
                found = not rank.beaten & rank.disputing & self._present
            self._hopeless[rank] = found
        return found

    @cached_property
    def _secure(self) -> int:
        """The standing rules that nothing unknown can remove."""
        conflicts, secure = self.conflicts, 0
        for i in sorted(bits(self.stand.stands), key=lambda i: (conflicts.rank_of[i].level, i)):
            mine = conflicts.rank_of[i]
            if mine.beaters & self.fires:
                continue
            attackers = mine.beaters & self.open
            for attacker, its in conflicts.ranks_in(attackers):
                guards = attacker.beaters & secure
                if mine.disputing & its:
                    guards &= ~conflicts.banning
                if not guards:
                    break
            else:
                secure |= 1 << i
        return secure

    def _open_duties(self) -> int:
        """The open rules that could add or remove a duty, a prohibition or a permission."""
        found = 0
        told = dict(zip(("required", "prohibited", "permitted"), self.stand.duties, strict=True))
        for rank, mine in self.conflicts.ranks_in(self.open):
            effect = rank.effect
            if self._is_hopeless(rank):
                continue
            adds = effect.kind != "outcome" and effect.action not in told[effect.kind]
            if adds or rank.beaten & self.stand.stands:
                found |= mine
        return found

    def _can_differ(self, threats: int, outcome: str, action: str) -> bool:
        """Is there a completion, true to the invariants, in which *outcome* is not *action*? True when in doubt."""
        self.is_singular = True
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
                return self.conflicts.action_of(self.conflicts.surviving(fired), outcome) != action
            guard = self.basis.boxes_of(ordered[k])
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

        return any(differs(start, 0, self.fires) for start in self._existing_cases())

    def _is_seen_to_differ(self, threats: int, outcome: str, action: str) -> bool:
        """Does one of a few completions, in each of which some threat fires, have another answer?"""
        case, variables = self.case, self.case.ruleset.variables
        formulas = case.invariants
        for i in islice(bits(threats), TRIES):
            guard = self.basis.boxes_of(i)
            if guard is None:
                continue
            for box in guard:
                if not holds_in(box, case.facts):
                    continue
                tried = {**self.conflicts.anything, **point(_of_unknown(box, case.facts), variables), **case.facts}
                if not all(truth(formula, tried) for formula in formulas):
                    continue
                if self.conflicts.action_of(self.conflicts.surviving(case.fires_at(tried)), outcome) != action:
                    return True
        return False

    def _residue_possible(self, box: Box) -> bool:
        return all(possible(item, box, self.case.facts, self.case.ruleset.variables) for item in box.residue)

    def _existing_cases(self) -> Sequence[Box]:
        """The completions that the invariants allow, as boxes that may be too wide."""
        if self.case.left is None:
            return [EVERYTHING]
        try:
            found = [box for box in boxes(self.case.left, self.case.ruleset.variables) if self._residue_possible(box)]
        except TooManyBoxes:
            found = []
        return found or [EVERYTHING]


NOTHING_ASKED = OpenFacts({})


def _of_unknown(box: Box, known: Facts) -> Box:
    return Box({var: where for var, where in box.regions.items() if var not in known}, box.residue)


def _with(ranks: int, kinds: Sequence[int], groups: int) -> int:
    """*ranks* and, of *kinds* (numbers of ranks), those of *groups* (as bits)."""
    return ranks | sum([1 << kinds[n] for n in bits(groups)])
