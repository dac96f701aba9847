"""Random tables: a plain reading of the table, written here alone, and `decide` on what the import wrote agree.

So do the gaps and overlaps that the plain reading finds on a grid of all telling values, the report of the import, and
the findings of the check.
"""

from __future__ import annotations

import random
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import date, timedelta
from decimal import Decimal
from itertools import product
from pathlib import Path
from typing import Any
from xml.sax.saxutils import escape

import pytest

from bylaw.logic.decide.evaluate import Evaluator
from ci import pipeline
from ci.importers.tables.imported import Imported, Options, imported
from ci.importers.tables.mapping import mapped
from ci.loading.commits.revision import Revision
from ci.loading.files import Content
from ci.loading.load import read

QUICK, ALL = 60, 2_000
DAY = date(2026, 1, 15)
COLOURS = ("red", "green", "blue")
# ---- a cell: what it tests, as a value of the test's own -------------------------------------------------------------


@dataclass(frozen=True)
class Cell:
    """`kind` of test with its values: any, op, span, list, not."""

    kind: str
    op: str = "=="
    values: tuple[Any, ...] = ()
    ends: str = "[]"

    def holds(self, value: Any) -> bool:
        match self.kind:
            case "any":
                return True
            case "op":
                (other,) = self.values
                return {
                    "==": value == other,
                    "<": value < other,
                    "<=": value <= other,
                    ">": value > other,
                    ">=": value >= other,
                }[self.op]
            case "span":
                low, high = self.values
                above = low <= value if self.ends[0] == "[" else low < value
                return above and (value <= high if self.ends[1] == "]" else value < high)
            case "list":
                return value in self.values
        return value not in self.values

    def text(self, is_feel: bool) -> str:
        def one(value: Any) -> str:
            if isinstance(value, bool):
                return str(value).lower()
            if isinstance(value, date):
                return f'date("{value}")' if is_feel else value.isoformat()
            return f'"{value}"' if isinstance(value, str) and is_feel else str(value)

        match self.kind:
            case "any":
                return "-"
            case "op":
                return one(self.values[0]) if self.op == "==" else f"{self.op} {one(self.values[0])}"
            case "span":
                inside = "..".join(map(one, self.values))
                is_bare = self.ends == "[]" and not is_feel
                return inside if is_bare else f"{self.ends[0]}{inside}{self.ends[1]}"
            case "list":
                return ", ".join(map(one, self.values))
        return f"not({', '.join(map(one, self.values))})"


@dataclass(frozen=True)
class Plain:
    """A table, and what it says in a case."""

    hit_policy: str
    columns: Mapping[str, str]
    rows: Sequence[tuple[tuple[Cell, ...], str]]

    def holding(self, case: Sequence[Any]) -> list[int]:
        return [
            i
            for i, (cells, _) in enumerate(self.rows)
            if all(cell.holds(value) for cell, value in zip(cells, case, strict=True))
        ]

    def says(self, case: Sequence[Any]) -> tuple[str, str | None]:
        """`one` and the answer, `none`, or `torn` where the rows that hold disagree."""
        held = self.holding(case)
        if not held:
            return "none", None
        if self.hit_policy == "FIRST":
            return "one", self.rows[held[0]][1]
        answers = {self.rows[i][1] for i in held}
        return ("one", answers.pop()) if len(answers) == 1 else ("torn", None)

    def grid(self) -> Iterator[tuple[Any, ...]]:
        """Every case of values that tell the rows apart: at each bound, beside it, and each word."""
        yield from product(*(self._telling(i, kind) for i, kind in enumerate(self.columns.values())))

    def _telling(self, i: int, kind: str) -> list[Any]:
        if kind == "boolean":
            return [False, True]
        if kind == "colour":
            return list(COLOURS)
        step = timedelta(1) if kind == "date" else Decimal("0.05")
        bounds = {value for cells, _ in self.rows for value in cells[i].values}
        beside = {value + sign * step for value in bounds for sign in (-1, 0, 1)}
        return sorted(beside) or [DAY if kind == "date" else Decimal(1)]


