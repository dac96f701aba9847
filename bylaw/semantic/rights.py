"""The rows that one person may see: every table of a statement is replaced by those of its rows that a grant shows.

What is counted, joined, asked with EXISTS or listed is then read from a database that holds nothing else. A rule that
cannot be applied to an entity, because it leads to none or to several of the rows that the rule speaks of, closes it.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace

import sqlglot
from sqlglot import exp

from bylaw.authored.context import Context, Dimension, Entity
from bylaw.authored.machines.access import Grant, Rights, Roles, RowRule
from bylaw.semantic.catalogue import catalogue_of
from bylaw.semantic.clauses.conditions import test
from bylaw.semantic.clauses.rows import Branch, Desk, Notes, Rows, entity_of
from bylaw.semantic.clauses.trees import named
from bylaw.semantic.expressions import columns_of
from bylaw.semantic.joins import Joins
from bylaw.semantic.names import Field, Names
from bylaw.semantic.query import Filter, SemanticQuery, Unanswerable, Withheld
from bylaw.sql.gate import Verdict, check_statement
from bylaw.sql.rows import Shown, Visible

OURS = "duckdb"


def verdict_on(sql: str, context: Context, roles: Roles, user: str, dialect: str = OURS) -> Verdict:
    """May *user* run the statement *sql*, written by whomever, over the tables of *context*? `sql` of it may run."""
    rights = roles.rights_of(user, {entity.base_table.schema_name for entity in context.entities.values()})
    visible = VisibleRows(context, Joins(context), rights).visible(dialect)
    return check_statement(
        sql, catalogue=catalogue_of(context), schemas=rights.schemas, dialect=dialect, visible=visible
    )


@dataclass(frozen=True, slots=True)
class _Seen:
    """The rows of one entity that are seen: all (no condition), or those that meet it. `said` is the same in words."""

    where: exp.Expr | None
    said: tuple[str, ...] = ()


class VisibleRows:
    """What *rights* show of the entities of one context."""

    def __init__(self, context: Context, joins: Joins, rights: Rights) -> None:
        self.context = context
        self.rights = rights
        self._desk = Desk(Names(context), joins, Notes(), OURS)
        self._known: dict[str, _Seen] = {}

    def narrowed(self, tree: exp.Select) -> exp.Select:
        """*tree*, of the compiler's, in which every table is read as far as it may be seen.

        Raises Unanswerable where it reads rows of an entity that is closed.
        """
        for table in [table for table in tree.find_all(exp.Table) if table.db]:
            where = self._seen(entity_of(table)).where
            if where is not None:
                _narrow(table, entity_of(table), where.copy())
        return tree

    def said(self, entities: Iterable[str]) -> str | None:
        """The reading of an answer that was read from *entities*; None where all of their rows may be seen."""
        found = dict.fromkeys(" or ".join(self._seen(name).said) for name in sorted(entities))
        texts = [text for text in found if not any(text in other for other in found if other != text)]
        return f"Only rows you may see: {'; '.join(texts)}." if any(texts) else None

    def check(self, query: SemanticQuery) -> None:
        """An answer about values whose rows may not be seen would be empty, and empty looks like zero: refuse it."""
        for condition in query.filters:
            if isinstance(condition, Filter) and condition.operator == "in" and not condition.negated:
                self._check_values(condition)

    def visible(self, dialect: str) -> Visible:
        """For the gate: the tables of which not every row may be read, with the conditions that show the others."""
        found: dict[str, list[Shown]] = {}
        free: set[str] = set()
        for name, entity in sorted(self.context.entities.items()):
            if entity.base_table.schema_name not in self.rights.schemas:
                continue  # the gate refuses the schema
            table = entity.base_table.qualified.lower()
            conditions = found.setdefault(table, [])
            try:
                where = self._seen(name).where
            except Unanswerable:
                continue
            if where is None:
                free.add(table)
            else:
                conditions.append(Shown(name, _written(where, dialect)))
        return {table: tuple(texts) for table, texts in found.items() if table not in free}

    def closed(self, entity: str, rule: RowRule) -> str | None:
        """Why *rule* cannot be applied to *entity*, None where it can."""
        try:
            self._tree(self._desk.entity(entity), rule.model_copy(update={"values": rule.values or [0]}))
        except Unanswerable as problem:
            return problem.help or problem.message
        return None

    # ---- one entity

    def _seen(self, name: str) -> _Seen:
        if name not in self._known:
            self._known[name] = self._looked_up(self._desk.entity(name))
        return self._known[name]

    def _looked_up(self, entity: Entity) -> _Seen:
        trees: list[exp.Expr] = []
        said: list[str] = []
        problems: list[str] = []
        granting = _granting(self.rights, entity)
        for grant in granting:
            rules = [rule for rule in grant.rules if entity.name not in rule.spared]
            try:
                parts = [self._tree(entity, rule) for rule in rules]
            except Unanswerable as problem:
                problems.append(problem.message)
                continue
            if not parts:
                return _Seen(None)
            trees.append(exp.and_(*parts, copy=False))
            said.append(" and ".join(self._text(rule) for rule in rules))
        if not trees and granting:
            raise Withheld(
                f"your roles show you no rows of `{entity.name}`: {problems[0]}",
                "somebody with wider rights can answer it, or `rules/roles.yaml` would have to say more",
            )
        if not trees:
            return _Seen(exp.false())  # the gate refuses the schema
        return _Seen(exp.or_(*trees, copy=False), tuple(dict.fromkeys(said)))

    def _tree(self, entity: Entity, rule: RowRule) -> exp.Expr:
        """What *rule* says of one row of *entity*. Raises Unanswerable where that cannot be told."""
        field = self._desk.names.field(rule.dimension)
        if any(owner != field.entity for owner, _ in columns_of(field.sql, field.entity)):
            raise Unanswerable(f"`{rule.dimension}` is computed from other entities, so no rule can narrow by it")
        condition = _condition(rule)
        try:
            way = self._desk.joins.way(entity.name, field.place)
        except Unanswerable as problem:
            raise Unanswerable(f"the rule on `{rule.dimension}` cannot be applied to it", problem.message) from problem
        rows = Rows(self._desk, entity.name)
        if not way:
            return _tested(field, rows.tree(field), condition, rule)
        branch = Branch(rows, way)
        branch.places[field.place] = branch.many
        branch.add(_tested(field, branch.tree(field), condition, rule))
        return branch.exists()

    def _text(self, rule: RowRule) -> str:
        """`region EMEA`; with the entity where rules speak of two dimensions of one name."""
        owner, _, short = rule.dimension.rpartition(".")
        others = {one.dimension for grant in self.rights.grants for one in grant.rules}
        is_clear = all(other == rule.dimension or other.rpartition(".")[2] != short for other in others)
        name = (short if is_clear else f"{owner.replace('@', ' ')} {short}").replace("_", " ")
        sign = {"in": "", "not_in": "not "}.get(rule.operator, f"{rule.operator} ")
        return f"{name} {sign}{' or '.join(str(value) for value in rule.values)}"

    def _check_values(self, condition: Filter) -> None:
        entity = self.context.entities.get(condition.dimension.rpartition(".")[0])
        if entity is None:
            return
        wanted = {str(value).lower() for value in condition.values}
        allowed: list[str] = []
        for grant in _granting(self.rights, entity):
            rules = [rule for rule in grant.rules if rule.dimension == condition.dimension and rule.operator == "in"]
            rules = [rule for rule in rules if entity.name not in rule.spared]
            if not any(wanted.isdisjoint(str(value).lower() for value in rule.values) for rule in rules):
                return
            allowed += [self._text(rule) for rule in rules]
        if wanted and allowed:
            short = condition.dimension.rpartition(".")[2].replace("_", " ")
            raise Withheld(
                f"your roles show you no rows of {short} {' or '.join(str(value) for value in condition.values)}",
                f"you may see {' or '.join(dict.fromkeys(allowed))}",
            )


def _granting(rights: Rights, entity: Entity) -> Sequence[Grant]:
    return [grant for grant in rights.grants if entity.base_table.schema_name in grant.schemas]


def _condition(rule: RowRule) -> Filter:
    operator = "in" if rule.operator == "not_in" else rule.operator
    if not rule.values:
        raise Withheld(f"the rule on `{rule.dimension}` asks for your `{rule.attribute}`, and you have none")
    if operator != "in" and len(rule.values) > 1:
        raise Withheld(f"the rule on `{rule.dimension}` compares with one value, and you have several")
    return Filter.model_validate({"dimension": rule.dimension, "operator": operator, "values": rule.values})


def _tested(field: Field, column: exp.Expr, condition: Filter, rule: RowRule) -> exp.Expr:
    """The comparison itself, to the letter: how loosely people may write a value is no question of rights."""
    if isinstance(field.part, Dimension):
        field = replace(field, part=field.part.model_copy(update={"match": "exact"}))
    tree = test(field, column, condition)
    return exp.not_(tree, copy=False) if rule.operator == "not_in" else tree


def _narrow(table: exp.Table, entity: str, where: exp.Expr) -> None:
    """Put the seen rows of *entity* in the place of *table*, with the columns that the statement reads of it."""
    columns = _columns_read(table)
    shown: list[exp.Expr] = [exp.column(name, table=entity) for name in columns]
    shown = shown or [named(exp.Literal.number(1), "one")]
    source = exp.table_(table.name, db=table.db, alias=entity)
    inner = exp.select(*shown, copy=False).from_(source, copy=False).where(where, copy=False)
    table.replace(inner.subquery(table.alias_or_name, copy=False))


def _columns_read(table: exp.Table) -> list[str]:
    """The columns of *table* that its statement reads, itself or in a subquery that sees it."""
    select = table.find_ancestor(exp.Select)
    assert select is not None
    alias = table.alias_or_name
    found = set()
    for column in select.find_all(exp.Column):
        if column.table == alias:
            scope = column.find_ancestor(exp.Select)
            while scope is not None and scope is not select and alias not in _sources(scope):
                scope = scope.find_ancestor(exp.Select)
            if scope is select:
                found.add(column.name)
    return sorted(found)


def _sources(select: exp.Select) -> set[str]:
    from_ = select.args.get("from_")
    tables = [from_.this] if from_ is not None else []
    return {source.alias_or_name for source in (*tables, *(join.this for join in select.args.get("joins") or ()))}


def _written(where: exp.Expr, dialect: str) -> str:
    """The condition as the gate finds it in a statement for *dialect*."""
    statement = exp.select("1").where(where.copy()).sql(dialect=OURS)
    moved = sqlglot.parse_one(sqlglot.transpile(statement, read=OURS, write=dialect)[0], dialect=dialect)
    return str(moved.args["where"].this.sql(dialect=dialect))
