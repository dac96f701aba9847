"""Claimed values: as tests of the logic in the unit of their fact, and as figures of a text."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

from bot.claims.conditions import atoms_of
from bot.claims.models import drop_separators
from bot.claims.terms import terms_of
from bot.index import BundleIndex
from bylaw.hold.values import is_said, unit_of
from bylaw.language.figures import figures
from bylaw.logic.formula.ir import Atom
from tests.rows import each

CONDITIONS: list[tuple[str, str, Any, str | None, list[tuple[str, Any]]]] = [
    ("bags", ">", 2, None, [(">", 2)]),
    ("delay", ">=", 2, "hours", [(">=", 120)]),
    ("delay", ">=", 1.5, "hours", [(">=", 90)]),
    ("delay", ">=", "1,200", None, [(">=", 1200)]),
    ("delay", "between", [1, 2], "hours", [(">=", 60), ("<=", 120)]),
    ("delay", "between", [1], "hours", []),
    ("delay", "between", [1, 2, 3], "hours", []),
    ("delay", "between", 1, "hours", []),
    ("delay", "in", [60, 90], None, [("in", (60, 90))]),
    ("delay", "==", [60, 90], None, [("in", (60, 90))]),
    ("delay", "in", [60], None, [("==", 60)]),
    ("delay", ">=", [60, 90], None, []),
    ("delay", "==", [], None, []),
    ("delay", "!=", [60, 90], None, [("!=", 60), ("!=", 90)]),
    ("delay", ">=", 2, "EUR", []),
    ("delay", ">=", "x", None, []),
    ("delay", ">=", True, None, []),
    ("delay", ">=", None, None, []),
    ("fare_paid", "<=", 500, "cents", [("<=", 5)]),
    ("fare_paid", "<=", 5, "USD", []),
    ("fare_paid", "<=", 5, "hours", []),
    ("vehicle_height", "<=", 200, "cm", [("<=", 2)]),
    ("vehicle_height", "<=", 500, "cents", []),
    ("hours_until_departure", ">=", 1, "day", [(">=", 24)]),
    ("hours_until_departure", ">=", 90, "minutes", [(">=", Fraction(3, 2))]),
    ("hours_until_departure", ">=", 90, "kg", []),
    ("fare_class", "==", "flex", None, [("==", "flex")]),
    ("fare_class", "!=", "flex", None, [("!=", "flex")]),
    ("fare_class", "in", ["flex", "saver"], None, [("in", ("flex", "saver"))]),
    ("fare_class", "!=", ["flex", "saver"], None, [("!=", "flex"), ("!=", "saver")]),
    ("fare_class", "between", ["flex", "saver"], None, []),
    ("fare_class", "<", "flex", None, []),
    ("fare_class", "==", "gold", None, []),
    ("has_vehicle", "==", True, None, [("==", True)]),
    ("has_vehicle", ">", True, None, []),
    ("has_vehicle", "==", "yes", None, []),
    ("nothing", "==", 1, None, []),
]
FIGURES: list[tuple[str, str | None, Any, str | None, bool]] = [
    ("6 euros", None, 6, "EUR", True),
    ("7 euros", None, 6, "EUR", False),
    ("600 cents", None, 6, "EUR", True),
    ("6 cents", None, 6, "EUR", False),
    ("6", None, 6, "EUR", True),
    ("7", None, 6, "EUR", False),
    ("6 days", None, 6, None, False),
    ("6 days", None, 6, "EUR", False),
    ("6 days", None, 6, "days", True),
    ("6 days", None, 6, "weeks", False),
    ("one day", None, 24, "hours", True),
    ("90 minutes", None, 1.5, "hours", True),
    ("20 dollars", None, 20, "CAD", False),
    ("20 dollars", None, 21, "CAD", False),
    ("20 dollars", None, 20, "EUR", False),
    ("30", "hours_until_departure", 30, None, True),
    ("30 hours", "hours_until_departure", 30, None, True),
    ("30 days", "hours_until_departure", 30, None, False),
    ("half", None, 50, "percent", True),
    ("2 kg", None, 2000, "g", True),
    ("1,200 euros", None, "1,200", "EUR", True),
    ("May 5, 2026", None, "2026-05-05", None, True),
    ("May 5", None, "2026-05-05", None, False),
    ("May 6", None, "2026-05-05", None, False),
    ("May 5, 2025", None, "2026-05-05", None, False),
    ("5", None, "2026-05-05", None, False),
    ("5", None, True, None, False),
    ("5", None, "five", None, False),
]


@each("fact, operator, value, unit, tests", CONDITIONS)
def test_a_condition_is_a_test_of_its_fact_or_none(
    fact: str, operator: str, value: Any, unit: str | None, tests: Any, repositories: dict[str, BundleIndex]
) -> None:
    found = atoms_of(terms_of(repositories["ferry"]), fact, operator, value, unit)
    assert found == tuple(Atom(fact, op, wanted) for op, wanted in tests) or (not tests and isinstance(found, str))


@each("text, fact, value, unit, is_it", FIGURES)
def test_a_figure_is_the_value_that_is_claimed(
    text: str, fact: str | None, value: Any, unit: str | None, is_it: bool, repositories: dict[str, BundleIndex]
) -> None:
    own = unit_of(unit, terms_of(repositories["ferry"]).unit_of(fact) if fact else None)
    assert any(is_said(figure, drop_separators(value), own) for figure in figures(text)) == is_it
