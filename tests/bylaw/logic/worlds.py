"""A random world of every kind of fact, with grids that meet each region its formulas can draw.

Numbers in formulas are halves and coefficients are 1 or 2, so quarters between the bounds meet every region of `price`.
"""

from __future__ import annotations

from fractions import Fraction
from itertools import product

from hypothesis import strategies as st

from bylaw.logic.boxes.truth import truth
from bylaw.logic.formula.ir import (
    Arith,
    Atom,
    Compare,
    ConditionalRule,
    Const,
    Effect,
    Ref,
    Source,
    Variable,
    names,
)
from tests.bylaw.logic.strategies import joined

DAY = 739_000
VARIABLES = {
    variable.name: variable
    for variable in (
        Variable("flag", "boolean"),
        Variable("open", "boolean"),
        Variable("kind", "enum", ("tv", "in-store", "24h", "other")),
        Variable("tier", "enum", ("gold", "other")),
        Variable("days", "integer", minimum=0, maximum=4),
        Variable("left", "integer", minimum=-2, maximum=2),
        Variable("price", "decimal", minimum=0, maximum=4),
        Variable("bought", "date", minimum=DAY, maximum=DAY + 3),
        Variable("due", "date", minimum=DAY + 1, maximum=DAY + 3),
    )
}
GRID = {
    "flag": (False, True),
    "open": (False, True),
    "kind": VARIABLES["kind"].values,
    "tier": VARIABLES["tier"].values,
    "days": tuple(range(5)),
    "left": tuple(range(-2, 3)),
    "price": tuple(Fraction(i, 4) for i in range(17)),
    "bought": tuple(range(DAY, DAY + 4)),
    "due": tuple(range(DAY + 1, DAY + 4)),
}
OPS = ("==", "!=", "<", "<=", ">", ">=")


def cases(facts):
    """Every case over *facts*."""
    facts = sorted(facts)
    for values in product(*(GRID[name] for name in facts)):
        yield dict(zip(facts, values, strict=True))


def satisfying(formula):
    """Every case over the facts of *formula* in which it holds."""
    return [case for case in cases(names(formula)) if truth(formula, case)]


def halves(low=-1, high=9):
    return st.integers(low, high).map(lambda i: i // 2 if i % 2 == 0 else Fraction(i, 2))


def atoms():
    ops = st.sampled_from(OPS)
    finite = [
        st.builds(Atom, st.sampled_from(("flag", "open")), st.sampled_from(("==", "!=")), st.booleans()),
        *(
            st.builds(Atom, st.just(name), st.sampled_from(("==", "!=")), st.sampled_from(GRID[name]))
            for name in ("kind", "tier")
        ),
        st.lists(st.sampled_from(GRID["kind"]), min_size=1, max_size=3, unique=True).map(
            lambda values: Atom("kind", "in", tuple(values))
        ),
        st.lists(st.integers(0, 4), min_size=1, max_size=3, unique=True).map(
            lambda values: Atom("days", "in", tuple(values))
        ),
        st.lists(halves(), min_size=1, max_size=3, unique=True).map(lambda values: Atom("price", "in", tuple(values))),
    ]
    numeric = [
        st.builds(Atom, st.sampled_from(("days", "left", "price")), ops, halves()),
        st.builds(Atom, st.sampled_from(("bought", "due")), ops, st.integers(DAY - 1, DAY + 4)),
    ]
    return st.one_of(*finite, *numeric)


def sums():
    """Linear terms over the numeric facts, coefficients 1 and 2."""
    facts = st.sampled_from(("days", "left", "price")).map(Ref)
    parts = st.one_of(facts, halves().map(Const), facts.map(lambda fact: Arith("*", Const(2), fact)))
    return st.one_of(parts, st.builds(Arith, st.sampled_from(("+", "-")), parts, parts))


def comparisons():
    ops = st.sampled_from(OPS)
    dates = st.sampled_from((Ref("bought"), Ref("due"), Arith("+", Ref("bought"), Const(1))))
    return st.one_of(
        st.builds(Compare, sums(), ops, sums()),
        st.builds(Compare, dates, ops, dates),
        st.builds(Compare, st.just(Arith("-", Ref("due"), Ref("bought"))), ops, st.integers(0, 3).map(Const)),
    )


def formulas(leaves=4, with_compare=True):
    leaf = st.one_of(atoms(), atoms(), comparisons()) if with_compare else atoms()
    return joined(leaf, leaves)


EFFECTS = (
    Effect("outcome", "full", "refund"),
    Effect("outcome", "reject", "refund"),
    Effect("required", "notify"),
    Effect("prohibited", "disclose"),
    Effect("permitted", "waive"),
)


def rules(most=4, leaves=4, with_compare=True):
    """The rules of one policy."""

    def numbered(parts):
        return tuple(
            ConditionalRule(f"R{i}", "POL-X-001", "x", effect, guard, 3, Source("x.yaml"))
            for i, (effect, guard) in enumerate(parts)
        )

    pairs = st.tuples(st.sampled_from(EFFECTS), formulas(leaves, with_compare))
    return st.lists(pairs, max_size=most).map(numbered)
