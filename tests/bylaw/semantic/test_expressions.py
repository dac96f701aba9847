"""Fragments of SQL: what is one, whose columns it reads, and that nothing larger slips in."""

from __future__ import annotations

from contextlib import suppress

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bylaw.semantic.expressions import InvalidExpression, columns_of, entities_of, expression
from tests.rows import each


@each(
    ("text", "columns"),
    [
        ("fee", [("loans", "fee")]),
        ("not is_test", [("loans", "is_test")]),
        ("quantity * unit_price - discount", [("loans", "discount"), ("loans", "quantity"), ("loans", "unit_price")]),
        ("readers.city = 'Bonn'", [("readers", "city")]),
        ("fee > readers.limit", [("loans", "fee"), ("readers", "limit")]),
        ("CASE WHEN a THEN b ELSE 0 END", [("loans", "a"), ("loans", "b")]),
        ("lower(genre)", [("loans", "genre")]),
        ("a::date - b", [("loans", "a"), ("loans", "b")]),
        ("status IN ('x', 'y')", [("loans", "status")]),
        ("1", []),
        ("returned_on IS NULL", [("loans", "returned_on")]),
    ],
)
def test_every_column_belongs_to_an_entity(text, columns):
    assert list(columns_of(text, "loans")) == columns
    assert list(entities_of(expression(text, "loans"))) == sorted({owner for owner, _ in columns})


@each(
    "text",
    [
        "",
        " ",
        "fee +",
        "(",
        "a b",
        "a, b",
        "1; DROP TABLE x",
        "SELECT 1",
        "(SELECT 1)",
        "a IN (SELECT b FROM c)",
        "sum(fee)",
        "count(*)",
        "*",
        "rank() OVER (ORDER BY a)",
        "EXISTS (SELECT 1)",
        "?",
        "$1",
        "DROP TABLE x",
        "'open",
        "a -- b\n c",
    ],
)
def test_what_does_more_than_compute_on_one_row_is_refused(text):
    with pytest.raises(InvalidExpression):
        expression(text, "loans")


def test_each_tree_is_a_copy_of_its_own():
    first = expression("fee + tax", "loans")
    first.this.set("table", None)
    assert columns_of("fee + tax", "loans") == (("loans", "fee"), ("loans", "tax"))


def test_one_text_read_for_two_entities_belongs_to_each():
    assert columns_of("fee", "loans") == (("loans", "fee"),)
    assert columns_of("fee", "readers") == (("readers", "fee"),)


@given(st.text(max_size=60))
def test_no_text_makes_it_raise_anything_else(text):
    with suppress(InvalidExpression):
        expression(text, "loans")
