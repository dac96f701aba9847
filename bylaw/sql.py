"""The SQL gate: one read-only statement over known tables, or a reason why not. Denies by default.

Every statement passes here last, whoever wrote it: the compiler, a model, or a person with a verified query. The text
is judged twice, by its tokens (which functions are called) and by its tree (what is read and how much of it).
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from pydantic import BaseModel, ConfigDict
from sqlglot import exp
from sqlglot.dialects.dialect import Dialect
from sqlglot.errors import SqlglotError
from sqlglot.tokenizer_core import Token, TokenType

from bylaw.errors import GateDenied
from bylaw.sql_functions import check_calls

STARTS = frozenset({"SELECT", "WITH", "FROM", "TABLE"})
WRITES = frozenset({"INSERT", "UPDATE", "DELETE", "MERGE", "TRUNCATE", "CREATE", "DROP", "ALTER", "COPY", "REPLACE"})
SYSTEM_SCHEMAS = frozenset({"information_schema", "pg_catalog", "system", "temp"})
SYSTEM_TABLES = re.compile(r"^(duckdb_|pragma_|pg_|sqlite_|__)")
PLAIN_NAME = re.compile(r"[\w $-]+")  # anything else could be a file or an address: 'data.csv', 's3://…'

_QUERIES = (exp.Select, exp.SetOperation, exp.Subquery, exp.Values, exp.Table)
_TABLE_FUNCTIONS = (exp.Identifier, exp.GenerateSeries, exp.Unnest, exp.Explode)
_DENIED_NODES = (
    exp.DML, exp.DDL, exp.Command, exp.Describe, exp.Show, exp.Summarize, exp.Pragma, exp.Set, exp.Into, exp.Lock,
    exp.ReadCSV, exp.ReadParquet, exp.CurrentUser, exp.SessionUser, exp.CurrentRole, exp.CurrentDatabase,
    exp.CurrentSchema, exp.CurrentCatalog, exp.CurrentVersion, exp.NextValueFor, exp.Placeholder, exp.Parameter,
    exp.SessionParameter,
)  # fmt: skip


@dataclass(frozen=True, slots=True)
class Limits:
    """How large a statement may be before nobody should have to read it."""

    characters: int = 20_000
    nesting: int = 50
    nodes: int = 5_000
    joins: int = 25
    loose_joins: int = 1
    generated_rows: int = 1_000_000


@dataclass(frozen=True, slots=True)
class TableInfo:
    """What the catalogue says of one table. `columns` is None where it does not list them all."""

    columns: frozenset[str] | None = None
    pii: frozenset[str] = frozenset()


@dataclass(frozen=True, slots=True)
class Catalogue:
    """The tables that may be read at all, by `schema.table` in lower case."""

    tables: Mapping[str, TableInfo]


class Verdict(BaseModel):
    """May this statement run? `reason` says what to change, in one line; null when it may."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    is_allowed: bool
    sql_type: str
    schemas_referenced: tuple[str, ...] = ()
    schemas_blocked: tuple[str, ...] = ()
    reason: str | None = None


@dataclass(frozen=True, slots=True)
class Features:
    """What makes a statement easy to get wrong."""

    joins: int
    ctes: int
    windows: int
    subqueries: int
    aggregations: int


def check_statement(
    sql: str,
    *,
    catalogue: Catalogue | None,
    schemas: frozenset[str] | None,
    dialect: str = "duckdb",
    limits: Limits = Limits(),
) -> Verdict:
    """Judge *sql*. Without a catalogue only its shape is judged; `schemas` None means that every schema is granted."""
    sql_type, referenced, blocked = "UNKNOWN", (), ()  # type: str, tuple[str, ...], tuple[str, ...]
    try:
        tokens = _tokens(sql, dialect, limits)
        sql_type = _sql_type(tokens)
        _check_tokens(tokens, sql_type, limits)
        tree = _parsed(sql, dialect)
        sql_type = _tree_type(tree)
        nodes = _nodes(tree, limits)
        check_calls(tokens, nodes)
        _check_nodes(tree, nodes)
        tables = [node for node in nodes if isinstance(node, exp.Table) and not _is_derived(node)]
        referenced = tuple(sorted({table.db.lower() for table in tables if table.db}))
        blocked = () if schemas is None else tuple(name for name in referenced if name not in _lower(schemas))
        _check_tables(tables, catalogue, named=schemas is not None)
        if blocked:
            raise GateDenied("schema", f"your roles do not grant the schema {_quoted(blocked)}")
        _check_effort(nodes, limits)
        if catalogue is not None:
            _Lineage(nodes, tables, catalogue).check()
    except GateDenied as denied:
        return Verdict(
            is_allowed=False,
            sql_type=sql_type,
            schemas_referenced=referenced,
            schemas_blocked=blocked,
            reason=denied.message,
        )
    return Verdict(is_allowed=True, sql_type=sql_type, schemas_referenced=referenced)


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
    except (SqlglotError, RecursionError) as error:
        raise GateDenied("syntax", "the statement cannot be read as SQL") from error
    if not tokens:
        raise GateDenied("syntax", "there is no statement")
    return tokens


