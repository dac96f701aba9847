"""Facts as variables: exact, with dates as ordinals."""

from datetime import date
from decimal import Decimal
from fractions import Fraction

import pytest

from bylaw.authored.vocabulary import Fact, Vocabulary
from bylaw.logic.formula.ir import ValueMisfit, Variable
from ci.loading.derived.variables import bound_of, unbounded, variable, variables
from tests.rows import each


def test_every_fact_is_a_variable_sorted_by_name() -> None:
    vocabulary = Vocabulary.model_validate(
        {"facts": {"b": {"type": "enum", "values": {"x": [], "y": ["z"]}}, "a": {"type": "boolean"}}}
    )
    assert variables(vocabulary) == {"a": Variable("a", "boolean"), "b": Variable("b", "enum", ("x", "y"))}
    assert list(variables(vocabulary)) == ["a", "b"]


@each(
    ("fact", "minimum", "maximum"),
    [
        ({"type": "integer", "minimum": 0}, 0, None),
        ({"type": "decimal", "minimum": Decimal("0.10"), "maximum": "2.5"}, Fraction(1, 10), Fraction(5, 2)),
        ({"type": "decimal", "maximum": Decimal("3.00")}, None, 3),
        ({"type": "date", "minimum": "2026-01-31"}, date(2026, 1, 31).toordinal(), None),
        # what does not fit is left out here, and told by a lint
        ({"type": "integer", "minimum": Decimal("0.5"), "maximum": "many"}, None, None),
        ({"type": "date", "minimum": "2026-02-30", "maximum": 7}, None, None),
    ],
)
def test_bounds_are_exact(fact: dict[str, object], minimum: object, maximum: object) -> None:
    found = variable("f", Fact.model_validate(fact))
    assert (found.minimum, found.maximum) == (minimum, maximum)


def test_the_unit_is_kept() -> None:
    assert variable("f", Fact(type="integer", unit="days")).unit == "days"


def test_a_bound_that_does_not_fit_says_why() -> None:
    with pytest.raises(ValueMisfit, match="is not a whole number"):
        bound_of(unbounded("f", Fact(type="integer")), Decimal("0.5"))
