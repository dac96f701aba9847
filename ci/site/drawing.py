"""A decision graph drawn from the top down as SVG: a question a box, below it and further in what each answer leads to.

The graph is unfolded into a tree, so no lines cross, and it begins at the top left, where every screen begins; its
width grows by little with each question. One that nobody would read to its end is not drawn.
"""

from __future__ import annotations

import textwrap
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from html import escape

from bylaw.logic.words.graph import NOTHING, Graph

MOST_ENDS = 48  # of a tree, beyond which nobody reads it
MOST_DEPTH = 12
_WIDTH, _INDENT, _ROW, _LINE = 270, 40, 48, 15  # of a box, of an answer, of a row, of a line of text
_LETTERS, _MOST_LINES = 40, 2  # of a line of text in a box, and how many lines
_STEM = 14  # from the left edge of a box to the line that goes down from it


@dataclass(frozen=True, slots=True)
class Box:
    """One box of the tree: its text, its place in columns and rows, and the boxes that its answers lead to."""

    text: str
    column: int
    row: int
    kind: str  # question, action or nothing
    children: tuple[tuple[str, Box], ...] = ()


def drawn(graph: Graph, asked: Callable[[str], str], ends: Mapping[str, str]) -> str | None:
    """The SVG of *graph*; None where it is too large. *asked* words a question, *ends* the terminals."""
    if graph.truncated or graph.root not in graph.nodes or _ends(graph, graph.root) > MOST_ENDS:
        return None
    root, rows = _placed(graph, graph.root, 0, 0, asked, ends)
    boxes = list(_all(root))
    width = max(box.column for box in boxes) * _INDENT + _WIDTH + 2
    height = rows * _ROW + 4
    parts = [*(_line(box, word, child) for box in boxes for word, child in box.children), *map(_drawn, boxes)]
    label = escape(f"decision graph that begins with: {root.text}", quote=True)
    head = f'<svg class="graph" role="img" aria-label="{label}" viewBox="0 0 {width} {height}" width="{width}">'
    return "\n".join([head, *parts, "</svg>"])


def _ends(graph: Graph, name: str, depth: int = 0) -> int:
    """How many ends the tree below a node has; more than may be drawn where it is too deep or goes in a circle."""
    if name not in graph.nodes:
        return 1
    if depth > MOST_DEPTH:
        return MOST_ENDS + 1
    node, total = graph.nodes[name], 0
    for target in (node.true, node.false):
        total += _ends(graph, target, depth + 1)
        if total > MOST_ENDS:
            break
    return total


def _placed(
    graph: Graph, name: str, column: int, row: int, asked: Callable[[str], str], ends: Mapping[str, str]
) -> tuple[Box, int]:
    """The box of a node with all below it, from *row* on; and the first row that is free then."""
    node = graph.nodes.get(name)
    if node is None:
        kind = "nothing" if name == NOTHING else "action"
        return Box(ends.get(name, name), column, row, kind), row + 1
    yes, free = _placed(graph, node.true, column + 1, row + 1, asked, ends)
    no, free = _placed(graph, node.false, column + 1, free, asked, ends)
    return Box(asked(name), column, row, "question", (("yes", yes), ("no", no))), free


def _all(box: Box) -> Iterator[Box]:
    yield box
    for _, child in box.children:
        yield from _all(child)


def _left(box: Box) -> int:
    return box.column * _INDENT + 1


def _middle(box: Box) -> float:
    return box.row * _ROW + _ROW / 2 + 2


def _line(box: Box, word: str, child: Box) -> str:
    x, y, to_x, to_y = _left(box) + _STEM, _middle(box), _left(child), _middle(child)
    path = f'<path class="{word}" d="M{x},{y:g} V{to_y:g} H{to_x}"/>'
    return f'{path}<text class="answer" x="{to_x - 4}" y="{to_y - 5:g}" text-anchor="end">{word}</text>'


def _drawn(box: Box) -> str:
    lines = textwrap.wrap(box.text, _LETTERS)[:_MOST_LINES] or [""]
    if len(" ".join(lines)) < len(box.text):
        lines[-1] = lines[-1][: _LETTERS - 1] + "…"
    height = max(len(lines) * _LINE + 10, 28)
    x, y = _left(box), _middle(box)
    first = y - (len(lines) - 1) * _LINE / 2 + 4
    spans = "".join(
        f'<tspan x="{x + 10}" y="{first + i * _LINE:g}">{escape(line)}</tspan>' for i, line in enumerate(lines)
    )
    shape = f'<rect class="{box.kind}" x="{x}" y="{y - height / 2:g}" width="{_WIDTH}" height="{height}" rx="6"/>'
    title = f"<title>{escape(box.text)}</title>"
    return f"<g>{title}{shape}<text>{spans}</text></g>"
