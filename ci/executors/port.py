"""What an executor promises: one call for each item, the answers in the order of the items, none of them lost.

An item whose worker dies is tried once more, last and with nothing beside it, so that what died of its neighbours
lives. When its worker dies again, `WorkerLost` stands in its place and the rest goes on.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Protocol, TypeVar

T = TypeVar("T")
R = TypeVar("R")
Hear = Callable[[int, int], None]


@dataclass(frozen=True)
class WorkerLost:
    """The answer for an item at whose work two workers died; `index` is its place among the items."""

    index: int

    @property
    def message(self) -> str:
        """What a person reads."""
        return (
            f"part {self.index + 1} of the work was given up: the process that did it died twice, the second time alone"
        )


class Executor(Protocol):
    """Something that answers items."""

    def run(self, work: Callable[[T], R], items: Sequence[T], heard: Hear | None = None) -> list[R | WorkerLost]:
        """What *work*, a function of a module, makes of each item, in their order; *heard* is told (done, of).

        An exception of *work* is raised here, that of the first item which raises one, and ends the run.
        """
        ...
