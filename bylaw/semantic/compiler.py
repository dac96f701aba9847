"""A semantic query and the context → one SQL tree. The only author of SQL that needs no checking by people.

Rows of a metric's own entity are counted once: other entities are joined only where each row finds at most one of
theirs, asked with EXISTS, or give groups in which each row counts once. Conditions of gotchas and of `apply: always`
filters are added and said. What cannot be computed faithfully is refused (`Unanswerable`), never approximated.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Literal

from sqlglot import exp

from bylaw.authored.context import Context
from bylaw.authored.machines.access import Rights
from bylaw.semantic import gotchas
from bylaw.semantic.clauses import summaries
from bylaw.semantic.clauses.answer import Assembly
from bylaw.semantic.clauses.conditions import Conditions
from bylaw.semantic.clauses.cycles import cycle_of, is_in_order, place_in
from bylaw.semantic.clauses.lists import Listing
from bylaw.semantic.clauses.measures import Atom, Frame, Number, Numbers
from bylaw.semantic.clauses.members import members
from bylaw.semantic.clauses.related import RelatedRows
from bylaw.semantic.clauses.rows import Desk, Notes
from bylaw.semantic.clauses.sheets import Direct, Group, Kind, Sheet, Sheets
from bylaw.semantic.clauses.statement import Sort, finished
from bylaw.semantic.clauses.units import Units
from bylaw.semantic.joins import Joins, Step
from bylaw.semantic.names import Field, Names, aliases, plain
from bylaw.semantic.parts import is_part
from bylaw.semantic.query import AnyOf, Order, Related, SemanticQuery, Unanswerable
from bylaw.semantic.rights import VisibleRows
from bylaw.sql.gate import Features


@dataclass(frozen=True, slots=True)
class Column:
    """One column of the answer. `asked` is what the query calls it, `format` and `unit` are those of its metric."""

    name: str
    asked: str
    kind: Literal["time", "dimension", "metric"]
    format: str | None = None
    unit: str | None = None


@dataclass(frozen=True, slots=True)
class Compiled:
    """What will run, and what a reader of the result has to know. `features` count what was asked, not added.

    `base` is the entity whose rows are counted, or listed: of several, that of the first number. `joins` are those
    that are right only if a row finds at most one partner, each with the conditions that the partner meets. `spreads`
    ask by entity how many groups one of its rows is added up in, where more than one would repeat it. `left_out` asks
    how many rows of an entity have none of a place, and are left out for that. `walked` are the relationships that
    lead from one entity to another, `entity.name`.
    """

    tree: exp.Select
    sql: str
    columns: tuple[str, ...]
    caveats: tuple[str, ...]
    conditions: tuple[str, ...]
    entities: tuple[str, ...]
    asked: tuple[str, ...]
    base: str
    time_column: str | None
    features: Features
    outputs: tuple[Column, ...]
    joins: Mapping[Step, tuple[str, ...]]
    spreads: tuple[tuple[str, exp.Select], ...] = ()
    left_out: Mapping[tuple[str, str], exp.Select] = field(default_factory=dict)
    walked: tuple[str, ...] = ()


class Compiler:
    """Compiles queries over one context; build it once."""

    def __init__(self, context: Context, dialect: str = "duckdb") -> None:
        self.context = context
        self.joins = Joins(context)
        self.names = Names(context)
        self.dialect = dialect

    def bases_of(self, name: str, query: SemanticQuery | None = None) -> tuple[str, ...]:
        """The entities whose rows the number *name* (of *query*) counts, sorted. Raises Unanswerable."""
        name = next((part.metric for part in (query.summaries if query else ()) if part.name == name), name)
        return tuple(sorted({atom.entity for atom in Numbers(self.names, query).number(name).atoms}))

    def dates_of(self, name: str) -> tuple[str, ...]:
        """The time dimensions that the number *name* is told by, sorted. Raises Unanswerable."""
        atoms = Numbers(self.names, None).number(name).atoms
        return tuple(sorted({date for atom in atoms if (date := self._date_of(atom)) is not None}))

    def _date_of(self, atom: Atom) -> str | None:
        if atom.time is not None:
            return atom.time if "." in atom.time else f"{atom.entity}.{atom.time}"
        default = self.names.entity(atom.entity).default_time()
        return f"{atom.entity}.{default.name}" if default is not None else None

    def base_of(self, name: str) -> str:
        """The only entity whose rows the number *name* counts. Raises Unanswerable where there are several."""
        bases = self.bases_of(name)
        if len(bases) > 1:
            raise Unanswerable(
                f"`{name}` counts rows of different entities ({', '.join(f'`{base}`' for base in bases)})",
                "ask for the metrics it is made of",
            )
        return bases[0]

    def compile(self, query: SemanticQuery, rows: VisibleRows | None = None) -> Compiled:
        """The SQL of *query*, over the rows that may be seen (None: all). Raises Unanswerable, saying why."""
        return _Compilation(self, query, rows).compiled()

    def visible(self, rights: Rights | None) -> VisibleRows | None:
        """The rows of the context that somebody with *rights* may see; None is all of them."""
        return None if rights is None else VisibleRows(self.context, self.joins, rights)


class _Compilation:
    """One query on its way."""

    def __init__(
        self, compiler: Compiler, query: SemanticQuery, visible: VisibleRows | None, shows_keys: bool = False
    ) -> None:
        self.compiler = compiler
        self.query = query
        self.visible = visible
        self.shows_keys = shows_keys
        self.notes = Notes()
        self.desk = Desk(compiler.names, compiler.joins, self.notes, compiler.dialect)
        self.numbers = Numbers(compiler.names, query)
        self.units = Units(compiler.names, query.filters)
        self.conditions = Conditions(
            RelatedRows(self.desk, self.numbers, compiler.context.calendar).keys, compiler.context.calendar
        )
        self.sheets = Sheets(self.desk, self.conditions, query, compiler.context.calendar)
        self.grain = [query.grain] if query.grain else []
        self.metrics = _told_apart(query.shown)
        self.dimensions = aliases(query.dimensions, [*self.grain, *self.metrics.values(), *compiler.names.personal])
        self.atoms: list[Atom] = []

    def compiled(self) -> Compiled:
        query, dialect = self.query, self.compiler.dialect
        if query.is_list and not any(order.by in self.numbers for order in query.order):
            self._check_units({}, [])
            listing = Listing(self.desk, self.conditions, self.sheets, query)
            tree, base = listing.tree(), listing.base
        else:
            tree = self._answer()
            base = self.atoms[0].entity
        self._traps(base)
        if self.visible is not None:
            tree = self._seen(tree, self.visible)
        if dialect == "postgres":
            tree = _straight_series(tree)
        asked = self.notes.asked
        outputs = self._outputs()
        return Compiled(
            tree=tree,
            sql=tree.sql(dialect=dialect, pretty=True),
            columns=tuple(column.name for column in outputs),
            caveats=tuple(self.notes.caveats),
            conditions=tuple(self.notes.conditions),
            entities=tuple(sorted(self.notes.touched | asked)),
            asked=tuple(sorted(asked)),
            base=base,
            time_column=" and ".join(self.sheets.time_columns) or None,
            features=self._features(),
            outputs=outputs,
            joins=self.notes.joins,
            spreads=tuple(self.notes.spreads),
            left_out=self.notes.left_out,
            walked=tuple(sorted(self.notes.walked)),
        )

    # ---- numbers and their groups

    def _answer(self) -> exp.Select:
        query = self.query
        if query.summaries:
            return self._summarized()
        groups = self._groups()
        asked = dict.fromkeys((*query.metrics, *(order.by for order in query.order if order.by in self.numbers)))
        numbers = {name: self.numbers.number(name) for name in asked}
        numbers |= self._hidden(numbers, groups)
        self._check_units(numbers, groups)
        for name, number in numbers.items():
            if number.needs_time and query.grain is None:
                raise Unanswerable(f"`{name}` compares periods, and none are asked for", "ask for it by month")
        for measure in query.measures:
            if measure.over == "moving":
                before = f"{measure.periods - 1} {query.grain}s"
                self.notes.say(f"The first {before} have fewer than {measure.periods} {query.grain}s to average.")
        self.atoms = list(dict.fromkeys(atom for number in numbers.values() for atom in number.atoms))
        self._tell_lowest(numbers, groups)
        kinds: dict[Kind, list[Atom]] = {}
        for atom in self.atoms:
            found = kinds.setdefault(self.sheets.kind(atom), [])
            found += [atom.bare] if atom.bare not in found else []
        sheets = {kind: self.sheets.sheet(kind, atoms, groups) for kind, atoms in kinds.items()}
        for sheet in sheets.values():
            if any(atom.agg == "sum" for atom in sheet.values):
                self.notes.spreads += [(sheet.kind.entity, tree) for tree in sheet.rows.spreads()]
            for text in sheet.rows.overlaps():
                self.notes.say(text)
            if any(number.is_running for number in numbers.values()) and sheet.has_shared_periods(query.grain):
                raise Unanswerable(
                    f"one row of `{sheet.kind.entity}` counts in several periods, so they cannot be added up over time"
                )
        return self._put_together(sheets, numbers, groups)

    def _tell_lowest(self, numbers: Mapping[str, Number], groups: Sequence[Group]) -> None:
        """What has none at all has the fewest; where it is not shown, that is said."""
        query = self.query
        lowest = [order.by for order in query.order[:1] if order.by in numbers and not order.descending]
        if query.limit is None or query.with_empty or not lowest:
            return
        atoms = numbers[lowest[0]].atoms
        counted = {atom.entity for atom in atoms if len(atoms) == 1 and atom.nothing is not None}
        if counted and {group.field.entity for group in groups if group.field is not None} - counted:
            rows = " or ".join(sorted(counted)).replace("_", " ")
            self.notes.say(f"Only what has {rows} is ranked; for all ask `including those with none`.")

    def _put_together(
        self, sheets: Mapping[Kind, Sheet], numbers: Mapping[str, Number], groups: Sequence[Group]
    ) -> exp.Select:
        """One statement where one set of rows gives everything; else parts, joined on the groups."""
        query = self.query
        shown = [group.alias for group in groups if self.shows_keys or not group.is_hidden]
        is_filled = any(atom.fill is not None for atom in self.atoms)
        is_dense = bool(self.grain) and (query.with_empty or is_filled or any(n.needs_time for n in numbers.values()))
        wants_members = query.with_empty and any(group.field is not None for group in groups)
        kind, sheet = next(iter(sheets.items()))
        if len(sheets) == 1 and not is_dense and not wants_members and kind.is_simple(query.grain):
            return self._finished(sheet.plain(), sheet.groups, Direct(sheet, query.grain), numbers, shown)
        listed = members(self.desk, self.conditions, query, groups, sheets) if wants_members else None
        is_over = any(number.is_over for number in numbers.values())
        assembly = Assembly(query, self.compiler.context.calendar, groups, listed, is_over)
        tree, frame = assembly.joined(list(sheets.values()), is_dense)
        return assembly.attached(self._finished(tree, frame.keys, frame, numbers, shown))

    def _summarized(self) -> exp.Select:
        """One statement over the rows of another, which has the numbers of each."""
        query = self.query
        inner = _Compilation(self.compiler, summaries.of_each(query), None, shows_keys=True)
        rows = inner._answer()
        self.notes, self.atoms, self.sheets = inner.notes, inner.atoms, inner.sheets
        for text in summaries.said(query, self.atoms):
            self.notes.say(text)
        groups, finer = self._groups(), inner._groups()
        self._check_units({part.name: self.numbers.number(part.metric) for part in query.summaries}, groups)
        theirs = {group.told_by: group.alias for group in finer}
        columns = {group.alias: theirs[group.told_by] for group in groups}
        frame = summaries.Each(columns, query, inner.metrics, self.compiler.context.calendar)
        numbers = {part.name: frame.number(part) for part in query.summaries}
        known = {group.told_by for group in groups if group.field is not None or query.summaries[0].grain is None}
        each = [group.alias for group in finer if group.told_by not in known]
        shown = [group.alias for group in groups if not group.is_hidden]
        return self._finished(frame.rows(rows, each), frame.keys, frame, numbers, shown)

    def _check_units(self, numbers: Mapping[str, Number], groups: Sequence[Group]) -> None:
        """Nothing is computed over rows of several units, nor ranked over groups of several."""
        query, field = self.query, self.compiler.names.field
        for name, number in numbers.items():
            self.units.check(name, number, [group.field for group in groups if group.field is not None])
        for measure in query.measures:
            if measure.over == "rank" and measure.name in numbers:
                self.units.check(measure.name, numbers[measure.name], [], is_ranking=True)
        if query.limit is None and query.place is None:
            return
        apart = list(query.limit_by)
        for order in self._orders({})[0]:
            ranked = numbers.get(order.by) or self._highest(order.by)
            if ranked is not None:
                within = [field(name) for name, alias in self.dimensions.items() if {name, alias} & {*apart}]
                self.units.check(order.by, ranked, within, is_ranking=True)
            apart.append(order.by)

    def _highest(self, name: str) -> Number | None:
        """What is compared where rows are ranked by *name*, which is no number; None for the grain of time."""
        name = next((known for known, alias in self.dimensions.items() if alias == name), name)
        if "." not in name:
            return None
        field = self.compiler.names.field(name)
        return Number.of(Atom(field.entity, "max", field.sql, place=field.place))

    def _groups(self) -> list[Group]:
        """The grain, the dimensions, and the keys of what has a row of its own."""
        names = self.compiler.names
        found = [Group(grain) for grain in self.grain]
        found += [Group(alias, names.field(name)) for name, alias in self.dimensions.items()]
        for place in self.query.per:
            for i, column in enumerate(names.key(place), 1):
                found.append(Group(plain(f"{place}_key_{i}"), Field(place, "key", column, column), is_hidden=True))
        return found

    def _hidden(self, numbers: Mapping[str, Number], groups: Sequence[Group]) -> dict[str, Number]:
        """What rows are sorted by and nobody sees: the lowest or highest value that the rows of a group have."""
        known = {"time", *self.query.dimensions, *(group.alias for group in groups), *numbers}
        found: dict[str, Number] = {}
        for order in self.query.order:
            if order.by not in known:
                field = self.compiler.names.field(order.by)
                base = next(iter(numbers.values())).atoms[0].entity
                agg: Literal["max", "min"] = "max" if order.descending else "min"
                found[order.by] = Number.of(Atom(base, agg, field.sql, place=field.place))
        return found

    # ---- what is shown, and in which order

    def _finished(
        self,
        tree: exp.Select,
        keys: Mapping[str, exp.Expr],
        frame: Frame,
        numbers: Mapping[str, Number],
        shown: Sequence[str],
    ) -> exp.Select:
        trees = {name: number.build(frame) for name, number in numbers.items()}
        columns = {alias: self._as_told(alias, keys[alias]) for alias in shown}
        columns |= {alias: trees[name] for name, alias in self.metrics.items()}
        if not keys:
            return finished(tree, columns, [])
        each = [keys[self._group_named(name, keys)] for name in self.query.limit_by]
        ranked, total = self._orders(keys)
        ranks = self._sorts(ranked, keys, trees, columns) if self.query.with_ties or self.query.place else []
        sorts = self._sorts(total, keys, trees, columns)
        return finished(tree, columns, sorts, self.query.limit, each, ranks, self.query.place)

    def _as_told(self, alias: str, tree: exp.Expr) -> exp.Expr:
        """A group as a reader is told of it: a year of the calendar by its number, other periods by their first day."""
        is_year = self.grain == ["year"] and alias == "year" and self.compiler.context.calendar.year == "calendar"
        if not is_year or self.shows_keys:
            return tree.copy()
        return exp.Extract(this=exp.var("YEAR"), expression=tree.copy())

    def _orders(self, keys: Mapping[str, exp.Expr]) -> tuple[Sequence[Order], Sequence[Order]]:
        """What rows are ranked by, and a total order, so that the same question gives the same rows."""
        query = self.query
        first = [Order(by=name) for name in query.limit_by] if query.limit or query.place else []
        ranks = [measure.name for measure in query.measures if measure.over == "rank" and measure.name in query.metrics]
        downwards = [Order(by=name) for name in ranks] or [Order(by=n, descending=True) for n in query.metrics[:1]]
        if self.grain:
            natural = [Order(by="time")]
        else:
            natural = [Order(by=alias) for alias in self._following()] or downwards
        ranked = query.order or tuple(natural)
        return ranked, (*first, *ranked, *(Order(by=alias) for alias in keys))

    def _following(self) -> list[str]:
        """The groups whose values follow one another in time, and are shown so where nobody says how."""
        field, cycles = self.compiler.names.field, self._cycles()
        return [
            alias
            for name, alias in self.dimensions.items()
            if cycles[alias] or is_part(name) or is_in_order(field(name))
        ]

    def _cycles(self) -> dict[str, Sequence[str]]:
        """The groups whose values follow one another, and come again: months, weekdays."""
        calendar = self.compiler.context.calendar
        return {alias: cycle_of(self.compiler.names.field(name), calendar) for name, alias in self.dimensions.items()}

    def _sorts(
        self,
        orders: Sequence[Order],
        keys: Mapping[str, exp.Expr],
        trees: Mapping[str, exp.Expr],
        shown: Mapping[str, exp.Expr],
    ) -> list[Sort]:
        cycles, found = self._cycles(), dict[str, Sort]()
        for order in orders:
            if order.by in trees:
                name, tree = self.metrics.get(order.by, order.by), trees[order.by]
            else:
                name = self._group_named(order.by, keys)
                tree = keys[name]
                if cycle := cycles.get(name):
                    found.setdefault(f"{name} in its cycle", Sort(place_in(cycle, tree), order.descending))
            found.setdefault(name, Sort(tree, order.descending, name if name in shown else None))
        return list(found.values())

    def _group_named(self, name: str, keys: Mapping[str, exp.Expr]) -> str:
        """The column of the group that an order, or a limit, speaks of."""
        if name == "time" and self.query.grain:
            return self.query.grain
        alias = self.dimensions.get(name, name)
        if alias not in keys:
            raise Unanswerable(f"the answer is not grouped by `{name}`")
        return alias

    # ---- what is said

    def _seen(self, tree: exp.Select, visible: VisibleRows) -> exp.Select:
        """The statement over rows that may be seen, which is the first thing to know of its answer."""
        visible.check(self.query)
        narrowed = visible.narrowed(tree)
        said = visible.said(self.notes.touched | self.notes.asked)
        if said is not None:
            self.notes.caveats = {said: None, **self.notes.caveats}
        return narrowed

    def _traps(self, base: str) -> None:
        names = {*self.query.metrics, *(atom.metric for atom in self.atoms)}
        for trap in gotchas.applicable(self.compiler.context, {*names, base, *self.notes.asked}):
            concerns_metric = not names.isdisjoint(trap.applies_to)
            if trap.check is None and (concerns_metric or trap.required_filter is None):
                self.notes.say(gotchas.said(trap))
        columns = sorted({atom.entity for atom in self.atoms if not atom.metric and atom.sql is not None})
        for entity in columns:
            for trap_id, name in gotchas.left_in(self.compiler.context, entity).items():
                trap = self.compiler.context.gotchas[trap_id]
                said = f"`{name.replace('_', ' ')}` leaves rows out that are in this number. {trap.trap.strip()}"
                self.notes.say(said)

    def _features(self) -> Features:
        query = self.query
        parts = [part for one in query.filters for part in (one.any_of if isinstance(one, AnyOf) else (one,))]
        related = sum(isinstance(part, Related) for part in parts)
        over = sum(measure.over != "value" for measure in query.measures)
        bases = {atom.entity for atom in self.atoms}
        return Features(max(0, len(self.notes.asked) - max(1, len(bases))), 0, over, related, len(self.atoms))

    def _outputs(self) -> tuple[Column, ...]:
        found = [Column(grain, "time", "time") for grain in self.grain]
        found += [Column(alias, name, "dimension") for name, alias in self.dimensions.items()]
        for name, alias in self.metrics.items():
            metric, ratio = self.numbers.metric(name), self.numbers.ratios.get(name)
            measure = self.numbers.measures.get(name)
            unit = measure.unit if measure is not None and measure.unit else metric.unit if metric else None
            unit = unit or self._unit_of(name)
            unit = "%" if ratio is not None and ratio.in_percent else unit
            found.append(Column(alias, name, "metric", metric.format if metric else None, unit))
        return tuple(found)

    def _unit_of(self, name: str) -> str | None:
        """The unit of the rows of a number, where that of each stands in a column and all have one."""
        summarized = next((part.metric for part in self.query.summaries if part.name == name), name)
        over = self.numbers.measures[summarized].over if summarized in self.numbers.measures else "value"
        return None if over in ("growth", "share", "rank") else self.units.value(self.numbers.number(summarized))


def _told_apart(names: Sequence[str]) -> dict[str, str]:
    """The column of each number."""
    found: dict[str, str] = {}
    for name in names:
        alias = plain(name)
        taken = [other for known, other in found.items() if known != name]
        found[name] = alias if alias not in taken else f"{alias}_{len(found) + 1}"
    return found


def _straight_series(tree: exp.Select) -> exp.Select:
    """PostgreSQL takes rows straight from a series."""
    for node in list(tree.find_all(exp.Explode)):
        node.replace(node.this)
    return tree
