"""Which rules a case makes fire, looked up instead of tried: for each fact an index from its values to sets of rules.

A set of rules is the bits of one integer. Each rule has its boxes in numbered slots, at most one a slot; the slots lie
side by side in one integer, so the boxes that a case allows are a few intersections, and the rules that may fire are
the union over the slots. Rules that have no boxes, too many, or comparisons between facts are *loose*: the index only
rules them out, and whoever asks reads their guards.
"""

from __future__ import annotations

from bisect import bisect_right
from collections import defaultdict
from collections.abc import Callable, Container, Hashable, Iterable, Iterator, Mapping, Sequence
from functools import partial, reduce
from itertools import chain
from operator import or_
from typing import NamedTuple, Protocol, TypeAlias

from bylaw.logic.boxes.boxes import END, START, Box, Cut, Region, domain, meet_regions, region, without
from bylaw.logic.boxes.packed_counts import PackedCounts
from bylaw.logic.formula.ir import And, Atom, Facts, Formula, Not, Or, Ruleset, Value, Variable, atoms, compares, names

SLOTS = 8  # boxes of one rule that are indexed; a rule with more is loose
ROOM = 4_000_000  # bytes for the sets of one fact: beyond it only every so many bounds keeps its set
FEW = 6  # rules that are quicker looked at one by one

# The facts that some rules wait for, and their open boxes as (rule, number): what is left of the rules in a case.
Trace: TypeAlias = tuple[Hashable, tuple[tuple[int, int], ...]]


def bits(members: int) -> Iterator[int]:
    """The members of a set of bits, ascending."""
    while members:
        lowest = members & -members
        yield lowest.bit_length() - 1
        members ^= lowest


