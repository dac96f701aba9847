"""Tables and columns: what the context names is there, and has the type that it says.

Personal columns are known by their names; what is not listed under `pii` would be shown.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping

from sqlglot import exp

from bylaw.authored.context import Entity, Expressed
from bylaw.semantic.expressions import InvalidExpression, columns_of
from bylaw.warehouses.port import WarehouseError
from ci.findings import Finding, Place
from ci.loading.schema.nearest import did_you_mean
from ci.measured.survey import Survey, Table, refused

_FAMILIES: Mapping[str, tuple[str, ...]] = {
    "a number": ("int", "tinyint", "smallint", "bigint", "hugeint", "uint", "ubigint", "usmallint", "utinyint", "num"),
    "a number ": ("dec", "float", "double", "real", "money", "serial"),
    "text": ("varchar", "char", "text", "string", "uuid", "enum", "bpchar", "nvarchar", "name"),
    "a date or moment": ("date", "timestamp", "datetime"),
    "true or false": ("bool", "yesno"),
}
_PERSONAL = re.compile(
    r"(^|_)(e_?mails?|mail_address|phones?|phone_(no|number|num)|telephone|mobile|cell_phone|ssn|social_security\w*|"
    r"passport\w*|ibans?|credit_card\w*|card_number|birth_?da(te|y)|date_of_birth|dob|first_?name|last_?name|"
    r"middle_name|full_?name|surname|given_name|family_name|maiden_name|passwords?|password_hash|tax_id|"
    r"national_id|driver_?s?_licen[cs]e\w*|(home|street|postal|billing|shipping|ip|mailing)_address\w*)($|_)",
    re.IGNORECASE,
)
_CATALOGUED = ("duckdb", "postgres", "redshift", "mysql", "snowflake", "trino", "databricks")


def tables(survey: Survey) -> Iterator[Finding]:
    """Every entity's table is there. Those that are become `survey.tables`."""
    for name, entity in sorted(survey.context.entities.items()):
        base = entity.base_table
        place = survey.at_entity(name, "base_table")
        try:
            columns = _columns(survey, entity)
            if not columns:
                message = f"the warehouse has no table `{base.qualified}`"
                yield Finding("missing-table", message, place, help=_near_table(survey, entity))
                continue
            counted = exp.select(exp.alias_(exp.Count(this=exp.Star()), "n"))
            row = survey.row(counted.from_(exp.table_(base.table, db=base.schema_name)))
            survey.tables[name] = Table(entity, columns, int(row["n"]))
        except WarehouseError as problem:
            yield refused(f"`{base.qualified}`", problem, place)


def _columns(survey: Survey, entity: Entity) -> dict[str, str]:
    """The columns of the table with their types, as far as the warehouse tells."""
    base = entity.base_table
    names = survey.warehouse.columns(base.schema_name, base.table)
    typed: dict[str, str] = {}
    if names and survey.warehouse.dialect in _CATALOGUED:
        tree = exp.select("column_name", "data_type").from_(exp.table_("columns", db="information_schema"))
        for column, value in (("table_schema", base.schema_name), ("table_name", base.table)):
            tree = tree.where(exp.EQ(this=exp.column(column), expression=exp.Literal.string(value)))
        typed = {str(name).lower(): str(kind) for name, kind in survey.ask(tree, len(names)).rows}
    return {name.lower(): typed.get(name.lower(), "") for name in names}


def _near_table(survey: Survey, entity: Entity) -> str | None:
    """A table of that schema with a similar name; the schemas that there are where the schema is not."""
    if survey.warehouse.dialect not in _CATALOGUED:
        return None
    try:
        listed = exp.select("table_schema", "table_name").from_(exp.table_("tables", db="information_schema"))
        found = survey.ask(listed, 2_000).rows
    except WarehouseError:
        return None
    schemas = sorted({str(schema) for schema, _ in found} - {"information_schema", "pg_catalog"})
    if entity.base_table.schema_name not in schemas:
        return f"its schemas are {', '.join(f'`{schema}`' for schema in schemas[:10])}" if schemas else "it is empty"
    tables_ = [str(table) for schema, table in found if schema == entity.base_table.schema_name]
    return did_you_mean(entity.base_table.table, tables_)


def columns(survey: Survey) -> Iterator[Finding]:
    """Every column that is named is there."""
    for table in survey.measured():
        told: set[str] = set()
        for owner, column, place in _mentions(survey, table.entity):
            known = survey.tables.get(owner)
            if known is None or column.lower() in known.columns or f"{owner}.{column}" in told:
                continue
            told.add(f"{owner}.{column}")
            message = f"the table `{known.entity.base_table.qualified}` has no column `{column}`"
            yield Finding("missing-column", message, place, help=did_you_mean(column, known.columns))


