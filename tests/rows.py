"""Many rows of one idea as one test: each is tried, and all that fail are told."""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable, Collection, Iterable
from typing import Any

Rows = Collection[Any] | Callable[[], Collection[Any]]


def each(names: str | Iterable[str], rows: Rows, ids: Callable[[Any], Any] | list[str] | None = None) -> Any:
    """Like `pytest.mark.parametrize`, for rows that share their fixtures: hundreds of tests cost more than they do.

    *names* of several arguments are a tuple or stand between commas. *rows* that take long to make are a function,
    called when the test runs. A failing test names its rows by *ids*.
    """
    listed = [name.strip() for name in names.split(",")] if isinstance(names, str) else list(names)

    def of(test: Callable[..., None]) -> Callable[..., None]:
        signature = inspect.signature(test)

        @functools.wraps(test)
        def all_rows(**fixtures: Any) -> None:
            given = rows() if inspect.isfunction(rows) else rows
            assert given, "no row"
            failed = []
            for number, row in enumerate(given):
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

    return of


def _name(ids: Callable[[Any], Any] | list[str] | None, number: int, values: list[Any]) -> str:
    if isinstance(ids, list):
        return ids[number]
    said = [(ids(value) if ids else None) or value for value in values]
    return "-".join(map(str, said))[:200]
