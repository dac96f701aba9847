"""The cells of an XLSX sheet as people see them: merged cells filled, what is shown otherwise than held refused.

openpyxl reads values, formulas, formats and merged ranges alike. A workbook is unpacked only within limits.
"""

from __future__ import annotations

import io
import lzma
import math
import re
import struct
import zipfile
import zlib
from collections.abc import Iterator
from datetime import date, datetime, time, timedelta
from decimal import Decimal
from typing import TYPE_CHECKING, Any, Final

from bylaw.errors import UsageError
from ci.importers.tables.feel import clip
from ci.importers.tables.grid import Cell, Grid, address
from ci.importers.tables.limits import MOST_BYTES, MOST_CELLS, MOST_COLUMNS, MOST_ROWS, MOST_UNPACKED
from ci.importers.tables.model import Refusal, TablesRefused, Unsayable

if TYPE_CHECKING:
    from openpyxl.worksheet.worksheet import Worksheet

MOST_PARTS: Final = 2_000
BROKEN: Final = (  # what the readers of an archive and of XML raise of a broken part; a ParseError is a SyntaxError
    zipfile.BadZipFile,
    zipfile.LargeZipFile,
    zlib.error,
    lzma.LZMAError,
    struct.error,
    SyntaxError,
    LookupError,
    ValueError,
    TypeError,
    AttributeError,
    AssertionError,
    ArithmeticError,
    OSError,
    EOFError,
    RuntimeError,
)
GENERAL_DIGITS: Final = 11  # that a cell without a format shows
_QUOTED: Final = re.compile(
    r'"[^"]*"|\\.|_.|\*.|\[[$€£][^\]]*\]|\[(?:Red|Black|Blue|Green|White|Yellow|Cyan|Magenta|Color\d+)\]'
)
_PLAIN_NUMBER: Final = re.compile(r"[€£$¥]?\s*(?:#,##|#)?0(?:\.(?P<places>[0#]+))?\s*[€£$¥]?")


def grid_of(name: str, data: bytes, wanted: str | None) -> Grid:
    """The cells of one sheet: the one *wanted*, or the only one. Raises TablesRefused."""
    try:
        from openpyxl import load_workbook
        from openpyxl.utils.exceptions import InvalidFileException
    except ImportError:
        raise UsageError("XLSX needs the extra `tables`", "uv pip install 'bylaw-policies[tables]'") from None
    _unpackable(name, data)
    try:
        # Once as formulas and once as what they gave when the workbook was last saved.
        written = load_workbook(io.BytesIO(data), data_only=False, keep_links=False)
        shown = load_workbook(io.BytesIO(data), data_only=True, keep_links=False)
    except (InvalidFileException, *BROKEN) as problem:
        raise TablesRefused(
            Refusal(
                name,
                f"it is no workbook that can be read: {clip(str(problem) or type(problem).__name__)}",
                "save it again as XLSX",
            )
        ) from None
    title = _sheet(name, written.sheetnames, [sheet.title for sheet in written.worksheets], wanted)
    return _Sheet(name, title, written[title], shown[title]).grid()


def _unpackable(name: str, data: bytes) -> None:
    """Is it an archive that unpacks into something of a sane size?"""
    if len(data) > MOST_BYTES:
        raise TablesRefused(Refusal(name, f"it is larger than {MOST_BYTES:,} bytes", "split the workbook"))
    try:
        with zipfile.ZipFile(io.BytesIO(data)) as archive:
            parts = archive.infolist()
    except (zipfile.BadZipFile, ValueError, NotImplementedError, OSError, EOFError):
        raise TablesRefused(
            Refusal(name, "it is no workbook", "save it as XLSX, not as XLS or with a password")
        ) from None
    if len(parts) > MOST_PARTS or sum(part.file_size for part in parts) > MOST_UNPACKED:
        raise TablesRefused(
            Refusal(
                name,
                f"it unpacks into more than {MOST_UNPACKED:,} bytes or {MOST_PARTS:,} parts",
                "copy the table into a workbook of its own",
            )
        )


def _sheet(name: str, every: list[str], tables: list[str], wanted: str | None) -> str:
    shown = ", ".join(f"`{clip(title, 31)}`" for title in tables)
    if wanted is not None and wanted not in tables:
        why = (
            f"it has no sheet `{clip(wanted)}`" if wanted not in every else f"`{clip(wanted)}` is a chart, not a sheet"
        )
        raise TablesRefused(Refusal(name, why, f"its sheets: {shown}"))
    if wanted is None and len(tables) != 1:
        raise TablesRefused(Refusal(name, f"it has {len(tables)} sheets", f"name one with --sheet: {shown}"))
    return wanted or tables[0]


