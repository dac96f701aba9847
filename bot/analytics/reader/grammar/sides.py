"""A quotient that is being read: its sides, the number of each, and the conditions said of it."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Literal

from bot.analytics.reader.said import DoneSaid, Narrowing, NumberSaid, Ref, RelatedSaid, TimeSaid
from bylaw.authored.context import Aggregation

Mark = Literal["before", "of", "weak", "strong", "place"]
Said = Narrowing | RelatedSaid | TimeSaid | DoneSaid


@dataclass(slots=True)
class Piece:
    """A condition on one side, and how it stands to the number: before it, behind "with", a verb or a place word."""

    said: Said
    mark: Mark
    place: str = ""


@dataclass(slots=True)
class Side:
    """What one side of a quotient says."""

    start: int
    number: NumberSaid | None = None
    number_at: int = 0
    pieces: list[Piece] = field(default_factory=list)
    groups: list[Ref] = field(default_factory=list)
    entities: list[Ref] = field(default_factory=list)  # named behind the number
    mark: Mark = "before"
    place: str = ""
    is_relative: bool = False  # inside a clause that a pronoun opened


@dataclass(slots=True)
class Quotient:
    """A quotient that is being read. `separator` is where its second side begins, and how many words say so."""

    words: str
    is_part: bool
    in_percent: bool
    separator: tuple[int, int] | None
    agg: Aggregation | None = None
    is_ranked: bool = False
    sides: list[Side] = field(default_factory=list)

    @property
    def side(self) -> Side:
        return self.sides[-1]

    def add(self, said: Said) -> None:
        """A condition on the side that is being read."""
        self.side.pieces.append(Piece(said, self.side.mark, self.side.place))

    def add_entity(self, ref: Ref) -> None:
        """Rows that are named on the side; "of" behind a fact only says whose it is."""
        number = self.side.number
        owners = {target.owner for target in number.ref.of("fact")} if number is not None else set()
        if self.side.mark != "of" or owners.isdisjoint(ref.entities):
            self.side.entities.append(ref)

    def speaks_of(self, ref: Ref) -> bool:
        """Has the last condition narrowed these rows: "gold customers"?"""
        last = self.side.pieces[-1].said if self.side.pieces else None
        return isinstance(last, Narrowing) and not set(last.ref.owners).isdisjoint(ref.entities)

    @property
    def narrowed(self) -> list[Narrowing]:
        """The conditions of the side that is being read."""
        return [piece.said for piece in self.side.pieces if isinstance(piece.said, Narrowing)]