def as_bits(members: Iterable[int]) -> int:
    """The set of these members."""
    found = bytearray()
    for i in members:
        if i >> 3 >= len(found):
            found.extend(bytes((i >> 3) + 1 - len(found) + len(found) // 2))
        found[i >> 3] |= 1 << (i & 7)
    return int.from_bytes(found, "little")


class Table(Protocol):
    """Who of a slot allows a value of one fact: those who do not speak of it, and those whose region holds it."""

    def at(self, value: Value) -> int:
        """The set for one value."""
        ...

    def lowest(self, where: Region) -> Callable[[], int]:
        """What looks the set for the lowest values of a region up."""
        ...


class Words:
    """A table of a boolean or a list of words."""

    def __init__(self, regions: Sequence[tuple[int, Region]], silent: int) -> None:
        self._silent = silent
        allowing: dict[Value, list[int]] = defaultdict(list)
        for i, where in regions:
            assert isinstance(where, frozenset)
            for value in where:
                allowing[value].append(i)
        self._allowing = {value: silent | as_bits(those) for value, those in allowing.items()}

    def at(self, value: Value) -> int:
        return self._allowing.get(value, self._silent)

    def lowest(self, where: Region) -> Callable[[], int]:
        assert isinstance(where, frozenset)
        found = self.at(min(where))
        return lambda: found


class Line:
    """A table of a number or a date: sets change only at bounds, so it keeps the bounds and the set after each."""

    def __init__(self, regions: Sequence[tuple[int, Region]], silent: int) -> None:
        turns: dict[Cut, int] = defaultdict(int)
        for i, where in regions:
            for span in where:
                assert isinstance(span, tuple)
                for cut in span:
                    turns[cut] ^= 1 << i
        self.cuts = sorted(turns)
        width = max(1, silent.bit_length(), *(i + 1 for i, _ in regions)) // 8 + 32
        self._step = max(1, len(self.cuts) * width // ROOM)
        self._turns = [turns[cut] for cut in self.cuts] if self._step > 1 else []
        self._sets, now = [silent], silent
        for n, cut in enumerate(self.cuts, 1):
            now ^= turns[cut]
            if n % self._step == 0:
                self._sets.append(now)

    def at(self, value: Value) -> int:
        assert not isinstance(value, str)
        count = bisect_right(self.cuts, (value, 0))
        return self._sets[count] if self._step == 1 else self.after(count)

    def lowest(self, where: Region) -> Callable[[], int]:
        low, _ = where[0] if isinstance(where, tuple) else (START, END)
        return partial(self._sets.__getitem__ if self._step == 1 else self.after, bisect_right(self.cuts, low))

    def after(self, count: int) -> int:
        """The set beyond the *count* lowest bounds."""
        if self._step == 1:
            return self._sets[count]
        found = self._sets[count // self._step]
        for turn in self._turns[count // self._step * self._step : count]:
            found ^= turn
        return found


# A fact of which a box does not allow every value, as a lane; who allows a value within it, and one just beyond it.
Edge: TypeAlias = tuple[int, Callable[[], int], Callable[[], int]]


class Look(NamedTuple):
    """What the index says of a case. `possible` are the boxes that the known facts allow, and `some` their rules.

    `sure` fire, `open` may fire with some completion, and `unsettled` have to be read. `many` have several such boxes.
    `unknown` are facts, by lanes.
    """

    firing: Firing
    possible: int
    unknown: int
    some: int
    many: int
    sure: int
    open: int
    unsettled: int

    @property
    def state(self) -> int:
        """All that guards without comparisons between facts can read in the case: see `Firing.scope`."""
        return self.possible << self.firing.lanes.size | self.unknown

    def is_one_box(self, rule: int) -> bool:
        """Is a single box of a rule (as a bit) still possible, and does it wait for each fact that it speaks of?"""
        return bool(rule & self.open & ~self.many & ~self.firing.vain)

    def open_boxes(self, rules: int) -> Trace:
        """What is open of *rules*, whose boxes the index must know."""
        told, places, possible = self.firing.told, self.firing.places, self.possible
        waiting, open_ = 0, list[tuple[int, int]]()
        for i in bits(rules):
            for n, place in enumerate(places[i]):
                if possible >> place & 1:
                    waiting |= told[i][n]
                    open_.append((i, n))
        return waiting & self.unknown, tuple(open_)

    def boxes_of(self, rules: int) -> int:
        """The possible boxes of *rules*, by their places."""
        return self.firing.boxes_of(rules) & self.possible

    def waiting(self, rules: int) -> int:
        """For every unknown fact how many of *rules* have a possible box that speaks of it, by lanes."""
        return self.firing.waiting(self, rules)


class Firing:
    """The index of a ruleset. `boxes_of` gives a rule's guard as boxes, None when it needs too many."""

    def __init__(
        self, ruleset: Ruleset, boxes_of: Callable[[int], tuple[Box, ...] | None], lanes: PackedCounts
    ) -> None:
        self.ruleset, self.lanes = ruleset, lanes
        loose, plain, vain, unread = list[int](), list[int](), list[int](), list[int]()
        self._in_force: dict[int, int] = {}
        known: list[tuple[Box, ...]] = []
        for i, rule in enumerate(ruleset.rules):
            found = boxes_of(i)
            if found is None or len(found) > SLOTS:
                found, is_loose = (Box({}),), True
            else:
                is_loose = not all(box.is_exact for box in found)
            known.append(found)
            if is_loose:
                loose.append(i)
            elif all(_is_said(rule.guard, box, ruleset.variables) for box in found):
                plain.append(i)
            if is_loose or compares(rule.guard):
                unread.append(i)
            if any(where == domain(ruleset.variables[var]) for box in found for var, where in box.regions.items()):
                vain.append(i)
        self.loose, self.plain = as_bits(loose), as_bits(plain)
        self.vain = as_bits(vain)  # some box speaks of a fact whose every value it allows
        self.unread = as_bits(unread)  # rules whose guards say more than a state does
        self._slots, self.places = _beside(known)
        self._offsets = [offset for offset, _ in self._slots]
        spoken = defaultdict[str, list[int]](list)
        for place, box in zip(chain(*self.places), chain(*known), strict=True):
            for var in box.facts:
                spoken[var].append(place)
        self._speaking = {var: as_bits(its) for var, its in sorted(spoken.items())}
        self.told = [tuple(sum(lanes.of[var] for var in box.regions) for box in found) for found in known]
        self._tests = self._numbered(1 + max(chain(*self.places), default=0))
        rows = self._tabled(known)
        self._rows = [(var, lanes.of[var], speaking, table.at) for var, speaking, table in rows]
        self.edges, self.quiet = self._edged(known, {var: table for var, _, table in rows})
        self.spoken = [(lane, speaking) for _, lane, speaking, _ in self._rows if speaking]

    def _numbered(self, first: int) -> dict[Atom, int]:
        """A bit beyond all boxes for each test of the guards of which their boxes do not say everything."""
        guards = [rule.guard for rule in self.ruleset.rules]
        told = chain(*(atoms(guard) for guard in guards if not _is_conjunction(guard, True)))
        return {test: first + n for n, test in enumerate(dict.fromkeys(told))}

    def _tabled(self, known: Sequence[Sequence[Box]]) -> list[tuple[str, int, Table]]:
        """For each fact the boxes that speak of it, and who allows which value."""
        regions: dict[str, list[tuple[int, Region]]] = {var: [] for var in self.lanes.facts}
        for i, found in enumerate(known):
            for place, box in zip(self.places[i], found, strict=True):
                for var, where in box.regions.items():
                    regions[var].append((place, where))
        spoken = {var: as_bits(n for n, _ in its) for var, its in regions.items()}
        for test, n in self._tests.items():
            regions[test.var].append((n, region(test, self.ruleset.variables[test.var])))
        everyone = as_bits(chain(*self.places, self._tests.values()))
        rows = list[tuple[str, int, Table]]()
        for var, its in regions.items():
            table = Words if self.ruleset.variables[var].is_finite else Line
            silent = everyone & ~as_bits(n for n, _ in its)
            rows.append((var, spoken[var], table(its, silent)))
        return rows

    def _edged(
        self, known: Sequence[Sequence[Box]], tables: Mapping[str, Table]
    ) -> tuple[dict[int, list[Edge]], dict[int, Callable[[], int]]]:
        """For each box, by its place, its edges, and for each fact what looks up a value that few boxes allow."""
        found: dict[str, dict[Region, Edge]] = {var: {} for var in tables}
        for var, where in dict.fromkeys(chain(*(box.regions.items() for box in chain(*known)))):
            if beyond := without(domain(self.ruleset.variables[var]), where):
                found[var][where] = self.lanes.of[var], tables[var].lowest(where), tables[var].lowest(beyond)
        edges = {
            place: [found[var][where] for var, where in box.regions.items() if where in found[var]]
            for place, box in zip(chain(*self.places), chain(*known), strict=True)
        }
        outside = {self.lanes.of[var]: [edge[2] for edge in its.values()] for var, its in found.items()}
        return edges, {fact: min(its, key=lambda who: who().bit_count()) for fact, its in outside.items() if its}

    def scope(self, rules: int) -> int:
        """What of a `Look.state` bears on *rules*: their boxes and tests, and the facts that they name."""
        guards = [self.ruleset.rules[i].guard for i in bits(rules)]
        told = chain(*(atoms(guard) for guard in guards if not _is_conjunction(guard, True)))
        seen = chain(*(self.places[i] for i in bits(rules)), map(self._tests.__getitem__, told))
        facts = set[str]().union(*map(names, guards))
        return as_bits(seen) << self.lanes.size | sum(self.lanes.of[var] for var in facts)

    def boxes_of(self, rules: int) -> int:
        """The boxes of *rules*."""
        return sum([(rules & members) << offset for offset, members in self._slots])

    def rule_at(self, place: int) -> int:
        """The rule whose box has that place."""
        return place - self._offsets[bisect_right(self._offsets, place) - 1]

    def rules_of(self, boxes: int) -> int:
        """The rules of which one of *boxes* is."""
        return self._rules_of(boxes)[0]

    def _rules_of(self, boxes: int) -> tuple[int, int]:
        """The rules of which one of *boxes* is, and those of which several are."""
        some = many = 0
        for offset, members in self._slots:
            those = boxes >> offset & members
            many |= some & those
            some |= those
        return some, many

    def speaking(self, facts: Container[str]) -> int:
        """The boxes that speak of one of *facts*, also by a comparison."""
        return reduce(or_, [speaking for var, speaking in self._speaking.items() if var in facts], 0)

    def in_force(self, day: int) -> int:
        """The boxes of the rules in force on that day, and all tests."""
        found = self._in_force.get(day)
        if found is None:
            if len(self._in_force) > 64:  # people ask about today, and about a few other days
                self._in_force.clear()
            held = (self.places[i] for i, rule in enumerate(self.ruleset.rules) if rule.holds_on(day))
            found = self._in_force[day] = as_bits(chain(*held, self._tests.values()))
        return found

    def look(self, facts: Facts, day: int) -> Look:
        """Which rules fire, and which still may."""
        possible, waiting, unknown = self.in_force(day), 0, 0
        for var, lane, speaking, allowing in self._rows:
            if var in facts:
                possible &= allowing(facts[var])
            else:
                waiting |= speaking
                unknown |= lane
        some, many = self._rules_of(possible)
        whole = self.rules_of(possible & ~waiting)
        unsettled = (some & self.loose) | (whole & ~self.plain)
        return Look(self, possible, unknown, some, many, whole & ~unsettled, some & ~whole & ~unsettled, unsettled)

    def waiting(self, look: Look, rules: int) -> int:
        """For every unknown fact how many of *rules* have a possible box that speaks of it, by lanes."""
        one_by_one, found = rules if rules.bit_count() <= FEW else rules & look.many, 0
        for i in bits(one_by_one):
            mine = 0
            for place, facts in zip(self.places[i], self.told[i], strict=True):
                if look.possible >> place & 1:
                    mine |= facts
            found += mine & look.unknown
        if rest := rules ^ one_by_one:
            boxes = look.boxes_of(rest)
            for lane, speaking in self.spoken:
                if look.unknown & lane:
                    found += (boxes & speaking).bit_count() * lane
        return found


def _beside(known: Sequence[Sequence[Box]]) -> tuple[list[tuple[int, int]], list[tuple[int, ...]]]:
    """Slots side by side: where each begins and the rules with a box there, and the places of every rule's boxes."""
    slots, offset = list[tuple[int, int]](), 0
    for n in range(max(map(len, known), default=0)):
        slots.append((offset, as_bits(i for i, found in enumerate(known) if len(found) > n)))
        offset += slots[-1][1].bit_length()
    return slots, [tuple(slots[n][0] + i for n in range(len(found))) for i, found in enumerate(known)]


def _is_conjunction(guard: Formula, wanted: bool) -> bool:
    """Does the guard hold iff some tests do? Then its box says which facts it waits for."""
    match guard:
        case Not(item):
            return _is_conjunction(item, not wanted)
        case And(items) | Or(items):
            return isinstance(guard, And) == wanted and all(_is_conjunction(item, wanted) for item in items)
        case _:
            return True


def _is_said(guard: Formula, box: Box, variables: Mapping[str, Variable]) -> bool:
    """Is *guard* read as true as soon as the facts of *box*, one of its own boxes, are known to lie in it?"""
    return names(guard) <= box.regions.keys() or _follows(guard, True, box, variables)


def _follows(formula: Formula, wanted: bool, box: Box, variables: Mapping[str, Variable]) -> bool:
    match formula:
        case Not(item):
            return _follows(item, not wanted, box, variables)
        case And(items) | Or(items):
            found = (_follows(item, wanted, box, variables) for item in items)
            return all(found) if isinstance(formula, And) == wanted else any(found)
        case Atom(var) if var in box.regions:
            mine, where = box.regions[var], region(formula, variables[var])
            return not (without(mine, where) if wanted else meet_regions(mine, where))
        case _:
            return False
