"""Numbers of rows in several units are told by unit, or of one of them; never put together."""

from __future__ import annotations

from collections import defaultdict
from pathlib import Path

import duckdb
import pytest
import yaml
from hypothesis import given, settings
from hypothesis import strategies as st

from bylaw.authored.calendar import Calendar
from bylaw.authored.context import Context, Entity, Metric
from bylaw.semantic.compiler import Compiler
from bylaw.semantic.query import Filter, SemanticQuery, Unanswerable
from tests.rows import each

ROWS = yaml.safe_load(Path(__file__).with_name("units.yaml").read_text(encoding="utf-8"))
CURRENCIES = ("EUR", "USD", "GBP")


def _context(change=lambda entities: None):
    raw = yaml.safe_load(yaml.safe_dump(ROWS["context"]))
    change(raw["entities"])
    return Context(
        entities={item["name"]: Entity.model_validate(item) for item in raw["entities"]},
        metrics={item["name"]: Metric.model_validate(item) for item in raw["metrics"]},
        calendar=Calendar.model_validate(raw["calendar"]),
    )


@pytest.fixture(scope="module")
def tills():
    return Compiler(_context())


@pytest.fixture(scope="module")
def bills():
    with duckdb.connect() as connection:
        connection.execute(ROWS["tables"])
        yield connection


@each("row", ROWS["refused"], ids=lambda row: row["title"])
def test_several_units_are_not_put_together(row, tills):
    with pytest.raises(Unanswerable) as caught:
        tills.compile(SemanticQuery.model_validate(row["query"]))
    assert row["says"] in caught.value.message
    assert row.get("help", "") in caught.value.help


@each("row", ROWS["answered"], ids=lambda row: row["title"])
def test_one_unit_is_told(row, tills, bills):
    compiled = tills.compile(SemanticQuery.model_validate(row["query"]))
    found = bills.execute(compiled.sql).fetchall()
    told = [[value if isinstance(value, str) else pytest.approx(float(value)) for value in line] for line in found]
    assert row["rows"] == (told if row["query"].get("order") or row["query"].get("limit") else sorted(told, key=str))
    if "unit" in row:
        assert compiled.outputs[-1].unit == row["unit"]


def test_where_the_only_value_is_known_nothing_is_asked(bills):
    def only_euros(entities):
        entities[1]["dimensions"][0]["sample_values"] = ["EUR"]

    compiled = Compiler(_context(only_euros)).compile(SemanticQuery(metrics=("turnover",)))
    assert compiled.outputs[0].unit == "EUR"


def test_a_filter_that_always_holds_narrows_to_one(bills):
    def only_euros(entities):
        entities[1]["filters"].append({"name": "euros", "expr": "currency = 'EUR'", "apply": "always"})

    compiled = Compiler(_context(only_euros)).compile(SemanticQuery(metrics=("turnover",)))
    assert bills.execute(compiled.sql).fetchall() == [(107,)]
    assert compiled.outputs[0].unit == "EUR"


@settings(max_examples=200, deadline=None)
@given(
    rows=st.lists(
        st.tuples(st.integers(1, 2), st.integers(1, 9), st.sampled_from(CURRENCIES), st.booleans()), max_size=8
    ),
    groups=st.sets(st.sampled_from(["bills.currency", "bills.money", "bills.paid", "buyers.town"])),
    wanted=st.lists(st.sets(st.sampled_from(CURRENCIES), min_size=1), max_size=2),
    is_negated=st.booleans(),
    limit=st.sampled_from([None, 1]),
)
def test_no_number_ever_holds_two_units(rows, groups, wanted, is_negated, limit):
    filters = tuple(
        Filter(dimension="bills.currency", values=tuple(sorted(values)), negated=is_negated) for values in wanted
    )
    query = SemanticQuery(metrics=("turnover",), dimensions=tuple(sorted(groups)), filters=filters, limit=limit)
    is_one = not is_negated and any(len(values) == 1 for values in wanted)
    try:
        compiled = Compiler(_context()).compile(query)
    except Unanswerable:
        assert not is_one and (limit or groups.isdisjoint({"bills.currency", "bills.money"}))
        return
    with duckdb.connect() as connection:
        connection.execute(ROWS["tables"] + "DELETE FROM m.bills;")
        for i, (buyer, amount, currency, paid) in enumerate(rows):
            values = (i, buyer, "2026-01-01", amount, 0, 1, 1, 1, currency, "kg", paid)
            connection.execute(f"INSERT INTO m.bills VALUES ({', '.join('?' * len(values))})", values)
        found = connection.execute(compiled.sql).fetchall()
    read = {"bills.currency": 2, "bills.money": 2, "bills.paid": 3, "buyers.town": 0}
    sums, units = defaultdict(int), defaultdict(set)
    for row in rows:
        if all((row[2] in values) != is_negated for values in wanted):
            key = tuple({1: "Delft", 2: "Leeds"}[row[0]] if name == "buyers.town" else row[read[name]]
                        for name in sorted(groups))  # fmt: skip
            sums[key] += row[1]
            units[key].add(row[2])
    assert all(len(one) == 1 for one in units.values())
    told = {tuple(line[:-1]): line[-1] for line in found if line[-1] is not None}
    assert told.items() <= sums.items() if limit else told == sums
