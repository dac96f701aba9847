"""What a proposal is held with: the pieces of the question, what its words are bound to, and which part took which.

The checks of `fields` ask here whether the words support a part. A word that the catalogue knows means what the
catalogue says; only words that it does not know may stand for what a model says.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import date, timedelta
from decimal import Decimal
from fractions import Fraction
from functools import cached_property

from bot.analytics.proposals.evidence import Days, Evidence, Figure, Mention, Piece, stems
from bot.analytics.reader import wording
from bot.analytics.reader.measured import unit_of
from bot.analytics.reader.scope import Target
from bylaw.authored.context import Context, Entity, Expressed, Metric
from bylaw.language import dates
from bylaw.language.units import Unit, units_in
from bylaw.semantic.clauses.measures import Atom, Numbers
from bylaw.semantic.compiler import Compiled, Compiler
from bylaw.semantic.names import BETWEEN
from bylaw.semantic.query import SemanticQuery, Unanswerable, Window

_SAYS_A_FIELD = ("dimension", "flag", "time", "fact")


class Untenable(Exception):
    """The proposal does not hold; the message says why."""


@dataclass
class Holding:
    """One proposal on its way. `bound` has the tokens that each name is bound to, by kind.

    `taken` says which part of the query answers for a piece, `bounds` which ends of a span of time do.
    """

    evidence: Evidence
    context: Context
    compiler: Compiler
    query: SemanticQuery
    compiled: Compiled
    bound: Mapping[tuple[str, str], Sequence[int]]
    previous: SemanticQuery | None = None
    taken: dict[int, object] = field(default_factory=dict)
    bounds: dict[int, set[str]] = field(default_factory=dict)
    literals: list[tuple[int, object]] = field(default_factory=list)

    # ---- taking pieces

    def take(self, piece: Piece, part: object) -> None:
        self.taken[id(piece)] = part

    def taker(self, piece: Piece) -> object | None:
        return self.taken.get(id(piece))

    def taker_at(self, place: int) -> bool:
        """Does a part answer for a name that stands there?"""
        return any(one.first <= place <= one.last and self.taker(one) is not None for one in self.evidence.mentions)

    def pieces_of(self, part: object) -> list[Piece]:
        """The pieces that *part* answers for."""
        evidence = self.evidence
        every: list[Piece] = [*evidence.mentions, *evidence.figures, *evidence.days, *evidence.denials]
        return [piece for piece in every if self.taken.get(id(piece)) is part]

    # ---- where a part is bound

    @cached_property
    def places(self) -> Mapping[str, Sequence[int]]:
        """The tokens that each name is bound to, whatever as."""
        found: dict[str, list[int]] = {}
        for (_, name), at in self.bound.items():
            found.setdefault(name, []).extend(at)
        return found

    def at(self, *names: str, kinds: Sequence[str] = ()) -> list[int]:
        """The tokens that one of *names* is bound to, as one of *kinds* where some are given; in order."""
        if not kinds:
            return sorted({i for name in names for i in self.places.get(name, ())})
        return sorted({i for name in names for kind in kinds for i in self.bound.get((kind, name), ())})

    def mentions(self, places: Sequence[int]) -> list[Mention]:
        wanted = set(places)
        return [one for one in self.evidence.mentions if wanted & set(range(one.first, one.last + 1))]

    def figures(self, places: Sequence[int]) -> list[Figure]:
        wanted = set(places)
        return [one for one in self.evidence.figures if wanted & set(range(one.first, one.last + 1))]

    def loose(self, places: Sequence[int]) -> list[int]:
        """The words there that only the model has a meaning for."""
        return [i for i in places if i in self.evidence.loose]

    # ---- what names mean

    def own(self, name: str) -> frozenset[str]:
        """The words of the record that *name* names: its names, and what it is described by."""
        record = self.record(name)
        if record is None and "(" in name:
            inside = re.findall(r"[A-Za-z_]\w*(?:@\w+)?(?:\.\w+)?", name.partition("(")[2])
            return stems(name).union(*(self.own(one) for one in inside if self.record(one) is not None))
        if record is None:
            return stems(name)
        said = " ".join([name.partition(".")[2] or name, *record.synonyms, record.description or ""])
        if isinstance(record, Metric):
            inside = [part for part in (record.numerator, record.denominator, record.metric) if part]
            inside += [part.name for part in record.inputs]
            return stems(f"{said} {record.filter or ''} {record.expr or ''}").union(*map(self.own, inside))
        return stems(f"{said} {getattr(record, 'expr', None) or ''}")

    def record(self, name: str) -> Metric | Expressed | Entity | None:
        """The record of the catalogue that is called so; None for what is computed."""
        if name in self.context.metrics:
            return self.context.metrics[name]
        place, _, short = name.partition(".")
        entity = self.context.entities.get(place.partition("@")[0])
        if entity is None or not short:
            return entity
        parts = (*entity.dimensions, *entity.time_dimensions, *entity.facts, *entity.filters)
        return next((part for part in parts if part.name == short), None)

    def atoms(self, name: str) -> tuple[Atom, ...]:
        """The aggregates that the number *name* is made of; none where it is no number of the catalogue."""
        try:
            return Numbers(self.compiler.names, self.query).number(name).atoms
        except Unanswerable:
            return ()

    def unit_of(self, name: str) -> Unit | None:
        """What the number, or the field, *name* is told in; None where nothing says so, or several things."""
        if (between := BETWEEN.search(name)) is not None:
            return units_in(between[1])[0]
        declared, named = unit_of(self.context, name)
        return declared if declared is not None else named[0] if len(set(named)) == 1 else None

    def names_field(self, target: Target, name: str) -> bool:
        """Does *target* name the field *name*, or the rows that it tells apart?"""
        bare = _bare(name)
        if target.kind in _SAYS_A_FIELD and (target.name == bare or f"({target.name.partition('.')[2]})" in bare):
            return True
        if target.kind == "value":
            return target.name == bare
        if target.kind != "entity":
            return False
        entity, _, short = bare.partition(".")
        return target.name == entity and (not short or self.tells_apart(entity, short))

    def tells_apart(self, name: str, short: str) -> bool:
        """Is it by this that people tell the rows of an entity apart?"""
        entity = self.context.entities[name]
        dimension = entity.dimension(short)
        key = entity.primary_key.columns if entity.primary_key is not None else []
        known = {*entity.label, *key}
        is_key = dimension is not None and (dimension.unique or dimension.sql in key)
        return short in known or is_key or bool({"name", "code", "number", "title", "id"} & set(short.split("_")))

    def names_number(self, target: Target, name: str) -> bool:
        """Is *target* the number *name*, one that it is made of, or the rows that it counts?"""
        atoms = self.atoms(name)
        if target.kind == "metric":
            theirs = {self._told(one) for one in self.atoms(target.name)}
            return target.name == name or (bool(theirs) and theirs <= {self._told(one) for one in atoms})
        if target.kind == "entity":
            return any(one.entity == target.name and _is_count(one, self) for one in atoms)
        if target.kind in _SAYS_A_FIELD:
            column = getattr(self.record(target.name), "sql", None)
            return any(
                one.sql is not None and column is not None and one.entity == target.owner and _reads(one.sql, column)
                for one in atoms
            )
        return False

    def _told(self, atom: Atom) -> tuple[object, ...]:
        """What tells an aggregate from others; to count rows is to count their keys."""
        over_time = (atom.balance, atom.cumulative, atom.offset)
        if _is_count(atom, self):
            return atom.entity, "count", None, atom.fragments, over_time
        return atom.entity, atom.agg, atom.sql, atom.fragments, over_time

    def supports(self, name: str, places: Sequence[int], is_number: bool = False) -> bool:
        """Do the words at *places* speak of *name*: known words of it, or words that only the model knows?"""
        test = self.names_number if is_number else self.names_field
        own = self.own(name)
        found = self.mentions(places)
        if any(test(target, name) for one in found for target in one.targets):
            return True
        if any(one.targets and stems(one.said) <= own for one in found):
            return True
        if is_number and self._is_how_much(places):
            return any(atom.agg == "sum" for atom in self.atoms(name))
        return bool(self.loose(places)) or any(stems(self.evidence.words[i]) & own for i in places if self._is_plain(i))

    def _is_how_much(self, places: Sequence[int]) -> bool:
        """Do words there ask for an amount: "how much"?"""
        return any(self.evidence.words[i : i + 2] == ("how", "much") for i in places)

    def _is_plain(self, i: int) -> bool:
        return self.evidence.tokens[i].kind == "word" and self.evidence.words[i] not in wording.FILLERS

    # ---- figures and days

    def figure(
        self, value: Decimal | int, operator: str | None, unit: Unit | None, places: Sequence[int], part: object, *,
        is_rank: bool = False
    ) -> Figure | None:  # fmt: skip
        """The figure of the question that says *value*, compared so; None where none does. It is taken."""
        inside = [one for one in self.figures(places) if one.is_rank == is_rank]
        for one in inside or self.evidence.figures:
            if one.is_rank != is_rank or (self.taker(one) not in (None, part)):
                continue
            if operator is not None and (one.operator or "=") != operator:
                continue
            if equal(one, value, unit):
                self.take(one, part)
                return one
        return None

    def days(self, value: str, operator: str, part: object) -> bool:
        """Is *value* an end of a span of the question, on the side that *operator* says? The end is taken."""
        try:
            day = date.fromisoformat(value[:10])
        except ValueError:
            return False
        for one in self.evidence.days:
            span = one.span
            if span.start is None or span.end is None:
                continue
            last = span.end - timedelta(days=1) if span.end > dates.FIRST_DAY else span.end
            ends = {">=": ("start", span.start), "<": ("end", span.end), "<=": ("end", last)}
            if span.start > dates.FIRST_DAY:
                ends[">"] = ("start", dates.day_before(span.start))
            if operator == "in" and span.start == last == day:
                self.bounds.setdefault(id(one), set()).update(("start", "end"))
            elif operator in ends and ends[operator][1] == day:
                self.bounds.setdefault(id(one), set()).add(ends[operator][0])
            else:
                continue
            self.take(one, part)
            return True
        return False

    def is_spent(self, one: Days) -> bool:
        """Are all ends of the span taken by conditions?"""
        wanted = set()
        if one.span.start not in (None, dates.FIRST_DAY):
            wanted.add("start")
        if one.span.end not in (None, dates.LAST_DAY):
            wanted.add("end")
        return wanted <= self.bounds.get(id(one), set())

    def window(self, window: Window, part: object) -> Days | None:
        """The span of the question that *window* is; it is taken."""
        for one in self.evidence.days:
            if (one.span.start, one.span.end) == (window.start, window.end) and self.taker(one) in (None, part):
                self.take(one, part)
                self.bounds.setdefault(id(one), set()).update(("start", "end"))
                return one
        return None


def equal(figure: Figure, value: Decimal | int, unit: Unit | None) -> bool:
    """Is the figure, told in *unit*, this value? "An hour" is 60 of minutes."""
    said = Fraction(figure.value)
    if figure.unit is not None and unit is not None:
        ratio = figure.unit.into(unit)
        return ratio is not None and said * ratio == Fraction(value)
    return said == Fraction(value)


def _reads(sql: str, column: str) -> bool:
    return column.lower() in sql.lower()


def _is_count(atom: Atom, holding: Holding) -> bool:
    if atom.agg == "count":
        return True
    key = holding.context.entities[atom.entity].primary_key
    return atom.agg == "count_distinct" and key is not None and [atom.sql] == key.columns


def _bare(name: str) -> str:
    """A name without the relationship that it is reached by."""
    place, dot, short = name.partition(".")
    return f"{place.partition('@')[0]}{dot}{short}"


def listed(words: Iterable[str]) -> str:
    return ", ".join(f"`{word}`" for word in dict.fromkeys(words))


def spoken(pieces: Iterable[Piece]) -> Iterator[str]:
    return (piece.said for piece in pieces)