def _sql_type(tokens: list[Token]) -> str:
    first = next((token.text.upper() for token in tokens if token.token_type != TokenType.L_PAREN), "UNKNOWN")
    word = first.split()[0] if first.split() else "UNKNOWN"
    return "SELECT" if word in ("FROM", "TABLE") else word


def _check_tokens(tokens: list[Token], sql_type: str, limits: Limits) -> None:
    ends = [i for i, token in enumerate(tokens) if token.token_type == TokenType.SEMICOLON]
    if any(tokens[i + 1].token_type != TokenType.SEMICOLON for i in ends if i + 1 < len(tokens)):
        raise GateDenied("multiple", "one statement at a time, this text holds several")
    if sql_type not in STARTS:
        _deny_type(sql_type)
    depth = deepest = 0
    for token in tokens:
        if token.token_type in (TokenType.L_PAREN, TokenType.L_BRACKET, TokenType.L_BRACE):
            depth += 1
        elif token.token_type in (TokenType.R_PAREN, TokenType.R_BRACKET, TokenType.R_BRACE):
            depth -= 1
        deepest = max(deepest, depth)
    if deepest > limits.nesting:
        raise GateDenied("size", f"the statement nests {deepest} levels deep, {limits.nesting} is the limit")


def _deny_type(sql_type: str) -> None:
    if sql_type in WRITES:
        raise GateDenied("write", f"write operations are not supported: the statement is {sql_type}")
    raise GateDenied("type", f"only SELECT is allowed: the statement is {sql_type}")


def _parsed(sql: str, dialect: str) -> exp.Expr:
    try:
        trees = [
            tree
            for tree in Dialect.get_or_raise(dialect).parse(sql)
            if tree is not None and not isinstance(tree, exp.Semicolon)
        ]
    except RecursionError as error:
        raise GateDenied("size", "the statement nests too deeply to be read") from error
    except SqlglotError as error:
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
            raise GateDenied("forbidden", f"`{_name_of(node)}` is not allowed in a question about data")
        if isinstance(node, exp.CTE | exp.Subquery) and not isinstance(node.this, _QUERIES):
            _deny_type(node.this.key.upper())
        if isinstance(node, exp.Select) and not node.expressions and not node.args.get("from_"):
            raise GateDenied("syntax", "a SELECT here selects nothing")
        if isinstance(node, exp.With) and node.args.get("recursive"):
            _check_recursion(node)


def _check_recursion(with_: exp.With) -> None:
    """A recursive part must be narrowed by a condition over columns; the time limit is only the second line."""
    for cte in with_.expressions:
        name = cte.alias.lower()
        for table in cte.this.find_all(exp.Table):
            if table.name.lower() != name or table.db:
                continue
            step = table.find_ancestor(exp.Select)
            where = step.args.get("where") if step else None
            joins = [join for join in (step.args.get("joins") or ()) if _links(join)] if step else []
            if not isinstance(cte.this, exp.SetOperation) or not (joins or (where and where.find(exp.Column))):
                raise GateDenied("recursion", f"the recursion of `{cte.alias}` has no condition that ends it")


def _check_tables(tables: list[exp.Table], catalogue: Catalogue | None, named: bool) -> None:
    for table in tables:
        name, schema = table.name.lower(), table.db.lower()
        if not isinstance(table.this, exp.Identifier):
            raise GateDenied("table", f"`{_name_of(table.this)}` is not a table")
        if not all(PLAIN_NAME.fullmatch(part.name) for part in table.parts):
            raise GateDenied("file", f"`{table.name}` is not the name of a table")
        if schema in SYSTEM_SCHEMAS or table.catalog.lower() in SYSTEM_SCHEMAS or SYSTEM_TABLES.match(name):
            raise GateDenied("system", f"`{table.name}` belongs to the database's own catalogue")
        if not schema and (named or catalogue is not None):
            known = sorted(key for key in catalogue.tables if key.endswith(f".{name}")) if catalogue else []
            hint = f", did you mean `{known[0]}`?" if known else ""
            raise GateDenied("table", f"`{table.name}` names no schema{hint}")
        if catalogue is not None and (table.catalog or f"{schema}.{name}" not in catalogue.tables):
            raise GateDenied("table", f"`{schema}.{name}` is not a known table")


