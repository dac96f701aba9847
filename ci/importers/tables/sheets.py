"""CSV and XLSX as decision tables: a header row, one rule a row, every cell with the address a spreadsheet shows."""

from __future__ import annotations

import csv
import io
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from decimal import Decimal
from pathlib import Path
from typing import Final

from ci.importers.tables.columns import Untyped
from ci.importers.tables.feel import Reading, clip, name_lookup, visible
from ci.importers.tables.grid import Cell, Grid, address
from ci.importers.tables.limits import MOST_BYTES, MOST_CELLS, MOST_COLUMNS, MOST_ROWS
from ci.importers.tables.mapping import Mapped, MappedInput, MappedOutput
from ci.importers.tables.model import (
    ANYTHING,
    Comparison,
    Domain,
    Except,
    Kind,
    OneOf,
    Output,
    Refusal,
    Row,
    Source,
    Table,
    TablesRefused,
    Test,
    Unsayable,
    is_ordered,
    operands,
    row_range,
)
from ci.importers.tables.names import snake

LONGEST_HEADER: Final = 80
DELIMITERS: Final = ",;\t|"
_KINDS: Final[Mapping[str, Kind]] = {
    "boolean": "boolean",
    "integer": "number",
    "decimal": "number",
    "enum": "text",
    "date": "date",
}


def read(path: Path, data: bytes, format_: str, mapped: Mapped, is_empty_any: bool) -> Source:
    """The one table of a sheet. Raises TablesRefused with everything that is wrong with it."""
    if format_ == "csv":
        grid = _csv(path.name, data, mapped.file.header_row)
    else:
        from ci.importers.tables.workbook import grid_of  # a library that only workbooks need

        grid = grid_of(path.name, data, mapped.sheet or mapped.file.sheet)
    return _Sheet(path.name, format_, grid, mapped, is_empty_any).source()


def _csv(name: str, data: bytes, header_row: int) -> Grid:
    if len(data) > MOST_BYTES:
        raise TablesRefused(Refusal(name, f"it is larger than {MOST_BYTES:,} bytes", "split the table"))
    try:
        text = data.decode("utf-8-sig")
    except UnicodeDecodeError as problem:
        line = data[: problem.start].count(b"\n") + 1
        raise TablesRefused(Refusal(f"{name}, line {line}", "it is not UTF-8 text", "save it as CSV UTF-8")) from None
    if "\x00" in text:
        raise TablesRefused(Refusal(name, "it holds a NUL character", "export the table again"))
    delimiter = _delimiter(text, header_row)
    rows: list[tuple[Cell, ...]] = []
    try:
        for number, fields in enumerate(csv.reader(io.StringIO(text, newline=""), delimiter=delimiter, strict=True), 1):
            _within(name, len(fields), number)
            rows.append(tuple(Cell(one, address(i, number)) for i, one in enumerate(fields, 1)))
    except csv.Error as problem:
        raise TablesRefused(
            Refusal(f"{name}, row {len(rows) + 1}", f"it is no CSV: {problem}", "close every quote")
        ) from None
    return Grid("", tuple(rows))


def _within(name: str, columns: int, rows: int) -> None:
    for count, most, what in (
        (columns, MOST_COLUMNS, "columns"),
        (rows, MOST_ROWS, "rows"),
        (columns * rows, MOST_CELLS, "cells"),
    ):
        if count > most:
            raise TablesRefused(
                Refusal(name, f"it has more than {most:,} {what}", "split the table, or delete what is empty")
            )


def _delimiter(text: str, header_row: int) -> str:
    """The character between the fields of the header: the one that stands there most often outside of quotes."""
    lines = text.splitlines()
    line = lines[header_row - 1] if 0 < header_row <= len(lines) else ""
    bare = "".join(part for i, part in enumerate(line.split('"')) if i % 2 == 0)
    return max(DELIMITERS, key=lambda one: (bare.count(one), -DELIMITERS.index(one)))


