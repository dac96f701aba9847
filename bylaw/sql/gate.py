"""The SQL gate: one read-only statement over known tables, or a reason why not. Denies by default.

Every statement passes here last, whoever wrote it: the compiler, a model, or a person with a verified query. The text
is judged by its tokens (which functions are called, in which letters) and by its tree (what is read and how much of
it). What may run is written from that tree, read once more, and held to say the same.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import pairwise
from typing import Any

from pydantic import BaseModel, ConfigDict
from sqlglot import exp
from sqlglot.dialects.dialect import Dialect
from sqlglot.tokenizer_core import Token, TokenType

from bylaw.errors import GateDenied
from bylaw.sql.catalogue import Catalogue, denied, is_derived
from bylaw.sql.effort import LIMITS, Limits, check_effort
from bylaw.sql.foreign import FOREIGN
from bylaw.sql.functions import check_calls
from bylaw.sql.letters import TEXTS, check_letters
from bylaw.sql.lineage import Lineage, Read
from bylaw.sql.regenerate import regenerated
from bylaw.sql.rows import Narrowed, Visible, check_rows

STARTS = frozenset({"SELECT", "WITH", "FROM", "TABLE"})
WRITES = frozenset({"INSERT", "UPDATE", "DELETE", "MERGE", "TRUNCATE", "CREATE", "DROP", "ALTER", "COPY", "REPLACE"})
SYSTEM_SCHEMAS = frozenset({"information_schema", "pg_catalog", "system", "temp"})
SYSTEM_TABLES = re.compile(r"^(duckdb_|pragma_|pg_|sqlite_|__)")
_WRITTEN = 20  # how much longer a statement may be once it is written out, line by line
PLAIN_NAME = re.compile(r"[\w $-]+")  # anything else could be a file or an address: 'data.csv', 's3://…'

_QUERIES = (exp.Select, exp.SetOperation, exp.Subquery, exp.Values, exp.Table)
_DENIED_NODES = (
    exp.DML, exp.DDL, exp.Command, exp.Describe, exp.Show, exp.Summarize, exp.Pragma, exp.Set, exp.Into, exp.Lock,
    exp.ReadCSV, exp.ReadParquet, exp.CurrentUser, exp.SessionUser, exp.CurrentRole, exp.CurrentDatabase,
    exp.CurrentSchema, exp.CurrentCatalog, exp.CurrentVersion, exp.NextValueFor, exp.Placeholder, exp.Parameter,
    exp.SessionParameter, exp.ObjectIdentifier, exp.PseudoType,
)  # fmt: skip


class Verdict(BaseModel):
    """May this statement run? `reason` says what to change, in one line; null when it may.

    `line` and `column` (from 1) say where what is denied begins; null where that is the whole statement. `sql` is the
    text that may run, null where none may. Without `columns_checked` nobody looked which columns it reads.
    """

    model_config = ConfigDict(frozen=True, extra="forbid")

    is_allowed: bool
    sql_type: str
    schemas_referenced: tuple[str, ...] = ()
    schemas_blocked: tuple[str, ...] = ()
    reason: str | None = None
    line: int | None = None
    column: int | None = None
    columns_checked: bool = True
    sql: str | None = None


@dataclass(frozen=True, slots=True)
class Features:
    """What makes a statement easy to get wrong."""

    joins: int
    ctes: int
    windows: int
    subqueries: int
    aggregations: int


@dataclass(frozen=True, slots=True)
class Judged:
    """A verdict, and what the statement reads where it was looked at: columns as `schema.table` and name."""

    verdict: Verdict
    tables: frozenset[str] = frozenset()
    reads: frozenset[Read] = frozenset()


@dataclass(frozen=True, slots=True)
class _Asked:
    """Under which terms a statement is judged."""

    catalogue: Catalogue | None
    schemas: frozenset[str] | None
    dialect: str
    limits: Limits
    visible: Visible


@dataclass(slots=True)
class _Seen:
    """What was found out about a statement before it was let through or denied."""

    sql_type: str = "UNKNOWN"
    referenced: tuple[str, ...] = ()
    blocked: tuple[str, ...] = ()
    lineage: Lineage | None = None
    narrowed: Sequence[Narrowed] = ()

    def same_as(self, other: _Seen) -> bool:
        """Do both read the same?"""
        if self.lineage is None or other.lineage is None:
            return self.referenced == other.referenced
        return self.lineage.reads == other.lineage.reads and self.lineage.tables == other.lineage.tables


def check_statement(
    sql: str,
    *,
    catalogue: Catalogue | None,
    schemas: frozenset[str] | None,
    dialect: str = "duckdb",
    limits: Limits = LIMITS,
    visible: Visible | None = None,
) -> Verdict:
    """Judge *sql*. Without a catalogue only its shape is judged; `schemas` None means that every schema is granted.

    `visible` names the tables of which only some rows may be read.
    """
    return judged(sql, catalogue=catalogue, schemas=schemas, dialect=dialect, limits=limits, visible=visible).verdict


def judged(
    sql: str,
    *,
    catalogue: Catalogue | None,
    schemas: frozenset[str] | None,
    dialect: str = "duckdb",
    limits: Limits = LIMITS,
    visible: Visible | None = None,
) -> Judged:
    """The same verdict, with what the statement reads."""
    asked, seen = _Asked(catalogue, schemas, dialect, limits, visible or {}), _Seen()
    try:
        text = _passed(sql, asked, seen)
    except GateDenied as error:
        line, column = _place(sql, error.offset)
        said: dict[str, Any] = {"is_allowed": False, "reason": error.message, "line": line, "column": column}
    except RecursionError:
        said = {"is_allowed": False, "reason": "the statement nests too deeply to be judged"}
    else:
        said = {"is_allowed": True, "sql": text}
    verdict = Verdict.model_validate(
        {
            "sql_type": seen.sql_type,
            "schemas_referenced": seen.referenced,
            "schemas_blocked": seen.blocked,
            "columns_checked": catalogue is not None,
            **said,
        }
    )
    read = seen.lineage
    return Judged(verdict) if read is None else Judged(verdict, frozenset(read.tables), frozenset(read.reads))


def _passed(sql: str, asked: _Asked, seen: _Seen) -> str:
    """The text that may run instead of *sql*. Raises GateDenied; *seen* holds what was found until then."""
    tokens = _tokens(sql, asked.dialect, asked.limits)
    seen.sql_type = _sql_type(tokens)
    _check_tokens(tokens, seen.sql_type, asked.limits)
    tree = _parsed(sql, tokens, asked.dialect)
    seen.sql_type = _tree_type(tree)
    _examine(tree, tokens, asked, seen)
    for table in seen.narrowed:
        table.fence(asked.catalogue, asked.dialect)
    text = regenerated(tree, asked.dialect)
    try:
        _read_again(text, tree, tokens, asked, seen)
    except GateDenied as error:
        raise GateDenied(error.code, error.message) from error  # the place is one in another text
    return text


def _read_again(text: str, tree: exp.Expr, came: list[Token], asked: _Asked, seen: _Seen) -> None:
    """Raise GateDenied where what was written does not say what was judged.

    The same words in the same order are read the same: they need not be parsed to be known.
    """
    tokens = _tokens(text, asked.dialect, replace(asked.limits, characters=_WRITTEN * asked.limits.characters))
    if _words(tokens) == _words(came):
        return
    again = _parsed(text, tokens, asked.dialect)
    if again == tree:
        check_calls(tokens, again.walk())
        return
    second = _Seen()
    _check_tokens(tokens, _sql_type(tokens), asked.limits)
    _examine(again, tokens, asked, second)
    if not seen.same_as(second) or regenerated(again, asked.dialect) != text:
        raise GateDenied("syntax", "the statement reads differently once it is written out")


_UNSAID = frozenset({TokenType.ALIAS, TokenType.SEMICOLON})  # a reader takes them as said
_EXACT = TEXTS | {TokenType.IDENTIFIER, TokenType.VAR}


def _words(tokens: list[Token]) -> list[tuple[TokenType, str]]:
    """What a parser is given, keywords in capitals."""
    return [
        (token.token_type, token.text if token.token_type in _EXACT else token.text.upper())
        for token in tokens
        if token.token_type not in _UNSAID
    ]


def _examine(tree: exp.Expr, tokens: list[Token], asked: _Asked, seen: _Seen) -> None:
    nodes = _nodes(tree, asked.limits)
    check_calls(tokens, nodes)
    _check_nodes(tree, nodes)
    tables = [node for node in nodes if isinstance(node, exp.Table) and not is_derived(node)]
    seen.referenced = tuple(sorted({table.db.lower() for table in tables if table.db}))
    granted = asked.schemas
    seen.blocked = () if granted is None else tuple(name for name in seen.referenced if name not in _lower(granted))
    _check_tables(tables, asked.catalogue, named=granted is not None)
    if seen.blocked:
        first = next(table for table in tables if table.db.lower() in seen.blocked)
        raise denied("schema", f"your roles do not grant the schema {_quoted(seen.blocked)}", first)
    seen.narrowed = check_rows(tables, asked.visible, asked.dialect)
    check_effort(nodes, asked.limits)
    if asked.catalogue is not None:
        seen.lineage = Lineage(asked.catalogue, asked.dialect)
        seen.lineage.read(tree, nodes)


def features(tree: exp.Expression) -> Features:
    """Count what the complexity score weighs."""
    kinds = Counter(_kind(node) for node in tree.walk())
    return Features(kinds["join"], kinds["cte"], kinds["window"], kinds["subquery"], kinds["aggregation"])


def _kind(node: exp.Expr) -> str:
    pairs = (("join", exp.Join), ("cte", exp.CTE), ("window", exp.Window), ("aggregation", exp.AggFunc))
    for kind, node_type in pairs:
        if isinstance(node, node_type):
            return kind
    return "subquery" if isinstance(node, exp.Select) and isinstance(node.parent, exp.Subquery) else "other"


def _tokens(sql: str, dialect: str, limits: Limits) -> list[Token]:
    if len(sql) > limits.characters:
        raise GateDenied("size", f"the statement is {len(sql)} characters long, {limits.characters} is the limit")
    if "\0" in sql:
        raise GateDenied("syntax", "the statement holds a NUL character")
    try:
        tokens = Dialect.get_or_raise(dialect).tokenize(sql)
    except (*FOREIGN, RecursionError) as error:
        raise GateDenied("syntax", "the statement cannot be read as SQL") from error
    if not tokens:
        raise GateDenied("syntax", "there is no statement")
    check_letters(tokens)
    return tokens


def _sql_type(tokens: list[Token]) -> str:
    first = next((token.text.upper() for token in tokens if token.token_type != TokenType.L_PAREN), "UNKNOWN")
    word = first.split()[0] if first.split() else "UNKNOWN"
    return "SELECT" if word in ("FROM", "TABLE") else word


_OPENING = frozenset({TokenType.L_PAREN, TokenType.L_BRACKET, TokenType.L_BRACE, TokenType.CASE})
_CLOSING = frozenset({TokenType.R_PAREN, TokenType.R_BRACKET, TokenType.R_BRACE, TokenType.END})


def _check_tokens(tokens: list[Token], sql_type: str, limits: Limits) -> None:
    for token, following in pairwise(tokens):
        if token.token_type == TokenType.SEMICOLON != following.token_type:
            raise GateDenied("multiple", "one statement at a time, this text holds several", following.start)
    if sql_type not in STARTS:
        _deny_type(sql_type)
    depth = deepest = 0
    for token in tokens:
        if any(comment.startswith("!") for comment in token.comments):
            raise GateDenied("comment", "a comment that some databases run is not allowed", token.start)
        depth += (token.token_type in _OPENING) - (token.token_type in _CLOSING)
        deepest = max(deepest, depth)
    if deepest > limits.nesting:
        raise GateDenied("size", f"the statement nests {deepest} levels deep, {limits.nesting} is the limit")


def _deny_type(sql_type: str) -> None:
    if sql_type in WRITES:
        raise GateDenied("write", f"write operations are not supported: the statement is {sql_type}")
    raise GateDenied("type", f"only SELECT is allowed: the statement is {sql_type}")


def _parsed(sql: str, tokens: list[Token], dialect: str) -> exp.Expr:
    try:
        parsed = Dialect.get_or_raise(dialect).parser().parse(tokens, sql)
        trees = [tree for tree in parsed if tree is not None and not isinstance(tree, exp.Semicolon)]
    except RecursionError as error:
        raise GateDenied("size", "the statement nests too deeply to be read") from error
    except FOREIGN as error:
        raise GateDenied("syntax", "the statement cannot be read as SQL") from error
    if len(trees) != 1:
        raise GateDenied("multiple", "one statement at a time, this text holds several")
    return trees[0]


def _tree_type(tree: exp.Expr) -> str:
    core = tree.unnest() if isinstance(tree, exp.Subquery) else tree
    if isinstance(core, exp.Select | exp.SetOperation):
        return "WITH...SELECT" if core.args.get("with_") or tree.args.get("with_") else "SELECT"
    return core.key.upper()


def _nodes(tree: exp.Expr, limits: Limits) -> list[exp.Expr]:
    nodes: list[exp.Expr] = []
    for node in tree.walk():
        nodes.append(node)
        if len(nodes) > limits.nodes:
            raise GateDenied("size", f"the statement has more than {limits.nodes} parts")
    return nodes


def _check_nodes(tree: exp.Expr, nodes: list[exp.Expr]) -> None:
    core = tree.unnest() if isinstance(tree, exp.Subquery) else tree
    if not isinstance(core, exp.Select | exp.SetOperation):
        _deny_type(core.key.upper())
    for node in nodes:
        if isinstance(node, _DENIED_NODES):
            raise denied("forbidden", f"`{_name_of(node)}` is not allowed in a question about data", node)
        if isinstance(node, exp.CTE | exp.Subquery) and not isinstance(node.this, _QUERIES):
            _deny_type(node.this.key.upper())
        if isinstance(node, exp.Select) and not node.expressions and not node.args.get("from_"):
            raise denied("syntax", "a SELECT here selects nothing", node.parent)


def _check_tables(tables: list[exp.Table], catalogue: Catalogue | None, named: bool) -> None:
    for table in tables:
        name, schema = table.name.lower(), table.db.lower()
        if not isinstance(table.this, exp.Identifier):
            raise denied("table", f"`{_name_of(table.this) if table.this else _shape_of(table)}` is not a table", table)
        if not all(PLAIN_NAME.fullmatch(part.name) for part in table.parts):
            raise denied("file", f"`{table.name}` is not the name of a table", table)
        if schema in SYSTEM_SCHEMAS or table.catalog.lower() in SYSTEM_SCHEMAS or SYSTEM_TABLES.match(name):
            raise denied("system", f"`{table.name}` belongs to the database's own catalogue", table)
        if not schema and (named or catalogue is not None):
            known = sorted(key for key in catalogue.tables if key.endswith(f".{name}")) if catalogue else []
            hint = f", did you mean `{known[0]}`?" if known else ""
            raise denied("table", f"`{table.name}` names no schema{hint}", table)
        if catalogue is not None and (table.catalog or f"{schema}.{name}" not in catalogue.tables):
            raise denied("table", f"`{schema}.{name}` is not a known table", table)


def _place(sql: str, offset: int | None) -> tuple[int, int] | tuple[None, None]:
    """Line and column, from 1, of a character of *sql*."""
    if offset is None:
        return None, None
    before = sql[:offset]
    return before.count("\n") + 1, offset - before.rfind("\n")


def _name_of(node: exp.Expr) -> str:
    return (node.name or node.key).lower() if isinstance(node, exp.Anonymous | exp.Command) else node.key.lower()


def _shape_of(table: exp.Table) -> str:
    """What a table without a name is made of: `rows from`."""
    return next((key.replace("_", " ") for key, value in table.args.items() if value), table.key)


def _lower(names: frozenset[str]) -> frozenset[str]:
    return frozenset(name.lower() for name in names)


def _quoted(names: tuple[str, ...]) -> str:
    return ", ".join(f"`{name}`" for name in names)