def _check_effort(nodes: list[exp.Expr], limits: Limits) -> None:
    joins = [node for node in nodes if isinstance(node, exp.Join)]
    if len(joins) > limits.joins:
        raise GateDenied("size", f"the statement joins {len(joins)} times, {limits.joins} is the limit")
    rows = 1
    for node in nodes:
        if isinstance(node, exp.GenerateSeries):
            rows *= max(1, _series_length(node))
        if isinstance(node, exp.Select):
            loose = [join for join in node.args.get("joins") or () if not _links(join) and _reads_rows(join.this)]
            where = node.args.get("where")
            ties = [pair for pair in where.find_all(exp.Binary) if _two_columns(pair)] if where else []
            if len(loose) - len(ties) > limits.loose_joins:
                raise GateDenied("cross-join", "tables are joined without a condition between them")
    if rows > limits.generated_rows:
        raise GateDenied("size", f"the statement generates {rows} rows, {limits.generated_rows} is the limit")


def _series_length(series: exp.GenerateSeries) -> int:
    start, end = series.args.get("start"), series.args.get("end")
    try:
        low, high = (float(part.sql()) if part is not None else 0.0 for part in (start, end))
        return int(abs(high - low))
    except (ValueError, OverflowError):
        return 1  # dates and computed bounds: the time and memory limits decide


def _links(join: exp.Join) -> bool:
    if join.args.get("using") or str(join.args.get("method") or "") in ("NATURAL", "POSITIONAL"):
        return True
    on = join.args.get("on")
    return on is not None and any(_two_columns(pair) for pair in on.find_all(exp.Binary))


def _two_columns(pair: exp.Binary) -> bool:
    if isinstance(pair, exp.Connector):
        return False
    return pair.left.find(exp.Column) is not None and pair.right.find(exp.Column) is not None


def _reads_rows(source: exp.Expr) -> bool:
    return isinstance(source, exp.Table) and not (isinstance(source.this, exp.Identifier) and _is_derived(source))


def _is_derived(table: exp.Table) -> bool:
    """Does this name mean a common table expression that is visible here, or a function that makes rows?"""
    if not isinstance(table.this, exp.Identifier):
        return isinstance(table.this, _TABLE_FUNCTIONS)
    if table.db:
        return False
    node: exp.Expr = table
    while (parent := node.parent) is not None:
        if isinstance(parent, exp.With):
            index = next(i for i, cte in enumerate(parent.expressions) if cte is node)
            visible = parent.expressions[: index + 1 if parent.args.get("recursive") else index]
        elif (with_ := parent.args.get("with_")) is not None and with_ is not node:
            visible = with_.expressions
        else:
            visible = []
        if any(cte.alias.lower() == table.name.lower() for cte in visible):
            return True
        node = parent
    return False


