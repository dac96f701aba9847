"""Lists: rows instead of numbers, of the finest entity from which everything that is shown can be reached."""

from __future__ import annotations

from sqlglot import exp

from bylaw.semantic import times
from bylaw.semantic.conditions import Conditions
from bylaw.semantic.names import aliases
from bylaw.semantic.query import Order, SemanticQuery, Unanswerable
from bylaw.semantic.rows import Desk, Rows
from bylaw.semantic.sheets import Sheets
from bylaw.semantic.statement import Sort, finished


class Listing:
    """One query without numbers."""

    def __init__(self, desk: Desk, conditions: Conditions, sheets: Sheets, query: SemanticQuery) -> None:
        self.desk = desk
        self.conditions = conditions
        self.sheets = sheets
        self.query = query
        taken = [query.grain] if query.grain else []
        self.names = aliases(query.dimensions, taken)
        self.fields = {name: desk.names.field(name) for name in query.dimensions}
        more = [order.by for order in query.order if order.by not in self._own()]
        more += [name for name in query.limit_by if name not in self._own()]
        self.more = {name: desk.names.field(name) for name in more}
        places = [field.place for field in (*self.fields.values(), *self.more.values())]
        self.places = list(dict.fromkeys((*places, *query.per)))
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
        for name in sorted(self.desk.names.context.entities):
            if all(leads(name, place) for place in self.places):
                linking[name] = sum(len(self.desk.joins.way(name, place)) for place in self.places)
        nearest = [name for name, length in linking.items() if length == min(linking.values())]
        things = ", ".join(f"`{place}`" for place in self.places)
        if not nearest:
            raise Unanswerable(f"no rows of the catalogue hold {things} together", "ask for fewer of them at a time")
        if len(nearest) > 1:
            raise Unanswerable(
                f"{things} are linked in several ways: {', '.join(f'`{name}`' for name in nearest)}",
                "name something of the one that is meant",
            )
        return nearest[0]

    def tree(self) -> exp.Select:
        query = self.query
        rows = Rows(self.desk, self.base)
        shown = {alias: rows.tree(self.fields[name]) for name, alias in self.names.items()}
        hidden = {name: rows.tree(field) for name, field in self.more.items()}
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
        if not keys and not hidden:
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
        self.sheets.time_columns.setdefault(column.sql(dialect=self.desk.dialect))
        return {query.grain: self.sheets.period(rows, timed)} if query.grain else {}

    def _keys(self, rows: Rows) -> list[exp.Expr] | None:
        """What tells the listed rows apart beside what is shown; None where every row of the base is listed."""
        per = list(self.query.per)
        is_whole = any(field.kind in ("fact", "time") for field in self.fields.values())
        if self.base in per or (is_whole and self.base in self.places and not per):
            return None
        if is_whole and not per:
            per = self.places
        return [column for place in per for column in rows.key(place)]

    def _column(self, name: str) -> str:
        """What is shown, or sorted by, under a name of the query."""
        return self.query.grain if name == "time" and self.query.grain else self.names.get(name, name)

    def _finished(self, tree: exp.Select, shown: dict[str, exp.Expr], hidden: dict[str, exp.Expr]) -> exp.Select:
        query = self.query
        found: dict[str, Sort] = {}
        first = [Order(by=name) for name in query.limit_by] if query.limit else []
        for order in (*first, *query.order, *(Order(by=alias) for alias in shown)):
            name = self._column(order.by)
            sort = Sort(hidden[name], order.descending) if name in hidden else Sort(shown[name], order.descending, name)
            found.setdefault(name, sort)
        each = [hidden[name] if name in hidden else shown[self._column(name)] for name in query.limit_by]
        return finished(tree, shown, list(found.values()), query.limit, each)
