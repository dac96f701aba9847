"""Snowflake Cortex semantic models: the names are ours already; logical columns become the SQL behind them."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import UTC, datetime
from typing import Any

from sqlglot import exp

from ci.importers.draft import ContextDraft, Record, identifier, is_name, slug, text, values, word, words
from ci.importers.semantic.foreign import Foreign
from ci.importers.semantic.formulas import metric_of
from ci.importers.sql import OURS, Unsayable, is_column, parsed, resolved, row_sql, said, statement

DIALECT = "snowflake"
AGGREGATIONS = frozenset(("sum", "count", "count_distinct", "avg", "min", "max", "median"))
_TYPES = frozenset(("many_to_one", "one_to_one", "one_to_many", "many_to_many"))
_WHY = {
    "cortex_search_service": "values are looked up in `sample_values`, not by a search service",
    "cortex_search_service_name": "values are looked up in `sample_values`, not by a search service",
    "foreign_keys": "joins are declared as relationships",
    "sample_values": "sample values are of dimensions",
    "unique": "uniqueness is said of dimensions and primary keys",
}
_COLUMN = ("name", "expr", "description", "data_type", "synonyms")


def claims(file: Foreign) -> bool:
    """Is there a document with `tables` that name their base table?"""
    return file.lists("tables", having="base_table")


def import_(files: Sequence[Foreign], draft: ContextDraft) -> None:
    """Write every semantic model of *files* into *draft*."""
    for file in files:
        for model in file.mappings:
            if claims(Foreign(file.path, (model,))):
                _Model(model, file.path, draft).write()


class _Model:
    """One semantic model. `logical` holds, for each table, the SQL behind each of its columns."""

    def __init__(self, model: dict[str, Any], path: str, draft: ContextDraft) -> None:
        self.model, self.path, self.draft = model, path, draft
        self.dialect = draft.dialect or DIALECT
        self.logical: dict[str, dict[str, str]] = {}
        self.tables: dict[str, Record] = {}  # entity -> base_table
        self.entities: dict[str, Record] = {}

    def write(self) -> None:
        draft, at = self.draft, f"{self.path}: "
        tables = draft.mappings(self.model.get("tables"), f"{at}tables")
        for where, table in tables:
            self._table(where, table)
        for where, relationship in draft.mappings(self.model.get("relationships"), f"{at}relationships"):
            self._relationship(where, relationship)
        for where, record in self.entities.items():
            draft.add("entities", record, where)
            self._metrics(where, dict(tables)[where], record["name"])
        for where, metric in draft.mappings(self.model.get("metrics"), f"{at}metrics"):
            self._metric(where, metric, None)
        for where, query in draft.mappings(self.model.get("verified_queries"), f"{at}verified_queries"):
            self._verified(where, query)
        self._guide()
        known = ("name", "description", "tables", "relationships", "verified_queries", "metrics")
        draft.rest(self.model, (*known, "custom_instructions", "module_custom_instructions"), self.path)

    # ---- tables

    def _table(self, where: str, table: dict[str, Any]) -> None:
        draft = self.draft
        name = draft.name(table.get("name"), where)
        base = table.get("base_table")
        if not isinstance(base, dict) or name is None:
            draft.drop(where, "it names no base table")
            return
        draft.rest(base, ("schema", "table"), f"{where}.base_table", {"database": "the warehouse's address names it"})
        found = draft.base_table(_folded(base.get("schema")), _folded(base.get("table")), f"{where}.base_table")
        if found is None:
            return
        record: Record = {
            "name": name,
            "description": text(table.get("description")),
            "base_table": found,
            "synonyms": words(table.get("synonyms")),
        }
        self.logical[name], self.tables[name] = {}, found
        taken: set[str] = set()
        for section in ("dimensions", "time_dimensions", "facts", "measures", "columns"):
            for place, column in draft.mappings(table.get(section), f"{where}.{section}"):
                self._column(record, section, place, column, taken)
        record["filters"] = [
            self._filter(place, narrowed, name)
            for place, narrowed in draft.mappings(table.get("filters"), f"{where}.filters")
        ]
        record["filters"] = [narrowed for narrowed in record["filters"] if narrowed]
        record["primary_key"] = self._key(table.get("primary_key"), where)
        known = ("name", "synonyms", "description", "base_table", "dimensions", "time_dimensions", "facts", "measures")
        draft.rest(table, (*known, "columns", "metrics", "filters", "primary_key"), where, _WHY)
        self.entities[where] = record

    def _key(self, said_: Any, where: str) -> Record | None:
        columns = said_.get("columns") if isinstance(said_, dict) else None
        if not isinstance(columns, list) or not columns:
            return None
        named = [_folded(column) for column in columns]
        if all(is_name(column) for column in named):
            return {"columns": named}
        self.draft.drop(f"{where}.primary_key", "its columns are no plain names")
        return None

    def _column(self, record: Record, section: str, where: str, column: dict[str, Any], taken: set[str]) -> None:
        draft = self.draft
        kind = {"measures": "facts", "columns": str(column.get("kind") or "dimension") + "s"}.get(section, section)
        kind = {"measures": "facts"}.get(kind, kind)
        name = draft.name(column.get("name"), where)
        if name is None:
            return
        if kind not in ("dimensions", "time_dimensions", "facts") or name.casefold() in taken:
            draft.drop(where, f"`{name}` is declared twice" if name.casefold() in taken else f"`{kind}` is no kind")
            return
        said_ = column.get("expr")
        expr = self._expr(record["name"], str(said_) if said_ not in (None, "") else str(column.get("name")), where)
        if expr is None:
            return
        taken.add(name.casefold())
        self.logical[record["name"]][name] = expr
        part: Record = {
            "name": name,
            "expr": None if expr == name else expr,
            "description": text(column.get("description")),
            "data_type": _lowered(column.get("data_type")),
            "synonyms": words(column.get("synonyms")),
        }
        extra: tuple[str, ...] = ("kind",)
        if kind == "dimensions":
            part |= {"is_enum": column.get("is_enum") is True, "unique": column.get("unique") is True}
            part["sample_values"] = values(column.get("sample_values"))
            extra = ("is_enum", "unique", "sample_values", "kind")
        elif kind == "facts":
            said_agg = _lowered(column.get("default_aggregation"))
            part["default_aggregation"] = said_agg if said_agg in AGGREGATIONS else None
            if part["default_aggregation"] is None:
                draft.drop(where, "it is a fact and no metric: no aggregation is said")
            extra = ("default_aggregation", "kind")
        draft.rest(column, (*_COLUMN, *extra), where, _WHY)
        record.setdefault(kind, []).append({k: v for k, v in part.items() if v not in (None, [], False)})

    def _expr(self, entity: str, written: str, where: str) -> str | None:
        """The SQL of a column over the base table: logical columns that it names are replaced."""
        try:
            if is_column(written):
                return str(_folded(written))
            tree = parsed(written, self.dialect)
            known = {name: expr for name, expr in self.logical[entity].items() if name != expr}
            if any(column.name in known or column.table for column in tree.find_all(exp.Column)):
                tree = resolved(tree, {entity: known}, entity)
                return row_sql(said(tree), OURS)
            return row_sql(written, self.dialect)
        except Unsayable as why:
            self.draft.drop(where, str(why))
            return None

    def _filter(self, where: str, narrowed: dict[str, Any], entity: str) -> Record | None:
        name = self.draft.name(narrowed.get("name"), where)
        expr = self._expr(entity, str(narrowed.get("expr") or ""), where) if name else None
        if name is None or expr is None:
            return None
        self.draft.rest(narrowed, ("name", "expr", "description", "synonyms"), where)
        found: Record = {"name": name, "expr": expr, "description": text(narrowed.get("description"))}
        found["synonyms"] = words(narrowed.get("synonyms"))
        return {key: value for key, value in found.items() if value not in (None, [])}

    # ---- relationships

    def _relationship(self, where: str, said_: dict[str, Any]) -> None:
        draft = self.draft
        left, right = (self._entity(said_.get(side)) for side in ("left_table", "right_table"))
        pairs = []
        for _, pair in draft.mappings(said_.get("relationship_columns"), f"{where}.relationship_columns"):
            pairs.append({side: _folded(pair.get(side)) for side in ("left_column", "right_column")})
        kind = _lowered(said_.get("relationship_type"))
        name = draft.name(said_.get("name") or f"{said_.get('left_table')}_to_{said_.get('right_table')}", where)
        if left is None or right is None or name is None:
            draft.drop(where, "it joins a table that was not carried over")
        elif not pairs or not all(is_name(column) for pair in pairs for column in pair.values()):
            draft.drop(where, "it is no join of plain columns")
        elif kind not in _TYPES:
            draft.drop(where, "it does not say how many rows find how many (`relationship_type`)")
        else:
            owner = next(record for record in self.entities.values() if record["name"] == left)
            joined = {"name": name, "right_entity": right, "relationship_columns": pairs, "relationship_type": kind}
            owner.setdefault("relationships", []).append(joined)
            known = ["name", "left_table", "right_table", "relationship_columns", "relationship_type"]
            if (join := _lowered(said_.get("join_type"))) in (None, "left_outer", "inner"):
                known.append("join_type")
                joined |= {"join_type": join} if join == "inner" else {}
            draft.rest(said_, known, where, {"join_type": "a join is `left_outer` or `inner`"})

    def _entity(self, said_: Any) -> str | None:
        name = identifier(said_)
        return name if any(record["name"] == name for record in self.entities.values()) else None

    # ---- metrics

    def _metrics(self, where: str, table: dict[str, Any], entity: str) -> None:
        for section in ("facts", "measures", "columns"):
            for place, fact in self.draft.mappings(table.get(section), f"{where}.{section}"):
                agg, name = _lowered(fact.get("default_aggregation")), identifier(fact.get("name"))
                expr = self.logical[entity].get(name or "")
                if agg not in AGGREGATIONS or name is None or expr is None:
                    continue
                extras = {"description": text(fact.get("description")), "synonyms": words(fact.get("synonyms"))}
                self.draft.add("metrics", {"name": name, "entity": entity, "agg": agg, "expr": expr, **extras}, place)
        for place, metric in self.draft.mappings(table.get("metrics"), f"{where}.metrics"):
            self._metric(place, metric, entity)

    def _metric(self, where: str, metric: dict[str, Any], entity: str | None) -> None:
        name = self.draft.name(metric.get("name"), where)
        if name is None:
            return
        if metric.get("filter"):
            self.draft.drop(where, "its `filter` has no counterpart, and without it the number would be another")
            return
        extras: Record = {"description": text(metric.get("description")), "synonyms": words(metric.get("synonyms"))}
        self.draft.rest(metric, ("name", "expr", "description", "synonyms", "data_type", "filter"), where)
        metric_of(self.draft, name, str(metric.get("expr") or ""), self.dialect, self.logical, entity, extras, where)

    # ---- verified queries, guides

    def _verified(self, where: str, query: dict[str, Any]) -> None:
        draft = self.draft
        name, by = slug(query.get("name")), word(query.get("verified_by"))
        at = _day(query.get("verified_at"))
        if name is None or by is None or at is None:
            draft.drop(where, "a verified query says who verified it, and when")
            return
        try:
            sql = self._physical(str(query.get("sql") or ""))
        except Unsayable as why:
            draft.drop(where, str(why))
            return
        asked = word(query.get("question")) or name
        record: Record = {"name": name, "question": asked.replace("{", "(").replace("}", ")"), "sql": sql}
        record |= {"verified_by": by, "verified_at": at}
        record["use_as_onboarding_question"] = query.get("use_as_onboarding_question") is True or None
        draft.rest(query, (*record, "semantic_model_name"), where)
        draft.add("verified_queries", record, where)

    def _physical(self, written: str) -> str:
        """The statement over base tables: each logical table becomes a query of its columns, put in front."""
        tree = statement(written, self.dialect)
        own = {cte.alias_or_name.casefold() for cte in tree.find_all(exp.CTE)}
        named = {column.name.casefold() for column in tree.find_all(exp.Column)}
        has_star = tree.find(exp.Star) is not None
        front: dict[str, exp.CTE] = {}
        for table in list(tree.find_all(exp.Table)):
            if table.db or table.name.casefold() in own:
                continue
            entity = next(
                (e for e in self.logical if table.name.casefold() in (e.casefold(), f"__{e}".casefold())), None
            )
            if entity is None:
                raise Unsayable(f"it reads `{table.name}`, which is no table of the model")
            columns: list[exp.Expr] = [
                exp.alias_(parsed(expr, OURS), name, quoted=False)
                for name, expr in self.logical[entity].items()
                if has_star or name.casefold() in named
            ]
            base = self.tables[entity]
            inner = exp.select(*(columns or [exp.alias_(exp.Literal.number(1), "one")])).from_(
                exp.table_(base["table"], db=base["schema"])
            )
            # A table that is called like one of its columns would make the column a whole row.
            stands = exp.to_identifier(f"{entity}_rows")
            front[entity] = exp.CTE(this=inner, alias=exp.TableAlias(this=stands))
            for column in tree.find_all(exp.Column):
                if column.table.casefold() == table.alias_or_name.casefold() and not table.alias:
                    column.set("table", stands.copy())
            table.set("this", stands.copy())
        if front:
            held = tree.args.get("with_") or tree.args.get("with")
            if held is None:
                tree.set("with_", exp.With(expressions=list(front.values())))
            else:
                held.set("expressions", [*front.values(), *held.expressions])
        return tree.sql(dialect=OURS, pretty=True, comments=False)

    def _guide(self) -> None:
        said_ = [self.model.get("custom_instructions")]
        modules = self.model.get("module_custom_instructions")
        said_ += list(modules.values()) if isinstance(modules, dict) else []
        conventions = [found for found in map(text, said_) if found]
        domain = slug(self.model.get("name"))
        if domain and (conventions or self.model.get("description")):
            record = {"domain": domain, "description": text(self.model.get("description")), "conventions": conventions}
            entities = [record["name"] for record in self.entities.values()]
            self.draft.add("guides", {**record, "entities": entities}, self.path)


def _folded(said_: Any) -> Any:
    """An unquoted name as Snowflake means it: capitals or not, it is the same column."""
    return said_.lower() if isinstance(said_, str) and said_.isupper() else said_


def _lowered(said_: Any) -> str | None:
    found = word(said_)
    return found.lower() if found else None


def _day(said_: Any) -> str | None:
    """Seconds since 1970, or a date, as a day in UTC."""
    if isinstance(said_, int | float) and not isinstance(said_, bool):
        try:
            return datetime.fromtimestamp(said_, UTC).date().isoformat()
        except (ValueError, OverflowError, OSError):
            return None
    found = word(said_)
    try:
        return datetime.fromisoformat(found).date().isoformat() if found else None
    except ValueError:
        return None