def random_table(seed: int) -> Plain:
    """Two or three columns, two to seven rows; values from a few, so that rows meet."""
    luck = random.Random(seed)
    kinds = [luck.choice(("number", "number", "date", "boolean", "colour")) for _ in range(luck.choice((2, 2, 3)))]
    columns = {f"c{i} {kind}": kind for i, kind in enumerate(kinds)}
    rows = [(tuple(random_cell(luck, kind) for kind in kinds), luck.choice("xyz")) for _ in range(luck.randint(2, 7))]
    return Plain(luck.choice(("UNIQUE", "ANY", "FIRST")), columns, rows)


def random_cell(luck: random.Random, kind: str) -> Cell:
    if luck.random() < 0.25:
        return Cell("any")
    if kind == "boolean":
        return Cell("op", values=(luck.random() < 0.5,))
    if kind == "colour":
        some = tuple(luck.sample(COLOURS, luck.choice((1, 1, 2))))
        return Cell(luck.choice(("list", "not")), values=some) if len(some) > 1 else Cell("op", values=some)
    values = sorted(luck.sample(range(6), 2))
    low, high = (
        (DAY + timedelta(n) for n in values)
        if kind == "date"
        else (Decimal(n) - Decimal(luck.choice(("1.5", "0", "0"))) for n in values)
    )
    low, high = min(low, high), max(low, high)
    match luck.choice(("op", "op", "span", "list", "not")):
        case "op":
            return Cell("op", luck.choice(("<", "<=", ">", ">=", "==")), (low,))
        case "span" if low < high:
            return Cell("span", values=(low, high), ends=luck.choice(("[]", "[)", "(]", "()")))
        case "list":
            return Cell("list", values=(low, high) if low != high else (low,))
    return Cell("not", values=(low,))


# ---- written as a file -------------------------------------------------------------------------------------------


def as_dmn(table: Plain) -> str:
    types = {"number": "number", "date": "date", "boolean": "boolean", "colour": "string"}
    allowed = ", ".join(f'"{one}"' for one in COLOURS)
    inputs = "".join(
        f'<input><inputExpression typeRef="{types[kind]}"><text>{name}</text></inputExpression>'
        + (f"<inputValues><text>{allowed}</text></inputValues>" if kind == "colour" else "")
        + "</input>"
        for name, kind in table.columns.items()
    )
    rules = "".join(
        "<rule>"
        + "".join(f"<inputEntry><text>{escape(cell.text(True))}</text></inputEntry>" for cell in cells)
        + f'<outputEntry><text>"{said}"</text></outputEntry></rule>'
        for cells, said in table.rows
    )
    data = "".join(
        f'<inputData name="{name}"><variable typeRef="{types[k]}"/></inputData>' for name, k in table.columns.items()
    )
    return (
        '<definitions xmlns="https://www.omg.org/spec/DMN/20191111/MODEL/" name="m">'
        f'{data}<decision name="answer"><decisionTable hitPolicy="{table.hit_policy}">'
        f"{inputs}<output/>{rules}</decisionTable></decision></definitions>"
    )


def as_csv(table: Plain) -> str:
    lines = [[*table.columns, "answer"], *([*(cell.text(False) for cell in cells), said] for cells, said in table.rows)]
    return "".join(",".join(f'"{cell}"' for cell in line) + "\n" for line in lines)


MAPPING = """\
inputs:
{}
"""


def taken(table: Plain, folder: Path, is_dmn: bool) -> Imported:
    """The table through the importer, from a file."""
    if is_dmn:
        path = folder / "t.dmn"
        path.write_text(as_dmn(table), encoding="utf-8")
        return imported(path, folder / "none", Options())
    path, words = folder / "t.csv", folder / "words.yaml"
    types = {
        "number": "decimal",
        "date": "date",
        "boolean": "boolean",
        "colour": f"enum, values: [{', '.join(COLOURS)}]",
    }
    lines = [f"  {name}: {{type: {types[kind]}}}" for name, kind in table.columns.items()]
    words.write_text(MAPPING.format("\n".join(lines)), encoding="utf-8")
    path.write_text(as_csv(table), encoding="utf-8")
    return imported(path, folder / "none", Options(mapped=mapped([str(words)], ["answer"], table.hit_policy, None)))  # type: ignore[arg-type]


