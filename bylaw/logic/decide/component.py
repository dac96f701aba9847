"""What a room with few open rules can still come to, over all completions, and the facts that turn it.

Worked out once, from pairs of completions or a diagram, of which nothing is kept: rooms are remembered by the thousand.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import partial

from bylaw.logic.boxes.diagram import Layout, drawn
from bylaw.logic.boxes.packed_counts import PackedCounts
from bylaw.logic.decide.conflicts import Conflicts, Verdict
from bylaw.logic.decide.firing import Look, Trace, bits
from bylaw.logic.decide.pairs import turning


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
    outcomes, places = conflicts.outcomes_of(number), look.firing.places
    rank_of = {1 << places[i][n]: 1 << conflicts.rank_of[i].number for i, n in trace[1]}

    def end(held: int) -> Verdict:
        found = ranks
        while held:
            box = held & -held
            found |= rank_of[box]
            held ^= box
        return conflicts.verdict(found)

    def differ(one: Verdict, other: Verdict) -> bool:
        return one != other and all(_answer(outcome, one) != _answer(outcome, other) for outcome in outcomes)

    facts = turning(look, trace[1], end, differ)
    return Component(True, facts, dict.fromkeys(outcomes, facts), {}) if facts else None


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