class _Sheet:
    """One sheet on its way to cells."""

    def __init__(self, name: str, title: str, written: Worksheet, shown: Worksheet) -> None:
        self._name, self._title, self._written, self._shown = name, title, written, shown
        self._notices: list[str] = []

    def grid(self) -> Grid:
        """All its cells."""
        rows, columns = self._written.max_row, self._written.max_column
        for count, most, what in (
            (columns, MOST_COLUMNS, "columns"),
            (rows, MOST_ROWS, "rows"),
            (columns * rows, MOST_CELLS, "cells"),
        ):
            if count > most:
                raise TablesRefused(
                    Refusal(
                        self._title,
                        f"it has {count:,} {what}, and at most {most:,} are read",
                        "delete what is empty, or split the table",
                    )
                )
        merged = dict(self._merged())
        found = []
        for row, (written, shown) in enumerate(zip(self._written.iter_rows(), self._shown.iter_rows(), strict=True), 1):
            cells = []
            for column, (raw, cached) in enumerate(zip(written, shown, strict=True), 1):
                at, source = address(column, row), merged.get((row, column))
                if isinstance(source, Unsayable):
                    cells.append(Cell("", at, problem=source))
                elif source is not None:
                    cells.append(self._cell(self._written.cell(*source), self._shown.cell(*source), at))
                else:
                    cells.append(self._cell(raw, cached, at))
            found.append(tuple(cells))
        self._hidden()
        return Grid(self._title, tuple(found), tuple(self._notices))

    def _merged(self) -> Iterator[tuple[tuple[int, int], tuple[int, int] | Unsayable]]:
        """The cells of merged ranges, each with the one that holds the value; across columns nobody knows whose."""
        for range_ in self._written.merged_cells.ranges:
            if range_.size["rows"] * range_.size["columns"] > MOST_CELLS:
                raise TablesRefused(
                    Refusal(f"{self._title}!{range_.coord}", "the merged range is too large", "split it")
                )
            is_wide = range_.size["columns"] > 1
            wide = Unsayable(f"the merged range {range_.coord} spans several columns", "split it, and fill each column")
            for row, column in range_.cells:
                yield (row, column), wide if is_wide else (range_.min_row, range_.min_col)

    def _hidden(self) -> None:
        rows = [number for number, one in self._written.row_dimensions.items() if one.hidden]
        columns = [letter for letter, one in self._written.column_dimensions.items() if one.hidden]
        if rows or columns:
            what = ", ".join(
                [*(f"row {number}" for number in rows[:5]), *(f"column {letter}" for letter in columns[:5])]
            )
            self._notices.append(f"{self._title}: what is hidden was taken too: {what}")

    def _cell(self, raw: Any, cached: Any, at: str) -> Cell:
        try:
            value = raw.value
            if raw.data_type == "f" or (isinstance(value, str) and value.startswith("=") and raw.data_type != "s"):
                value = cached.value
                if value is None:
                    raise Unsayable(
                        "its formula has no value that was saved", "open and save the workbook, or write the value"
                    )
            if raw.data_type == "e" or cached.data_type == "e":
                raise Unsayable(f"it holds the error {clip(str(cached.value))}", "correct the formula")
            return Cell(_as_shown(value, str(raw.number_format)), at, isinstance(value, str))
        except Unsayable as problem:
            return Cell("", at, problem=problem)


def _as_shown(value: Any, format_: str) -> str:
    """What a cell shows, where that is what it holds. Raises Unsayable where it is not."""
    match value:
        case None:
            return ""
        case bool():
            return str(value).lower()
        case str():
            return value
        case datetime() if value.time() != time():
            raise Unsayable(
                f"it holds a time of day, {value.isoformat(sep=' ')}", "facts hold days: write the day alone"
            )
        case datetime() | date():
            day = value.date() if isinstance(value, datetime) else value
            if not _shows_day(format_):
                raise Unsayable(
                    f"it shows no whole day, and holds {day.isoformat()}", "give it a format with day, month and year"
                )
            return day.isoformat()
        case time() | timedelta():
            raise Unsayable("it holds a time, which no fact has", "write a number, and say its unit in a mapping")
        case int() | float():
            return _number(value, format_)
    raise Unsayable(f"it holds {type(value).__name__.lower()}, which no cell of a table says", "write text or a number")


def _shows_day(format_: str) -> bool:
    bare = _QUOTED.sub("", format_).casefold()
    return all(letter in bare for letter in "dmy") or format_ in ("14", "15")


def _number(value: int | float, format_: str) -> str:
    if isinstance(value, float) and not math.isfinite(value):
        raise Unsayable("it holds no number", "write one")
    exact = Decimal(repr(value))
    plain = format(exact, "f")
    plain = plain.rstrip("0").rstrip(".") if "." in plain else plain
    shown = _displayed(exact, format_)
    if shown is None:
        raise Unsayable(
            f"it holds {plain} in the format `{clip(format_, 30)}`, which shows something else",
            "give it the format of a plain number",
        )
    if shown != exact:
        raise Unsayable(f"it shows {shown} and holds {plain}", "round it, or show all its digits")
    return plain


def _displayed(value: Decimal, format_: str) -> Decimal | None:
    """The number that a format shows; None where it shows none as it is: a share, a fraction, a power, a text."""
    if format_ in ("General", "@", ""):
        digits = len(value.as_tuple().digits)
        return value if digits <= GENERAL_DIGITS else round(value, max(GENERAL_DIGITS - 1 - value.adjusted(), 0))
    section = _QUOTED.sub("", format_).split(";")[0].strip()
    found = _PLAIN_NUMBER.fullmatch(section)
    if not found:
        return None
    return round(value, len(found["places"] or "")).normalize()
