"""What a room with few open rules can still come to, over all completions, and the facts that turn it.

Worked out once from a diagram, of which nothing is kept: rooms are remembered by the thousand.
"""

from __future__ import annotations

from collections.abc import Iterable
from functools import partial

from bylaw.logic.contest import Contest, Verdict
from bylaw.logic.diagram import Layout, drawn
from bylaw.logic.firing import bits


class Room:
    """One room as it is in some cases: what its open rules come to.

    `is_changed`: from what is known now, by some completion. `changing` are the facts that can change anything.
    """

    __slots__ = ("_answers", "_turning", "changing", "is_changed")

    def __init__(self, contest: Contest, ranks: int, kinds: Iterable[int], layout: Layout) -> None:
        """*ranks* (by number) fire; *kinds* are those of the groups of boxes of open rules. Raises TooWide."""
        kinds = [1 << number for number in kinds]

        def result(held: int) -> Verdict:
            return contest.verdict(ranks | sum([kinds[n] for n in bits(held)]))

        diagram = drawn(layout, result)
        ends, now = diagram.ends.values(), result(0)
        self.is_changed = any(end != now for end in ends)
        self.changing = tuple(diagram.turning(lambda end: end))
        self._answers: dict[str, frozenset[str | None]] = {}
        self._turning: dict[str, tuple[str, ...]] = {}
        for outcome in {outcome for actions, _ in ends for outcome, _ in actions}:
            given = self._answers[outcome] = frozenset([_answer(outcome, end) for end in ends])
            if len(given) == len(ends):  # what turns anything turns this
                self._turning[outcome] = self.changing
            elif len(given) > 1:
                self._turning[outcome] = tuple(diagram.turning(partial(_answer, outcome)))

    def turning(self, outcome: str) -> tuple[str, ...]:
        """The facts that can change *outcome*."""
        return self._turning.get(outcome, ())

    def only_gives(self, outcome: str, action: str | None) -> bool:
        """Does every completion end with that action?"""
        return self._answers.get(outcome, _NOBODY) == {action}


_NOBODY = frozenset((None,))


def _answer(outcome: str, end: Verdict) -> str | None:
    for asked, action in end[0]:
        if asked == outcome:
            return action
    return None
