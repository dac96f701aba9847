"""Which unknown facts change a result: every completion at once, as a decision diagram over a few boxes.

A node asks one fact and leads on by the values that tell the boxes apart; equal ends are one node. A fact matters iff
some node that asks it leads to two ends that differ. Exact, where it does not give up for its size.
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Callable, Container, Hashable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import reduce
from itertools import accumulate, combinations, pairwise
from operator import ne, or_, xor
from typing import Generic, NamedTuple, TypeAlias, TypeVar

from bylaw.logic.boxes.boxes import Box, Cut, Region, domain
from bylaw.logic.formula.ir import Value, Variable

_End = TypeVar("_End", bound=Hashable)

MAX_STATES = 150  # beyond that many different situations on the way the question is left to others

Bearing: TypeAlias = Callable[[int, int], int]  # of groups that hold and of those that may: which of these matter
Marks: TypeAlias = Sequence[tuple[str, int]]  # a box: for every fact it speaks of the number of its region


class TooWide(Exception):
    """The diagram would need too many states."""


class Shapes:
    """The regions that boxes have, numbered fact by fact, and how some of them cut the domain of their fact."""

    def __init__(self, variables: Mapping[str, Variable], known: Shapes | None = None) -> None:
        """With *known* its numbers hold here too; it learns none of those that are given here."""
        self._variables, self._known = variables, known
        self._numbers: dict[str, dict[Region, int]] = {}
        self._turns: dict[str, list[tuple[int, ...]]] = {}
        self._cuts: dict[str, list[Cut]] = {}

    def marks(self, box: Box) -> Marks:
        """The box by numbers, which are kept."""
        return tuple((var, self._number(var, where)) for var, where in box.regions.items())

    def _number(self, var: str, where: Region) -> int:
        numbers = self._numbers.get(var)
        if numbers is None:
            numbers = self._numbers[var] = dict(self._known._numbers.get(var, {})) if self._known else {}
        if where not in numbers:
            numbers[where] = len(numbers)
            self._turns.pop(var, None)
            self._cuts.pop(var, None)
        return numbers[where]

    def placed(self, boxes: Sequence[Box]) -> Hashable:
        """The same for boxes whose bounds lie alike among each other and among those of all that is numbered here."""
        found = list[Hashable]()
        for var in sorted({var for box in boxes for var in box.regions}):
            regions = [box.regions.get(var) for box in boxes]
            spans = [where for where in regions if isinstance(where, tuple)]
            own = sorted({cut for where in spans for span in where for cut in span})
            known = self._cuts_of(var)
            place = {cut: (n, bisect_left(known, cut), bisect_right(known, cut)) for n, cut in enumerate(own)}
            found.append((var, *[_moved(where, place) for where in regions]))
        return len(boxes), *found

    def _cuts_of(self, var: str) -> list[Cut]:
        if var not in self._cuts:
            where = [where for where in self._numbers.get(var, ()) if isinstance(where, tuple)]
            self._cuts[var] = sorted({cut for spans in where for span in spans for cut in span})
        return self._cuts[var]

    def prepare(self) -> None:
        """Work out now what would be worked out when it is first asked for."""
        for var in self._numbers:
            self._turns_of(var)

    def cells(self, var: str, who: Mapping[int, int], silent: int) -> list[int]:
        """The different sets of members that the values of a fact allow: *who* of each region, and those *silent*."""
        turns = self._turns_of(var)
        if len(who) == 1:
            ((number, mine),) = who.items()
            return [silent | mine, silent] if turns[number] != turns[-1] else [silent | mine]
        at = dict.fromkeys(turns[-1], 0)
        for number, mine in who.items():
            for place in turns[number]:
                at[place] = at.get(place, 0) ^ mine
        found = list(accumulate([at[place] for place in sorted(at)], xor, initial=silent))
        return list(dict.fromkeys(found[1:-1]))

    def _turns_of(self, var: str) -> list[tuple[int, ...]]:
        """Where each region begins and ends by turns, and at the end the domain, as places in one order of them all."""
        if var in self._turns:
            return self._turns[var]
        if self._known and var not in self._numbers:
            return self._known._turns_of(var)
        variable = self._variables[var]
        regions = *self._numbers[var], domain(variable)
        if variable.is_finite:
            order = variable.values if variable.kind == "enum" else (False, True)
            ends = [[n for n in range(len(order) + 1) if _parts(where, order, n)] for where in regions]
        else:
            cuts = [[cut for span in where for cut in span] for where in regions if isinstance(where, tuple)]
            place = {cut: n for n, cut in enumerate(sorted({cut for row in cuts for cut in row}))}
            ends = [[place[cut] for cut in row] for row in cuts]
        found = list(map(tuple, ends))
        self._turns[var] = found
        return found


def _moved(where: Region | None, place: Mapping[Cut, Hashable]) -> Hashable:
    """A region by the places of its bounds."""
    return tuple([(place[low], place[high]) for low, high in where]) if isinstance(where, tuple) else where


def _parts(where: Region, order: Sequence[Value], n: int) -> bool:
    """Does a list of values begin or end before the value number *n*?"""
    return (n > 0 and order[n - 1] in where) != (n < len(order) and order[n] in where)


class Tie(NamedTuple):
    """Facts that are asked together. Members are boxes and then boxes of what exists, as bits.

    `cells` are the different sets of members that their values allow. `steps`: for each fact the pairs of cells, by
    number, between which it alone leads.
    """

    facts: tuple[str, ...]
    cells: tuple[int, ...]
    steps: tuple[tuple[tuple[int, int], ...], ...]


@dataclass(frozen=True, slots=True)
class Diagram(Generic[_End]):
    """All completions of a case. `nodes`: for each the position of the facts it asks, and where its cells lead.

    Mostly it asks one fact; where it asks several, `steps` are those of their tie. A number that is no node is an end;
    one below 0 leads to no completion that exists. Nodes come after all they lead to.
    """

    facts: Sequence[tuple[str, ...]]
    steps: Sequence[Sequence[Iterable[tuple[int, int]]]]
    ends: Mapping[int, _End]
    nodes: Mapping[int, tuple[int, tuple[int, ...]]]
    is_partial: bool  # some completions do not exist

    def turning(self, part: Callable[[_End], Hashable]) -> list[str]:
        """The facts that alone can change *part* of the result; if it only changes with several, all of those."""
        first: dict[Hashable, int] = {}
        parts = {n: first.setdefault(part(end), n) for n, end in self.ends.items()}
        if len(first) < 2:
            return []
        nodes, differ = self._in_some(parts) if self.is_partial else (self._in_all(parts), ne)
        found = set[str]()
        for depth, leads in nodes:
            if not found.issuperset(self.facts[depth]):
                found.update(self._turned(depth, leads, differ))
        return sorted(found or {name for depth, _ in self.nodes.values() for name in self.facts[depth]})

    def _turned(self, depth: int, leads: tuple[int, ...], differ: Callable[[int, int], bool]) -> Iterator[str]:
        """The facts of one node of which two values lead to ends that differ."""
        if not self.steps[depth]:
            if any(differ(a, b) for a, b in combinations(dict.fromkeys(leads), 2)):
                yield from self.facts[depth]
            return
        for name, steps in zip(self.facts[depth], self.steps[depth], strict=True):
            if any(differ(leads[a], leads[b]) for a, b in steps):
                yield name

    def _in_all(self, parts: Mapping[int, int]) -> Iterable[tuple[int, tuple[int, ...]]]:
        """The nodes that are left once ends alike are one: what they lead to differs."""
        if len(set(parts.values())) == len(parts):
            return self.nodes.values()
        same = dict(parts)
        alike: dict[tuple[int, tuple[int, ...]], int] = {}
        for node, (depth, leads) in self.nodes.items():
            leads = tuple([same[lead] for lead in leads])
            same[node] = leads[0] if leads.count(leads[0]) == len(leads) else alike.setdefault((depth, leads), node)
        return alike

    def _in_some(
        self, parts: Mapping[int, int]
    ) -> tuple[Iterable[tuple[int, tuple[int, ...]]], Callable[[int, int], bool]]:
        """All nodes, and which of them part two completions that exist and are otherwise alike."""
        seen: dict[tuple[int, int], bool] = {}

        def differ(a: int, b: int) -> bool:
            """Do two existing completions that end beyond *a* and *b*, alike but for that, differ?"""
            if a == b or a < 0 or b < 0:
                return False
            if (a, b) not in seen:
                one, two = self.nodes.get(a), self.nodes.get(b)
                if one is None and two is None:
                    seen[a, b] = parts[a] != parts[b]
                elif two is None or (one is not None and one[0] < two[0]):
                    assert one is not None
                    seen[a, b] = any(differ(x, b) for x in one[1])
                elif one is None or two[0] < one[0]:
                    seen[a, b] = any(differ(a, y) for y in two[1])
                else:
                    seen[a, b] = any(differ(x, y) for x, y in zip(one[1], two[1], strict=True))
            return seen[a, b]

        return self.nodes.values(), differ


class Layout(NamedTuple):
    """All that a diagram depends on besides its ends: two of them alike have one diagram, whoever they are about.

    Each of `facts`, mostly one at a time, has in `asked` who speaks of it, and who remains possible in each of its
    cells (as bits): boxes, then boxes of what exists, then groups. `steps` are those of ties.
    """

    facts: tuple[tuple[str, ...], ...]
    asked: tuple[tuple[int, tuple[int, ...]], ...]
    steps: tuple[tuple[tuple[tuple[int, int], ...], ...], ...]
    groups: tuple[int, ...]
    existing: int  # how many boxes say what exists; one alone is said by the cells


def laid_out(
    boxes: Sequence[Marks],
    groups: Sequence[int],
    existing: Sequence[Marks],
    shapes: Shapes,
    known: Container[str] = (),
    ties: Sequence[Tie] = (),
) -> Layout:
    """The question about some *boxes*, as far as they do not speak of *known* facts; *ties* say what they do not.

    So with those of *existing*, which speak of none that is known. Boxes of one group (a number from 0) are alike.
    Completions outside every box of *existing* do not exist; with none given, all do.
    """
    spoken: dict[str, dict[int, int]] = {}
    there = existing[0] if len(existing) == 1 else ()  # one box leaves fewer cells: nothing else need know of it
    further = existing if len(existing) > 1 else ()
    tied = frozenset[str]().union(*(tie.facts for tie in ties))
    bit = 1
    for marks in (*boxes, *further):
        for var, number in marks:
            if var in known or var in tied:
                continue
            if var not in spoken:
                spoken[var] = {number: bit}
            elif number in spoken[var]:
                spoken[var][number] |= bit
            else:
                spoken[var][number] = bit
        bit <<= 1
    everyone = (1 << len(boxes) + len(further) + len(boxes)) - 1
    speaking = {var: sum(who.values()) for var, who in spoken.items()}
    cells = {var: shapes.cells(var, who, everyone & ~speaking[var]) for var, who in spoken.items()}
    for var, number in there:
        if var in cells:
            who = spoken[var] | {number: spoken[var].get(number, 0) | everyone + 1}
            found = shapes.cells(var, who, everyone & ~speaking[var])
            cells[var] = [cell & everyone for cell in found if cell > everyone]
    rows: list[_Row] = [
        (-who.bit_count(), len(spoken[var]), (var,), who, tuple(cells[var]), ()) for var, who in speaking.items()
    ]
    for tie in ties:
        rows.extend(_tied(tie, len(boxes), len(existing)))
    rows.sort()
    asked = tuple([(speaking, cells) for *_, speaking, cells, _ in rows])
    facts, steps = tuple([row[2] for row in rows]), tuple([row[5] for row in rows])
    return Layout(facts, asked, steps, tuple(groups), len(further))


_Row: TypeAlias = tuple[int, int, tuple[str, ...], int, tuple[int, ...], tuple[tuple[tuple[int, int], ...], ...]]


def _tied(tie: Tie, boxes: int, existing: int) -> Iterator[_Row]:
    """A tie as it is asked, if anybody speaks of it. What one box alone says of existence leaves fewer cells."""
    members = (1 << boxes + (existing if existing > 1 else 0)) - 1
    left = [n for n, cell in enumerate(tie.cells) if existing != 1 or cell >> boxes]
    cells = [tie.cells[n] & members for n in left]
    speaking = reduce(or_, [members & ~cell for cell in cells], 0)
    if speaking:
        place = {n: at for at, n in enumerate(left)}
        steps = tuple([tuple([(place[a], place[b]) for a, b in its if a in place and b in place]) for its in tie.steps])
        groups = (1 << boxes) - 1 << members.bit_length()
        yield -speaking.bit_count(), len(cells), tie.facts, speaking, tuple([cell | groups for cell in cells]), steps


def drawn(
    layout: Layout,
    result: Callable[[int], _End],
    budget: int = MAX_STATES,
    bearing: Bearing | None = None,
) -> Diagram[_End]:
    """The diagram. *result* says what holds when exactly those groups (as bits) have a box that holds.

    *bearing* says, where some groups hold and others may, which of those can still change the result: nothing is asked
    for the sake of the rest. Raises TooWide beyond *budget* situations; one box alone needs none.
    """
    facts, existing = layout.facts, layout.existing
    steps, last = _swept(layout, budget if len(layout.groups) > 1 or existing else len(facts) + 2, bearing)
    end_of: dict[_End, int] = {}
    nodes: dict[int, tuple[int, tuple[int, ...]]] = {}
    shift = len(layout.groups) + existing
    node = {alive: end_of.setdefault(result(alive >> shift), len(end_of)) for alive in last}
    node[-1] = -1
    known: dict[tuple[int, tuple[int, ...]], int] = {}
    for depth in range(len(facts) - 1, -1, -1):
        made = {}
        here, alike = steps[depth]
        for alive, further in here.items():
            leads = tuple([node[each] for each in further])
            if leads.count(leads[0]) == len(leads):
                made[alive] = leads[0]
                continue
            found = known.setdefault((depth, leads), len(end_of) + len(known))
            nodes[found] = depth, leads
            made[alive] = found
        node.update(made)  # what is asked here was not asked further down
        node.update((alive, node[fewer]) for alive, fewer in alike.items())
    return Diagram(facts, layout.steps, {n: end for end, n in end_of.items()}, nodes, existing > 0)


def _swept(layout: Layout, budget: int, bearing: Bearing | None) -> tuple[list[_Step], set[int]]:
    """All situations, fact by fact: where each leads by the cells of its fact, and those in which nothing is asked.

    A situation says who is possible (as bits). A box holds once no fact is left that it speaks of; others of its group
    then say nothing more.
    """
    asked, groups, existing = layout.asked, layout.groups, layout.existing
    count = len(groups)
    left = (1 << count) - 1
    is_there = (1 << existing) - 1 << count
    later = [*accumulate((speaking for speaking, _ in reversed(asked)), or_, initial=0)][::-1]
    alike: dict[int, int] = {}
    for n, group in enumerate(groups):
        alike[group] = alike.get(group, 0) | 1 << n

    def settled(alive: int, whole: int) -> int:
        while whole := alive & whole:
            group = groups[whole.bit_length() - 1]
            alive = alive & ~alike[group] | 1 << count + existing + group
        return alive

    sets = [(1 << group, mine) for group, mine in sorted(alike.items())]
    ignored: dict[tuple[int, int], int] = {}  # by the groups that hold and that may: the boxes of no account

    def told_apart(alive: int) -> int:
        """*alive* without the boxes that cannot change the result any more."""
        assert bearing is not None
        open_ = 0
        for bit, mine in sets:
            if alive & mine:
                open_ |= bit
        state = alive >> count + existing, open_
        if state not in ignored:
            rest = open_ & ~bearing(*state)
            ignored[state] = ~reduce(or_, [mine for bit, mine in sets if bit & rest], 0)
        return alive & ignored[state]

    steps = list[_Step]()
    now = {settled((1 << count + existing) - 1, left & ~later[0])}
    for depth, (speaking, cells) in enumerate(asked):
        whole = left & speaking & ~later[depth + 1]
        here, following = dict[int, list[int]](), set[int]()
        alike_now = {alive: fewer for alive in now if (fewer := told_apart(alive)) != alive} if bearing else {}
        for alive in now.difference(alike_now).union(alike_now.values()) if alike_now else now:
            if not alive & speaking:
                following.add(alive)
                continue
            leads = [alive & cell for cell in cells]
            if is_there:
                leads = [lead if lead & is_there else -1 for lead in leads]
            if whole & alive:
                leads = [settled(lead, whole) if lead > 0 and lead & whole else lead for lead in leads]
            here[alive] = leads
            following.update(leads)
        following.discard(-1)
        budget -= len(here)
        if budget < 0:
            raise TooWide
        steps.append((here, alike_now))
        now = following
    if budget < len(now):
        raise TooWide
    return steps, now


_Step: TypeAlias = tuple[dict[int, list[int]], dict[int, int]]  # where situations lead, and which are as good as others


def parts(variable: Variable, spoken: Mapping[int, Region], everyone: int) -> Iterator[tuple[Region, int]]:
    """The domain of a fact cut where a region of *spoken* begins or ends, with who allows each part."""
    silent = everyone & ~sum(1 << n for n in spoken)
    whole = domain(variable)
    if isinstance(whole, frozenset):
        order = variable.values if variable.kind == "enum" else (False, True)
        for value in order:
            yield frozenset((value,)), silent | sum(1 << n for n, where in spoken.items() if value in where)
        return
    turns: dict[Cut, int] = {cut: 0 for span in whole for cut in span}
    for n, where in spoken.items():
        assert isinstance(where, tuple)
        for span in where:
            for cut in span:
                turns[cut] = turns.get(cut, 0) ^ 1 << n
    now = silent
    for one, two in pairwise(sorted(turns)):
        now ^= turns[one]
        yield ((one, two),), now
