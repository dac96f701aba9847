"""What a room with few open rules can still come to, over all completions, and the facts that turn it.

Worked out once, from pairs of completions or a diagram, of which nothing is kept: rooms are remembered by the thousand.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from functools import partial
from typing import TypeVar

from bylaw.logic.boxes.diagram import Layout, drawn
from bylaw.logic.boxes.packed_counts import PackedCounts
from bylaw.logic.decide.conflicts import Conflicts, Verdict
from bylaw.logic.decide.firing import Look, Trace, as_bits, bits
from bylaw.logic.decide.pairs import turning

_End = TypeVar("_End")


@dataclass(frozen=True, slots=True)
class Component:
    """One room as it is in some cases: what its open rules come to. Sets of facts are by lanes.

    `is_changed`: from what is known now, by some completion. `changing` are the facts that can change anything,
    `turning` those that can change an outcome; one that none can has its action in `settled`.
    """

    is_changed: bool
    changing: int
    turning: Mapping[str, int]
    settled: Mapping[str, str | None]

    def only_gives(self, outcome: str, action: str | None) -> bool:
        """Does every completion end with that action?"""
        return outcome not in self.turning and self.settled.get(outcome) == action


def seen(conflicts: Conflicts, number: int, ranks: int, look: Look, trace: Trace) -> Component | None:
    """The room of that *number* where *ranks* (by number) fire, if every fact of open boxes is seen to turn it."""
    outcomes = conflicts.outcomes_of(number)
    boxes = as_bits(look.firing.places[i][n] for i, n in trace[1])

    def differ(one: Verdict, other: Verdict) -> bool:
        return one != other and all(_answer(outcome, one) != _answer(outcome, other) for outcome in outcomes)

    facts = turning(look, boxes, held_by(conflicts, ranks, look, conflicts.verdict), differ)
    return Component(True, facts, dict.fromkeys(outcomes, facts), {}) if facts else None


def held_by(conflicts: Conflicts, ranks: int, look: Look, result: Callable[[int], _End]) -> Callable[[int], _End]:
    """The *result* where *ranks* fire and exactly some open boxes hold (by their places, as bits)."""

    def end(held: int) -> _End:
        found = ranks
        for place in bits(held):
            found |= 1 << conflicts.rank_of[look.firing.rule_at(place)].number
        return result(found)

    return end


def explored(conflicts: Conflicts, lanes: PackedCounts, ranks: int, kinds: Iterable[int], layout: Layout) -> Component:
    """The room where *ranks* fire and *kinds* are those of the groups of boxes of open rules. Raises TooWide."""
    kinds = [1 << number for number in kinds]

    def result(held: int) -> Verdict:
        return conflicts.verdict(ranks | sum([kinds[n] for n in bits(held)]))

    diagram = drawn(layout, result)
    ends, now = diagram.ends.values(), result(0)
    changing = lanes.among(diagram.turning(lambda end: end))
    turned, settled = dict[str, int](), dict[str, str | None]()
    for outcome in {outcome for actions, _ in ends for outcome, _ in actions}:
        given = {_answer(outcome, end) for end in ends}
        if len(given) == 1:
            settled[outcome] = given.pop()
        elif len(given) == len(ends):  # what turns anything turns this
            turned[outcome] = changing
        else:
            turned[outcome] = lanes.among(diagram.turning(partial(_answer, outcome)))
    return Component(any(end != now for end in ends), changing, turned, settled)


def _answer(outcome: str, end: Verdict) -> str | None:
    for asked, action in end[0]:
        if asked == outcome:
            return action
    return None
