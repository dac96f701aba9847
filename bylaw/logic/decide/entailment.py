"""What every completion of a partly known case says of one action: taken or allowed, denied, neither, or torn.

A case is a region for each fact that is known or supposed: one value, or the values that a condition leaves. The ways
in which the other facts can fall are searched, as boxes, until both answers are seen or none is left. Comparisons
between facts that stay unknown are taken as tests that may turn out either way.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Literal, TypeAlias

from bylaw.logic.boxes.boxes import Box, Region, TooManyBoxes, boxes, domain, meet_regions, region, without
from bylaw.logic.boxes.truth import FLIPPED, amount, truth
from bylaw.logic.decide.case import in_force
from bylaw.logic.decide.evaluate import Evaluator
from bylaw.logic.decide.firing import bits
from bylaw.logic.formula.ir import And, Atom, Compare, Formula, Not, Ref, Value, Variable, atoms, conj, disj, names

Status = Literal["given", "denied", "silent", "torn"]
Key: TypeAlias = str | Compare  # a fact, or a comparison that may turn out either way
Cell: TypeAlias = Mapping[Key, Region]
Live: TypeAlias = tuple[tuple[int, Mapping[Key, Region]], ...]  # boxes that are still possible, by the rule they are of

Bounds: TypeAlias = tuple[tuple[Mapping[Key, Region], ...], ...]  # for each invariant what it leaves, as alternatives

MOST_NODES = 4_000  # beyond them a question counts as open
_EITHER: Region = frozenset((True, False))
_YES: Region = frozenset((True,))
_NO: Region = frozenset((False,))


@dataclass(frozen=True, slots=True)
class Ways:
    """The statuses that were seen, each with the cell where it was seen first. Not `complete`: there may be others."""

    seen: Mapping[Status, Cell]
    is_complete: bool = True

    def all(self, status: Status) -> bool:
        """Does every completion have that status, and does one exist?"""
        return self.is_complete and set(self.seen) == {status}

    def any(self, status: Status) -> bool:
        """Does some completion have it?"""
        return status in self.seen


@dataclass(frozen=True)
class About:
    """What bears on one action: rules (as bits), and where an exception lifts one that demands it."""

    action: str
    outcome: str | None
    rules: int
    speaking: int
    lifts: tuple[Formula, ...]


class Entailment:
    """`ways` for many questions about one ruleset on one day."""

    def __init__(self, evaluator: Evaluator, day: int) -> None:
        self.evaluator, self.day = evaluator, day
        self.ruleset, self.conflicts = evaluator.ruleset, evaluator.conflicts
        self._about: dict[tuple[str, str | None], About] = {}
        self._lifted: dict[Formula, tuple[Box, ...] | None] = {}

    @cached_property
    def invariants(self) -> Sequence[tuple[Formula, tuple[Box, ...] | None]]:
        """Those in force, as boxes."""
        found = [constraint.formula for constraint in self.ruleset.constraints if in_force(constraint, self.day)]
        return [(formula, self._boxes(formula)) for formula in found]

    @cached_property
    def in_force(self) -> int:
        """The rules of the day."""
        return sum(1 << i for i, rule in enumerate(self.ruleset.rules) if rule.holds_on(self.day))

    def about(self, action: str, outcome: str | None) -> About:
        """What bears on *action* of *outcome*."""
        key = action, outcome
        if key not in self._about:
            self._about[key] = self._bearing(action, outcome)
        return self._about[key]

    def _bearing(self, action: str, outcome: str | None) -> About:
        conflicts, rules = self.conflicts, self.ruleset.rules
        others = {other for one, other in self.ruleset.excludes if one == action}
        speaking, lifts = 0, list[Formula]()
        for i in bits(self.in_force):
            effect = rules[i].effect
            mine = action in (effect.action, *effect.demands) or (
                action in effect.implied and effect.kind == "permitted"
            )
            takes = outcome is not None and any(name == outcome for name, _ in effect.takes)
            if mine or takes or not others.isdisjoint(effect.demands):
                speaking |= 1 << i
            if mine and outcome is None and effect.kind in ("required", "outcome"):
                lifts += _lifts(rules[i].guard)
        rooms = {conflicts.rooms[i] for i in bits(speaking)}
        bearing = sum(map(conflicts.members_of, rooms)) & self.in_force
        return About(action, outcome, bearing, speaking, tuple(dict.fromkeys(lifts)))

    def _bringing(self, action: str) -> frozenset[str]:
        """The permitted actions that bring *action* with them: whoever may do the one has to do the other."""
        return self._permitted_with.get(action, frozenset())

    @cached_property
    def _permitted_with(self) -> Mapping[str, frozenset[str]]:
        found: dict[str, frozenset[str]] = {}
        for effect in (rule.effect for rule in self.ruleset.rules if rule.effect.kind == "permitted"):
            for brought in effect.implied:
                found[brought] = found.get(brought, frozenset()) | {effect.action}
        return found

    @cached_property
    def lines(self) -> Mapping[str, frozenset[Value]]:
        """The values at which the rules of the day test each fact."""
        found: dict[str, set[Value]] = {}
        for i in bits(self.in_force):
            for test in atoms(self.ruleset.rules[i].guard):
                found.setdefault(test.var, set()).update(test.value if isinstance(test.value, tuple) else (test.value,))
        return {name: frozenset(values) for name, values in found.items()}

    def region_of(self, atoms: Iterable[Atom], fact: str) -> Region:
        """The values of *fact* that all *atoms* leave."""
        variable = self.ruleset.variables[fact]
        found = domain(variable)
        for atom in atoms:
            found = meet_regions(found, region(atom, variable))
        return found

    def ways(self, action: str, outcome: str | None, cell: Cell, wanted: Status) -> Ways:
        """The statuses of *action* over the completions of *cell*; it stops when *wanted* and another are seen."""
        about = self.about(action, outcome)
        return _Search(self, about, cell, wanted).run()

    def box_lists(self, about: About) -> Iterator[tuple[int, Formula, tuple[Box, ...] | None]]:
        """The guards that bear on it, by number: rules, and behind them the lifts."""
        for i in bits(about.rules):
            yield i, self.ruleset.rules[i].guard, self.evaluator.boxes_of(i)
        for k, formula in enumerate(about.lifts, start=len(self.ruleset.rules)):
            yield k, formula, self._boxes(formula)

    def _boxes(self, formula: Formula) -> tuple[Box, ...] | None:
        if formula not in self._lifted:
            try:
                self._lifted[formula] = boxes(formula, self.ruleset.variables)
            except TooManyBoxes:
                self._lifted[formula] = None
        return self._lifted[formula]

    def status(self, about: About, fires: int, is_lifted: bool) -> Status:
        """What the rules that fire say of the action."""
        stand = self.conflicts.stand(fires)
        required, prohibited, permitted = stand.duties
        action = about.action
        if self._is_torn(about, stand.stands, stand.clashes):
            return "torn"
        if about.outcome is not None:
            taken = stand.actions.get(about.outcome)
            if taken is not None:
                return "given" if taken == action else "denied"
        if action in prohibited:
            return "denied"
        if action in required or action in permitted or not self._bringing(action).isdisjoint(permitted):
            return "given"
        demanded = {*required, *stand.actions.values()}
        if any((action, other) in self.ruleset.excludes for other in demanded):
            return "denied"
        return "denied" if is_lifted else "silent"

    def _is_torn(self, about: About, stands: int, clashes: Sequence[tuple[int, int]]) -> bool:
        """Is a contradiction about this action unresolved?"""
        return bool(clashes) and any(about.speaking >> i & 1 and about.speaking >> j & 1 for i, j in clashes)


def _lifts(guard: Formula) -> Iterator[Formula]:
    """Where a duty would hold but for an exception: its guard without what it excludes, and what it excludes."""
    if not isinstance(guard, And):
        return
    lifted = [item.item for item in guard.items if isinstance(item, Not)]
    if lifted:
        yield conj([*(item for item in guard.items if not isinstance(item, Not)), disj(lifted)])


class _Search:
    """One question: the boxes that are possible, narrowed step by step."""

    def __init__(self, asked: Entailment, about: About, cell: Cell, wanted: Status) -> None:
        self.asked, self.about, self.wanted = asked, about, wanted
        self.lift_from = len(asked.ruleset.rules)
        variables = asked.ruleset.variables
        regions = [(fact, where) for fact, where in cell.items() if isinstance(fact, str)]
        points = {fact: point_of(where, variables[fact]) for fact, where in regions}
        self.points = {fact: value for fact, value in points.items() if value is not None}
        self.cell: dict[Key, Region] = dict(cell)
        self.seen: dict[Status, Cell] = {}
        self.left = MOST_NODES

    def run(self) -> Ways:
        """The statuses that are seen."""
        live: list[tuple[int, Mapping[Key, Region]]] = []
        fires = 0
        for i, guard, found in self.asked.box_lists(self.about):
            narrowed = self._unlisted(i, guard) if found is None else [*map(self._narrowed, found)]
            possible = [mine for mine in narrowed if mine is not None]
            if any(not mine for mine in possible):
                fires |= 1 << i
            else:
                live += [(i, mine) for mine in possible]
        spoken = {key for _, mine in live for key in mine}
        bounds = tuple(self._bounds(spoken))
        self._search(dict(self.cell), fires, tuple(live), bounds)
        return Ways(self.seen, self.left > 0)

    def _unlisted(self, i: int, guard: Formula) -> list[Mapping[Key, Region] | None]:
        """A guard of too many boxes: what the known facts say of it, else that it may turn out either way."""
        reading = truth(guard, self.points)
        if reading is None:
            return [{Compare(Ref(f"?{i}"), "==", Ref("?")): _YES}]
        return [{}] if reading else []

    def _bounds(self, spoken: set[Key]) -> Iterator[tuple[Mapping[Key, Region], ...]]:
        """What the invariants still ask of facts that matter, as alternatives. One that is broken asks nothing."""
        for formula, found in self.asked.invariants:
            if found is None or not (names(formula) & {n for key in spoken for n in _facts(key)}):
                continue
            ways = tuple(mine for box in found if (mine := self._narrowed(box)) is not None)
            if ways and all(ways):
                yield ways

    def _narrowed(self, box: Box) -> Mapping[Key, Region] | None:
        """What *box* still asks in the cell: None when it is impossible, empty when it holds."""
        found: dict[Key, Region] = {}
        for fact, where in box.regions.items():
            mine = self._asks(fact, where)
            if mine is None:
                return None
            if mine:
                found[fact] = mine
        for item in box.residue:
            key, wanted = self._comparison(item)
            if key is None:
                if not wanted:
                    return None
                continue
            mine = self._asks(key, wanted)
            both = mine if mine is None or key not in found else meet_regions(found[key], wanted)
            if mine is None or (key in found and not both):
                return None
            if both:
                found[key] = both
        return found

    def _whole(self, key: Key) -> Region:
        if isinstance(key, str):
            return self.cell.get(key) or domain(self.asked.ruleset.variables[key])
        return self.cell.get(key, _EITHER)

    def _asks(self, key: Key, where: Region) -> Region | None:
        """What of *where* is in the cell: None for nothing, empty for all of the cell."""
        mine = self._whole(key)
        both = meet_regions(mine, where)
        if not both:
            return None
        return () if both == mine else both

    def _comparison(self, item: Compare) -> tuple[Key | None, Region]:
        """A comparison as a test: of nothing (empty where it fails), of one fact, or of what may fall either way."""
        reading = truth(item, self.points)
        if reading is not None:
            return None, _YES if reading else frozenset()
        one, two = amount(item.left, self.points), amount(item.right, self.points)
        variables = self.asked.ruleset.variables
        if isinstance(item.left, Ref) and two is not None:
            return item.left.var, region(Atom(item.left.var, item.op, two), variables[item.left.var])
        if isinstance(item.right, Ref) and one is not None:
            return item.right.var, region(Atom(item.right.var, FLIPPED[item.op], one), variables[item.right.var])
        match item.op:
            case "<" | "==":
                return item, _YES
            case ">":
                return Compare(item.right, "<", item.left), _YES
            case ">=":
                return Compare(item.left, "<", item.right), _NO
            case "<=":
                return Compare(item.right, "<", item.left), _NO
            case "!=":
                return Compare(item.left, "==", item.right), _NO

    # ---- the search -------------------------------------------------------------------------------------------------

    def _search(self, cell: dict[Key, Region], fires: int, live: Live, bounds: Bounds) -> None:
        self.left -= 1
        if self.left <= 0 or self._is_over():
            return
        mattering = self._mattering(fires, live)
        if not mattering:
            if self._exists(bounds):
                status = self.asked.status(self.about, fires & ((1 << self.lift_from) - 1), fires >> self.lift_from > 0)
                self.seen.setdefault(status, dict(cell))
            return
        key, where = self._branch(mattering)
        whole = cell.get(key) or self._whole(key)
        for part in (meet_regions(whole, where), without(whole, where)):
            if not part or self._is_over():
                continue
            left = self._cut(bounds, key, part)
            if left is None:
                continue
            now, still = fires, list[tuple[int, Mapping[Key, Region]]]()
            for i, mine in live:
                asks = mine.get(key)
                if asks is None:
                    still.append((i, mine))
                    continue
                both = meet_regions(asks, part)
                if not both:
                    continue
                rest = {k: r for k, r in mine.items() if k != key}
                if both != part:
                    rest[key] = both
                if rest:
                    still.append((i, rest))
                else:
                    now |= 1 << i
            self._search({**cell, key: part}, now, tuple((i, m) for i, m in still if not now >> i & 1), left)

    def _is_over(self) -> bool:
        return self.wanted in self.seen and len(self.seen) > 1

    def _mattering(self, fires: int, live: Live) -> Live:
        """The open boxes that can still change the status: of rules that speak of it, and of their rivals in turn."""
        conflicts, rules_only = self.asked.conflicts, (1 << self.lift_from) - 1
        kin = conflicts.stand(fires & rules_only).kin
        open_ = 0
        for i, _ in live:
            open_ |= 1 << i
        lifts = open_ & ~rules_only
        open_ &= rules_only & ~kin
        present = open_ | fires & rules_only
        reached, todo = 0, present & self.about.speaking
        while todo:
            rank, mine = next(conflicts.ranks_in(todo))
            todo ^= mine
            reached |= mine
            todo |= rank.rivals & present & ~rank.beaten & ~reached
        reached = reached & open_ | lifts
        return tuple((i, mine) for i, mine in live if reached >> i & 1)

    def _branch(self, live: Live) -> tuple[Key, Region]:
        """Where to look next: a test of the smallest box, on the fact that most boxes ask about."""
        count: dict[Key, int] = {}
        for _, mine in live:
            for key in mine:
                count[key] = count.get(key, 0) + 1
        _, smallest = min(live, key=lambda one: len(one[1]))
        key = max(smallest, key=lambda one: (count[one], isinstance(one, str), str(one)))
        return key, smallest[key]

    def _cut(self, bounds: Bounds, key: Key, part: Region) -> Bounds | None:
        """The invariants where *key* lies in *part*; None where one cannot hold."""
        if not bounds:
            return bounds
        found = []
        for ways in bounds:
            left = []
            for mine in ways:
                asks = mine.get(key)
                both = None if asks is None else meet_regions(asks, part)
                if both is None:
                    left.append(mine)
                elif both:
                    rest = {k: r for k, r in mine.items() if k != key}
                    left.append({**rest, key: both} if both != part else rest)
            if not left:
                return None
            if all(left):
                found.append(tuple(left))
        return tuple(found)

    def _exists(self, bounds: Bounds) -> bool:
        """Is there a case that all invariants leave?"""
        pieces: list[Mapping[Key, Region]] = [{}]
        for ways in bounds:
            pieces = [both for one in pieces for way in ways if (both := _met(one, way)) is not None][:64]
        return bool(pieces)


def _met(one: Mapping[Key, Region], other: Mapping[Key, Region]) -> Mapping[Key, Region] | None:
    found = dict(one)
    for key, where in other.items():
        found[key] = meet_regions(found[key], where) if key in found else where
        if not found[key]:
            return None
    return found


def point_of(where: Region, variable: Variable) -> Value | None:
    """The only value of a region, None where there are more."""
    if isinstance(where, frozenset):
        return next(iter(where)) if len(where) == 1 else None
    if len(where) != 1:
        return None
    (low, _), (high, _) = where[0]
    if isinstance(low, float) or isinstance(high, float):
        return None
    return low if high - low == int(variable.is_whole) else None


def _facts(key: Key) -> set[str]:
    return {key} if isinstance(key, str) else names(key)
