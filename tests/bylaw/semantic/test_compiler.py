"""Semantic queries over the library: the SQL they become, word for word, and those that are refused."""

from __future__ import annotations

from pathlib import Path

import duckdb
import pytest
import yaml

from bylaw.semantic.catalogue import catalogue_of
from bylaw.semantic.query import Filter, SemanticQuery, Unanswerable
from bylaw.sql.gate import check_statement
from tests.rows import each

PATH = Path(__file__).with_name("compiler.yaml")
ROWS = yaml.safe_load(PATH.read_text(encoding="utf-8"))


def _query(row):
    return SemanticQuery.model_validate(row["query"])


@each("row", ROWS["compiled"], ids=lambda row: row["title"])
def test_a_query_becomes_this_statement(row, compiler):
    compiled = compiler.compile(_query(row))
    assert compiled.sql.splitlines() == row["sql"].splitlines()
    assert list(compiled.caveats) == row.get("caveats", [])


@each("row", ROWS["compiled"], ids=lambda row: row["title"])
def test_a_compiled_statement_passes_the_gate(row, compiler, library):
    verdict = check_statement(compiler.compile(_query(row)).sql, catalogue=catalogue_of(library), schemas=None)
    assert verdict.reason is None


@each("row", ROWS["compiled"], ids=lambda row: row["title"])
def test_a_compiled_statement_runs_on_empty_tables(row, compiler):
    with duckdb.connect() as connection:
        connection.execute(ROWS["tables"])
        compiled = compiler.compile(_query(row))
        found = connection.execute(compiled.sql)
        assert [column[0] for column in found.description] == list(compiled.columns)


@each("row", ROWS["refused"], ids=lambda row: row["title"])
def test_a_query_that_cannot_be_computed_faithfully_is_refused(row, compiler):
    with pytest.raises(Unanswerable) as caught:
        compiler.compile(_query(row))
    assert row["says"] in caught.value.message
    if "help" in row:
        assert row["help"] in caught.value.help


def test_a_query_survives_json():
    query = SemanticQuery.model_validate(ROWS["compiled"][-1]["query"])
    assert SemanticQuery.model_validate_json(query.model_dump_json()) == query


def test_two_compilations_give_the_same_text(compiler, library):
    from bylaw.semantic.compiler import Compiler

    for row in ROWS["compiled"]:
        assert compiler.compile(_query(row)).sql == Compiler(library).compile(_query(row)).sql


def test_joins_added_by_filters_do_not_count_as_asked(compiler):
    plain = compiler.compile(SemanticQuery(metrics=("loan_count",)))
    grouped = compiler.compile(SemanticQuery(metrics=("loan_count",), dimensions=("titles.genre",)))
    assert plain.features.joins == 0
    assert plain.asked == ("loans",)
    assert grouped.features.joins == 2
    assert set(grouped.asked) == {"loans", "copies", "titles"}


def test_the_entity_a_ratio_counts_is_the_one_of_its_halves(compiler):
    assert compiler.base_of("late_rate") == "loans"
    assert compiler.bases_of("fees_per_copy") == ("copies", "loans")
    with pytest.raises(Unanswerable, match="different entities"):
        compiler.base_of("fees_per_copy")


@pytest.mark.parametrize("value", ["home'; DROP TABLE loans --", "'", "\\", "a\nb", "{x}", "%"])
def test_a_value_is_a_literal_whatever_it_holds(compiler, library, value):
    narrowed = Filter(dimension="loans.kind", values=(value,))
    compiled = compiler.compile(SemanticQuery(metrics=("loan_count",), filters=(narrowed,)))
    assert check_statement(compiled.sql, catalogue=catalogue_of(library), schemas=None).is_allowed
    with duckdb.connect() as connection:
        connection.execute(ROWS["tables"])
        connection.execute("INSERT INTO desk.loans (loan_id, kind) VALUES (1, ?), (2, 'home')", [value])
        assert connection.execute(compiled.sql).fetchone() == (1,)
