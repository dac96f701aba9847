"""Which base columns a statement reads, in any clause: every name is resolved in its scope, or the statement denied.

What a query reads is judged where it is written, so nothing personal ever comes out of a derived table: a name that is
found there for certain is harmless, whatever it is called.
"""

from __future__ import annotations

from collections.abc import Sequence

from sqlglot import exp

from bylaw.sql.catalogue import Catalogue, common_table, denied
from bylaw.sql.scopes import Columns, Env, Scope, Source, output_of

Read = tuple[str, str]  # `schema.table` and a column; `*` where all of an open table are read

_QUERIES = (exp.Select, exp.SetOperation)
_ROWS = (exp.GenerateSeries, exp.Unnest, exp.Explode)
_ANY = Columns(is_open=True)
_TABLE_PARTS = frozenset({"this", "alias", "db", "joins", "laterals", "pivots", "sample", "catalog"})
_SELECT_PARTS = frozenset({
    "with_", "from_", "joins", "laterals", "expressions", "distinct", "where", "group", "having", "qualify", "windows",
    "order", "limit", "offset", "sample", "pivots",
})  # fmt: skip
_OF_FUNCTIONS = frozenset({"postgres", "redshift"})  # `row.name` may be a function of the row there


class Lineage:
    """What one statement reads. `read` raises GateDenied for the first part that reads what nobody may see, or may."""

    def __init__(self, catalogue: Catalogue, dialect: str) -> None:
        self.catalogue = catalogue
        self.dialect = dialect
        self.reads: set[Read] = set()
        self.tables: set[str] = set()
        self._personal: set[str] = set()
        self._rows: set[str] = set()

    def read(self, tree: exp.Expr, nodes: Sequence[exp.Expr]) -> None:
        """Take in the whole statement, of which *nodes* are all parts."""
        self._query(tree, {}, None)
        for node in nodes:
            if isinstance(node, exp.Identifier):
                self._check_identifier(node)

    # ---- queries

    def _query(self, query: exp.Expr, env: Env, parent: Scope | None) -> tuple[Columns, Scope]:
        """Judge *query*; what it gives, and the scope in which it was read."""
        if isinstance(query, exp.Subquery):
            env = self._with(query, env, parent)
            found, inner = self._query(query.this, env, parent)
            return found, self._over(query, found, inner, env, ("this", "alias", "with_", "sample"))
        if isinstance(query, exp.SetOperation):
            return self._set(query, env, parent)
        if isinstance(query, exp.Select):
            return self._select(query, env, parent)
        scope = Scope(env, parent)
        self._walk(query, scope)
        return _ANY, scope

    def _set(self, query: exp.Expr, env: Env, parent: Scope | None) -> tuple[Columns, Scope]:
        """A set operation, its members from left to right: a long chain leans to the left and must not recurse."""
        chain: list[tuple[exp.Expr, Env]] = []
        node = query
        while isinstance(node, exp.SetOperation):
            env = self._with(node, env, parent)
            chain.append((node, env))
            node = node.this
        found, scope = self._query(node, env, parent)
        for operation, known in reversed(chain):
            self._query(operation.expression, known, parent)
            if operation.args.get("by_name"):
                found = Columns(found.names, is_open=True)
            scope = self._over(operation, found, scope, known, ("this", "expression", "with_"))
        return found, scope

    def _over(self, query: exp.Expr, found: Columns, inner: Scope, env: Env, done: Sequence[str]) -> Scope:
        """What stands behind a whole query speaks of what it gives, and in some databases of what it read."""
        rest = [value for key, value in query.args.items() if value and key not in done]
        if not rest:
            return inner
        scope = Scope(env, inner, [Source("", found)])
        for value in rest:
            for part in value if isinstance(value, list) else [value]:
                if isinstance(part, exp.Expr):
                    self._walk(part, scope)
        return scope

    def _select(self, select: exp.Select, env: Env, parent: Scope | None) -> tuple[Columns, Scope]:
        odd = sorted(key for key, value in select.args.items() if value and key not in _SELECT_PARTS)
        if odd:
            raise denied("forbidden", f"`{odd[0].strip('_')}` is not allowed in a question about data", select)
        scope = Scope(self._with(select, env, parent), parent)
        from_ = select.args.get("from_")
        if from_ is not None:
            self._source(from_.this, scope)
        self._joined(select, scope)
        if select.args.get("pivots"):
            raise denied("forbidden", "a pivot stands behind one table", select)
        scope.given |= {part.alias.lower() for part in select.expressions if isinstance(part, exp.Alias)}
        for key, value in select.args.items():
            if key in ("with_", "from_", "joins", "laterals", "sample"):
                continue
            for part in value if isinstance(value, list) else [value]:
                if isinstance(part, exp.Expr):
                    self._walk(part, scope)
        return output_of(select.expressions, scope.sources), scope

    def _with(self, query: exp.Expr, env: Env, parent: Scope | None) -> Env:
        with_ = query.args.get("with_")
        if with_ is None:
            return env
        known = dict(env)
        for cte in with_.expressions:
            name, alias = cte.alias.lower(), cte.args.get("alias")
            if with_.args.get("recursive"):
                # while it is read, what it gives is known by its names alone
                known[name] = Columns(is_open=True).renamed(alias)
            if isinstance(cte.this, exp.Values):
                self._walk(cte.this, Scope(known, parent))
                found = _ANY
            else:
                found, _ = self._query(cte.this, known, parent)
            known[name] = found.renamed(alias)
        return known

    # ---- sources

    def _source(self, node: exp.Expr, scope: Scope) -> None:
        """Add what an item of FROM brings. Later items see the earlier ones: some databases let them without a word."""
        alias = node.args.get("alias")
        name = node.alias.lower()
        match node:
            case exp.Table():
                self._table(node, scope)
            case exp.Subquery() if isinstance(node.this, exp.Table | exp.Subquery) and not _is_query(node.this):
                if alias is not None:
                    raise denied("table", "tables in parentheses may not be renamed: name each of them", node)
                self._source(node.this, scope)
            case exp.Subquery() if _is_query(node.this):
                found, _ = self._query(node, scope.env, scope)
                found = _ANY if node.args.get("pivots") else found
                scope.sources.append(Source(name, found.renamed(alias)))
            case exp.Subquery() if isinstance(node.this, exp.Values):
                self._walk(node.this, scope)
                scope.sources.append(Source(name, _ANY.renamed(alias)))
            case exp.Values() | exp.Unnest() | exp.Explode():
                self._arguments(node, scope)
                scope.sources.append(Source(name, _ANY.renamed(alias)))
            case exp.Lateral() if isinstance(node.this, exp.Subquery) and _is_query(node.this.this):
                found, _ = self._query(node.this, scope.env, scope)
                scope.sources.append(Source(name, found.renamed(alias)))
            case exp.Lateral() if isinstance(node.this, _ROWS):
                self._arguments(node.this, scope)
                scope.sources.append(Source(name, _ANY.renamed(alias)))
            case _:
                raise denied("table", f"`{node.key.lower()}` is not a table", node)
        self._joined(node, scope)

    def _joined(self, node: exp.Expr, scope: Scope) -> None:
        for join in node.args.get("joins") or ():
            if str(join.args.get("method") or "") == "NATURAL":
                raise denied("columns", "a NATURAL join does not say which columns it reads, write ON or USING", join)
            if join.args.get("pivots") or join.args.get("hint") or join.args.get("expressions"):
                raise denied("table", "this join is not allowed in a question about data", join)
            self._source(join.this, scope)
            for key in ("on", "match_condition"):
                if isinstance(condition := join.args.get(key), exp.Expr):
                    self._walk(condition, scope)
            for column in join.args.get("using") or ():
                self._resolve(column, (column.name.lower(),), scope, is_shared=True)
        for lateral in node.args.get("laterals") or ():
            self._source(lateral, scope)

    def _table(self, table: exp.Table, scope: Scope) -> None:
        odd = sorted(key for key, value in table.args.items() if value and key not in _TABLE_PARTS)
        if odd:
            raise denied("table", f"`{odd[0]}` of a table is not allowed in a question about data", table)
        alias = table.args.get("alias")
        pivots = table.args.get("pivots") or ()
        if not isinstance(table.this, exp.Identifier):
            self._arguments(table.this, scope)
            made = {"range", "generate_series", "unnest"}
            scope.sources.append(Source(table.alias_or_name.lower(), Columns(frozenset(made), True).renamed(alias)))
            return
        if not table.db and table.name.lower() in scope.env and common_table(table) is not None:
            found = _ANY if pivots else scope.env[table.name.lower()].renamed(alias)
            source = Source(table.alias_or_name.lower(), found)
        else:
            if alias is not None and alias.args.get("columns"):
                raise denied("columns", f"the columns of `{table.name}` may not be renamed in FROM", alias)
            info = self.catalogue.tables.get(f"{table.db}.{table.name}".lower())
            if info is None:
                raise denied("table", f"`{table.name}` is no table here", table)
            if pivots and info.pii:
                raise denied("pii", f"`{table.name}` holds personal data, it cannot be pivoted whole", table)
            source = Source.of_table(table, info)
            self.tables.add(str(source.table))
            self._personal |= info.pii
            self._rows |= {source.alias, table.name.lower()}
        for pivot in pivots:
            self._walk(pivot, Scope(scope.env, scope, [source]))
        scope.sources.append(Source(source.alias, _ANY, source.table) if pivots else source)

    def _arguments(self, node: exp.Expr, scope: Scope) -> None:
        for key, value in node.args.items():
            for part in value if isinstance(value, list) else [value]:
                if isinstance(part, exp.Expr) and key != "alias":
                    self._walk(part, scope)

    # ---- expressions

    def _walk(self, top: exp.Expr, scope: Scope) -> None:
        """Resolve every name below *top*. Long chains of operators must not recurse."""
        waiting: list[tuple[exp.Expr, frozenset[str]]] = [(top, frozenset())]
        while waiting:
            node, own = waiting.pop()
            if isinstance(node, exp.Lambda):
                own |= self._own(node.expressions, scope)
            elif isinstance(node, exp.Comprehension):
                own |= self._own([node.args["expression"]], scope)
            elif isinstance(node, exp.Columns | exp.PositionalColumn):
                raise denied("columns", "columns are written by name here, not by pattern or position", node)
            if isinstance(node, exp.Subquery) and isinstance(node.this, exp.Table):
                raise denied("table", "a table in parentheses is no value", node)
            if isinstance(node, exp.Table):
                raise denied("table", f"`{node.name}` is a table, not a value", node)
            if isinstance(node, _QUERIES) or (isinstance(node, exp.Subquery) and _is_query(node)):
                inner = scope if not own else Scope(scope.env, scope, [Source("", Columns(own))])
                self._query(node, scope.env, inner)
            elif isinstance(node, exp.Star):
                self._star(node, scope, None)
                waiting += [(part, own) for part in node.args.get("replace") or ()]
            elif isinstance(node, exp.Column):
                if isinstance(node.this, exp.Star):
                    self._star(node.this, scope, node)
                    waiting += [(part, own) for part in node.this.args.get("replace") or ()]
                else:
                    self._reference(node, tuple(part.name.lower() for part in node.parts), scope, own)
            elif isinstance(node, exp.Dot):
                if (parts := _chain(node)) is not None:
                    self._reference(node, parts, scope, own)
                waiting += [(part, own) for part in _behind(node)]
            else:
                waiting += [(part, own) for part in reversed(list(node.iter_expressions()))]

    def _own(self, names: Sequence[exp.Expr], scope: Scope) -> frozenset[str]:
        """The names that a lambda gives its arguments; none may hide a table."""
        for part in names:
            if any(part.name.lower() == source.alias for one in scope.outward() for source in one.sources):
                raise denied("whole-row", f"`{part.name}` is a table here: call the argument something else", part)
        return frozenset(part.name.lower() for part in names)

    def _reference(self, node: exp.Expr, parts: tuple[str, ...], scope: Scope, own: frozenset[str]) -> None:
        if parts[0] not in own:
            self._resolve(node, parts, scope)

    def _resolve(self, node: exp.Expr, parts: tuple[str, ...], scope: Scope, is_shared: bool = False) -> None:
        """Follow a name outward; deny it where it means, or could mean, a whole row or personal data, or nothing."""
        is_found = is_between = False
        for at in scope.outward():
            is_certain = False
            named = any(source.has(parts[0]) for source in at.sources)
            is_column = any(source.names_column(parts) for source in at.sources)
            for source in at.sources:
                for kind, name in source.meanings(parts):
                    if kind == "column" and parts[0] == name and self._is_of_table(parts, source, scope):
                        continue
                    if kind == "column":
                        self._check_column(node, name, source, is_given=len(parts) == 1 and name in at.given)
                        is_certain |= source.has(name)
                        is_found = True
                        if source.table is not None and (source.has(name) or not named):
                            self.reads.add((source.table, name))
                    elif source.table is None:
                        is_found |= kind == "row"
                    elif kind == "database" and is_column:
                        continue  # a column may be called like a table; both engines look for a column first
                    elif kind == "database":
                        raise denied("column", f"`{name}` names a database or a table in an odd place", node)
                    elif len(parts) > 1 or not named:
                        raise denied("whole-row", f"`{name}` stands for a whole row, name its columns", node)
            if is_certain and is_between and len(parts) == 1:
                raise denied("column", f"`{parts[0]}` stands outside of this SELECT: name its table as well", node)
            if is_certain or is_shared:
                return
            is_found |= len(parts) == 1 and parts[0] in at.given
            is_between |= any(source.table is not None for source in at.sources)
        if not is_found:
            raise denied("column", f"`{'.'.join(parts)}` is not a known column", node)

    def _is_of_table(self, parts: tuple[str, ...], source: Source, scope: Scope) -> bool:
        """Is the name before the dot that of a source, and for certain no column of *source* that has fields?

        PostgreSQL looks for a table, from the inside out, and never for a column; `(column).field` is written
        otherwise. A name that *source* may not show, or has, is judged as ever.
        """
        if self.dialect != "postgres" or source.has(parts[0]) or parts[0] in source.personal:
            return False
        sources = [one for at in scope.outward() for one in at.sources]
        owners = [one for one in sources if (one.alias,) == parts[:-1]]
        owners += [one for one in sources if not one.is_aliased and str(one.table).split(".") == list(parts[:-1])]
        return bool(owners) and owners[0].has(parts[-1])

    def _check_column(self, node: exp.Expr, name: str, source: Source, *, is_given: bool) -> None:
        """Deny a column that nobody may see, or nobody knows; what this SELECT itself calls so is no function."""
        if name in source.personal:
            raise denied("pii", f"`{name}` is personal data and may not be read, filtered or sorted by", node)
        if source.table is None or source.has(name):
            return
        if not source.columns.is_open or (source.personal and self.dialect in _OF_FUNCTIONS and not is_given):
            shown = node.sql() if isinstance(node, exp.Column) else name
            raise denied("column", f"`{shown}` is not a known column", node)

    def _star(self, star: exp.Star, scope: Scope, column: exp.Column | None) -> None:
        if column is None and isinstance(star.parent, exp.Count):
            return
        parts = () if column is None else tuple(part.name.lower() for part in column.parts[:-1])
        sources = [
            source
            for at in (scope.outward() if parts else (scope,))
            for source in at.sources
            if not parts or any(qualifier == parts for qualifier in source.qualifiers)
        ]
        if parts and not sources:
            raise denied("columns", f"`{'.'.join(parts)}` is no table of this statement", column)
        left_out: set[str] = set()
        for part in star.args.get("except_") or ():
            if isinstance(part, exp.Column) and len(part.parts) > 1:
                raise denied("columns", "what a star leaves out is written without its table", part)
            left_out.add(part.name.lower())
        for name in sorted(set().union(*(source.personal for source in sources)) - left_out if sources else ()):
            raise denied("pii", f"`*` would read `{name}`, which is personal data: name the columns you need", star)
        if star.args.get("rename") or star.args.get("ilike"):
            raise denied("columns", "columns are written by name here, not by pattern or renamed by a star", star)
        for source in sources:
            if source.table is not None:
                self.reads |= {(source.table, name) for name in source.columns.names - left_out}
                self.reads |= {(source.table, "*")} if source.columns.is_open else set()

    def _check_identifier(self, identifier: exp.Identifier) -> None:
        """Names outside columns: join lists, chains of methods, struct fields. An alias may be called anything."""
        parent, name = identifier.parent, identifier.name.lower()
        if isinstance(parent, exp.Column | exp.Alias | exp.TableAlias | exp.Table | exp.CTE | exp.PropertyEQ):
            return
        if name in self._personal:
            raise denied("pii", f"`{name}` is personal data and may not be read, filtered or sorted by", identifier)
        if isinstance(parent, exp.Dot) and name in self._rows:
            raise denied("whole-row", f"`{name}` stands for a whole row, name its columns", identifier)


def _is_query(node: exp.Expr) -> bool:
    while isinstance(node, exp.Subquery):
        node = node.this
    return isinstance(node, _QUERIES)


def _chain(node: exp.Dot) -> tuple[str, ...] | None:
    """The names that a chain of dots begins with; None where it begins with something else."""
    links: list[exp.Expr] = []
    at: exp.Expr = node
    while isinstance(at, exp.Dot):
        links.append(at.expression)
        at = at.this
    if not isinstance(at, exp.Identifier):
        return None
    names = [at.name.lower()]
    for link in reversed(links):
        if not isinstance(link, exp.Identifier):
            break
        names.append(link.name.lower())
    return tuple(names)


def _behind(node: exp.Dot) -> list[exp.Expr]:
    """What else a chain of dots holds: what it begins with where that is no name, and what its methods are given."""
    return [part for part in (node.this, node.expression) if not isinstance(part, exp.Identifier)]
