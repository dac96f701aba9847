"""The cells of a sheet, whatever file they came from."""

from __future__ import annotations

from dataclasses import dataclass

from ci.importers.tables.model import Unsayable


@dataclass(frozen=True, slots=True)
class Cell:
    """A cell as it is shown. `is_text` where a workbook holds text, so that a number in it is spelled and not meant.

    `problem` says why it cannot be taken.
    """

    text: str
    at: str
    is_text: bool | None = None
    problem: Unsayable | None = None


@dataclass(frozen=True, slots=True)
class Grid:
    """The cells of a sheet, row by row, all rows as long as the first. `name` is the sheet's; empty of a CSV."""

    name: str
    rows: tuple[tuple[Cell, ...], ...]
    notices: tuple[str, ...] = ()


def address(column: int, row: int) -> str:
    """`C7`, both counted from 1."""
    letters = ""
    while column:
        column, rest = divmod(column - 1, 26)
        letters = chr(65 + rest) + letters
    return f"{letters}{row}"
