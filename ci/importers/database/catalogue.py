"""What a database declares: tables, columns with their types, keys, and which columns refer to which."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any, Literal

import sqlglot
from sqlglot import exp

from bylaw.sql.foreign import FOREIGN
from bylaw.warehouses.port import Warehouse

MOST_COLUMNS = 50_000  # of all tables together
LONGEST_COMMENT = 200  # characters of what is written beside a column
Kind = Literal["text", "number", "day", "moment", "flag", "other"]

# Of every column that may be read: schema, table, column, type.
_COLUMNS: Mapping[str, str] = {
    "duckdb": """
        SELECT table_schema, table_name, column_name, data_type FROM information_schema.columns
        WHERE table_schema NOT IN ('information_schema', 'pg_catalog')
        ORDER BY table_schema, table_name, ordinal_position""",
    "postgres": """
        SELECT n.nspname, c.relname, a.attname,
               CASE t.typtype WHEN 'e' THEN 'enum' ELSE format_type(t.oid, NULL) END
        FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace
        JOIN pg_attribute a ON a.attrelid = c.oid AND a.attnum > 0 AND NOT a.attisdropped
        JOIN pg_type t ON t.oid = a.atttypid
        WHERE c.relkind IN ('r', 'p', 'v', 'm', 'f') AND NOT c.relispartition
          AND n.nspname <> 'information_schema' AND n.nspname NOT LIKE 'pg!_%' ESCAPE '!'
          AND has_schema_privilege(n.oid, 'USAGE') AND has_column_privilege(c.oid, a.attnum, 'SELECT')
        ORDER BY n.nspname, c.relname, a.attnum""",
}
# What people wrote beside them: schema, table, column (empty: of the table itself), text.
_COMMENTS: Mapping[str, str] = {
    "duckdb": """
        SELECT schema_name, table_name, '', comment FROM duckdb_tables() WHERE comment IS NOT NULL
        UNION ALL SELECT schema_name, table_name, column_name, comment FROM duckdb_columns() WHERE comment IS NOT NULL
        ORDER BY 1, 2, 3""",
    "postgres": """
        SELECT n.nspname, c.relname, coalesce(a.attname, ''), d.description
        FROM pg_description d JOIN pg_class c ON c.oid = d.objoid AND d.classoid = 'pg_class'::regclass
        JOIN pg_namespace n ON n.oid = c.relnamespace
        LEFT JOIN pg_attribute a ON a.attrelid = c.oid AND a.attnum = d.objsubid AND d.objsubid > 0
        WHERE n.nspname <> 'information_schema' AND n.nspname NOT LIKE 'pg!_%' ESCAPE '!'
        ORDER BY 1, 2, 3""",
}
# Of every key: schema, table, kind, its columns; of a reference also the schema, table and columns that are meant.
_KEYS: Mapping[str, str] = {
    "duckdb": """
        SELECT schema_name, table_name, lower(constraint_type), constraint_column_names,
               schema_name, referenced_table, referenced_column_names
        FROM duckdb_constraints() WHERE constraint_type IN ('PRIMARY KEY', 'UNIQUE', 'FOREIGN KEY')
        ORDER BY schema_name, table_name, constraint_index""",
    "postgres": """
        SELECT n.nspname, c.relname, CASE k.contype WHEN 'p' THEN 'primary key' WHEN 'u' THEN 'unique'
                                     ELSE 'foreign key' END,
               (SELECT array_agg(a.attname::text ORDER BY o.i) FROM unnest(k.conkey) WITH ORDINALITY AS o(number, i)
                JOIN pg_attribute a ON a.attrelid = k.conrelid AND a.attnum = o.number),
               fn.nspname, fc.relname,
               (SELECT array_agg(a.attname::text ORDER BY o.i) FROM unnest(k.confkey) WITH ORDINALITY AS o(number, i)
                JOIN pg_attribute a ON a.attrelid = k.confrelid AND a.attnum = o.number)
        FROM pg_constraint k JOIN pg_class c ON c.oid = k.conrelid JOIN pg_namespace n ON n.oid = c.relnamespace
        LEFT JOIN pg_class fc ON fc.oid = k.confrelid LEFT JOIN pg_namespace fn ON fn.oid = fc.relnamespace
        WHERE k.contype IN ('p', 'u', 'f') ORDER BY n.nspname, c.relname, k.conname""",
}
# Of every condition on one column alone: schema, table, column, the condition.
_CHECKS: Mapping[str, str] = {
    "duckdb": """
        SELECT schema_name, table_name, constraint_column_names[1], expression FROM duckdb_constraints()
        WHERE constraint_type = 'CHECK' AND len(constraint_column_names) = 1
        ORDER BY schema_name, table_name, constraint_index""",
    "postgres": """
        SELECT n.nspname, c.relname, a.attname, pg_get_expr(k.conbin, k.conrelid)
        FROM pg_constraint k JOIN pg_class c ON c.oid = k.conrelid JOIN pg_namespace n ON n.oid = c.relnamespace
        JOIN pg_attribute a ON a.attrelid = k.conrelid AND a.attnum = k.conkey[1]
        WHERE k.contype = 'c' AND array_length(k.conkey, 1) = 1 ORDER BY n.nspname, c.relname, k.conname""",
}
_KINDS: tuple[tuple[Kind, tuple[str, ...]], ...] = (
    ("moment", ("timestamp", "datetime")),
    ("day", ("date",)),
    ("flag", ("bool",)),
    ("other", ("interval", "point", "json", "time")),
    ("text", ("varchar", "char", "text", "string", "uuid", "enum", "bpchar", "name", "citext")),
    ("number", ("int", "tinyint", "smallint", "bigint", "hugeint", "uint", "ubigint", "usmallint", "utinyint", "num")),
    ("number", ("dec", "float", "double", "real", "money")),
)


@dataclass(frozen=True, slots=True)
class Column:
    """One column. `is_listed`: the database declares which values it may have."""

    name: str
    type: str
    comment: str | None = None
    is_listed: bool = False

    @property
    def kind(self) -> Kind:
        """What its values are, as far as the type says."""
        if self.type.endswith("[]"):
            return "other"
        return next((kind for kind, starts in _KINDS if self.type.lower().startswith(starts)), "other")

    @property
    def is_whole(self) -> bool:
        """Are its numbers whole ones, as a code or a number of something is?"""
        return self.kind == "number" and "int" in self.type.lower()


@dataclass(frozen=True, slots=True)
class Reference:
    """A declared foreign key."""

    columns: tuple[str, ...]
    schema: str
    table: str
    theirs: tuple[str, ...]


@dataclass(slots=True)
class Table:
    schema: str
    name: str
    columns: list[Column] = field(default_factory=list)
    primary: tuple[str, ...] | None = None
    unique: list[tuple[str, ...]] = field(default_factory=list)
    references: list[Reference] = field(default_factory=list)
    comment: str | None = None

    @property
    def qualified(self) -> str:
        return f"{self.schema}.{self.name}"

    def column(self, name: str) -> Column:
        return next(column for column in self.columns if column.name == name)


def is_known(dialect: str) -> bool:
    """Can the declarations of such a database be read?"""
    return dialect in _COLUMNS


def declared(warehouse: Warehouse) -> list[Table]:
    """The tables and views of *warehouse* that may be read, in the order of their names."""
    tables: dict[tuple[str, str], Table] = {}
    said = {
        tuple(where): _line(text) for *where, text in warehouse.run(_COMMENTS[warehouse.dialect], MOST_COLUMNS).rows
    }
    listed = set(_listed(warehouse))
    for schema, name, column, kind in warehouse.run(_COLUMNS[warehouse.dialect], MOST_COLUMNS).rows:
        table = tables.setdefault((schema, name), Table(schema, name, comment=said.get((schema, name, ""))))
        is_enum = kind.lower().startswith("enum")
        where = (schema, name, column)
        table.columns.append(Column(column, "enum" if is_enum else kind, said.get(where), is_enum or where in listed))
    for key, rows in _keys(warehouse).items():
        if key in tables:
            _take(tables[key], rows)
    return list(tables.values())


def _listed(warehouse: Warehouse) -> Iterator[tuple[str, str, str]]:
    """The columns whose values a condition of the database lists: `status IN ('open', 'closed')`."""
    for schema, table, column, condition in warehouse.run(_CHECKS[warehouse.dialect], MOST_COLUMNS).rows:
        try:
            tree = sqlglot.parse_one(condition, read=warehouse.dialect).unnest()
        except FOREIGN:
            continue
        is_any = isinstance(tree, exp.EQ) and isinstance(tree.expression, exp.Any)
        if is_any or (isinstance(tree, exp.In) and tree.expressions):
            yield schema, table, column


def _line(text: str) -> str | None:
    """A comment as one line of plain text, cut where it is long."""
    plain = " ".join("".join(char if char.isprintable() else " " for char in text[: 4 * LONGEST_COMMENT]).split())
    return plain[:LONGEST_COMMENT] or None


def _keys(warehouse: Warehouse) -> dict[tuple[str, str], list[tuple[Any, ...]]]:
    found: dict[tuple[str, str], list[tuple[Any, ...]]] = defaultdict(list)
    for schema, table, *rest in warehouse.run(_KEYS[warehouse.dialect], MOST_COLUMNS).rows:
        found[schema, table].append(tuple(rest))
    return found


def _take(table: Table, rows: list[tuple[Any, ...]]) -> None:
    for kind, columns, schema, other, theirs in rows:
        match kind:
            case "primary key":
                table.primary = tuple(columns)
            case "unique":
                table.unique.append(tuple(columns))
            case _:
                table.references.append(Reference(tuple(columns), schema, other, tuple(theirs)))
