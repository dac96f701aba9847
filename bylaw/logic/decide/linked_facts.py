"""Facts that are compared with each other: points enough to meet every way in which they can fall together.

A *tie* is some unknown facts that comparisons link. Its points are those of a cylindrical decomposition: what holds
changes at the bounds of the last fact only, the facts before it are cut where two of these bounds change places, and so
on. Exact for sums: decimals are dense, and of whole numbers there is one between two bounds that lie a step apart, as
long as no bound divides another fact. What is beyond that, or too much, is left to others (`TooWide`).
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from fractions import Fraction
from functools import reduce
from itertools import chain, combinations, pairwise
from math import floor
from typing import NamedTuple, TypeAlias

from bylaw.logic.boxes.boxes import Box, Region, Span, domain, lies_in, meet_regions, region
from bylaw.logic.boxes.diagram import Tie, TooWide, parts
from bylaw.logic.boxes.sums import Form, NotLinear, Parts, Sign, normal, read, solved
from bylaw.logic.boxes.truth import FLIPPED, OPERATORS
from bylaw.logic.formula.ir import Atom, Facts, Number, Variable

MOST_POINTS = 4_000  # of one tie
MOST_BOUNDS = 100  # of one fact
MOST_WAYS = 4  # to concern somebody that are told apart
MOST_LISTED = 16  # values of a whole number that are all tried where its bounds do not say enough

# Sets of members, one of each of which has to be possible: several ways in which that may be so.
_Concerned: TypeAlias = frozenset[frozenset[int]]
_EVERYONE: _Concerned = frozenset((frozenset(),))


class Member(NamedTuple):
    """A box as far as it speaks of unknown facts."""

    regions: tuple[tuple[str, Region], ...] = ()
    signs: tuple[Sign, ...] = ()


class TieInputs(NamedTuple):
    """All that a tie depends on: its facts, and what each member asks of them; *existing* of these say what exists."""

    facts: tuple[str, ...]
    members: tuple[Member, ...]
    existing: int


def member(box: Box, facts: Facts) -> Member | None:
    """What a box asks of the facts that are unknown; None when it asks what cannot be. Raises TooWide."""
    try:
        signs = [read(item, facts) for item in box.residue]
    except NotLinear:
        raise TooWide from None
    if False in signs:
        return None
    regions = tuple((var, where) for var, where in sorted(box.regions.items()) if var not in facts)
    return Member(regions, tuple([sign for sign in signs if isinstance(sign, Sign)]))


def asked(members: Sequence[Member], existing: int) -> list[TieInputs]:
    """The ties among *members*, the last of which say what exists."""
    linked: dict[str, set[str]] = {}
    for sign in chain(*(member.signs for member in members)):
        group = set(sign.facts).union(*(linked.get(var, ()) for var in sign.facts))
        linked.update(dict.fromkeys(group, group))
    groups = {tuple(sorted(group)) for group in linked.values()}
    return [TieInputs(group, tuple(_about(group, member) for member in members), existing) for group in sorted(groups)]


def _about(facts: tuple[str, ...], member: Member) -> Member:
    return Member(
        tuple((var, where) for var, where in member.regions if var in facts),
        tuple(sign for sign in member.signs if sign.facts[0] in facts),
    )


def is_met(asked: TieInputs, variables: Mapping[str, Variable]) -> bool:
    """Is there a point that some member allows? Raises TooWide."""
    if len(asked.facts) == 1:
        return any(_line(asked, variables[asked.facts[0]]).cells)
    return any(map(any, _Walk(asked, None, variables, [MOST_POINTS]).rows()))


def tie(asked: TieInputs, variables: Mapping[str, Variable]) -> Tie:
    """Who of the members allows which points, and between which of these a single fact leads. Raises TooWide.

    Points that do not exist are left out, and so are the steps of facts that say no more than what exists.
    """
    if len(asked.facts) == 1:
        return _line(asked, variables[asked.facts[0]])
    numbers: dict[int, int] = {}
    budget = [MOST_POINTS]
    own = _spoken(asked.members[: len(asked.members) - asked.existing])
    lines = list[tuple[tuple[int, int], ...]]()
    for fact in asked.facts:
        steps = set[tuple[int, int]]()
        for row in set(_rows(asked, fact, variables, budget)) if fact in own or (not own and not lines) else ():
            for cell in sorted(row):
                numbers.setdefault(cell, len(numbers))
            steps.update(combinations(sorted(map(numbers.__getitem__, row)), 2))
        lines.append(tuple(sorted(steps)))
    return Tie(asked.facts, tuple(numbers), tuple(lines))


def _line(asked: TieInputs, variable: Variable) -> Tie:
    """The same of a fact that is compared with known ones only: each member allows a region of it."""
    spoken = dict[int, Region]()
    for n, member in enumerate(asked.members):
        where = [its for _, its in member.regions]
        for (((_, by),), rest), op in member.signs:
            where.append(region(Atom(variable.name, op if by > 0 else FLIPPED[op], Fraction(-rest, by)), variable))
        if where:
            spoken[n] = reduce(meet_regions, where)
    cells = tuple(dict.fromkeys(who for _, who in parts(variable, spoken, (1 << len(asked.members)) - 1)))
    return Tie(asked.facts, cells, (tuple(combinations(range(len(cells)), 2)),))


def _spoken(members: Sequence[Member]) -> set[str]:
    found = {var for member in members for var, _ in member.regions}
    return found.union(*(sign.facts for member in members for sign in member.signs))


def _rows(
    asked: TieInputs, fact: str, variables: Mapping[str, Variable], budget: list[int]
) -> Iterator[frozenset[int]]:
    """Sets of cells that meet where all facts but one stay as they are."""
    try:
        walk = _Walk(asked, fact, variables, budget)
    except TooWide:  # its values are not told by all the others: ask for two of them at a time
        twin, size = f"{fact}'", len(asked.members)
        twins = tuple(_renamed(member, fact, twin) for member in asked.members)
        both = TieInputs((*asked.facts, twin), (*twins, *asked.members), asked.existing)
        for row in _Walk(both, None, {**variables, twin: variables[fact]}, budget).rows():
            yield from (frozenset((cell & (1 << size) - 1, cell >> size)) for cell in row)
        return
    yield from walk.rows()


def _renamed(member: Member, fact: str, other: str) -> Member:
    def name(var: str) -> str:
        return other if var == fact else var

    signs = (Sign((tuple((name(var), by) for var, by in its), rest), op) for (its, rest), op in member.signs)
    return Member(tuple((name(var), where) for var, where in member.regions), tuple(signs))


# ---- points ---------------------------------------------------------------------------------------------------------


class _Bound(NamedTuple):
    """Where what holds can change: where the factor of a fact, parts and a number come to zero."""

    by: int
    parts: Parts
    rest: int
    concerned: _Concerned

    def counts(self, alive: int) -> bool:
        """Is it of any concern to those who are still possible?"""
        return any(all(alive & who for who in sets) for sets in self.concerned)


class _Level(NamedTuple):
    """One fact on the way: its bounds (None: every value is tried), and who asks what of it."""

    fact: str
    bounds: Sequence[_Bound] | None
    domain: Span
    regions: Sequence[tuple[Region, int]]
    signs: Sequence[tuple[Sign, int]]
    concerned: int  # those who ask something of this fact or a later one
    allowed: dict[Number, int]  # who allows a value by the regions alone


class _Walk:
    """All points of a tie, fact by fact, with those members that remain possible."""

    def __init__(
        self, asked: TieInputs, last: str | None, variables: Mapping[str, Variable], budget: list[int]
    ) -> None:
        self._variables, self._budget = variables, budget
        self._everyone = (1 << len(asked.members)) - 1
        self._existing = self._everyone >> len(asked.members) - asked.existing << len(asked.members) - asked.existing
        self._levels = list[_Level]()
        self._point: dict[str, Number] = {}
        later, order = list(asked.facts), _ordered(asked, last, variables)
        for fact, bounds in order[::-1]:
            regions, signs = dict[Region, int](), dict[Sign, int]()
            for n, member in enumerate(asked.members):
                for var, where in member.regions:
                    if var == fact:
                        regions[where] = regions.get(where, 0) | 1 << n
                for sign in member.signs:
                    if fact in sign.facts and set(later).issuperset(sign.facts):
                        signs[sign] = signs.get(sign, 0) | 1 << n
            later.remove(fact)
            concerned = self._levels[-1].concerned if self._levels else 0
            for who in chain(regions.values(), signs.values()):
                concerned |= who
            span = _span(variables[fact])
            self._levels.append(_Level(fact, bounds, span, [*regions.items()], [*signs.items()], concerned, {}))
        self._levels.reverse()

    def rows(self, depth: int = 0, alive: int | None = None) -> Iterator[frozenset[int]]:
        """The sets of members that the values of the last fact allow, for all points of the others."""
        alive = self._everyone if alive is None else alive
        level, row = self._levels[depth], set[int]()
        if not alive & level.concerned:
            yield frozenset((alive,))
            return
        low, high = level.domain
        for value in self._values(level, alive):
            if not low <= (value, 0) < high:
                continue
            self._point[level.fact] = value
            left = self._allowed(level, value, alive)
            if self._existing and not left & self._existing:
                continue
            if depth + 1 < len(self._levels):
                yield from self.rows(depth + 1, left)
            else:
                row.add(left)
        if row:
            yield frozenset(row)

    def _allowed(self, level: _Level, value: Number, alive: int) -> int:
        self._budget[0] -= 1
        if self._budget[0] < 0:
            raise TooWide
        found = level.allowed.get(value)
        if found is None:
            found = self._everyone & ~sum(who for where, who in level.regions if not lies_in(value, where))
            level.allowed[value] = found
        alive &= found
        for (sum_, op), who in level.signs:
            if alive & who and not OPERATORS[op](self._at(*sum_), 0):
                alive &= ~who
        return alive

    def _at(self, parts: Parts, rest: Number) -> Number:
        for var, by in parts:
            rest += by * self._point[var]
        return rest

    def _values(self, level: _Level, alive: int) -> Iterable[Number]:
        """A value for every part of the line between two bounds, and the bounds themselves."""
        if level.bounds is None:
            (low, _), (high, _) = level.domain
            return range(int(low), int(high))
        roots = [
            (*divmod(-self._at(bound.parts, bound.rest), bound.by), bound.by)
            for bound in level.bounds
            if bound.counts(alive)
        ]
        if self._variables[level.fact].is_whole:
            below = min((low if beyond else low - 1 for low, beyond, _ in roots), default=0)
            return sorted({below, *(low for low, beyond, _ in roots if not beyond), *(low + 1 for low, _, _ in roots)})
        at = sorted({low + Fraction(beyond) / by if beyond else low for low, beyond, by in roots}) or [0]
        between = pairwise((at[0] - 2, *at, at[-1] + 2))
        return [*at, *(floor(a) + 1 if floor(a) + 1 < b else (a + b) / Fraction(2) for a, b in between)]


def _span(variable: Variable) -> Span:
    where = domain(variable)
    assert isinstance(where, tuple)
    return where[0]


# ---- bounds ---------------------------------------------------------------------------------------------------------


def _ordered(
    asked: TieInputs, last: str | None, variables: Mapping[str, Variable]
) -> list[tuple[str, Sequence[_Bound] | None]]:
    """The facts in an order in which each is told by those before it, with its bounds. Raises TooWide."""
    forms = _changes(asked, variables)
    left = sorted(asked.facts, key=lambda var: (variables[var].is_whole, var))
    listed, order = list[str](), list[tuple[str, Sequence[_Bound] | None]]()
    while left:
        is_last = bool(last) and not order
        candidates = [last] if last and is_last else left
        fact = next((var for var in candidates if len(left) == 1 or _is_told(var, forms, listed, variables)), None)
        if fact is None:
            fact = None if is_last else next((var for var in left if _is_short(variables[var])), None)
            if fact is None:
                raise TooWide
            listed.append(fact)
            left.remove(fact)
            continue
        left.remove(fact)
        mine, rest = dict[Form, _Concerned](), dict[Form, _Concerned]()
        for form, concerned in forms.items():
            (mine if any(var == fact for var, _ in form[0]) else rest)[form] = concerned
        forms = rest
        if left:
            mine = _crossing(mine, fact, variables[fact].is_whole, forms)
        order.append((fact, [_Bound(*solved(form, fact), concerned) for form, concerned in mine.items()]))
    return [*((fact, None) for fact in listed), *order[::-1]]


def _crossing(
    bounds: Mapping[Form, _Concerned], fact: str, is_whole: bool, forms: dict[Form, _Concerned]
) -> dict[Form, _Concerned]:
    """The *bounds* of a fact, between whole numbers if it is one; where they cross is added to *forms*."""
    mine = dict[Form, _Concerned]()
    for form, concerned in bounds.items():
        for halved in _between(form, fact) if is_whole else (form,):
            _add(mine, halved, concerned)
    if len(mine) > MOST_BOUNDS:
        raise TooWide
    for (one, its), (two, others) in combinations(mine.items(), 2):
        both: _Concerned | None = None
        for form in _crossed(one, two, fact, is_whole):
            both = both or frozenset([a | b for a in its for b in others])
            _add(forms, form, both)
    return mine


def _add(forms: dict[Form, _Concerned], form: Form, concerned: _Concerned) -> None:
    known = forms.get(form)
    found = concerned if known is None else known | concerned
    forms[form] = found if len(found) <= MOST_WAYS and frozenset() not in found else _EVERYONE


def _changes(asked: TieInputs, variables: Mapping[str, Variable]) -> dict[Form, _Concerned]:
    """The sums where what a member asks, or the domain, begins or ends: at zero; and whom that concerns."""
    concerned: dict[Form, int] = {}
    for n, member in enumerate(asked.members):
        for var, where in member.regions:
            for form in _ends(var, where, variables):
                concerned[form] = concerned.get(form, 0) | 1 << n
        for sign in member.signs:
            for form in _zeros(sign, variables):
                concerned[form] = concerned.get(form, 0) | 1 << n
    found = {form: frozenset((frozenset((who,)),)) for form, who in concerned.items()}
    ends = (_ends(fact, domain(variables[fact]), variables) for fact in asked.facts)
    return found | dict.fromkeys(chain(*ends), _EVERYONE)


def _zeros(sign: Sign, variables: Mapping[str, Variable]) -> Iterator[Form]:
    """Where a comparison changes: of whole numbers alone, between two of them."""
    (parts, rest), op = sign
    if not all(variables[var].is_whole for var, _ in parts):
        yield normal(dict(parts), rest)
        return
    doubled = {var: 2 * by for var, by in parts}
    if op not in ("<=", ">"):
        yield normal(doubled, 2 * rest + 1)
    if op not in ("<", ">="):
        yield normal(doubled, 2 * rest - 1)


def _ends(var: str, where: Region, variables: Mapping[str, Variable]) -> Iterator[Form]:
    for value, _ in chain(*where) if isinstance(where, tuple) else ():
        if not isinstance(value, float):
            at = Fraction(2 * value - 1, 2) if variables[var].is_whole else Fraction(value)
            yield ((var, at.denominator),), -at.numerator


def _is_told(fact: str, forms: Iterable[Form], listed: Sequence[str], variables: Mapping[str, Variable]) -> bool:
    """Do the bounds of a fact say which of its values there are between them?"""
    if not variables[fact].is_whole:
        return True
    mine = (solved(form, fact) for form in forms if any(var == fact for var, _ in form[0]))
    others = ((var, factor % by) for by, parts, _ in mine for var, factor in parts if var not in listed)
    return all(variables[var].is_whole and not beyond for var, beyond in others)


def _is_short(variable: Variable) -> bool:
    """Can all values be tried?"""
    where = domain(variable)
    return variable.is_whole and isinstance(where, tuple) and where[0][1][0] - where[0][0][0] <= MOST_LISTED


def _between(form: Form, fact: str) -> list[Form]:
    """A bound of whole numbers as bounds that lie between two of them."""
    by, parts, rest = solved(form, fact)
    if any(its % by for _, its in parts):
        return [form]
    low, beyond = divmod(-rest, by)
    doubled = {var: 2 * its for var, its in form[0]}
    return [normal(doubled, -by * (2 * cut + 1)) for cut in ((low,) if beyond else (low - 1, low))]


def _crossed(one: Form, two: Form, fact: str, is_whole: bool) -> Iterator[Form]:
    """Where two bounds of a fact change places, or come so near that no whole number lies between them."""
    (by, own, rest), (its, other, further) = solved(one, fact), solved(two, fact)
    parts = {var: 2 * its * factor for var, factor in own}
    for var, factor in other:
        parts[var] = parts.get(var, 0) - 2 * by * factor
    parts = {var: factor for var, factor in parts.items() if factor}
    if parts:
        is_between = is_whole and not any(factor % by for _, factor in own) and not any(f % its for _, f in other)
        for step in (-1, 1) if is_between else (-2, 0, 2) if is_whole else (0,):
            yield normal(parts, 2 * (its * rest - by * further) + step * by * its)