def holds_alike(seed: int, folder: Path) -> list[str]:
    """What differs between the plain reading of a random table and what was made of it."""
    table = random_table(seed)
    found = taken(table, folder, is_dmn=seed % 2 == 0)
    files = [Content(entry.path, entry.text.encode()) for entry in found.plan.entries if entry.text is not None]
    workspace = read(folder, files, Revision(), DAY)
    run = pipeline.check(workspace, DAY)
    differing = [f"{one.id}: {one.message}" for one in run.findings if one.id in NEVER]
    evaluator, variables = Evaluator(run.ruleset), run.ruleset.variables
    outcome = found.words.outcomes[found.source.tables[0].name, 0]
    names = [found.words.facts[name].name for name in table.columns]
    luck, cases = random.Random(seed), list(table.grid())
    for case in luck.sample(cases, min(len(cases), 25)):
        facts = {name: variables[name].read(value) for name, value in zip(names, case, strict=True)}
        decision = evaluator.decide(facts, DAY.toordinal())
        kind, answer = table.says(case)
        action = decision.outcomes[outcome.name].action
        expected = None if answer is None else outcome.actions[answer]
        if action != expected or bool(decision.conflicts) != (kind == "torn"):
            differing.append(f"{case}: the table says {kind} {answer}, decide {action} {decision.conflicts}")
    return [*differing, *_questions(table, cases, found, {one.id for one in run.findings})]


NEVER = frozenset(("schema", "type-mismatch", "value-out-of-domain", "unknown-fact", "unknown-action", "failing-case"))
NEVER |= {"unknown-requirement", "unreadable-file", "duplicate-id", "unknown-answer", "dangling-reference"}


def _questions(table: Plain, cases: Sequence[Any], found: Imported, ids: set[str]) -> Iterator[str]:
    """Gaps and overlaps: by the grid, by the report, and by the check."""
    held = [table.holding(case) for case in cases]
    (report,) = found.reports
    has_gap, is_torn = any(not rows for rows in held), any(table.says(case)[0] == "torn" for case in cases)
    pairs = {(i, j) for rows in held for i in rows for j in rows if i < j}
    meant = {
        "UNIQUE": pairs,
        "ANY": {(i, j) for i, j in pairs if table.rows[i][1] != table.rows[j][1]},
        "FIRST": set[tuple[int, int]](),
    }[table.hit_policy]
    if has_gap != bool(report.gaps) or has_gap != ("gap" in ids):
        yield f"gap: grid {has_gap}, report {report.gaps}, check {'gap' in ids}"
    if len(meant) != report.overlap_count:
        yield f"overlaps: grid {sorted(meant)}, report {report.overlap_count}"
    if is_torn != ("conflict" in ids):
        yield f"conflict: grid {is_torn}, check {'conflict' in ids}"
    if table.hit_policy == "FIRST":
        winners = {rows[0] for rows in held if rows}
        never = {i for i in range(len(table.rows)) if i not in winners}
        if len(never) != len(set(report.never)):
            yield f"never wins: grid {never}, report {report.never}"


@pytest.mark.parametrize("part", range(4))
def test_a_few_random_tables_are_decided_as_they_read(part: int, tmp_path: Path) -> None:
    told = {seed: differs for seed in range(part, QUICK, 4) if (differs := holds_alike(seed, tmp_path))}
    assert told == {}


@pytest.mark.slow
@pytest.mark.parametrize("part", range(8))
def test_two_thousand_random_tables_are_decided_as_they_read(part: int, tmp_path: Path) -> None:
    told = {seed: differs for seed in range(part, ALL, 8) if (differs := holds_alike(seed, tmp_path))}
    assert told == {}
