"""Who took whose place, drawn as SVG: a decision a row, the oldest first, and beside the rows a line to what followed.

Decisions that are linked, directly or through others, are one drawing, as narrow as a telephone. Every row is a link
that says all of it in words, so that nobody has to see the lines.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from html import escape

MOST_LANES = 6  # of lines side by side; more share the outermost one
_WIDTH, _HEIGHT, _ROW, _LANE, _LETTERS = 264, 42, 52, 12, 37


@dataclass(frozen=True, slots=True)
class Row:
    """One decision as it is drawn. `day` is empty where nobody knows it."""

    id: str
    option: str
    status: str
    day: str


@dataclass(frozen=True, slots=True)
class Link:
    """`later` took the place of `earlier`, or changed it in part."""

    earlier: str
    later: str
    is_partial: bool = False


def drawings(rows: Mapping[str, Row], links: Iterable[Link]) -> tuple[str, ...]:
    """The SVG of every set of linked decisions, that with the newest decision first."""
    known = [link for link in links if link.earlier in rows and link.later in rows]
    sets = [sorted((rows[id] for id in ids), key=lambda row: (row.day or "9999", row.id)) for ids in _sets(known)]
    return tuple(_drawing(ones, known) for ones in sorted(sets, key=lambda ones: (ones[-1].day, ones[-1].id))[::-1])


def _sets(links: Sequence[Link]) -> Iterator[list[str]]:
    """The ids that links lead to from one another."""
    beside: dict[str, set[str]] = defaultdict(set)
    for link in links:
        beside[link.earlier].add(link.later)
        beside[link.later].add(link.earlier)
    seen: set[str] = set()
    for first in sorted(beside):
        waiting, found = [first], list[str]()
        while waiting:
            id = waiting.pop()
            if id not in seen:
                seen.add(id)
                found.append(id)
                waiting += sorted(beside[id])
        if found:
            yield found


def _drawing(ones: Sequence[Row], links: Iterable[Link]) -> str:
    places = {row.id: number for number, row in enumerate(ones)}
    own = sorted(
        (link for link in links if link.earlier in places),
        key=lambda link: (abs(places[link.later] - places[link.earlier]), places[link.earlier], link.later),
    )
    lanes = _lanes([sorted((places[link.earlier], places[link.later])) for link in own])
    gutter = (max(lanes, default=0) + 1) * _LANE + 10
    width, height = gutter + _WIDTH + 2, len(ones) * _ROW + 2
    label = escape(f"{len(ones)} linked decisions, from {ones[0].id} to {ones[-1].id}", quote=True)
    head = f'<svg class="places" role="group" aria-label="{label}" viewBox="0 0 {width} {height}" width="{width}">'
    lines = (_line(link, lane, places, gutter) for link, lane in zip(own, lanes, strict=True))
    boxes = (_box(row, number, gutter, own) for number, row in enumerate(ones))
    return "\n".join([head, *lines, *boxes, "</svg>"])


def _lanes(spans: Sequence[Sequence[int]]) -> list[int]:
    """A lane for every span, the innermost that is free all along it."""
    taken: list[list[Sequence[int]]] = [[] for _ in range(MOST_LANES)]
    found = []
    for low, high in spans:
        free = (n for n, lane in enumerate(taken) if all(high <= other[0] or other[1] <= low for other in lane))
        lane = next(free, MOST_LANES - 1)
        taken[lane].append((low, high))
        found.append(lane)
    return found


def _middle(number: int) -> float:
    return number * _ROW + _ROW / 2


def _line(link: Link, lane: int, places: Mapping[str, int], gutter: int) -> str:
    x = gutter - (lane + 1) * _LANE - 2
    start, end = _middle(places[link.earlier]) + 6, _middle(places[link.later]) - 6
    kind = "part" if link.is_partial else "whole"
    path = f'<path class="{kind}" d="M{gutter},{start:g} H{x} V{end:g} H{gutter - 6}"/>'
    arrow = f'<path class="arrow" d="M{gutter - 7},{end - 4:g} L{gutter},{end:g} L{gutter - 7},{end + 4:g} Z"/>'
    return f'<g aria-hidden="true">{path}{arrow}</g>'


def _box(row: Row, number: int, gutter: int, links: Iterable[Link]) -> str:
    y = _middle(number) - _HEIGHT / 2
    state = f"{row.status}, {row.day}" if row.day else row.status
    said = escape(". ".join([f"{row.id}: {row.option}", state, *_words(row.id, links)]), quote=True)
    texts = ((row.option, 17, "name"), (f"{state} · {row.id}", 33, "about"))
    lines = "".join(
        f'<text class="{kind}" x="{gutter + 10}" y="{y + down:g}">{escape(_short(text))}</text>'
        for text, down, kind in texts
    )
    shape = f'<rect class="{row.status}" x="{gutter}" y="{y:g}" width="{_WIDTH}" height="{_HEIGHT}" rx="6"/>'
    target = escape(f"#{row.id}", quote=True)
    return f'<a href="{target}" aria-label="{said}"><title>{escape(row.option)}</title>{shape}{lines}</a>'


def _words(id: str, links: Iterable[Link]) -> Iterator[str]:
    for link in links:
        if link.later == id:
            yield f"{'changes' if link.is_partial else 'takes the place of'} {link.earlier}"
        elif link.earlier == id:
            yield f"{'changed' if link.is_partial else 'superseded'} by {link.later}"


def _short(text: str) -> str:
    return text if len(text) <= _LETTERS else f"{text[: _LETTERS - 1].rstrip()}…"
