"""The cards of many policies in columns: of a hundred thousand most are never looked at, so few are ever made.

What policies have in common is held once, as their kind. Tables are never changed, only replaced.
"""

from __future__ import annotations

from bisect import bisect
from collections.abc import Container, Iterable, Iterator, Mapping, Sequence, Set
from dataclasses import dataclass
from functools import cached_property
from itertools import compress

from ci.parts.cards import Card, Kind


@dataclass(frozen=True, eq=False)
class Cards(Mapping[str, Card]):
    """Cards by path. Row *i* is the policy `ids[i]` in the file `paths[i]`; `kind_of[i]` is its place among `kinds`.

    `overrides` are by row, of the few that have some; every kind has a policy.
    """

    paths: Sequence[str]
    ids: Sequence[str]
    kinds: Sequence[Kind]
    kind_of: Sequence[int]
    overrides: Mapping[int, tuple[str, ...]]
    boxes: Sequence[str]

    @classmethod
    def of(cls, cards: Mapping[str, Card]) -> Cards:
        """The same *cards* as a table."""
        if isinstance(cards, Cards):
            return cards
        return cls((), (), (), (), {}, ()).changed((), cards)

    @cached_property
    def _rows(self) -> dict[str, int]:
        return dict(zip(self.paths, range(len(self.paths)), strict=True))

    def __getitem__(self, path: str) -> Card:
        """The card of the file at *path*. Raises KeyError where there is none."""
        row = self._rows[path]
        return Card(self.ids[row], self.kinds[self.kind_of[row]], self.overrides.get(row, ()), self.boxes[row])

    def __contains__(self, path: object) -> bool:
        """Is there a card of the file at *path*?"""
        return path in self._rows

    def __iter__(self) -> Iterator[str]:
        """The paths."""
        return iter(self.paths)

    def __len__(self) -> int:
        """How many cards there are."""
        return len(self.paths)

    def changed(self, gone: Iterable[str], come: Mapping[str, Card]) -> Cards:
        """These without those at the paths *gone*, and with those that have *come* instead."""
        kept = self._without({self._rows[path] for path in (*gone, *come) if path in self._rows})
        kinds = {kind: n for n, kind in enumerate(kept.kinds)}
        kind_of = [kinds.setdefault(card.kind, len(kinds)) for card in come.values()]
        overrides = {len(kept) + n: card.overrides for n, card in enumerate(come.values()) if card.overrides}
        return Cards(
            [*kept.paths, *come],
            [*kept.ids, *(card.id for card in come.values())],
            list(kinds),
            [*kept.kind_of, *kind_of],
            {**kept.overrides, **overrides},
            [*kept.boxes, *(card.boxes for card in come.values())],
        )

    def _without(self, rows: Set[int]) -> Cards:
        """These without some *rows*, and without the kinds that nobody is of any more."""
        if not rows:
            return self
        stays = bytearray(b"\1" * len(self))
        for row in rows:
            stays[row] = 0
        kind_of, kinds = list(compress(self.kind_of, stays)), self.kinds
        if len(used := sorted({*kind_of})) < len(kinds):
            places = {kind: n for n, kind in enumerate(used)}
            kind_of, kinds = [places[kind] for kind in kind_of], [kinds[kind] for kind in used]
        before = sorted(rows)
        return Cards(
            list(compress(self.paths, stays)),
            list(compress(self.ids, stays)),
            kinds,
            kind_of,
            {row - bisect(before, row): ids for row, ids in self.overrides.items() if row not in rows},
            list(compress(self.boxes, stays)),
        )

    def of_kinds(self, kinds: Container[int]) -> list[str]:
        """The paths of all policies of these *kinds*, by their places."""
        return [path for path, kind in zip(self.paths, self.kind_of, strict=True) if kind in kinds]

    def named(self, ids: Container[str]) -> list[str]:
        """The paths of all policies with one of these *ids*."""
        return [path for path, id in zip(self.paths, self.ids, strict=True) if id in ids]

    @cached_property
    def binding(self) -> list[str]:
        """The paths of all policies with invariants, which hold for everybody."""
        return self.of_kinds({n for n, kind in enumerate(self.kinds) if kind.binds})
