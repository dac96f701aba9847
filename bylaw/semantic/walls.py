"""The database's own walls behind the gate, as statements for its administrator: what a login can read at all.

PostgreSQL: the bot's user is granted columns, none of them personal; each role gets a schema of views that show its
rows and columns, behind a security barrier. DuckDB knows no users, and a view hides nothing from who opens the file:
there it is a file of its own with the columns that may be read.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

import sqlglot
from sqlglot import exp

from bylaw.authored.context import Context
from bylaw.authored.machines.access import EVERY_SCHEMA, Grant, Rights, Roles
from bylaw.semantic.catalogue import known_columns
from bylaw.semantic.joins import Joins
from bylaw.semantic.rights import VisibleRows
from bylaw.sql.rows import Shown

READER = "bylaw_reader"
_ROW = "shown"  # what a view calls the row that it shows


def readable(context: Context) -> Mapping[str, tuple[str, ...]]:
    """The columns of each table that its entities speak of and none calls personal, in order."""
    known = known_columns(context)
    spoken: dict[str, set[str]] = {}
    personal: dict[str, set[str]] = {}
    for name, entity in context.entities.items():
        table = entity.base_table.qualified
        spoken.setdefault(table, set()).update(known[name])
        personal.setdefault(table, set()).update(column.lower() for column in entity.pii)
    return {
        table: tuple(sorted(column for column in columns if column.lower() not in personal[table]))
        for table, columns in sorted(spoken.items())
    }


def personal(context: Context) -> Mapping[str, tuple[str, ...]]:
    """The personal columns of each table that has some."""
    found: dict[str, set[str]] = {}
    for entity in context.entities.values():
        found.setdefault(entity.base_table.qualified, set()).update(entity.pii)
    return {table: tuple(sorted(columns)) for table, columns in sorted(found.items()) if columns}


def for_postgres(context: Context, roles: Roles, reader: str = READER) -> str:
    """The statements for PostgreSQL. They can be run again: what is granted then is what these say."""
    return "\n".join([*_of_the_reader(context, reader), *_of_roles(context, roles), ""])


def for_duckdb(context: Context, source: str = "private.duckdb") -> str:
    """The statements that fill an empty DuckDB file with the columns that may be read of *source*."""
    path = source.replace("'", "''")
    lines = [f"ATTACH '{path}' AS private (READ_ONLY);"]
    lines += [f"CREATE SCHEMA IF NOT EXISTS {_name(schema)};" for schema in _schemas(context)]
    for table, columns in readable(context).items():
        if columns:
            lines.append(f"CREATE OR REPLACE TABLE {_table(table)} AS")
            lines.append(f"  SELECT {', '.join(map(_name, columns))} FROM private.{_table(table)};")
    return "\n".join([*lines, "DETACH private;", ""])


def _of_the_reader(context: Context, reader: str) -> Iterator[str]:
    yield "-- The user of the bot. It reads columns that the context speaks of, and no personal one."
    yield _role(reader, "LOGIN")
    yield f"ALTER ROLE {_name(reader)} NOSUPERUSER NOCREATEDB NOCREATEROLE NOREPLICATION NOBYPASSRLS;"
    yield f"ALTER ROLE {_name(reader)} SET default_transaction_read_only = on;"
    yield f"ALTER ROLE {_name(reader)} SET statement_timeout = '30s';"
    yield f"ALTER ROLE {_name(reader)} SET temp_file_limit = '1GB';"
    for schema in _schemas(context):
        yield f"REVOKE ALL ON ALL TABLES IN SCHEMA {_name(schema)} FROM {_name(reader)};"
        yield f"GRANT USAGE ON SCHEMA {_name(schema)} TO {_name(reader)};"
    yield "-- What everybody was granted is the bot's as well: look at it first, others may use it."
    for table, columns in readable(context).items():
        yield f"-- REVOKE ALL ON {_table(table)} FROM PUBLIC;"
        if columns:
            yield f"GRANT SELECT ({', '.join(map(_name, columns))}) ON {_table(table)} TO {_name(reader)};"


def _of_roles(context: Context, roles: Roles) -> Iterator[str]:
    declared = _schemas(context)
    columns = readable(context)
    for name, role in sorted(roles.roles.items()):
        granted = frozenset(declared) if EVERY_SCHEMA in role.schemas else frozenset(role.schemas) & set(declared)
        login, schema = f"bylaw_{name}", f"bylaw_{name}"
        asked = sorted({rule.attribute for rule in role.rows if rule.attribute is not None})
        rights = Rights((Grant(granted, tuple(role.rows)),))
        visible = VisibleRows(context, Joins(context), rights).visible("postgres")
        yield f"\n-- People with the role {name}: views of its rows and columns, for whoever looks by other means."
        if asked:
            yield f"-- It shows rows by what each person has of {', '.join(asked)}: such tables are closed here."
        yield _role(login, "NOLOGIN")
        yield f"CREATE SCHEMA IF NOT EXISTS {_name(schema)};"
        yield f"GRANT USAGE ON SCHEMA {_name(schema)} TO {_name(login)};"
        for table, names in columns.items():
            if table.partition(".")[0] not in granted or not names:
                continue
            view = f"{_name(schema)}.{_name(table.replace('.', '_'))}"
            where = _where(visible.get(table.lower()))
            shown = ", ".join(f"{_ROW}.{_name(one)}" for one in names)
            yield f"DROP VIEW IF EXISTS {view};"
            yield f"CREATE VIEW {view} WITH (security_barrier = true) AS"
            yield f"  SELECT {shown} FROM {_table(table)} AS {_ROW}{where};"
            yield f"GRANT SELECT ON {view} TO {_name(login)};"


def _where(shown: Sequence[Shown] | None) -> str:
    """The condition of a view: none where every row is shown, false where none is."""
    if shown is None:
        return ""
    conditions = []
    for one in shown:
        tree = sqlglot.parse_one(f"SELECT 1 WHERE {one.where}", dialect="postgres").args["where"].this
        for column in tree.find_all(exp.Column):
            if column.table == one.alias:
                column.set("table", exp.to_identifier(_ROW))
        conditions.append(f"({tree.sql(dialect='postgres')})")
    return f"\n  WHERE {' OR '.join(conditions) or 'false'}"


def _role(name: str, options: str) -> str:
    said = name.replace("'", "''")
    return (
        f"DO $$ BEGIN IF NOT EXISTS (SELECT FROM pg_roles WHERE rolname = '{said}') "
        f"THEN CREATE ROLE {_name(name)} {options}; END IF; END $$;"
    )


def _schemas(context: Context) -> list[str]:
    return sorted({entity.base_table.schema_name for entity in context.entities.values()})


def _table(qualified: str) -> str:
    schema, _, table = qualified.partition(".")
    return f"{_name(schema)}.{_name(table)}"


def _name(name: str) -> str:
    return exp.to_identifier(name).sql(dialect="postgres")