class _Lineage:
    """Which base columns a statement touches, in any clause. What cannot be told apart counts as touched."""

    def __init__(self, nodes: list[exp.Expr], tables: list[exp.Table], catalogue: Catalogue) -> None:
        self.nodes = nodes
        self.tables = {id(table): self._info(table, catalogue) for table in tables}
        self.by_alias: dict[str, list[TableInfo]] = {}
        for table in tables:
            names = {table.alias_or_name.lower(), f"{table.db}.{table.name}".lower()}
            for name in names | (set() if table.alias else {table.name.lower()}):
                self.by_alias.setdefault(name, []).append(self.tables[id(table)])
        self.made = set(_made_names(nodes))

    @staticmethod
    def _info(table: exp.Table, catalogue: Catalogue) -> TableInfo:
        return catalogue.tables[f"{table.db}.{table.name}".lower()]

    def check(self) -> None:
        for node in self.nodes:
            if isinstance(node, exp.Columns | exp.PositionalColumn):
                raise GateDenied("columns", "columns are written by name here, not by pattern or position")
            if isinstance(node, exp.Join) and str(node.args.get("method") or "") == "NATURAL":
                raise GateDenied("columns", "a NATURAL join does not say which columns it reads, write ON or USING")
            if isinstance(node, exp.Table) and id(node) in self.tables:
                self._check_table(node)
            elif isinstance(node, exp.Star) and not isinstance(node.parent, exp.Count):
                self._check_star(node)
            elif isinstance(node, exp.Column) and not isinstance(node.this, exp.Star) and node.arg_key != "except_":
                self._check_reference([part.name.lower() for part in node.parts])
            elif isinstance(node, exp.Identifier):
                self._check_identifier(node)

    def _check_table(self, table: exp.Table) -> None:
        alias = table.args.get("alias")
        if alias is not None and alias.args.get("columns"):
            raise GateDenied("columns", f"the columns of `{table.name}` may not be renamed in FROM")
        if table.args.get("pivots") and self.tables[id(table)].pii:
            raise GateDenied("pii", f"`{table.name}` holds personal data, it cannot be pivoted whole")

    def _check_star(self, star: exp.Star) -> None:
        if isinstance(star.parent, exp.Column):
            infos = self.by_alias.get(star.parent.table.lower(), [])
        else:
            select = star.find_ancestor(exp.Select)
            infos = [
                self.tables[id(node)]
                for node in self.nodes
                if id(node) in self.tables and node.find_ancestor(exp.Select) is select
            ]
        left_out = {part.name.lower() for part in star.args.get("except_") or ()}
        for name in sorted(set().union(*(info.pii for info in infos)) - left_out if infos else ()):
            raise GateDenied("pii", f"`*` would read `{name}`, which is personal data: name the columns you need")

    def _check_reference(self, parts: list[str]) -> None:
        """A column written with one to four names: `column`, `alias.column`, `schema.table.column`, `….field`."""
        for width in (2, 1):
            owner = ".".join(parts[:width])
            if owner in self.by_alias and len(parts) >= width:
                infos = self.by_alias[owner]
                if len(parts) == width and (width == 2 or not self._is_column(parts[0], infos)):
                    raise GateDenied("whole-row", f"`{owner}` stands for a whole row, name its columns")
                if len(parts) > width:
                    return self._check_column(parts[width], infos, owner)
        if len(parts) > 1 and parts[0] in self.made:
            return None  # a column of a derived table: what it reads was judged where it was written
        return self._check_column(parts[0], list(self.tables.values()), None)

    @staticmethod
    def _is_column(name: str, infos: list[TableInfo]) -> bool:
        return any(info.columns is not None and name in info.columns for info in infos)

    def _check_column(self, name: str, infos: list[TableInfo], owner: str | None) -> None:
        if any(name in info.pii for info in infos):
            raise GateDenied("pii", f"`{name}` is personal data and may not be read, filtered or sorted by")
        if owner is None and (name in self.made or not infos):
            return
        if all(info.columns is not None and name not in info.columns for info in infos):
            place = f"{owner}.{name}" if owner else name
            raise GateDenied("column", f"`{place}` is not a known column")

    def _check_identifier(self, identifier: exp.Identifier) -> None:
        """Names outside columns: join lists, chains of methods, struct fields. An alias may be called anything."""
        parent, name = identifier.parent, identifier.name.lower()
        if isinstance(parent, exp.Column | exp.Alias | exp.TableAlias | exp.Table | exp.CTE | exp.PropertyEQ):
            return
        if any(name in info.pii for info in self.tables.values()):
            raise GateDenied("pii", f"`{name}` is personal data and may not be read, filtered or sorted by")
        if isinstance(parent, exp.Dot) and name in self.by_alias:
            raise GateDenied("whole-row", f"`{name}` stands for a whole row, name its columns")


def _made_names(nodes: list[exp.Expr]) -> Iterator[str]:
    """Names that the statement itself gives: aliases, derived tables and their columns, lambda parameters."""
    for node in nodes:
        if isinstance(node, exp.Alias | exp.CTE | exp.Subquery):
            yield node.alias.lower()
        elif isinstance(node, exp.TableAlias):
            yield from (column.name.lower() for column in node.args.get("columns") or ())
            if not (isinstance(node.parent, exp.Table) and isinstance(node.parent.this, exp.Identifier)):
                yield node.name.lower()
        elif isinstance(node, exp.Table) and _is_derived(node):
            yield from (node.alias_or_name.lower(), node.name.lower())
        elif isinstance(node, exp.GenerateSeries | exp.Unnest | exp.Explode):
            yield from ("range", "generate_series", "unnest")
        elif isinstance(node, exp.Lambda):
            yield from (part.name.lower() for part in node.expressions)
        elif isinstance(node, exp.Comprehension):
            yield node.args["expression"].name.lower()


def _name_of(node: exp.Expr) -> str:
    return (node.name or node.key).lower() if isinstance(node, exp.Anonymous | exp.Command) else node.key.lower()


def _lower(names: frozenset[str]) -> frozenset[str]:
    return frozenset(name.lower() for name in names)


def _quoted(names: tuple[str, ...]) -> str:
    return ", ".join(f"`{name}`" for name in names)