def _mentions(survey: Survey, entity: Entity) -> Iterator[tuple[str, str, Place]]:
    """(entity, column, place) of every column that an entity, its metrics and its gotchas name."""
    name = entity.name
    for section in ("dimensions", "time_dimensions", "facts", "filters"):
        parts: list[Expressed] = getattr(entity, section)
        for i, part in enumerate(parts):
            place = survey.at_entity(name, section, i, "expr" if part.expr else "name")
            yield from _read(part.sql, name, place)
    for i, column in enumerate(entity.primary_key.columns if entity.primary_key else ()):
        yield name, column, survey.at_entity(name, "primary_key", "columns", i)
    for i, column in enumerate(entity.pii):
        yield name, column, survey.at_entity(name, "pii", i)
    if entity.freshness is not None:
        yield name, entity.freshness.as_of_column, survey.at_entity(name, "freshness", "as_of_column")
    for i, join in enumerate(entity.relationships):
        for j, pair in enumerate(join.relationship_columns):
            route = ("relationships", i, "relationship_columns", j)
            yield name, pair.left_column, survey.at_entity(name, *route, "left_column")
            yield join.right_entity, pair.right_column, survey.at_entity(name, *route, "right_column")
        if join.condition is not None:
            yield from _read(join.condition, name, survey.at_entity(name, "relationships", i, "condition"))
    for metric in survey.context.metrics.values():
        for key, text in (("expr", metric.expr), ("filter", metric.filter)):
            if metric.type == "simple" and metric.entity == name and text is not None and text != "*":
                yield from _read(text, name, survey.at_record("metrics", metric.name, key))
    for key, gotcha in survey.context.gotchas.items():
        if gotcha.required_filter is not None and name in gotcha.applies_to:
            yield from _read(gotcha.required_filter, name, survey.at_record("gotchas", key, "required_filter"))


def _read(text: str, entity: str, place: Place) -> Iterator[tuple[str, str, Place]]:
    try:
        yield from ((owner, column, place) for owner, column in columns_of(text, entity))
    except InvalidExpression:
        return  # the lint of the catalogue says it


def types(survey: Survey) -> Iterator[Finding]:
    """A declared `data_type`, a time dimension and a fact have the type that the column has."""
    for table in survey.measured():
        for section, meant in (("dimensions", None), ("time_dimensions", "a date or moment"), ("facts", "a number")):
            parts: list[Expressed] = getattr(table.entity, section)
            for i, part in enumerate(parts):
                held = table.columns.get(part.sql.lower().strip('"'), "")
                wanted = meant if section == "time_dimensions" else family(part.data_type or "") or meant
                found = family(held)
                if not found or not wanted or found == wanted or {found, wanted} == {"a number", "true or false"}:
                    continue
                key = (
                    "data_type" if part.data_type and section != "time_dimensions" else "expr" if part.expr else "name"
                )
                message = f"`{part.name}` is meant as {wanted}, and the column is {found} (`{held}`)"
                yield Finding("column-type", message, survey.at_entity(table.name, section, i, key))


def looks_personal(column: str) -> bool:
    """Does the name of a column say that it holds personal data?"""
    return bool(_PERSONAL.search(column))


def family(kind: str) -> str | None:
    """What a type of SQL holds, in words; None for one that is not known."""
    for name, starts in _FAMILIES.items():
        if kind.lower().startswith(starts):
            return name.strip()
    return None


def personal(survey: Survey) -> Iterator[Finding]:
    """A column whose name says that it holds personal data is listed under `pii`."""
    for table in survey.measured():
        hidden = {column.lower() for column in table.entity.pii}
        is_open = not table.entity.facts
        refers = {
            pair.left_column.lower() for one in table.entity.relationships for pair in one.relationship_columns
        }  # the number of an address is none
        placed = {
            column.lower(): place for owner, column, place in _mentions(survey, table.entity) if owner == table.name
        }
        for column in table.columns:
            is_shown = (column in placed or is_open) and column not in refers
            if looks_personal(column) and column not in hidden and is_shown:
                message = f"the column `{column}` of `{table.name}` looks personal, and nothing hides it"
                place = placed.get(column, survey.at_entity(table.name, "base_table"))
                help = (
                    f"list it under `pii` of `{table.name}`; or declare the `facts`, which closes the list of columns"
                )
                yield Finding("untagged-pii", message, place, help=help)
