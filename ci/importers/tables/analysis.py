"""What a table leaves open, where its rows meet, and which of them can never win: by boxes, before anything is written.

Rows that compare two facts are left to `bylaw check`, which asks the solver.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Final

from bylaw.logic.boxes.boxes import (
    EVERYTHING,
    Box,
    Region,
    TooManyBoxes,
    boxes,
    domain,
    meet,
    meets,
    point,
    region,
    uncovered,
)
from bylaw.logic.decide.firing import bits
from bylaw.logic.formula.ir import Atom, Compare, Formula, Ref, Value, Variable, conj, disj, negate
from ci.importers.tables.model import (
    Anything,
    Comparison,
    Except,
    Interval,
    Named,
    OneOf,
    Row,
    Table,
    Test,
)
from ci.importers.tables.words import Words
from ci.proofs.candidates import Index

MOST_SHOWN: Final = 20
MOST_BOXES: Final = 1_000
BUDGET: Final = 200_000


def formula(test: Test, variable: Variable, facts: Mapping[str, str]) -> Formula:
    """What a test means."""
    match test:
        case Anything():
            return conj([])
        case Comparison(op, Named(name)) if variable.is_finite:
            other = facts[name]
            values: Sequence[Value] = (False, True) if variable.kind == "boolean" else variable.values
            same = disj([conj([Atom(variable.name, "==", v), Atom(other, "==", v)]) for v in values])
            return same if op == "==" else negate(same)
        case Comparison(op, Named(name)):
            return Compare(Ref(variable.name), op, Ref(facts[name]))
        case Comparison(op, operand):
            return Atom(variable.name, op, variable.read(operand))
        case Interval():
            return conj([formula(end, variable, facts) for end in test.ends])
        case OneOf(tests):
            return disj([formula(one, variable, facts) for one in tests])
        case Except(inner):
            return negate(formula(inner, variable, facts))


@dataclass(frozen=True, slots=True)
class Overlap:
    """Two rows that hold in one case."""

    first: Row
    second: Row
    case: Mapping[str, Value]


@dataclass(frozen=True)
class Analysis:
    """One table, read by the facts that its inputs are. Of a chained table the other decisions are left out."""

    table: Table
    words: Words

    @cached_property
    def variables(self) -> Mapping[str, Variable]:
        """The facts of the source."""
        return self.words.variables()

    @property
    def is_chained(self) -> bool:
        """Does it rest on another table? Then its boxes do not say all."""
        return any(column.is_decided for column in self.table.inputs)

    @cached_property
    def formulas(self) -> Sequence[Formula]:
        """What each row, in the order in which they win, asks of the facts."""
        facts = {name: word.name for name, word in self.words.facts.items()}
        own = [(i, facts[c.name]) for i, c in enumerate(self.table.inputs) if not c.is_decided]
        return [
            conj([formula(row.tests[i], self.variables[fact], facts) for i, fact in own]) for row in self.table.ranked
        ]

    @cached_property
    def boxes(self) -> Sequence[tuple[Box, ...] | None]:
        """Each row as boxes; None where it needs too many."""
        found: list[tuple[Box, ...] | None] = []
        for one in self.formulas:
            try:
                found.append(boxes(one, self.variables, MOST_BOXES))
            except TooManyBoxes:
                found.append(None)
        return found

    @cached_property
    def is_exact(self) -> bool:
        """Do boxes say all of every row?"""
        return not self.is_chained and all(
            found is not None and all(box.is_exact for box in found) for found in self.boxes
        )

    @cached_property
    def _members(self) -> tuple[Index, list[int], Sequence[Box]]:
        members = [
            (i, box) for i, found in enumerate(self.boxes) for box in (found if found is not None else (EVERYTHING,))
        ]
        return Index([box for _, box in members]), [i for i, _ in members], [box for _, box in members]

    def meeting(self, box: Box) -> Iterator[tuple[int, Box]]:
        """The rows (by rank) that may share a case with *box*, with the box of theirs that does."""
        index, owners, every = self._members
        for n in bits(index.meeting(box)):
            if meets(every[n], box):
                yield owners[n], every[n]

    # ---- questions

    def empty(self) -> list[Row]:
        """The rows that hold in no case."""
        return [row for row, found in zip(self.table.ranked, self.boxes, strict=True) if found == ()]

    def overlaps(self) -> tuple[list[Overlap], int]:
        """The pairs that hold together where only one may, those first that stand first; and how many there are."""
        ranked, found, count = self.table.ranked, list[Overlap](), 0
        if self.table.is_ordered or self.is_chained:
            return [], 0
        for i, own in enumerate(self.boxes):
            partners: dict[int, Box] = {}
            for box in own or ():
                for j, other in self.meeting(box):
                    is_meant = j > i and (self.table.hit_policy == "UNIQUE" or ranked[i].says != ranked[j].says)
                    if is_meant and j not in partners and (met := meet(box, other)) is not None and met.is_exact:
                        partners[j] = met
            count += len(partners)
            for j, met in sorted(partners.items())[: MOST_SHOWN - len(found)]:
                found.append(Overlap(ranked[i], ranked[j], point(met, self.variables)))
        return found, count

    def gaps(self) -> tuple[list[Box], bool]:
        """Parts of what may be that no row covers, and whether these are all."""
        if not self.is_exact or all(output.default is not None for output in self.table.outputs):
            return [], self.is_exact
        covers = [box for found in self.boxes for box in found or ()]
        gaps: list[Box] = []
        try:
            while (gap := uncovered(EVERYTHING, covers, self.variables, BUDGET)) is not None:
                if len(gaps) == (MOST_SHOWN if len(covers) < 1_000 else 3):
                    return gaps, False
                gaps.append(gap)
                covers.append(gap)
        except TooManyBoxes:
            return gaps, False
        return gaps, True

    @cached_property
    def is_complete(self) -> bool:
        """Do the rows surely cover every case?"""
        if not self.is_exact:
            return False
        covers = [box for found in self.boxes for box in found or ()]
        try:
            return uncovered(EVERYTHING, covers, self.variables, BUDGET) is None
        except TooManyBoxes:
            return False

    def covered(self) -> list[Row]:
        """The rows of an ordered table that the rows before them cover whole."""
        if not self.table.is_ordered or self.is_chained:
            return []
        return [row for i, row in enumerate(self.table.ranked) if self.boxes[i] and self.open_part(i) is None]

    def open_part(self, i: int) -> Box | None:
        """Of row *i*, by rank, a box that no earlier row covers; the row's own where the order decides nothing."""
        for box in self.boxes[i] or ():
            if not self.table.is_ordered:
                return box
            before = [other for j, other in self.meeting(box) if j < i and other.is_exact]
            try:
                if (left := uncovered(box, before, self.variables)) is not None:
                    return left
            except TooManyBoxes:
                return box
        return None

    def meeting_parts(self, cut: Sequence[Sequence[Row]]) -> dict[int, list[int]]:
        """Of an ordered table in parts: the later parts with which each meets in a case and says something else."""
        part_of = [k for k, rows in enumerate(cut) for _ in rows]
        ranked, found = self.table.ranked, dict[int, set[int]]()
        for i, own in enumerate(self.boxes):
            mine = found.setdefault(part_of[i], set())
            for box in own if own is not None else (EVERYTHING,):
                for j, _ in self.meeting(box):
                    k = part_of[j]
                    if k > part_of[i] and k not in mine and ranked[i].says != ranked[j].says:
                        mine.add(k)
        return {k: sorted(others) for k, others in found.items() if others}

    def answers(self, case: Mapping[str, Value]) -> list[Row]:
        """The rows that hold in a full case, those first that win; all of a chained table may."""
        from bylaw.logic.boxes.truth import truth

        where = Box({name: region(Atom(name, "==", value), self.variables[name]) for name, value in case.items()})
        near = sorted({i for i, _ in self.meeting(where)})
        return [self.table.ranked[i] for i in near if truth(self.formulas[i], case) is True]

    def cell(self, fact: str, where: Region) -> str:
        """A region as a cell would say it."""
        return ", ".join(_cells(where, self.variables[fact]))


