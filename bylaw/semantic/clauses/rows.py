"""The rows of one entity: what is joined to them, by which conditions they are narrowed, what groups they fall into.

`Rows` never multiplies the rows of its base. Entities of which one row has many are asked with EXISTS (`narrow`),
or give their groups through a subquery in which every row of the base has each group once (`group`).
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field

from sqlglot import exp

from bylaw.authored.context import Entity
from bylaw.semantic import gotchas
from bylaw.semantic.clauses.trees import is_null, joined, named
from bylaw.semantic.expressions import entities_of, expression
from bylaw.semantic.joins import Joins, Step, Way
from bylaw.semantic.names import Field, Names
from bylaw.semantic.query import Unanswerable


@dataclass(slots=True)
class Notes:
    """What one compilation has to say beside its SQL."""

    caveats: dict[str, None] = field(default_factory=dict)
    conditions: dict[str, None] = field(default_factory=dict)
    asked: set[str] = field(default_factory=set)
    touched: set[str] = field(default_factory=set)
    joins: dict[Step, tuple[str, ...]] = field(default_factory=dict)  # with the conditions on the row that is found
    spreads: list[tuple[str, exp.Select]] = field(default_factory=list)  # how many groups a row of it is added up in
    left_out: dict[tuple[str, str], exp.Select] = field(default_factory=dict)  # how many rows of it have none of those
    walked: set[str] = field(default_factory=set)  # the relationships, `entity.name`

    def walk(self, step: Step) -> None:
        self.walked.add(f"{step.owner}.{step.name}")

    def say(self, text: str) -> None:
        self.caveats.setdefault(text)


@dataclass(frozen=True, slots=True)
class Desk:
    """What is the same for every set of rows."""

    names: Names
    joins: Joins
    notes: Notes
    dialect: str

    def entity(self, place: str) -> Entity:
        return self.names.entity(place)


@dataclass(frozen=True, slots=True)
class _Joined:
    step: Step
    left: str
    right: str
    is_inner: bool


class Rows:
    """One FROM with its joins and conditions. `outer` are aliases of an enclosing statement that stay visible."""

    def __init__(self, desk: Desk, base: str, outer: frozenset[str] = frozenset()) -> None:
        self.desk = desk
        self.base = base
        self.outer = outer
        self.alias = self._alias(base, "")
        self.joined: dict[str, _Joined] = {}
        self.places: dict[str, str] = {base: self.alias}
        self.where: dict[str, exp.Expr] = {}
        self.guards: list[exp.Expr] = []
        self.branches: dict[Way, list[Branch]] = {}
        self.fans: dict[Way, Fan] = {}

    def _alias(self, entity: str, role: str) -> str:
        name = f"{entity}_{role}" if role else entity
        return f"{name}_inside" if name in self.outer else name

    # ---- reaching

    def leads_to(self, place: str) -> bool:
        """Does one row find at most one row of *place*?"""
        return place in self.places or self.desk.joins.leads_to(self.base, place)

    def reach(self, place: str) -> str:
        """Join *place* where it is not joined yet; its alias."""
        self.desk.entity(place)
        if place not in self.places:
            self.places[place] = self.walk(self.desk.joins.way(self.base, place), place.partition("@")[2])
        return self.places[place]

    def walk(self, way: Way, role: str = "", is_inner: bool = False) -> str:
        """Join the steps of *way*, and name what lies behind the relationship *role* after it."""
        at, said = self.alias, ""
        for step in way:
            self.desk.notes.walk(step)
            said = said or (role if step.name == role else "")
            alias = self._alias(step.right, said)
            known = self.joined.get(alias)
            if known is None or (known.step, known.left) != (step, at):
                alias = alias if known is None else f"{alias}_{step.name}"
                self.joined.setdefault(alias, _Joined(step, at, alias, is_inner))
            at = alias
        return at

    def expression(self, text: str, place: str) -> exp.Expr:
        """The tree of a fragment of *place*, with everything joined that it reads."""
        entity, _, role = place.partition("@")
        tree = expression(text, entity)
        for name in entities_of(tree):
            beyond = f"{name}@{role}" if role and name != self.base else name
            alias = self.reach(place if name == entity else beyond)
            for column in tree.find_all(exp.Column):
                if column.table == name and alias != name:
                    column.set("table", exp.to_identifier(alias))
        return tree

    def tree(self, field: Field) -> exp.Expr:
        """What a field says of one row."""
        self.reach(field.place)
        return self.expression(field.sql, field.place)

    def key(self, place: str) -> list[exp.Expr]:
        """The columns that tell rows of *place* apart."""
        alias = self.reach(place)
        return [exp.column(name, table=alias) for name in self.desk.names.key(place)]

    # ---- narrowing and grouping

    def add(self, tree: exp.Expr) -> None:
        self.where.setdefault(tree.sql(dialect=self.desk.dialect), tree)

    def prefix(self, place: str) -> Way:
        """The connection with *place* as far as it stays with one row, and the first step that leads to many."""
        way = self.desk.joins.chain(self.base, place)
        return way[: next(i for i, step in enumerate(way) if step.is_many) + 1]

    def inner(self, place: str) -> Behind | None:
        """The rows behind a join to many that groups are already taken from, where *place* is one of theirs."""
        return self.fans.get(self.prefix(place))

    def branch(self, place: str, is_free: Callable[[Branch], bool]) -> Branch:
        """The rows that belong to one row of these, for conditions that one of them has to meet together."""
        prefix = self.prefix(place)
        found = self.branches.setdefault(prefix, [])
        for branch in found:
            if is_free(branch):
                return branch
        found.append(Branch(self, prefix))
        return found[-1]

    def group(self, place: str, tree: Callable[[Rows], exp.Expr], alias: str, *, is_counted: bool = True) -> exp.Expr:
        """A group of these rows that *place* gives. Where one row has several, it counts once in each.

        What is counted is not grouped by what merely shares a row with it; a list may show both side by side.
        """
        if self.leads_to(place):
            self.reach(place)
            return tree(self)
        prefix = self.prefix(place)
        if prefix not in self.fans:
            way = self.desk.joins.chain(self.base, place)
            if is_counted and not way[0].is_many and all(step.is_many for step in way[len(prefix) :]):
                raise Unanswerable(
                    f"`{self.base}` and `{place}` only share `{prefix[-1].left}`, so one says nothing about the other",
                    f"ask for both by something of `{prefix[-1].left}`, or declare that it has one `{place}`",
                )
            self.fans[prefix] = Fan(self, prefix)
        return self.fans[prefix].offer(place, tree, alias)

    def overlaps(self) -> Iterator[str]:
        """What is said of groups that share rows."""
        for fan in self.fans.values():
            for place in fan.offers.values():
                things = sorted({fan.entity_of(column.table) for column in place.find_all(exp.Column)})
                yield (
                    f"One row of {self.base} counts for each of its {' and '.join(things)}, and for none where it has "
                    "none, so the groups do not add up to the total."
                )

    def spreads(self) -> Iterator[exp.Select]:
        """The most groups that one row falls into, where neither side of a join has one partner.

        What links them, as an author and a paper, says that the whole row is of each; a key that both merely share
        does not.
        """
        for fan in self.fans.values():
            first = fan.prefix_way[0]
            if not self.desk.joins.leads_to(first.right, first.left):
                links = [exp.column(f"link_{i}") for i in range(1, len(first.columns) + 1)]
                count = named(exp.Count(this=exp.Star()), "n")
                pairs = exp.select(count).from_(fan.subquery(), copy=False).group_by(*links, copy=False)
                pairs = pairs.where(*(exp.not_(is_null(link.copy())) for link in links), copy=False)
                most = named(exp.Max(this=exp.column("n")), "most")
                yield exp.select(most).from_(pairs.subquery("pairs", copy=False), copy=False)

    # ---- what always holds

    def guard(self) -> None:
        """Add filters marked `apply: always`, and filters of gotchas, of every entity that a row leads to.

        Wherever a filter stands, it holds for all questions alike: a total and the sum of its groups are equal. A row
        that leads to none of an entity's rows is not dropped by it.
        """
        for fan in self.fans.values():
            fan.guard()
        for branches in self.branches.values():
            for branch in branches:
                branch.guard()
        for name in sorted(self.desk.joins.reachable(self.base)):
            way = self.desk.joins.guarded_way(self.base, name)
            if self._conditions(name) and way is not None and not self.is_seen(way):
                self._guarded(name, self.reach(name) if self.desk.joins.is_plain(self.base, name) else self.walk(way))
        for alias, one in list(self.joined.items()):
            self._guarded(one.step.right, alias)
        self.desk.notes.touched |= self.entities()

    def is_seen(self, way: Way) -> bool:
        """Do the enclosing rows see to what lies on this way?"""
        return False

    def _conditions(self, name: str) -> list[tuple[str, str]]:
        """The conditions of an entity as SQL, each with what is said of it."""
        entity = self.desk.entity(name)
        traps = gotchas.applicable(self.desk.names.context, [name])
        found = [(trap.required_filter, gotchas.said(trap)) for trap in traps if trap.required_filter]
        always = [narrowed for narrowed in entity.filters if narrowed.apply == "always"]
        return found + [(one.sql, one.description or f"only {one.name.replace('_', ' ')}") for one in always]

    def _guarded(self, name: str, alias: str) -> None:
        place = next((place for place, found in self.places.items() if found == alias), name)
        for text, caveat in self._conditions(name):
            tree = self.expression(text, place) if place in self.places else _moved(expression(text, name), name, alias)
            one = self.joined.get(alias)
            if one is not None and not one.is_inner:
                key = exp.column(one.step.columns[0][1], table=alias)
                tree = exp.or_(is_null(key), tree, copy=False)
            self.guards.append(tree)
            self.add(tree)
            self.desk.notes.say(caveat)

    def entities(self) -> set[str]:
        """Every entity whose rows are read so far, here or in a subquery of these rows."""
        found = {self.base, *(one.step.right for one in self.joined.values())}
        for rows in (*self.fans.values(), *(branch for branches in self.branches.values() for branch in branches)):
            found |= rows.entities()
        return found

    # ---- the statement

    def conditions(self) -> Iterator[exp.Expr]:
        """Every condition, in a stable order."""
        trees = dict(self.where)
        for branches in self.branches.values():
            for branch in branches:
                tree = branch.exists()
                trees[tree.sql(dialect=self.desk.dialect)] = tree
        for text in sorted(trees):
            self.desk.notes.conditions.setdefault(text)
            yield trees[text]

    def select(self, columns: Iterable[exp.Expr]) -> exp.Select:
        """`SELECT columns FROM …` with joins and conditions."""
        table = table_of(self.desk.entity(self.base), self.alias)
        tree = exp.select(*columns, copy=False).from_(table, copy=False)
        for one in self.joined.values():
            if not one.step.is_many:
                guards = tuple(text for text, _ in self._conditions(one.step.right))
                self.desk.notes.joins.setdefault(one.step, guards)
            table = table_of(self.desk.entity(one.step.right), one.right)
            joined(tree, table, "inner" if one.is_inner else "left", linked(one.step, one.left, one.right))
        for fan in self.fans.values():
            joined(tree, fan.subquery(), "inner", fan.links(self.alias))
        return tree.where(*(condition.copy() for condition in self.conditions()), copy=False)


class Behind(Rows):
    """The rows behind a join to many, seen from the rows of `over`. Every step on a chain has to find its row."""

    def __init__(self, over: Rows, prefix: Way, outer: frozenset[str]) -> None:
        super().__init__(over.desk, prefix[0].right, outer)
        self.over = over
        self.prefix_way = prefix
        self.desk.notes.walk(prefix[0])
        self.dimensions: set[str] = set()
        self.many = self.walk(prefix[1:], is_inner=True) if len(prefix) > 1 else self.alias
        self.places[prefix[-1].right] = self.many
        if not prefix[0].is_many:
            over.desk.notes.say(f"{over.base} and {prefix[-1].right} are connected through {prefix[-1].left}.")

    def leads_to(self, place: str) -> bool:
        return True

    def reach(self, place: str) -> str:
        self.desk.entity(place)
        if place not in self.places:
            way = self.over.desk.joins.chain(self.over.base, place)
            behind = way[: len(self.prefix_way)] == self.prefix_way
            way = way[1:] if behind else self.desk.joins.way(self.base, place)
            self.places[place] = self.walk(way, place.partition("@")[2], is_inner=behind)
        return self.places[place]

    def is_seen(self, way: Way) -> bool:
        return any(step.right == self.over.base for step in way)

    def guard(self) -> None:
        """As for all rows; beyond the first entity also for those that the chain leads to."""
        for alias, one in list(self.joined.items()):
            if not one.is_inner:
                continue
            for name, way in sorted(self.desk.joins.reachable(one.step.right).items()):
                beyond = (*self._route(alias), *way)
                if way and self._conditions(name) and not self.is_seen(beyond) and name not in self.places:
                    self._guarded(name, self.walk(beyond))
        super().guard()

    def _route(self, alias: str) -> Way:
        way: list[Step] = []
        while alias != self.alias:
            way.insert(0, self.joined[alias].step)
            alias = self.joined[alias].left
        return tuple(way)


class Branch(Behind):
    """The rows that belong to one row of others, for EXISTS."""

    def __init__(self, over: Rows, prefix: Way) -> None:
        super().__init__(over, prefix, over.outer | {over.alias})

    def exists(self) -> exp.Expr:
        pairs = linked(self.prefix_way[0].back, self.alias, self.over.alias)
        return exp.Exists(this=self.select([exp.Literal.number(1)]).where(*pairs, copy=False))


class Fan(Behind):
    """The groups that each row of others falls into, each once: a subquery of (link, groups) pairs."""

    def __init__(self, over: Rows, prefix: Way) -> None:
        super().__init__(over, prefix, frozenset())
        self.name = f"{prefix[-1].right}_groups"
        self.offers: dict[str, exp.Expr] = {}

    def offer(self, place: str, tree: Callable[[Rows], exp.Expr], alias: str) -> exp.Expr:
        self.reach(place)
        self.offers[alias] = tree(self)
        return exp.column(alias, table=self.name)

    def entity_of(self, alias: str) -> str:
        return self.joined[alias].step.right if alias in self.joined else self.base

    def links(self, outer: str) -> list[exp.Expr]:
        step = self.prefix_way[0]
        links: list[exp.Expr] = [
            exp.EQ(this=exp.column(left, table=outer), expression=exp.column(f"link_{i}", table=self.name))
            for i, (left, _) in enumerate(step.columns, 1)
        ]
        return links + (conditions(step, outer) if step.owner == step.left else [])

    def subquery(self) -> exp.Subquery:
        step = self.prefix_way[0]
        links = [
            named(exp.column(right, table=self.alias), f"link_{i}") for i, (_, right) in enumerate(step.columns, 1)
        ]
        if step.owner == step.right:
            for tree in conditions(step, self.alias):
                self.add(tree)
        offers = [named(tree.copy(), alias) for alias, tree in self.offers.items()]
        return self.select([*links, *offers]).distinct(copy=False).subquery(self.name, copy=False)


def linked(step: Step, left: str, right: str) -> list[exp.Expr]:
    """What makes a row of the alias *right* the partner of one of *left*."""
    pairs: list[exp.Expr] = [
        exp.EQ(this=exp.column(one, table=left), expression=exp.column(other, table=right))
        for one, other in step.columns
    ]
    return pairs + conditions(step, left if step.owner == step.left else right)


def conditions(step: Step, owner: str) -> list[exp.Expr]:
    """The condition of a step on the rows of the alias *owner*, if it has any."""
    return [] if step.condition is None else [_moved(expression(step.condition, step.owner), step.owner, owner)]


def _moved(tree: exp.Expr, entity: str, alias: str) -> exp.Expr:
    for column in tree.find_all(exp.Column):
        if column.table == entity:
            column.set("table", exp.to_identifier(alias))
    return tree


def table_of(entity: Entity, alias: str) -> exp.Table:
    """The table of *entity*, which remembers whose rows it means: two entities may share one."""
    table = exp.table_(entity.base_table.table, db=entity.base_table.schema_name, alias=alias)
    table.meta["entity"] = entity.name
    return table


def entity_of(table: exp.Table) -> str:
    """The entity whose rows a table of the compiler's means."""
    return str(table.meta["entity"])
