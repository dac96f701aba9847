"""Which base columns a statement touches, in any clause: personal data is found whatever it is called meanwhile."""

from __future__ import annotations

from collections.abc import Iterator

from sqlglot import exp

from bylaw.sql_sources import Catalogue, TableInfo, denied, is_derived


class Lineage:
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
        """Raise GateDenied for the first part that reads, or may read, what nobody may see."""
        for node in self.nodes:
            if isinstance(node, exp.Columns | exp.PositionalColumn):
                raise denied("columns", "columns are written by name here, not by pattern or position", node)
            if isinstance(node, exp.Join) and str(node.args.get("method") or "") == "NATURAL":
                raise denied("columns", "a NATURAL join does not say which columns it reads, write ON or USING", node)
            if isinstance(node, exp.Table) and id(node) in self.tables:
                self._check_table(node)
            elif isinstance(node, exp.Star) and not isinstance(node.parent, exp.Count):
                self._check_star(node)
            elif isinstance(node, exp.Column) and not isinstance(node.this, exp.Star) and node.arg_key != "except_":
                self._check_reference(node)
            elif isinstance(node, exp.Identifier):
                self._check_identifier(node)

    def _check_table(self, table: exp.Table) -> None:
        alias = table.args.get("alias")
        if alias is not None and alias.args.get("columns"):
            raise denied("columns", f"the columns of `{table.name}` may not be renamed in FROM", alias)
        if table.args.get("pivots") and self.tables[id(table)].pii:
            raise denied("pii", f"`{table.name}` holds personal data, it cannot be pivoted whole", table)

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
            raise denied("pii", f"`*` would read `{name}`, which is personal data: name the columns you need", star)

    def _check_reference(self, column: exp.Column) -> None:
        """A column written with one to four names: `column`, `alias.column`, `schema.table.column`, `….field`."""
        parts = [part.name.lower() for part in column.parts]
        for width in (2, 1):
            owner = ".".join(parts[:width])
            if owner in self.by_alias and len(parts) >= width:
                infos = self.by_alias[owner]
                if len(parts) == width and (width == 2 or not self._is_column(parts[0], infos)):
                    raise denied("whole-row", f"`{owner}` stands for a whole row, name its columns", column)
                if len(parts) > width:
                    return self._check_column(column, parts[width], infos, owner)
        if len(parts) > 1 and parts[0] in self.made:
            return None  # a column of a derived table: what it reads was judged where it was written
        return self._check_column(column, parts[0], list(self.tables.values()), None)

    @staticmethod
    def _is_column(name: str, infos: list[TableInfo]) -> bool:
        return any(info.columns is not None and name in info.columns for info in infos)

    def _check_column(self, column: exp.Column, name: str, infos: list[TableInfo], owner: str | None) -> None:
        if any(name in info.pii for info in infos):
            raise denied("pii", f"`{name}` is personal data and may not be read, filtered or sorted by", column)
        if owner is None and (name in self.made or not infos):
            return
        if all(info.columns is not None and name not in info.columns for info in infos):
            place = f"{owner}.{name}" if owner else name
            raise denied("column", f"`{place}` is not a known column", column)

    def _check_identifier(self, identifier: exp.Identifier) -> None:
        """Names outside columns: join lists, chains of methods, struct fields. An alias may be called anything."""
        parent, name = identifier.parent, identifier.name.lower()
        if isinstance(parent, exp.Column | exp.Alias | exp.TableAlias | exp.Table | exp.CTE | exp.PropertyEQ):
            return
        if any(name in info.pii for info in self.tables.values()):
            raise denied("pii", f"`{name}` is personal data and may not be read, filtered or sorted by", identifier)
        if isinstance(parent, exp.Dot) and name in self.by_alias:
            raise denied("whole-row", f"`{name}` stands for a whole row, name its columns", identifier)


def _made_names(nodes: list[exp.Expr]) -> Iterator[str]:
    """Names that the statement itself gives: aliases, derived tables and their columns, lambda parameters."""
    for node in nodes:
        if isinstance(node, exp.Alias | exp.CTE | exp.Subquery):
            yield node.alias.lower()
        elif isinstance(node, exp.TableAlias):
            yield from (column.name.lower() for column in node.args.get("columns") or ())
            if not (isinstance(node.parent, exp.Table) and isinstance(node.parent.this, exp.Identifier)):
                yield node.name.lower()
        elif isinstance(node, exp.Table) and is_derived(node):
            yield from (node.alias_or_name.lower(), node.name.lower())
        elif isinstance(node, exp.GenerateSeries | exp.Unnest | exp.Explode):
            yield from ("range", "generate_series", "unnest")
        elif isinstance(node, exp.Lambda):
            yield from (part.name.lower() for part in node.expressions)
        elif isinstance(node, exp.Comprehension):
            yield node.args["expression"].name.lower()
