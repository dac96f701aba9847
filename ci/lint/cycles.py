"""Names that lead back to themselves: one cycle for each knot of a graph, none twice, in a fixed order."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping


def cycles(edges: Mapping[str, Iterable[str]]) -> Iterator[tuple[str, ...]]:
    """Cycles that share no name, each beginning with its smallest; empty exactly when there is no cycle at all."""
    core = {name: {other for other in others if other in edges} for name, others in edges.items()}
    while core := _without_ends(core):
        walked: dict[str, int] = {}
        name = min(core)
        while name not in walked:
            walked[name] = len(walked)
            name = min(core[name])
        cycle = list(walked)[walked[name] :]
        smallest = cycle.index(min(cycle))
        yield (*cycle[smallest:], *cycle[:smallest])
        gone = set(cycle)
        core = {name: others - gone for name, others in core.items() if name not in gone}


def _without_ends(edges: Mapping[str, set[str]]) -> dict[str, set[str]]:
    """What is left when names without a successor are taken out, again and again: every name lies before a cycle."""
    left = {name: set(others) for name, others in edges.items()}
    before: dict[str, list[str]] = {}
    for name, others in left.items():
        for other in others:
            before.setdefault(other, []).append(name)
    ends = [name for name, others in left.items() if not others]
    while ends:
        end = ends.pop()
        del left[end]
        for name in before.get(end, ()):
            left[name].discard(end)
            if not left[name]:
                ends.append(name)
    return left
