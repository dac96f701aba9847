"""Where two versions say different things of one subject on one day: boxes of cases, disjoint, and all there are.

The search starts from the whole space and cuts it along the rules that differ, then only along rules that can still
matter in the box at hand. A box in which no differing rule matters is left at once, so what the search costs depends
on what a change can reach, not on the size of the set.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from ci.proofs.versions.influence import Side, Subject
from ci.proofs.versions.pieces import Piece, Read, Space, cut, reading, size

Held = str | bool | None  # an action or None for an outcome, true or false for a duty


TESTS = 64  # that a box may leave open and still count as one


class TooManyPieces(Exception):
    """The search was stopped at its budget."""


@dataclass(frozen=True, slots=True)
class Limits:
    """What a comparison may cost before the solver answers: boxes looked at, pieces of a region put together."""

    boxes: int = 10_000
    widened: int = 64


@dataclass
class Budget:
    """How many boxes may still be looked at, over all subjects and days of one comparison.

    One search takes half of what is left at most, so that a hard subject leaves something to the others.
    """

    left: int
    share: int = 0

    def begin(self) -> None:
        """A search begins."""
        self.share = (self.left + 1) // 2

    def spend(self, tests: int) -> None:
        """Count one box, which leaves so many tests open: one of many costs as much as several of few.

        Raises TooManyPieces when the search has had its share.
        """
        if self.share <= 0:
            raise TooManyPieces
        cost = min(self.share, 1 + tests // TESTS)
        self.share -= cost
        self.left -= cost


@dataclass(frozen=True, slots=True)
class Entry:
    """A rule of the comparison: its index on either side, None where that side lacks it.

    Rules of one policy with one effect stand together: where any of them fires, what holds is the same. `members` are
    then the entries that this one stands for.
    """

    read: Read
    before: int | None
    after: int | None
    members: tuple[Entry, ...] = ()

    @property
    def is_changed(self) -> bool:
        """Does one side lack it?"""
        return self.before is None or self.after is None


@dataclass(frozen=True, slots=True)
class Found:
    """A box in which what holds differs. `is_open`: the unknown facts of one side play a part, so a case must say."""

    piece: Piece
    before: Held
    after: Held
    by: tuple[int | None, int | None]
    changed: frozenset[int]  # positions of the differing entries that fire here
    is_open: bool = False


@dataclass(frozen=True, slots=True)
class Search:
    """One subject on one day. `sides` are (before, after)."""

    subject: Subject
    space: Space
    entries: tuple[Entry, ...]
    sides: tuple[Side, Side]
    budget: Budget

    def run(self) -> Iterator[Found]:
        """Every box that differs. Raises TooManyPieces."""
        self.budget.begin()
        sizes = [size(entry.read) for entry in self.entries]
        todo: list[tuple[Piece, tuple[int, ...], tuple[int, ...]]] = [({}, (), tuple(range(len(self.entries))))]
        while todo:
            piece, fires, open_ = todo.pop()
            self.budget.spend(sum(map(sizes.__getitem__, open_)))
            fires, open_, silent = self._settled(piece, fires, open_)
            if not self._can_differ(fires, (*open_, *silent)):
                continue
            needed = self._needed(fires, (*open_, *silent))
            chosen = next((k for k in self._ranked(needed) if k in open_), None)
            if chosen is not None:
                test = cut(self.entries[chosen].read, piece)
                assert test is not None
                todo += [(half, fires, (*open_, *silent)) for half in reversed(self.space.halves(piece, test))]
                continue
            is_open = bool(needed)
            (before, one), (after, two) = (side.says(self._of(n, fires)) for n, side in enumerate(self.sides))
            if before != after or is_open:
                changed = frozenset(k for k in fires if self.entries[k].is_changed)
                yield Found(piece, before, after, (one, two), changed, is_open)

    def _settled(
        self, piece: Piece, fires: tuple[int, ...], open_: tuple[int, ...]
    ) -> tuple[tuple[int, ...], tuple[int, ...], tuple[int, ...]]:
        """Who fires in the whole piece, who may be settled by a cut, and who waits for a fact no case tells.

        A duty is as the rules known to fire have it, so for one the last do not count.
        """
        firing, waiting, silent = list(fires), [], []
        for k in open_:
            read = self.entries[k].read
            holds = reading(read, piece)
            if holds:
                firing.append(k)
            elif holds is None and cut(read, piece) is not None:
                waiting.append(k)
            elif holds is None and self.subject.kind == "outcome":
                silent.append(k)
        return tuple(firing), tuple(waiting), tuple(silent)

    def _of(self, n: int, positions: tuple[int, ...]) -> set[int]:
        """The rules of one side among the entries at *positions*."""
        found = (self.entries[k].after if n else self.entries[k].before for k in positions)
        return {i for i in found if i is not None}

    def _can_differ(self, fires: tuple[int, ...], open_: tuple[int, ...]) -> bool:
        """Can a rule that differs matter to what holds? If not, both sides say the same in the whole piece."""
        present = (*fires, *open_)
        steady = tuple(k for k in fires if not self.entries[k].is_changed)
        for n, side in enumerate(self.sides):
            differing = self._of(n, tuple(k for k in present if self.entries[k].is_changed))
            if differing and differing & side.mattering(self._of(n, fires), self._of(n, open_), self._of(n, steady)):
                return True
        return False

    def _needed(self, fires: tuple[int, ...], open_: tuple[int, ...]) -> list[int]:
        """The open entries that could still change what holds on their side."""
        if not open_:
            return []
        needed = [side.needed(self._of(n, fires), self._of(n, open_)) for n, side in enumerate(self.sides)]
        return [k for k in open_ if self.entries[k].before in needed[0] or self.entries[k].after in needed[1]]

    def _ranked(self, positions: list[int]) -> list[int]:
        """Differing rules first, then the strongest: they settle the most."""
        return sorted(positions, key=lambda k: (not self.entries[k].is_changed, self._level(k), k))

    def _level(self, k: int) -> int:
        entry = self.entries[k]
        n, i = (0, entry.before) if entry.before is not None else (1, entry.after)
        assert i is not None
        return self.sides[n].theory.ruleset.rules[i].level
