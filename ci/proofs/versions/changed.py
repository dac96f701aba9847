"""What a comparison of two versions finds: regions of change, what was not answered, and which way it all goes."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from bylaw.logic.formula.ir import Facts, Formula
from ci.proofs.versions.influence import Subject
from ci.proofs.versions.regions import Held
from ci.proofs.versions.shared import Shared

Tendency = Literal["tightened", "loosened", "equivalent", "changed", "unknown"]


@dataclass(frozen=True, slots=True)
class Change:
    """One region in which what holds of a subject changes, from *day* until *until* (None: for good).

    `by` are, for each side, the rules (by index) that say so in the case; `causes` the rules which only one side has
    and which fire there. `missing` are facts that one side waits for, where that is why nothing is decided.
    Where `is_bound`, the region lies within `where` and is not all of it.
    """

    subject: Subject
    before: Held
    after: Held
    where: Formula
    facts: Facts
    day: int
    until: int | None
    by: tuple[tuple[int, ...], tuple[int, ...]]
    causes: tuple[tuple[int, ...], tuple[int, ...]]
    missing: tuple[str, ...] = ()
    is_bound: bool = False

    @property
    def tendency(self) -> Tendency:
        """A new duty or prohibition tightens, a new permission loosens; outcomes have no order, so they change."""
        if self.subject.kind == "outcome":
            return "changed"
        return "tightened" if (self.after is True) == (self.subject.kind != "permitted") else "loosened"


@dataclass(frozen=True, slots=True)
class Unknown:
    """What was not answered, and which limit was hit."""

    subject: Subject | None
    day: int | None
    reason: str


@dataclass(frozen=True, slots=True)
class Changes:
    """All regions of change over the shared cases; `unknown` is empty exactly when it is proven that they are all."""

    changes: tuple[Change, ...]
    unknown: tuple[Unknown, ...]
    shared: Shared

    @property
    def tendency(self) -> Tendency:
        """What all changes have in common; `equivalent` only when it is proven that there are none."""
        found = {change.tendency for change in self.changes}
        if self.unknown:
            return "unknown"
        return found.pop() if len(found) == 1 else "changed" if found else "equivalent"
