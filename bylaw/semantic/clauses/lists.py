"""Lists: rows instead of numbers, of the finest entity from which everything that is shown can be reached."""

from __future__ import annotations

from sqlglot import exp

from bylaw.semantic.clauses import times
from bylaw.semantic.clauses.conditions import Conditions
from bylaw.semantic.clauses.rows import Desk, Rows
from bylaw.semantic.clauses.sheets import Sheets
from bylaw.semantic.clauses.statement import Sort, finished
from bylaw.semantic.names import Field, aliases
from bylaw.semantic.query import Order, SemanticQuery, Unanswerable


class Listing:
    """One query without numbers."""

    def __init__(self, desk: Desk, conditions: Conditions, sheets: Sheets, query: SemanticQuery) -> None:
        self.desk = desk
        self.conditions = conditions
        self.sheets = sheets
        self.query = query
        taken = [query.grain] if query.grain else []
        self.names = aliases(query.dimensions, (*taken, *desk.names.personal))
        self.fields = {name: desk.names.field(name) for name in query.dimensions}
        more = [order.by for order in query.order if order.by not in self._own()]
        more += [name for name in query.limit_by if name not in self._own()]
        self.more = {name: desk.names.field(name) for name in more}
        places = [field.place for field in (*self.fields.values(), *self.more.values())]
        self.places = list(dict.fromkeys((*places, *query.per)))
        if query.with_empty and len(self.places) > 1:
            raise Unanswerable("a list shows rows, what has none is not among them", "ask for a number of them instead")
        self.base = self._base()

    def _own(self) -> set[str]:
        return {*(["time", self.query.grain] if self.query.grain else ()), *self.query.dimensions, *self.names.values()}

    def _base(self) -> str:
        """The entity whose rows are listed: of what is shown the finest, else the one that links all of it."""
        leads = self.desk.joins.leads_to
        for place in self.places:
            if "@" not in place and all(leads(place, other) for other in self.places):
                return place
        linking: dict[str, int] = {}
        unclear: Unanswerable | None = None
        for name in sorted(self.desk.names.context.entities):
            if all(leads(name, place) for place in self.places):
                try:
                    linking[name] = sum(len(self.desk.joins.way(name, place)) for place in self.places)
                except Unanswerable as problem:  # in several ways, which matters where nothing else links them
                    unclear = unclear or problem
        if not linking and unclear is not None:
            raise unclear
        nearest = [name for name, length in linking.items() if length == min(linking.values())]
        things = ", ".join(f"`{place}`" for place in self.places)
        if not nearest:
            return self._widest()
        if len(nearest) > 1:
            raise Unanswerable(
                f"{things} are linked in several ways: {', '.join(f'`{name}`' for name in nearest)}",
                "name something of the one that is meant",
            )
        return nearest[0]

    def _widest(self) -> str:
        """Where nothing holds all of it together: the entity that leads to the most, nearest to the rest."""
        joins, context = self.desk.joins, self.desk.names.context
        ranks = []
        for name in sorted(context.entities):
            led = [place for place in self.places if joins.leads_to(name, place)]
            if led:
                ranks.append((-len(led), sum(len(joins.way(name, place)) for place in led), name))
        nearest = min(ranks)[2]
        things = " and ".join(place.partition("@")[0] for place in self.places)
        self.desk.notes.say(f"{things} stand side by side where they belong to one row of {nearest}.")
        return nearest

    def tree(self) -> exp.Select:
        query = self.query
        rows = Rows(self.desk, self.base)
        shown = {alias: self._of(rows, self.fields[name], alias) for name, alias in self.names.items()}
        hidden = {name: self._of(rows, field, f"sort_by_{i}") for i, (name, field) in enumerate(self.more.items(), 1)}
        for condition in query.filters:
            self.conditions.narrow(rows, condition)
        if query.window is not None or query.grain is not None:
            shown = {**self._dated(rows), **shown}
        keys = self._keys(rows)
        self.desk.notes.asked |= rows.entities()
        rows.guard()
        self.sheets.check_contradictions(rows, {})
        tree = rows.select([])
        if keys is None:
            return self._finished(tree, shown, hidden)
        is_numbered = query.limit_by or query.with_ties  # a place is that of a row of the answer
        if not keys and not hidden and not is_numbered:
            return self._finished(tree.distinct(copy=False), shown, {})
        tree = tree.group_by(*(part.copy() for part in (*shown.values(), *keys)), copy=False)
        highest = {order.by for order in query.order if order.descending}
        first: dict[str, exp.Expr] = {
            name: exp.Max(this=part) if name in highest else exp.Min(this=part) for name, part in hidden.items()
        }
        return self._finished(tree, shown, first)

    def _dated(self, rows: Rows) -> dict[str, exp.Expr]:
        query = self.query
        timed = self.sheets.dated(self.base, query.time_dimension)
        column = rows.tree(timed)
        if query.window is not None:
            self.sheets.check_whole(timed, query.window)
            rows.add(times.within(column, query.window))
        self.sheets.time_columns.setdefault(times.said(column, self.desk.dialect))
        return {query.grain: self.sheets.period(rows, timed)} if query.grain else {}

    def _keys(self, rows: Rows) -> list[exp.Expr] | None:
        """What tells the listed rows apart beside what is shown; None where every row of the base is listed."""
        per = list(self.query.per)
        is_whole = any(field.kind in ("fact", "time") for field in self.fields.values())
        is_led = all(rows.leads_to(place) for place in self.places)
        if is_led and (self.base in per or (is_whole and self.base in self.places and not per)):
            return None
        if is_whole and not per:
            per = self.places
        fields = [Field(place, "key", name, name) for place in per for name in self.desk.names.key(place)]
        return [self._of(rows, field, f"key_{i}") for i, field in enumerate(fields, 1)]

    @staticmethod
    def _of(rows: Rows, field: Field, alias: str) -> exp.Expr:
        """What one row shows of a field; a row that has several of it is shown with each."""
        return rows.group(field.place, lambda at: at.tree(field), alias, is_counted=False)

    def _column(self, name: str) -> str:
        """What is shown, or sorted by, under a name of the query."""
        return self.query.grain if name == "time" and self.query.grain else self.names.get(name, name)

    def _finished(self, tree: exp.Select, shown: dict[str, exp.Expr], hidden: dict[str, exp.Expr]) -> exp.Select:
        query = self.query

        def sorts(*orders: Order) -> list[Sort]:
            found: dict[str, Sort] = {}
            for order in orders:
                name = self._column(order.by)
                tree, column = (hidden[name], None) if name in hidden else (shown[name], name)
                found.setdefault(name, Sort(tree, order.descending, column))
            return list(found.values())

        first = [Order(by=name) for name in query.limit_by] if query.limit or query.place else []
        each = [hidden[name] if name in hidden else shown[self._column(name)] for name in query.limit_by]
        ranks = sorts(*query.order) if query.with_ties or query.place else []
        total = sorts(*first, *query.order, *(Order(by=alias) for alias in shown))
        return finished(tree, shown, total, query.limit, each, ranks, query.place)