@dataclass(frozen=True, slots=True)
class _Header:
    """A column: its place, its words, and what was said of it."""

    index: int
    at: str
    text: str
    said: MappedInput | MappedOutput | None
    name: str | None


@dataclass
class _Sheet:
    """One sheet on its way to a table."""

    name: str
    format: str
    grid: Grid
    mapped: Mapped
    is_empty_any: bool
    refusals: list[Refusal] = field(default_factory=list)
    notices: list[str] = field(default_factory=list)

    def source(self) -> Source:
        """The source with its one table."""
        header, body = self._rows()
        inputs, outputs = self._columns(header)
        self._stop()
        hit_policy = self.mapped.hit_policy or self.mapped.file.hit_policy or "UNIQUE"
        says = [self._output(one) for one in outputs]
        if hit_policy == "PRIORITY" and not all(one.values for one in says):
            why = "its hit policy is PRIORITY, and nothing says which output comes first"
            self.refusals.append(
                Refusal(self._place(""), why, "list the `values` of the output in a mapping file, or use FIRST")
            )
        self._stop()
        reading = Reading(
            name_lookup([one.text for one in inputs] + [snake(one.text) for one in inputs]), is_loose=True
        )
        texts = {one.index: self._spelled_kind(one, body) for one in inputs}
        rows = [self._row(cells, inputs, says, outputs, reading, texts) for cells in body]
        self._stop()
        columns = []
        for i, one in enumerate(inputs):
            own = self._untyped(one, texts[one.index])
            column, misfits = own.typed([(self._place(row.cells[i]), row.tests[i]) for row in rows])
            columns.append(column)
            self.refusals += misfits
        self._stop()
        table_name = self.grid.name or Path(self.name).stem
        at = self.grid.name or self.name
        table = Table(_outcome_name(says, table_name), at, hit_policy, tuple(columns), tuple(says), tuple(rows))
        notices = (*self.grid.notices, *self.notices)
        return Source(self.name, self.format, (table,), (), notices, {table.name: len(rows)})

    def _place(self, cell: str) -> str:
        prefix = f"{self.grid.name}!" if self.grid.name else ""
        return f"{prefix}{cell}" if cell else self.grid.name or self.name

    def _stop(self) -> None:
        if self.refusals:
            raise TablesRefused(*self.refusals)

    # ---- header

    def _rows(self) -> tuple[Sequence[Cell], list[Sequence[Cell]]]:
        start = self.mapped.file.header_row
        if start < 1 or len(self.grid.rows) < start or not any(cell.text.strip() for cell in self.grid.rows[start - 1]):
            raise TablesRefused(
                Refusal(
                    self._place(""),
                    f"row {start} is no header",
                    "name the columns there, or say `header_row` in a mapping file",
                )
            )
        header = list(self.grid.rows[start - 1])
        while header and not header[-1].text.strip():
            header.pop()
        body: list[Sequence[Cell]] = []
        for number, cells in enumerate(self.grid.rows[start:], start + 1):
            filled = [cell for cell in cells if cell.text.strip() or cell.problem]
            if not filled:
                if any(any(c.text.strip() for c in later) for later in self.grid.rows[number:]):
                    self.notices.append(f"{self._place('')}, row {number}: it is empty and was left out")
                continue
            if (beyond := next((cell for cell in filled if cell not in cells[: len(header)]), None)) is not None:
                self.refusals.append(
                    Refusal(
                        self._place(beyond.at),
                        "it stands under no header",
                        "name its column, or quote a comma in a cell",
                    )
                )
                continue
            if len(cells) < len(header):
                why = f"the row has {len(cells)} cells, and the header {len(header)}"
                self.refusals.append(Refusal(self._place(address(1, number)), why, "fill the row up"))
                continue
            body.append(cells[: len(header)])
        self._stop()
        if not body:
            raise TablesRefused(Refusal(self._place(""), "it has a header and no rows", "add a row"))
        return header, body

    def _columns(self, header: Sequence[Cell]) -> tuple[list[_Header], list[_Header]]:
        found = [one for i, cell in enumerate(header) if (one := self._header(i, cell)) is not None]
        unknown = self.mapped.headers - {one.text for one in found} - set(self.mapped.file.ignore)
        for text in sorted(unknown):
            known = ", ".join(f"`{clip(one.text, 30)}`" for one in found)
            self.refusals.append(
                Refusal(self._place(""), f"no column is headed `{clip(text)}`", f"its columns: {known}")
            )
        for text, count in Counter(one.text.casefold() for one in found).items():
            if count > 1:
                self.refusals.append(
                    Refusal(self._place(""), f"{count} columns are headed `{clip(text)}`", "rename all but one")
                )
        self._stop()
        named = {*self.mapped.outcomes, *self.mapped.file.outputs}
        outputs = [one for one in found if one.text in named] or found[-1:]
        inputs = [one for one in found if one not in outputs]
        if not inputs:
            self.refusals.append(
                Refusal(self._place(""), "it has no input beside its outcome", "name at least two columns")
            )
        if not named and len(found) > 1:
            self.notices.append(
                f"{self._place('')}: the last column, `{clip(outputs[0].text)}`, is the outcome"
                " (--outcome says another)"
            )
        return inputs, outputs

    def _header(self, i: int, cell: Cell) -> _Header | None:
        at = self._place(cell.at)
        try:
            if cell.problem is not None:
                raise cell.problem
            text = visible(cell.text)
            if not text:
                raise Unsayable("its column has no header", "name it, or delete the column")
            if text in self.mapped.file.ignore:
                return None
            said = self.mapped.file.inputs.get(text) or self.mapped.file.outputs.get(text)
            name = self.mapped.name_of(text)
            if len(text) > LONGEST_HEADER and said is None and name is None:
                raise Unsayable(
                    f"its header is a text of {len(text)} characters",
                    "name the fact: --map 'HEADER=name', or a mapping file",
                )
            return _Header(i, at, text, said, name)
        except Unsayable as problem:
            self.refusals.append(problem.at(at))
            return None

    def _output(self, header: _Header) -> Output:
        said = header.said if isinstance(header.said, MappedOutput) else MappedOutput()
        outcome = said.outcome or header.name or snake(header.text)
        return Output(header.text, header.at, tuple(said.values), said.default, said.label or header.text, outcome)

    def _untyped(self, header: _Header, spelled_kind: Kind | None) -> Untyped:
        said = header.said if isinstance(header.said, MappedInput) else MappedInput()
        kind = _KINDS[said.type] if said.type else spelled_kind
        domain = Domain(tuple(said.values), said.minimum, said.maximum)
        label = (said.label or header.text)[:200]
        return Untyped(
            header.text, header.at, kind, domain, label,
            fact=said.fact or header.name or "", unit=said.unit or "", is_whole=said.type == "integer",
        )  # fmt: skip

    # ---- rows

    def _row(
        self,
        cells: Sequence[Cell],
        inputs: Sequence[_Header],
        outputs: Sequence[Output],
        said_at: Sequence[_Header],
        reading: Reading,
        texts: Mapping[int, Kind | None],
    ) -> Row:
        tests = [self._test(cells[one.index], reading, texts[one.index]) for one in inputs]
        says = [self._says(cells[header.index], output) for header, output in zip(said_at, outputs, strict=True)]
        places = [cells[one.index].at for one in (*inputs, *said_at)]
        number = int("".join(filter(str.isdigit, cells[0].at)))
        at = self._place(row_range([cells[0].at, cells[-1].at]))
        return Row(number, at, tuple(tests), tuple(says), tuple(places))

    def _test(self, cell: Cell, reading: Reading, kind: Kind | None) -> Test:
        try:
            if cell.problem is not None:
                raise cell.problem
            if not cell.text.strip() and self.is_empty_any:
                return ANYTHING
            return _as_text(reading.test(cell.text), cell) if kind == "text" else reading.test(cell.text)
        except Unsayable as problem:
            self.refusals.append(problem.at(self._place(cell.at)))
            return ANYTHING

    def _says(self, cell: Cell, output: Output) -> str:
        try:
            if cell.problem is not None:
                raise cell.problem
            text = visible(cell.text)
            if text in ("", "-"):
                raise Unsayable("it says nothing", "every row says something in every outcome")
            if text.startswith(("=", "@")) or (text.startswith("+") and not text[1:2].isdigit()):
                raise Unsayable(f"`{clip(text)}` is a formula", "write what it gives")
            if len(text) > 1 and text[0] == text[-1] == '"':
                text = text[1:-1]
            if output.values and text not in output.values:
                raise Unsayable(f"`{clip(text)}` is not among the values of the outcome", "add it to the mapping")
            return text
        except Unsayable as problem:
            self.refusals.append(problem.at(self._place(cell.at)))
            return ""

    def _spelled_kind(self, header: _Header, body: Sequence[Sequence[Cell]]) -> Kind | None:
        """`text` where the spelling of numbers counts, like 007 or 1.10, and nothing compares them by size."""
        said = header.said if isinstance(header.said, MappedInput) else None
        if said is not None and said.type is not None:
            return _KINDS[said.type]
        plain, is_spelled, is_typed = Reading(lambda name: None, is_loose=True), False, set[bool]()
        for cells in body:
            cell = cells[header.index]
            try:
                test = plain.test(cell.text) if cell.problem is None and cell.text.strip() else ANYTHING
            except Unsayable:
                continue
            if is_ordered(test) or any(not isinstance(one, Decimal) for one in operands(test)):
                return None
            if isinstance(test, Comparison):
                is_spelled = is_spelled or _is_spelled(cell.text)
                is_typed.add(cell.is_text is True)
        if is_typed == {True, False} and self.format == "xlsx":
            odd = next(
                c[header.index]
                for c in body
                if c[header.index].is_text and c[header.index].text.strip() not in ("", "-")
            )
            self.refusals.append(
                Refusal(
                    self._place(odd.at),
                    f"`{clip(odd.text)}` is text that looks like a number, among numbers",
                    "make all cells of the column numbers, or all of them text",
                )
            )
        if is_spelled or is_typed == {True}:
            self.notices.append(
                f"{header.at}: the numbers of `{clip(header.text)}` are taken as text, as they are spelled"
            )
            return "text"
        return None


def _is_spelled(text: str) -> bool:
    """Would a number lose something of how it is written?"""
    plain = text.strip().lstrip("-")
    return (
        (len(plain) > 1 and plain[0] == "0" and plain[1].isdigit())
        or ("." in plain and plain.endswith("0"))
        or "e" in plain.lower()
    )


def _as_text(test: Test, cell: Cell) -> Test:
    """A test of a number as one of its spelling."""
    words = [one.strip() for one in visible(cell.text).split(",")]
    if isinstance(test, Comparison) and isinstance(test.operand, Decimal):
        return Comparison(test.op, words[0].lstrip("!=<>≠ ").strip() or words[0])
    if any(isinstance(one, Decimal) for one in operands(test)):
        if isinstance(test, OneOf):
            return OneOf(tuple(Comparison("==", word) for word in words))
        if isinstance(test, Except):
            inner = visible(cell.text)[3:].strip().strip("()")
            return Except(_as_text(test.test, Cell(inner, cell.at)))
    return test


def _outcome_name(outputs: Sequence[Output], sheet: str) -> str:
    """A table with one output is called by it; the outcome then has the name of its column."""
    return outputs[0].name if len(outputs) == 1 else sheet
