"""The declared facts as the logic's variables: exact bounds, dates as ordinals."""

from __future__ import annotations

from decimal import Decimal

from bylaw.authored.vocabulary import Fact, Vocabulary
from bylaw.logic.formula.ir import Number, ValueMisfit, Variable


def variables(vocabulary: Vocabulary) -> dict[str, Variable]:
    """Every fact as a variable, by name, sorted. A bound that does not fit its fact is left out: a lint tells it."""
    return {name: variable(name, fact) for name, fact in sorted(vocabulary.facts.items())}


def variable(name: str, fact: Fact) -> Variable:
    """One fact as a variable."""
    free = unbounded(name, fact)
    low, high = (_bound(free, written) for written in (fact.minimum, fact.maximum))
    if low is None and fact.history is not None and fact.history.kind in ("count", "since"):
        low = 0
    return Variable(name, free.kind, free.values, low, high, free.unit)


def unbounded(name: str, fact: Fact) -> Variable:
    """The fact without its bounds: what reads the bounds themselves."""
    return Variable(name, fact.type, tuple(fact.values), unit=fact.unit)


def bound_of(free: Variable, written: Decimal | str) -> Number:
    """A bound of a number or a date as the logic counts it. Raises ValueMisfit."""
    value = free.read(written)
    assert not isinstance(value, bool | str)
    return value


def _bound(free: Variable, written: Decimal | str | None) -> Number | None:
    if written is None or free.is_finite:
        return None
    try:
        return bound_of(free, written)
    except ValueMisfit:
        return None