def _cells(where: Region, variable: Variable) -> Iterator[str]:
    if isinstance(where, frozenset):
        if variable.kind == "boolean":
            yield from ("true" if value else "false" for value in sorted(where))
        else:
            yield from (f'"{value}"' for value in variable.values if value in where)
        return
    whole = domain(variable)
    assert isinstance(whole, tuple)
    for low, high in where:
        has_low = not isinstance(low[0], float) and low > whole[0][0]
        has_high = not isinstance(high[0], float) and high < whole[-1][1]
        start = _end(low, variable) if has_low else ""
        end = _end((high[0] - 1, 0) if variable.is_whole else high, variable) if has_high else ""
        at_least, at_most = (">" if low[1] else ">="), ("<=" if high[1] or variable.is_whole else "<")
        if has_low and has_high:
            yield start if start == end else f"{'(' if low[1] else '['}{start}..{end}{']' if at_most == '<=' else ')'}"
        elif has_low or has_high:
            yield f"{at_least} {start}" if has_low else f"{at_most} {end}"
        else:
            yield "-"


def _end(cut: tuple[object, int], variable: Variable) -> str:
    value = cut[0]
    if isinstance(value, float):
        return ""
    shown = variable.show(value)  # type: ignore[arg-type]  # not a float: a number or an ordinal
    return f'date("{shown}")' if variable.kind == "date" else str(shown)
