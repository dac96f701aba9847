"""Values as people write them, exactly; and formulas put together without saying anything twice."""

from __future__ import annotations

from datetime import date
from decimal import Decimal
from fractions import Fraction
from pathlib import Path
from typing import Any

import pytest
import yaml
from hypothesis import given
from hypothesis import strategies as st

from bylaw.logic.formula.ir import (
    FALSE,
    NEGATED,
    TRUE,
    And,
    Arith,
    Atom,
    Compare,
    Const,
    Effect,
    Not,
    Or,
    Ref,
    ValueMisfit,
    Variable,
    conj,
    disj,
    exact,
    names,
    negate,
)
from tests.rows import each

DATA = yaml.safe_load(Path(__file__).with_name("ir.yaml").read_text(encoding="utf-8"))
VARIABLES = {
    name: Variable(name, row["kind"], tuple(row.get("values", ())), row.get("minimum"), row.get("maximum"))
    for name, row in DATA["variables"].items()
}
A, B, C = (Atom("days", "==", value) for value in (1, 2, 3))


@each("row", DATA["rows"], ids=lambda row: f"{row['of']}: {row.get('raw', row.get('decimal'))}")
def test_a_value_means_this_or_says_why_not(row: dict[str, Any]) -> None:
    raw = Decimal(str(row["decimal"])) if "decimal" in row else row["raw"]
    if "misfit" not in row:
        expected = row["is"]
        value = VARIABLES[row["of"]].read(raw)
        assert value == (Fraction(expected) if row["of"] in ("price", "change") else expected)
        assert type(value) in (bool, int, str, Fraction)
        return
    with pytest.raises(ValueMisfit) as misfit:
        VARIABLES[row["of"]].read(raw)
    assert misfit.value.reason == row["misfit"][0]
    assert row["misfit"][1] in str(misfit.value)


def test_what_somebody_wrote_is_said_in_one_short_line() -> None:
    with pytest.raises(ValueMisfit) as misfit:
        VARIABLES["kind"].read("a\nb" + "x" * 10_000)
    assert str(misfit.value).startswith("`a bxxx")
    assert str(misfit.value).endswith("x…` is not a value of `kind`")
    assert len(str(misfit.value)) < 120


@each("text", ["", "x", "1/0", "1/2/3", "nan", "inf", "-Infinity", "9" * 81, "1e99", "0x10", "½"])
def test_text_that_is_no_usable_number_is_a_value_error(text: str) -> None:
    with pytest.raises(ValueError):
        exact(text)


@given(st.one_of(st.integers(-(10**18), 10**18), st.fractions(max_denominator=10**6)))
def test_a_number_is_whole_exactly_when_it_is_an_int(number: int | Fraction) -> None:
    found = exact(number)
    assert found == number
    assert isinstance(found, int) is (Fraction(number).denominator == 1)


@given(st.dates())
def test_a_date_is_read_and_shown_the_same(day: date) -> None:
    variable = Variable("day", "date")
    assert variable.show(variable.read(day.isoformat())) == day.isoformat()


@each(
    ("value", "shown"),
    [
        (3, 3),
        (Fraction(5, 2), 2.5),
        (Fraction(1, 10), 0.1),
        (Fraction(1, 3), "1/3"),
        (Fraction(10**20 + 1, 10), "10000000000000000000.1"),
        (Fraction(1, 10**20), "0.00000000000000000001"),
    ],
)
def test_a_decimal_is_shown_as_a_number_where_that_is_exact(value: int | Fraction, shown: object) -> None:
    variable = Variable("price", "decimal")
    found = variable.show(value)
    assert (type(found), found) == (type(shown), shown)
    assert variable.recall(found) == value


def test_a_conjunction_says_nothing_twice() -> None:
    assert conj([]) == TRUE
    assert conj([A]) == A
    assert conj([A, TRUE, A]) == A
    assert conj([A, And((B, A)), C]) == And((A, B, C))
    assert conj([A, FALSE, B]) == FALSE


def test_a_disjunction_says_nothing_twice() -> None:
    assert disj([]) == FALSE
    assert disj([A]) == A
    assert disj([A, FALSE, A]) == A
    assert disj([A, Or((B, A)), C]) == Or((A, B, C))
    assert disj([A, TRUE, B]) == TRUE


def test_a_negation_of_a_negation_is_the_thing_itself() -> None:
    assert negate(A) == Not(A)
    assert negate(negate(A)) == A
    assert (negate(TRUE), negate(FALSE)) == (FALSE, TRUE)
    assert all(NEGATED[NEGATED[op]] == op for op in NEGATED)


def test_a_formula_names_its_facts() -> None:
    product = Arith("*", Ref("price"), Arith("+", Const(1), Ref("rate")))
    formula = And((A, Or((Not(Atom("flag", "==", True)), Compare(product, "<", Ref("limit"))))))
    assert names(formula) == {"days", "flag", "price", "rate", "limit"}
    assert names(TRUE) == names(Const(1)) == set()


def test_only_what_demands_brings_what_it_implies() -> None:
    implied: dict[str, Any] = {"implied": ("notify", "fast"), "implied_takes": (("shipping", "fast"),)}
    taken = Effect("outcome", "full", "refund", **implied)
    assert taken.demands == ("full", "notify", "fast")
    assert taken.takes == (("refund", "full"), ("shipping", "fast"))
    for kind in ("prohibited", "permitted"):
        silent = Effect(kind, "full", None, **implied)  # type: ignore[arg-type]  # a loop over literals
        assert silent.demands == ()
        assert silent.takes == ()
