"""What the gate knows of the context: tables, columns, personal data."""

from __future__ import annotations

from bylaw.authored.context import Context, Entity
from bylaw.semantic.catalogue import catalogue_of, known_columns


def _entity(name, table=None, **fields):
    base = {"schema": "Desk", "table": table or name}
    return Entity.model_validate({"name": name, "base_table": base, **fields})


def _context(*entities):
    return Context(entities={entity.name: entity for entity in entities})


def test_every_declaration_of_an_entity_speaks_of_columns():
    context = _context(
        _entity(
            "loans",
            primary_key={"columns": ["loan_id"]},
            dimensions=[{"name": "genre", "expr": "lower(raw_genre)"}],
            time_dimensions=[{"name": "lent_on"}],
            facts=[{"name": "net", "expr": "fee - tax"}],
            filters=[{"name": "real", "expr": "not is_test"}],
            pii=["borrower"],
            freshness={"as_of_column": "seen_at", "max_age": "1 day"},
        )
    )
    expected = {"loan_id", "raw_genre", "lent_on", "fee", "tax", "is_test", "borrower", "seen_at"}
    assert known_columns(context)["loans"] == expected


def test_columns_that_others_join_by_are_known():
    relationship = {
        "name": "r",
        "right_entity": "readers",
        "relationship_type": "many_to_one",
        "relationship_columns": [{"left_column": "reader_no", "right_column": "no"}],
    }
    known = known_columns(_context(_entity("loans", relationships=[relationship]), _entity("readers")))
    assert known["loans"] == {"reader_no"}
    assert known["readers"] == {"no"}


def test_facts_close_the_list_of_columns():
    tables = catalogue_of(
        _context(_entity("a", facts=[{"name": "x"}]), _entity("b", dimensions=[{"name": "y"}]))
    ).tables
    assert tables["desk.a"].columns == {"x"}
    assert tables["desk.b"].columns is None


def test_two_entities_on_one_table_share_its_columns_and_its_secrets():
    one = _entity("a", table="t", facts=[{"name": "x"}], pii=["email"])
    two = _entity("b", table="T", facts=[{"name": "y"}])
    (info,) = catalogue_of(_context(one, two)).tables.values()
    assert info.columns == {"x", "y", "email"}
    assert info.pii == {"email"}


def test_one_open_entity_opens_its_table():
    one = _entity("a", table="t", facts=[{"name": "x"}])
    two = _entity("b", table="t", dimensions=[{"name": "y"}])
    (info,) = catalogue_of(_context(one, two)).tables.values()
    assert info.columns is None


def test_personal_data_is_compared_without_case():
    (info,) = catalogue_of(_context(_entity("a", pii=["Email"], facts=[{"name": "X"}]))).tables.values()
    assert info.pii == {"email"}
    assert info.columns == {"email", "x"}


def test_a_fragment_that_does_not_parse_hides_no_other_column():
    broken = _entity("a", dimensions=[{"name": "bad", "expr": "lower("}, {"name": "good"}])
    assert known_columns(_context(broken))["a"] == {"good"}
