"""Small random worlds, small enough that every case can be tried."""

from __future__ import annotations

from dataclasses import replace
from functools import cache
from itertools import product

from hypothesis import strategies as st

from bylaw.logic.formula.ir import (
    And,
    Atom,
    Compare,
    ConditionalRule,
    Effect,
    Not,
    Or,
    Ref,
    Ruleset,
    Source,
    Variable,
)

VARIABLES = {
    "flag": Variable("flag", "boolean"),
    "open": Variable("open", "boolean"),
    "kind": Variable("kind", "enum", ("tv", "shirt", "book")),
    "days": Variable("days", "integer", minimum=0, maximum=4),
    "left": Variable("left", "integer", minimum=0, maximum=3),
}
GRID = {
    "flag": (True, False),
    "open": (True, False),
    "kind": ("tv", "shirt", "book"),
    "days": (0, 1, 2, 3, 4),
    "left": (0, 1, 2, 3),
}


def cases(names=tuple(GRID)):
    """Every full case over *names*."""
    for values in product(*(GRID[name] for name in names)):
        yield dict(zip(names, values, strict=True))


@cache  # to build a strategy takes longer than to draw from it
def atoms(with_compare: bool = False):
    numeric = st.builds(
        Atom, st.sampled_from(("days", "left")), st.sampled_from(("==", "!=", "<", "<=", ">", ">=")), st.integers(-1, 5)
    )
    flags = st.builds(Atom, st.sampled_from(("flag", "open")), st.sampled_from(("==", "!=")), st.booleans())
    kinds = st.builds(Atom, st.just("kind"), st.sampled_from(("==", "!=")), st.sampled_from(GRID["kind"]))
    several = st.builds(
        lambda values: Atom("kind", "in", tuple(values)),
        st.lists(st.sampled_from(GRID["kind"]), min_size=1, max_size=3),
    )
    compare = st.builds(
        lambda op: Compare(Ref("left"), op, Ref("days")), st.sampled_from(("==", "!=", "<", "<=", ">", ">="))
    )
    return st.one_of(numeric, flags, kinds, several, *([compare] if with_compare else []))


@cache
def formulas(with_compare: bool = False, leaves: int = 6):
    return joined(atoms(with_compare), leaves)


def joined(leaf, leaves):
    """Formulas of "and", "or" and "not" over *leaf*, of at most *leaves*."""
    return st.recursive(
        leaf,
        lambda inner: st.one_of(
            st.lists(inner, max_size=3).map(lambda items: And(tuple(items))),
            st.lists(inner, max_size=3).map(lambda items: Or(tuple(items))),
            inner.map(Not),
        ),
        max_leaves=leaves,
    )


EFFECTS = (
    Effect("outcome", "full", "refund"),
    Effect("outcome", "credit", "refund"),
    Effect("outcome", "reject", "refund", implied=("notify",)),
    Effect("outcome", "fast", "shipping"),
    Effect("required", "notify"),
    Effect("required", "verify", implied=("fast",), implied_takes=(("shipping", "fast"),)),
    Effect("prohibited", "full"),
    Effect("prohibited", "notify"),
    Effect("prohibited", "fast"),
    Effect("permitted", "full"),
    Effect("permitted", "verify", implied=("notify",)),  # whoever may do the one has to do the other
)


@st.composite
def rulesets(draw, with_compare: bool = False, most: int = 5):
    count = draw(st.integers(1, most))
    rules = tuple(
        ConditionalRule(
            rule_id=f"R{i}",
            policy_id=f"P{draw(st.integers(0, 3))}",
            domain="x",
            effect=draw(st.sampled_from(EFFECTS)),
            guard=draw(formulas(with_compare, leaves=4)),
            level=0,
            source=Source("x.yaml"),
        )
        for i in range(count)
    )
    levels = {policy: draw(st.integers(2, 4)) for policy in ("P0", "P1", "P2", "P3")}
    leveled = tuple(replace(rule, level=levels[rule.policy_id]) for rule in rules)
    chain = {"P0": frozenset(("P1",)), "P1": frozenset(("P2",))}
    overrides = draw(st.sampled_from(({}, {"P0": frozenset(("P1",))}, chain)))
    excludes = draw(st.sampled_from((frozenset(), frozenset((("credit", "verify"), ("verify", "credit"))))))
    return Ruleset(VARIABLES, leveled, overrides=overrides, excludes=excludes, outcomes=("refund", "shipping"))
