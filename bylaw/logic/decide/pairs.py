"""Facts seen to matter without a diagram: two completions of a case, alike but for one fact, that end differently.

They are looked for where they mostly are: within an open box and just beyond it, at values of all other facts that few
rules ask for. What is found is certain; what is not found says nothing and is left to a diagram.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import reduce
from operator import and_
from typing import TypeVar

from bylaw.logic.decide.firing import Edge, Look

_End = TypeVar("_End")


def turning(look: Look, boxes: int, end: Callable[[int], _End], differ: Callable[[_End, _End], bool]) -> int:
    """The facts that open *boxes* wait for, if each of them is seen to turn the end; none when in doubt.

    *end* says what holds when exactly those boxes do. Boxes are bits by their places, facts are by lanes.
    """
    index, untried = look.firing, boxes
    speakers = {fact: its for fact, speaking in index.spoken if fact & look.unknown and (its := speaking & boxes)}
    if not speakers.keys() <= index.quiet.keys():
        return 0
    elsewhere = {fact: index.quiet[fact]() for fact in speakers}
    left = set(speakers)
    for fact in sorted(speakers, key=lambda fact: speakers[fact].bit_count()):  # the soonest found to be in doubt
        while fact in left and (mine := speakers[fact] & untried):
            place = (mine & -mine).bit_length() - 1
            untried ^= 1 << place
            edges = [edge for edge in index.edges[place] if edge[0] & look.unknown]
            left -= _turned(edges, left, elsewhere, boxes, end, differ)
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
