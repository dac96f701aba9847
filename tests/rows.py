"""Many rows of one idea: as one test, in which all that fail are told; and one of several in the run of fast tests."""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable, Collection, Iterable
from typing import Any

import pytest

IS_QUICK = False  # without slow tests; said when pytest starts

Ids = Callable[[Any], Any] | list[str] | None
Rows = Collection[Any] | Callable[[], Collection[Any]]


def each(names: str | Iterable[str], rows: Rows, ids: Ids = None, of: int = 1) -> Any:
    """Like `pytest.mark.parametrize`, for rows that share their fixtures: hundreds of tests cost more than they do.

    *names* of several arguments are a tuple or stand between commas. *rows* that take long to make are a function,
    called when the test runs. A failing test names its rows by *ids*. Without the slow tests one row of each *of* is
    tried.
    """
    listed = [name.strip() for name in names.split(",")] if isinstance(names, str) else list(names)

    def looped(test: Callable[..., None]) -> Callable[..., None]:
        signature = inspect.signature(test)

        @functools.wraps(test)
        def all_rows(**fixtures: Any) -> None:
            given = rows() if inspect.isfunction(rows) else rows
            assert given, "no row"
            failed = []
            for number, row in enumerate(given):
                if IS_QUICK and number % of:
                    continue
                values = [row] if len(listed) == 1 else [*row]
                try:
                    test(**dict(zip(listed, values, strict=True)), **fixtures)
                except Exception as error:
                    error.add_note(f"row {number}: {_name(ids, number, values)}")
                    failed.append(error)
            if failed:
                raise ExceptionGroup(f"{len(failed)} of {len(given)} rows", failed)

        kept = [each for name, each in signature.parameters.items() if name not in listed]
        all_rows.__signature__ = signature.replace(parameters=kept)  # type: ignore[attr-defined]
        return all_rows

    return looped


def one_of(of: int, rows: Iterable[Any]) -> list[Any]:
    """*rows* for `pytest.mark.parametrize`, of which one of each *of* is run always, the others with the slow tests."""
    every = (row if isinstance(row, tuple) else (row,) for row in rows)
    return [pytest.param(*row, marks=pytest.mark.slow if number % of else ()) for number, row in enumerate(every)]


def _name(ids: Ids, number: int, values: list[Any]) -> str:
    if isinstance(ids, list):
        return ids[number]
    said = [(ids(value) if ids else None) or value for value in values]
    return "-".join(map(str, said))[:200]
