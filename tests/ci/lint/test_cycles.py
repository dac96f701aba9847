"""Circles of names: found when there is one, told once, in a fixed order."""

from hypothesis import given
from hypothesis import strategies as st

from ci.lint.cycles import cycles

NAMES = [f"n{i}" for i in range(8)]
GRAPHS = st.dictionaries(st.sampled_from(NAMES), st.lists(st.sampled_from(NAMES), max_size=3), max_size=8)


def has_cycle(edges: dict[str, list[str]]) -> bool:
    """The slow way: can a name be reached from itself?"""
    for start in edges:
        reached, todo = set(), list(edges[start])
        while todo:
            name = todo.pop()
            if name not in reached:
                reached.add(name)
                todo += edges.get(name, [])
        if start in reached:
            return True
    return False


@given(GRAPHS)
def test_a_circle_is_found_exactly_when_there_is_one(edges: dict[str, list[str]]) -> None:
    found = list(cycles(edges))
    assert bool(found) == has_cycle(edges)
    for cycle in found:
        assert cycle[0] == min(cycle)
        assert all(b in edges[a] for a, b in zip(cycle, (*cycle[1:], cycle[0]), strict=True))
    names = [name for cycle in found for name in cycle]
    assert len(names) == len(set(names))


@given(GRAPHS)
def test_the_order_of_the_graph_changes_nothing(edges: dict[str, list[str]]) -> None:
    turned = {name: list(reversed(others)) for name, others in reversed(edges.items())}
    assert list(cycles(edges)) == list(cycles(turned))


def test_names_that_are_not_there_end_a_walk() -> None:
    assert list(cycles({"a": ["b", "gone"], "b": ["gone"]})) == []


def test_a_long_chain_is_no_deep_recursion() -> None:
    chain = {f"n{i:06}": [f"n{i + 1:06}"] for i in range(50_000)}
    assert list(cycles(chain)) == []
    assert len(next(iter(cycles({**chain, "n050000": ["n000000"]})))) == 50_001
