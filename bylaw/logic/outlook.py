"""What the unknown facts of one case could still change: which outcomes stay open, and which facts are worth asking.

Rules are looked at room by room (rules of two rooms never bear on one result). Where few are open, a diagram over all
completions answers exactly. Where many are, the open rules that could bear on an outcome are followed from rival to
rival; then a few telling completions are tried, and only when none of them differs is every way searched.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property, partial
from itertools import islice
from typing import Any

from bylaw.logic.boxes import EVERYTHING, Box, TooManyBoxes, boxes, holds_in, meet, point, subtract
from bylaw.logic.contest import Contest, Rank
from bylaw.logic.diagram import Diagram, TooWide
from bylaw.logic.firing import bits
from bylaw.logic.ir import FALSE, Constraint, Facts, Formula, Ruleset, conj, names
from bylaw.logic.truth import possible, simplify, truth

MAX_BRANCHES = 2_000  # beyond that many ways the unknown facts could fall, an outcome counts as undecided
FEW = 10  # open boxes of one room that a diagram is tried for
TRIES = 6  # completions tried before all are searched

Rooms = dict[Hashable, "_Room | None"]  # rooms as they were in other cases: what is open there decides the rest
MOST_REMEMBERED = 20_000

Duties = Mapping[str, tuple[str, ...]]


@dataclass(frozen=True)
class Case:
    """What is known of one case: the facts, the rules that fire, those that stand, and those that still may fire."""

    contest: Contest
    boxes_of: Callable[[int], tuple[Box, ...] | None]
    waiting: Callable[[int], Counter[str]]  # for each unknown fact how many of some rules wait for it, by an index
    unlisted: int  # the rules that the index does not know enough of
    question_order: Callable[[str], tuple[int, str]]
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
        self._hopeless: dict[Rank, bool] = {}
        self._rooms: dict[int, _Room | None] = {}
        self._unknown: dict[int, set[str]] = {}
        self._live = 0  # open rules that matter, of the rooms without a diagram

    # ---- what people are told ---------------------------------------------------------------------------------------

    def waits_for(self, outcome: str, action: str | None) -> Callable[[], tuple[str, ...]] | None:
        """What names the unknown facts that could change *outcome* from *action*; None when every completion agrees."""
        takers = self.contest.takers(outcome) & self._present
        if not takers or not self.case.open:
            return None
        room = self._room(next(bits(takers)))
        if room is not None:
            turning = room.turning(outcome)
            if turning:
                return partial(self._ordered, room.members, turning)
            if room.only_gives(outcome, action):
                return None
            told = self._influence(outcome, action) & self.case.open  # only to be told for certain
            return partial(self._named, told) if told else None
        threats = self._threats(outcome, action)
        self._live |= threats
        return partial(self.facts_of, threats) if threats else None

    def missing(self, duties: Duties) -> tuple[str, ...]:
        """The unknown facts that could change anything. To be asked after the outcomes."""
        if not self.case.open:
            return ()
        live, facts = self._live, dict[str, None]()
        whole = wide = 0
        for members in self._open_rooms.values():
            room = self._room(next(bits(members)))
            if room is None:
                wide |= members
            else:
                whole |= members
                facts.update(dict.fromkeys(room.turning(None) or (self._named(members) if room.is_changed else ())))
        if wide:
            live |= self._open_duties(duties, wide)
        if not facts:
            return self.facts_of(live)
        rest = self.facts_of(live)
        return self._ordered(live | whole, dict.fromkeys((*facts, *rest)))

    def facts_of(self, rules: int) -> tuple[str, ...]:
        """The unknown facts that *rules* wait for, the one that most of them wait for first."""
        return self._ordered(rules, None)

    def _ordered(self, rules: int, only: Iterable[str] | None) -> tuple[str, ...]:
        if not rules:
            return ()
        count = Counter[str]()
        if listed := rules & ~self.case.unlisted:
            count = self.case.waiting(listed)
        for i in bits(rules & self.case.unlisted):
            count.update(self._unknown_of(i))
        if only is not None:
            count = Counter({var: count[var] for var in only})
        return tuple(sorted(count, key=lambda var: (-count[var], self.case.question_order(var))))

    def _named(self, rules: int) -> tuple[str, ...]:
        """The unknown facts that *rules* name, those included that no value of would make a difference."""
        found = set[str]().union(*map(self._unknown_of, bits(rules)))
        return tuple(sorted(found, key=self.case.question_order))

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
        left = self.case.open
        while left:
            room = self.contest.rooms[(left & -left).bit_length() - 1]
            found[room] = left & self.contest.members_of(room)
            left ^= found[room]
        return found

    def _room(self, i: int) -> _Room | None:
        """The room of rule *i* as a diagram, None when too much is open there."""
        number = self.contest.rooms[i]
        if number not in self._rooms:
            self._rooms[number] = self._read_room(number, self._open_rooms.get(number, 0))
        return self._rooms[number]

    def _read_room(self, number: int, members: int) -> _Room | None:
        if members.bit_count() > FEW or self._existing is None:
            return None
        found: list[Box] = []
        owners: list[int] = []
        open_: list[tuple[int, int]] = []
        for i in bits(members):
            guard = self.case.boxes_of(i)
            if guard is None or not all(box.is_exact for box in guard):
                return None
            for n, box in enumerate(guard):
                if holds_in(box, self.case.facts):
                    found.append(_of_unknown(box, self.case.facts))
                    owners.append(i)
                    open_.append((i, n))
        if len(found) > FEW:
            return None
        speaking = {var for box in found for var in box.regions}
        existing = self._existing if any(speaking & box.regions.keys() for box in self._existing) else ()
        fires = self.case.fires & self.contest.members_of(number)
        asked = number, fires, tuple(open_), frozenset(speaking), tuple(existing and (self._left_of_invariants,))
        if asked not in self.case.remembered:
            if len(self.case.remembered) >= MOST_REMEMBERED:
                self.case.remembered.clear()
            self.case.remembered[asked] = self._drawn(found, owners, existing, fires, members)
        return self.case.remembered[asked]

    def _drawn(
        self, found: Sequence[Box], owners: Sequence[int], existing: Sequence[Box], fires: int, members: int
    ) -> _Room | None:
        outcomes = tuple(sorted({o for i in bits(members | fires) for o, _ in self.contest.rank_of[i].effect.takes}))
        said: dict[int, Hashable] = {}

        def result(held: int) -> Hashable:
            fired = fires
            for n in bits(held):
                fired |= 1 << owners[n]
            if fired not in said:
                stands = self.contest.surviving(fired)
                said[fired] = (
                    tuple(self.contest.action_of(stands, o) for o in outcomes),
                    duties_of(self.contest, stands),
                )
            return said[fired]

        try:
            diagram = Diagram(found, existing, self.case.ruleset.variables, result)
        except TooWide:
            return None
        return _Room(diagram, members, outcomes, is_changed=set(diagram.ends.values()) != {result(0)})

    @cached_property
    def _existing(self) -> Sequence[Box] | None:
        """The completions that the invariants allow, as exact boxes; empty: all. None when boxes do not say it."""
        left = self._left_of_invariants
        if left is None:
            return ()
        try:
            found = boxes(left, self.case.ruleset.variables)
        except TooManyBoxes:
            return None
        return found if all(box.is_exact for box in found) else None

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
        found = self._influence(outcome, action) & self.case.open
        if found and action is not None and not self._can_differ(found, outcome, action):
            return 0
        return found

    def _influence(self, outcome: str, action: str | None) -> int:
        """The rules that answer *outcome* and, step by step, the rivals that do not give way to them."""
        takers = self._present & self.contest.takers(outcome)
        supporting = 0 if action is None else self.contest.supporting.get((outcome, action), 0)
        seen = todo = takers & ~(self.case.open & supporting)
        reached = 0
        while todo:
            rank = self.contest.rank_of[(todo & -todo).bit_length() - 1]
            mine = todo & rank.members
            todo &= ~mine
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
            attackers = mine.beaters & self.case.open
            while attackers:
                attacker = contest.rank_of[(attackers & -attackers).bit_length() - 1]
                guards = attacker.beaters & secure
                if mine.disputing & attackers & attacker.members:
                    guards &= ~contest.banning
                if not guards:
                    break
                attackers &= ~attacker.members
            else:
                secure |= 1 << i
        return secure

    def _open_duties(self, duties: Duties, among: int) -> int:
        """Those *among* the open rules that could add or remove a duty, a prohibition or a permission."""
        found, left = 0, among
        while left:
            rank = self.contest.rank_of[(left & -left).bit_length() - 1]
            mine = left & rank.members
            left &= ~mine
            effect = rank.effect
            if self._is_hopeless(rank):
                continue
            adds = effect.kind != "outcome" and effect.action not in duties[effect.kind]
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


class _Room:
    """A room with few open rules, and the diagram of all its completions."""

    def __init__(self, diagram: Diagram, members: int, outcomes: tuple[str, ...], is_changed: bool) -> None:
        self.diagram, self.members, self.outcomes = diagram, members, outcomes
        self.is_changed = is_changed  # from what is known now, by some completion
        self._turning: dict[str | None, list[str]] = {}

    def turning(self, outcome: str | None) -> list[str]:
        """The facts that can change *outcome*, or anything."""
        if outcome not in self._turning:
            part = (lambda end: end) if outcome is None else self._answer(outcome)
            self._turning[outcome] = self.diagram.turning(part)
        return self._turning[outcome]

    def only_gives(self, outcome: str, action: str | None) -> bool:
        """Does every completion end with that action?"""
        return all(self._answer(outcome)(end) == action for end in self.diagram.ends.values())

    def _answer(self, outcome: str) -> Callable[[Any], Any]:
        at = self.outcomes.index(outcome)
        return lambda end: end[0][at]


def duties_of(contest: Contest, stands: int) -> tuple[tuple[str, ...], tuple[str, ...], tuple[str, ...]]:
    """What the standing rules require, prohibit and permit; an outcome's action is told under its outcome."""
    found: dict[str, set[str]] = {"required": set(), "prohibited": set(), "permitted": set()}
    left = stands
    while left:
        rank = contest.rank_of[(left & -left).bit_length() - 1]
        left &= ~rank.members
        effect = rank.effect
        taken = {action for _, action in effect.takes}
        found["required"].update(action for action in effect.demands if action not in taken)
        if effect.kind in ("prohibited", "permitted"):
            found[effect.kind].add(effect.action)
    required, prohibited, permitted = (tuple(sorted(actions)) for actions in found.values())
    return required, prohibited, permitted


def _of_unknown(box: Box, known: Facts) -> Box:
    return Box({var: where for var, where in box.regions.items() if var not in known}, box.residue)


def in_force(constraint: Constraint, day: int) -> bool:
    """Does the invariant hold on that day (an ordinal)?"""
    return (constraint.start is None or constraint.start <= day) and (constraint.end is None or day <= constraint.end)
