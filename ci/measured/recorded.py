"""The columns that a warehouse had when somebody looked: `context/.measured.json`, and what has changed since.

The bundle carries the fingerprints, declared and measured, of the columns that each entity was built from.
"""

from __future__ import annotations

import json
from collections.abc import Collection, Iterator, Mapping
from pathlib import Path
from typing import Any

from bylaw.authored.context import Context
from bylaw.canonical import fingerprint, write_atomically
from bylaw.errors import UsageError
from bylaw.semantic.catalogue import known_columns
from ci.findings import Finding
from ci.measured.survey import Survey

PATH = "context/.measured.json"


def read(root: Path) -> dict[str, dict[str, str]]:
    """Entity -> column -> type as they were recorded; empty where nothing was. Raises UsageError."""
    path = root / PATH
    if not path.is_file():
        return {}
    try:
        held = json.loads(path.read_text(encoding="utf-8"))["entities"]
        return {
            str(entity): {str(column): str(kind) for column, kind in columns.items()}
            for entity, columns in sorted(held.items())
        }
    except (OSError, ValueError, KeyError, TypeError, AttributeError, RecursionError):
        raise UsageError(
            f"`{PATH}` is no record of a warehouse", "restore it from git, or write it anew with `bylaw check --record`"
        ) from None


def write(survey: Survey, root: Path) -> tuple[str, ...]:
    """Record the columns of every table that is there; the entities whose tables they are."""
    entities = {table.name: dict(sorted(table.columns.items())) for table in survey.measured()}
    if not entities:
        return ()  # an empty record would only forget what was known
    held = {"schema_version": "1.0", "entities": entities}
    write_atomically(root / PATH, json.dumps(held, indent=1, sort_keys=True, ensure_ascii=False) + "\n")
    return tuple(entities)


def told(names: Collection[str], context: Context, broken_count: int) -> str:
    """What was recorded and what is no part of it, for the person who asked for the record."""
    if not names:
        return "nothing was recorded: no table could be looked at"
    lost = sorted(set(context.entities) - set(names))
    tables = f"{len(names)} {'table' if len(names) == 1 else 'tables'}"
    lines = [f"recorded the columns of {tables} in {PATH}" + (f", none of {', '.join(lost)}" if lost else "")]
    if broken_count:
        errors = "1 error stands" if broken_count == 1 else f"{broken_count} errors stand"
        lines.append(f"  keys, joins and values are no part of it: {errors}, and the record makes none of it good")
    return "\n".join(lines)


def versions(context: Context, measured: Mapping[str, Mapping[str, str]]) -> dict[str, dict[str, Any]]:
    """The schema version of each entity: of the columns it declares, and of those that were measured."""
    declared = known_columns(context)
    return {
        name: {
            "declared": _print(sorted(declared[name])),
            "measured": _print(measured[name]) if name in measured else None,
            "columns": sorted(measured[name]) if name in measured else None,
        }
        for name in sorted(context.entities)
    }


def _print(columns: Any) -> str:
    return fingerprint(columns)[:16]


def drift(survey: Survey) -> Iterator[Finding]:
    """The columns of a table are those that were recorded."""
    for name, before in read(survey.workspace.root).items():
        table = survey.tables.get(name)
        if table is None or dict(table.columns) == before:
            continue
        said = [f"`{column}` is new" for column in sorted(set(table.columns) - set(before))]
        said += [f"`{column}` is gone" for column in sorted(set(before) - set(table.columns))]
        said += [
            f"`{column}` was `{before[column]}` and is `{kind}`"
            for column, kind in sorted(table.columns.items())
            if before.get(column, kind) != kind
        ]
        message = f"the columns of `{name}` are not those that were recorded: {', '.join(said[:10])}"
        message += f" and {len(said) - 10} more" if len(said) > 10 else ""
        help = "correct the entity, then `bylaw check --warehouse URL --record`"
        yield Finding("schema-drift", message, survey.at_entity(name, "base_table"), help=help)
