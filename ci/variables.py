"""Declared facts as variables of the logic: exact bounds, dates as ordinals."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import date
from decimal import Decimal, InvalidOperation

from bylaw.authored.vocabulary import Fact, Vocabulary
from bylaw.logic.ir import Number, Variable, exact


def variables(vocabulary: Vocabulary) -> Mapping[str, Variable]:
    """Every declared fact as a variable, by name. A bound of the wrong type is left out: a lint says so."""
    return {name: _variable(name, fact) for name, fact in sorted(vocabulary.facts.items())}


def _variable(name: str, fact: Fact) -> Variable:
    return Variable(
        name=name,
        kind=fact.type,
        values=tuple(fact.values),
        minimum=_bound(fact, fact.minimum),
        maximum=_bound(fact, fact.maximum),
        unit=fact.unit,
    )


def _bound(fact: Fact, value: Decimal | str | None) -> Number | None:
    try:
        if value is None:
            return None
        return date.fromisoformat(str(value)).toordinal() if fact.type == "date" else exact(str(value))
    except (ValueError, InvalidOperation):
        return None
