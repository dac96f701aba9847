"""Which rules a case makes fire, looked up instead of tried: for each fact an index from its values to sets of rules.

A set of rules is the bits of one integer. Each rule has its boxes in numbered slots, at most one a slot, so a slot is
a few intersections and the rules that may fire are the union over the slots. Rules that have no boxes, too many, or
comparisons between facts are *loose*: the index only rules them out, and whoever asks reads their guards.
"""

from __future__ import annotations

from bisect import bisect_right
from collections import defaultdict
from collections.abc import Callable, Hashable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import reduce
from itertools import chain
from operator import or_
from typing import Protocol, TypeAlias

from bylaw.logic.boxes import Box, Cut, Region, domain, meet_regions, region, without
from bylaw.logic.ir import And, Atom, Facts, Formula, Not, Or, Ruleset, Value, Variable, names

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

    def after(self, count: int) -> int:
        """The set beyond the *count* lowest bounds."""
        if self._step == 1:
            return self._sets[count]
        found = self._sets[count // self._step]
        for turn in self._turns[count // self._step * self._step : count]:
            found ^= turn
        return found


@dataclass(slots=True)
class Slot:
    """One box each of some rules: `members`. For each fact which of them speak of it, and who allows which value."""

    members: int = 0
    tables: dict[str, tuple[int, Table]] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Look:
    """What the index says of a case. `possible` holds, slot by slot, the rules whose box the known facts allow.

    `sure` fire, `open` may fire with some completion, and `unsettled` have to be read. `unknown` are facts, as bits.
    """

    index: Firing
    possible: tuple[int, ...]
    unknown: int
    sure: int
    open: int
    unsettled: int
    speaking: dict[str, int] = field(default_factory=dict)  # of unknown facts, once asked for: who waits for each

    def of_open(self, rules: int, group: int, members: int) -> tuple[int, ...]:
        """All that is known of the open *rules* of a group with *members*: unknown facts, and boxes still possible."""
        facts, depth = self.index.extent(group, members)
        if depth == 1:
            return self.unknown & facts, rules
        return self.unknown & facts, *[those & rules for those in self.possible[:depth]]

    def by_one_box(self) -> int:
        """The open rules of which a single box is still possible, and that waits for each unknown fact it speaks of."""
        some = more = 0
        for those in self.possible:
            more |= some & those
            some |= those
        return self.open & ~more & ~self.index.vain

    def open_boxes(self, rules: int) -> Trace:
        """What is open of *rules*, whose boxes the index must know."""
        told, waiting, open_ = self.index.told, 0, list[tuple[int, int]]()
        for i in bits(rules):
            for n, (facts, possible) in enumerate(zip(told[i], self.possible, strict=False)):
                if possible >> i & 1:
                    waiting |= facts
                    open_.append((i, n))
        return waiting & self.unknown, tuple(open_)

    def waiting(self, rules: int, known: Facts) -> dict[str, int]:
        """For every unknown fact how many of *rules* have a possible box that speaks of it."""
        return self.index.waiting(self, rules, known)


class Firing:
    """The index of a ruleset. `boxes_of` gives a rule's guard as boxes, None when it needs too many."""

    def __init__(self, ruleset: Ruleset, boxes_of: Callable[[int], tuple[Box, ...] | None]) -> None:
        self.ruleset = ruleset
        loose, plain, vain = list[int](), list[int](), list[int]()
        self._in_force: dict[int, int] = {}
        self._boxes_of = boxes_of
        regions: list[dict[str, list[tuple[int, Region]]]] = []
        self.slots: list[Slot] = []
        members: list[list[int]] = []
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
            for n, box in enumerate(found):
                if n == len(self.slots):
                    self.slots.append(Slot())
                    regions.append(defaultdict(list))
                    members.append([])
                members[n].append(i)
                for var, where in box.regions.items():
                    regions[n][var].append((i, where))
            if any(where == domain(ruleset.variables[var]) for box in found for var, where in box.regions.items()):
                vain.append(i)
        self.loose, self.plain = as_bits(loose), as_bits(plain)
        self.vain = as_bits(vain)  # some box speaks of a fact whose every value it allows
        for slot, spoken, those in zip(self.slots, regions, members, strict=True):
            slot.members = as_bits(those)
            for var, its in sorted(spoken.items()):
                speaking = as_bits(i for i, _ in its)
                table = Words if isinstance(its[0][1], frozenset) else Line
                slot.tables[var] = speaking, table(its, slot.members & ~speaking)
        self._bit_of = {var: 1 << n for n, var in enumerate(sorted({var for spoken in regions for var in spoken}))}
        self._facts = sum(self._bit_of.values())
        self.told = [tuple(sum(self._bit_of[var] for var in box.regions) for box in found) for found in known]
        self._extents: dict[int, tuple[int, int]] = {}
        self._spoken: dict[str, list[tuple[int, int]]] = defaultdict(list)
        for n, slot in enumerate(self.slots):
            for var, (speaking, _) in slot.tables.items():
                self._spoken[var].append((n, speaking))

    def in_force(self, day: int) -> int:
        """The rules in force on that day."""
        found = self._in_force.get(day)
        if found is None:
            if len(self._in_force) > 64:  # people ask about today, and about a few other days
                self._in_force.clear()
            found = self._in_force[day] = as_bits(i for i, r in enumerate(self.ruleset.rules) if r.holds_on(day))
        return found

    def look(self, facts: Facts, day: int) -> Look:
        """Which rules fire, and which still may."""
        in_force = self.in_force(day)
        possible, some, whole = [], 0, 0
        for slot in self.slots:
            left, waiting = slot.members & in_force, 0
            for var, (speaking, table) in slot.tables.items():
                if var in facts:
                    left &= table.at(facts[var])
                    if not left:
                        break
                else:
                    waiting |= speaking
            possible.append(left)
            some |= left
            whole |= left & ~waiting
        unsettled = (some & self.loose) | (whole & ~self.plain)
        unknown = self._facts ^ sum(map(self._bit_of.__getitem__, facts.keys() & self._bit_of.keys()))
        return Look(self, tuple(possible), unknown, whole & ~unsettled, some & ~whole & ~unsettled, unsettled)

    def extent(self, group: int, members: int) -> tuple[int, int]:
        """The facts, as bits, that the boxes of a group of rules speak of, and in how many slots they are."""
        if group not in self._extents:
            told = [self.told[i] for i in bits(members)]
            self._extents[group] = reduce(or_, chain.from_iterable(told), 0), max(map(len, told))
        return self._extents[group]

    def waiting(self, look: Look, rules: int, known: Facts) -> dict[str, int]:
        """For every unknown fact how many of *rules* have a possible box that speaks of it."""
        found = dict[str, int]()
        if rules.bit_count() <= FEW:
            for i in bits(rules):
                mine = self._boxes_of(i) or ()
                left = [box for box, possible in zip(mine, look.possible, strict=False) if possible >> i & 1]
                for var in left[0].regions if len(left) == 1 else {var for box in left for var in box.regions}:
                    if var not in known:
                        found[var] = found.get(var, 0) + 1
            return found
        if not look.speaking:
            for var, speaking in self._spoken.items():
                if var not in known:
                    look.speaking[var] = reduce(or_, [look.possible[n] & those for n, those in speaking])
        for var, waiting in look.speaking.items():
            if count := (waiting & rules).bit_count():
                found[var] = count
        return found


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
