"""Cases from a table: one for each row, and one on each edge of it, with what the table itself says there."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from datetime import date
from decimal import Decimal
from fractions import Fraction
from itertools import product
from typing import Any, Final

from bylaw.logic.boxes.boxes import Box, domain, point
from bylaw.logic.formula.ir import Value, Variable
from ci.importers.tables.analysis import Analysis
from ci.importers.tables.model import Row
from ci.importers.tables.words import Words

EDGED_ROWS: Final = 100  # a longer table gets a case for each row, without edges
MOST_ROWS: Final = 1_000  # of one table that get a case at all
EDGES: Final = 6  # of one row
MOST_TRIED: Final = 2_000
SOME_DAY: Final = date(2026, 1, 1).toordinal()  # of a date that nothing bounds
CALENDAR: Final = (date.min.toordinal(), date.max.toordinal() + 1)

Record = dict[str, Any]


def cases_of(analysis: Analysis, words: Words) -> list[Record]:
    """The cases of one table, each name once."""
    if analysis.is_chained:
        return []
    table, found, seen = analysis.table, list[Record](), set[tuple[Any, ...]]()
    is_edged = len(table.rows) <= EDGED_ROWS
    for i, row in enumerate(table.ranked[:MOST_ROWS]):
        own = _inside(analysis, i)
        if own is None:
            continue
        edges = _edges(analysis, i, own) if is_edged else ()
        for name, case in ((row.at, own), *((f"{row.at}, {edge}", facts) for edge, facts in edges)):
            key = tuple(sorted((fact, str(value)) for fact, value in case.items()))
            expected = _expected(analysis, words, case)
            if key in seen or expected is None:
                continue
            seen.add(key)
            shown = {fact: _shown(value, analysis.variables[fact]) for fact, value in case.items()}
            found.append({"name": f"{table.name}, {name}"[:200], "facts": shown, "expect": expected})
    return found


def _inside(analysis: Analysis, i: int) -> dict[str, Value] | None:
    """A full case in which row *i*, by rank, is the one that answers."""
    box, row = analysis.open_part(i), analysis.table.ranked[i]
    if box is None:
        return None

    def is_own(case: Mapping[str, Value]) -> bool:
        answers = analysis.answers(case)
        return row in (answers[:1] if analysis.table.is_ordered else answers)

    full = _full(analysis, box)
    return full if is_own(full) else next(filter(is_own, _tried(analysis, full)), None)


def _full(analysis: Analysis, box: Box) -> dict[str, Value]:
    facts = [
        analysis.words.facts[c.name].name
        for c in (*analysis.table.inputs, *analysis.table.compared)
        if not c.is_decided
    ]
    missing = {fact: analysis.variables[fact] for fact in facts if fact not in box.regions}
    plain = point(Box({fact: domain(variable) for fact, variable in missing.items()}), analysis.variables)
    days = {fact: SOME_DAY for fact, one in missing.items() if one.kind == "date" and _is_allowed(SOME_DAY, one)}
    return {**plain, **days, **point(Box(box.regions), analysis.variables)}


def _tried(analysis: Analysis, full: Mapping[str, Value]) -> Iterator[dict[str, Value]]:
    """Cases for a row that compares facts: values around each other, a few of them."""
    numbers = sorted(fact for fact in full if not analysis.variables[fact].is_finite)
    base = [full[fact] for fact in numbers]
    around = sorted({value + step for value in base for step in (-10, -1, 0, 1, 10)})  # type: ignore[operator]  # numbers
    for n, values in enumerate(product(around, repeat=len(numbers))):
        if n == MOST_TRIED:
            return
        case = {**full, **dict(zip(numbers, values, strict=True))}
        if all(_is_allowed(case[fact], analysis.variables[fact]) for fact in numbers):
            yield case


def _edges(analysis: Analysis, i: int, own: Mapping[str, Value]) -> list[tuple[str, dict[str, Value]]]:
    """The case of row *i* with one fact moved to where the row begins or ends."""
    found: list[tuple[str, dict[str, Value]]] = []
    for box in analysis.boxes[i] or ():
        for fact, where in sorted(box.regions.items()):
            variable = analysis.variables[fact]
            for cut in [cut for span in where for cut in span] if isinstance(where, tuple) else ():
                value = cut[0]
                if isinstance(value, float) or (variable.kind == "date" and value in CALENDAR):
                    continue
                edge = Fraction(value) if not isinstance(value, int) else value
                for one in (edge - 1, edge) if variable.is_whole else (edge,):
                    if _is_allowed(one, variable):
                        moved = {**own, fact: one}
                        found.append((f"{fact} at {variable.show(one)}", moved))
    return found[:EDGES]


def _is_allowed(value: Any, variable: Variable) -> bool:
    if variable.kind == "date" and not date.min.toordinal() <= value <= date.max.toordinal():
        return False
    low, high = variable.minimum, variable.maximum
    return (low is None or value >= low) and (high is None or value <= high)


def _expected(analysis: Analysis, words: Words, case: Mapping[str, Value]) -> Record | None:
    """What the table says in *case*; None where its rows are at odds, which is a finding and no test."""
    rows = analysis.answers(case)
    if analysis.table.is_ordered:
        rows = rows[:1]
    return _said(analysis, words, rows) if len({row.says for row in rows}) <= 1 else None


def _said(analysis: Analysis, words: Words, rows: list[Row]) -> Record:
    found: Record = {}
    for i, output in enumerate(analysis.table.outputs):
        outcome = words.outcomes[analysis.table.name, i]
        said = rows[0].says[i] if rows else output.default
        found[outcome.name] = None if said is None else outcome.actions[said]
    return found


def _shown(value: Value, variable: Variable) -> Any:
    if isinstance(value, Fraction):
        return Decimal(value.numerator) / Decimal(value.denominator)
    return variable.show(value)
