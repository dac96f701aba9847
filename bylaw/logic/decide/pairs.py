"""Facts seen to matter without a diagram: two completions of a case, alike but for one fact, that end differently.

They are looked for where they mostly are: within an open box and just beyond it, at values of all other facts that few
rules ask for. What is found is certain; what is not found says nothing and is left to a diagram.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from functools import reduce
from operator import and_
from typing import TypeVar

from bylaw.logic.decide.firing import Edge, Look

_End = TypeVar("_End")


def turning(
    look: Look, boxes: Iterable[tuple[int, int]], end: Callable[[int], _End], differ: Callable[[_End, _End], bool]
) -> int:
    """The facts that open *boxes* (rule, number) wait for, if each of them is seen to turn the end; none when in doubt.

    *end* says what holds when exactly those boxes (by their places, as bits) do. Facts are by lanes.
    """
    index, everyone, untried = look.firing, 0, dict[int, list[Edge]]()
    speakers: dict[int, list[int]] = {}
    for i, n in boxes:
        place = index.places[i][n]
        everyone |= 1 << place
        untried[place] = [edge for edge in index.edges[i][n] if edge[0] & look.unknown]
        for fact, _, _ in untried[place]:
            speakers.setdefault(fact, []).append(place)
    elsewhere = {fact: index.quiet[fact]() for fact in speakers}
    left = set(speakers)
    for fact in sorted(speakers, key=lambda fact: len(speakers[fact])):  # the soonest found to be in doubt
        for place in speakers[fact]:
            if fact in left and place in untried:
                left -= _turned(untried.pop(place), left, elsewhere, everyone, end, differ)
        if fact in left:
            return 0
    return sum(speakers)


def _turned(
    edges: list[Edge],
    left: set[int],
    elsewhere: dict[int, int],
    everyone: int,
    end: Callable[[int], _End],
    differ: Callable[[_End, _End], bool],
) -> set[int]:
    """The facts *left* that turn the end at an edge of one box, within all of its others."""
    own = [fact for fact, _, _ in edges]
    others = reduce(and_, [who for fact, who in elsewhere.items() if fact not in own], everyone)
    within = [inside() for _, inside, _ in edges]
    here = end(reduce(and_, within, others))
    return {
        fact
        for n, (fact, _, outside) in enumerate(edges)
        if fact in left and differ(here, end(reduce(and_, within[:n] + within[n + 1 :], others & outside())))
    }
