"""What a query may say: every field of it is told in the confirmation, under our own names."""

from __future__ import annotations

import types
from datetime import date
from functools import cache
from pathlib import Path
from typing import Union, get_args, get_origin

import duckdb
import pytest
import yaml
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from pydantic import ValidationError

from bot.analytics.plan.restatement import renamed, restated
from bot.analytics.reply import present
from bot.ask.query.names import Means
from bylaw.authored.context import Context, Entity, Metric
from bylaw.errors import BylawError
from bylaw.hold.values import Clock
from bylaw.semantic.compiler import Compiler
from bylaw.semantic.query import Part, SemanticQuery
from bylaw.semantic.words import index_context
from tests.proposed import hold_row
from tests.rows import each

HERE = Path(__file__).parent
FERRY = yaml.safe_load((HERE / "ferry.yaml").read_text(encoding="utf-8"))
SHOWN = yaml.safe_load((HERE / "fields.yaml").read_text(encoding="utf-8"))
TODAY = date(2026, 11, 20)
# What is told by its parts, and what we write ourselves.
MADE = {
    *(f"SemanticQuery.{name}s" for name in ("measure", "ratio", "difference", "filter")),
    *(f"SemanticQuery.{name}" for name in ("summaries", "window", "order")),
    *(f"{kind}.name" for kind in ("Measure", "Ratio", "Difference", "Summary")),
    *(f"Window.{name}" for name in ("start", "end", "label")),
    "Measure.filters",
    "Related.than",
}


@cache
def context():
    declared = FERRY["context"]
    entities = {item["name"]: Entity.model_validate(item) for item in declared["entities"]}
    return Context(entities=entities, metrics={i["name"]: Metric.model_validate(i) for i in declared["metrics"]})


@cache
def means():
    return Means(Compiler(context()), index_context(context()), Clock(TODAY))


@cache
def tables():
    connection = duckdb.connect()
    connection.execute(FERRY["tables"])
    return connection


def told(query):
    """Its confirmation."""
    compiled = means().compiler.compile(query)
    return restated(query, present.metrics_of(query, context()), compiled, context())


def rows_of(sql):
    found = [tuple(str(round(float(c), 6)) if isinstance(c, float | int) or hasattr(c, "as_tuple") else str(c)[:10]
                   for c in row) for row in tables().execute(sql).fetchall()]  # fmt: skip
    return sorted(map(sorted, found))


def parts_in(kind, seen):
    """Every class of value that a query is made of."""
    if isinstance(kind, type) and issubclass(kind, Part):
        if kind not in seen:
            seen.add(kind)
            for field in kind.model_fields.values():
                parts_in(field.annotation, seen)
    elif get_origin(kind) in (Union, types.UnionType, tuple) or get_args(kind):
        for one in get_args(kind):
            parts_in(one, seen)
    return seen


def test_every_field_of_a_query_is_shown_but_for_days_and_our_own_names():
    found = {f"{kind.__name__}.{name}" for kind in parts_in(SemanticQuery, set()) for name in kind.model_fields}
    assert found - MADE == {row["field"] for row in SHOWN}


@each("row", SHOWN, ids=lambda row: row["field"])
def test_two_plans_that_differ_in_a_field_are_told_differently(row):
    one, other = (told(renamed(SemanticQuery.model_validate(row[side]))) for side in ("one", "other"))
    assert one != other


@pytest.mark.parametrize("row", FERRY["good"], ids=lambda row: row["ask"])
def test_what_is_held_whole_gives_the_rows_that_are_meant(row):
    held = hold_row(row["ask"], row["query"], row["bind"], means())
    assert held.is_whole or held.objections()
    if held.is_whole:
        assert rows_of(means().compiler.compile(held.query).sql) == rows_of(row["gold"])


# ---- whatever is proposed

names = st.sampled_from(
    [
        "revenue", "travellers_carried", "cancellation_rate", "count(bookings)", "sum(bookings.fare)", "bookings.class",
        "avg(sailings.delay)", "count_distinct(customers@paid_by.name)", "ports@arrives_in.name", "ports.name", "m",
        "sailings.departed_at", "bookings.booked_at", "bookings.paid_at", "bookings.group", "customers", "ports@nobody",
        "customers.email", "time", "", "sailings.weekday(departed_at)", "max(bookings.booked_at)",
        "sailings.hours(sailings.departed_at, sailings.arrived_at)", "count(ports@arrives_in)",
    ]
)  # fmt: skip
scalars = st.one_of(
    st.booleans(), st.integers(-3, 3), names, st.sampled_from(["premium", "2025-01-01", "9999-12-31", "DK", "2"])
)


def values_of(annotation):
    """Any value of a type of the query's own schema, or nearly."""
    if isinstance(annotation, type) and issubclass(annotation, Part):
        return made_of(annotation)
    origin, args = get_origin(annotation), get_args(annotation)
    if origin is tuple and args[-1] is Ellipsis:
        return st.lists(st.deferred(lambda: values_of(args[0])), max_size=2)
    if origin is tuple:
        return st.lists(st.integers(-2, 60), min_size=2, max_size=2)
    if origin in (Union, types.UnionType):
        return st.one_of(*(st.deferred(lambda one=one: values_of(one)) for one in args))
    if args and hasattr(annotation, "__metadata__"):
        return values_of(args[0])
    if args:  # a list of words
        return st.sampled_from(list(args))
    if annotation is bool:
        return st.booleans()
    if annotation is int:
        return st.integers(0, 4)
    if annotation is date:
        return st.sampled_from(["2025-01-01", "2026-01-01", "0001-01-01"])
    if annotation is type(None):
        return st.none()
    return names if annotation is str else scalars


@cache
def made_of(kind):
    fields = {name: st.deferred(lambda f=field: values_of(f.annotation)) for name, field in kind.model_fields.items()}
    needed = {name: fields[name] for name, field in kind.model_fields.items() if field.is_required()}
    rest = {name: value for name, value in fields.items() if name not in needed}
    return st.fixed_dictionaries(needed, optional=rest)


@settings(max_examples=150, deadline=None, suppress_health_check=[HealthCheck.too_slow, HealthCheck.filter_too_much])
@given(query=made_of(SemanticQuery))
def test_whatever_compiles_is_told_under_our_names_and_runs(query):
    try:
        found = renamed(SemanticQuery.model_validate(query))
        sql = means().compiler.compile(found).sql
    except (BylawError, ValidationError):
        return
    assert told(found)
    try:
        tables().execute(sql).fetchall()
    except (duckdb.ConversionException, duckdb.BinderException, duckdb.InvalidInputException):
        return  # a column compared with what it cannot hold: the warehouse says so, and the answer repeats it
