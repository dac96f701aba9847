"""Columns of a draft that look personal: each is listed under `pii`, and no value of one is written into a file.

The source is believed where it says so; beyond that the name of a column counts, and the shape of the values beside it.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from bylaw.authored.machines.enforcement import Pii
from bylaw.semantic.expressions import InvalidExpression, columns_of
from ci.importers.draft import ContextDraft, Record, is_name
from ci.measured.columns import looks_personal

SECTIONS = ("dimensions", "time_dimensions", "facts")
VALUES = ("sample_values", "value_synonyms")


def hide_personal(draft: ContextDraft, pii: Pii) -> None:
    """List what looks personal under `pii` of its entity, and leave its values behind."""
    for name, record in draft.records["entities"].items():
        where = draft.origin["entities", name]
        listed = {column.casefold() for column in record.get("pii", ())}
        found = [column for column in _personal(record, pii) if column.casefold() not in listed]
        if found:
            record["pii"] = [*record.get("pii", ()), *dict.fromkeys(found)]
            draft.note("entities", name, ("pii",), "by its name, or by the values beside it: people know better")
        hidden = {column.casefold() for column in record.get("pii", ())}
        for part in _parts(record):
            if hidden & {column.casefold() for column in _columns(record, part)}:
                for key in VALUES:
                    if part.pop(key, None):
                        draft.drop(f"{where}: {key} of `{part['name']}`", "no value of a personal column is written")


def _personal(record: Record, pii: Pii) -> Iterator[str]:
    """The columns that look personal. A yes or no is none, and neither is the number that a join goes by."""
    joined = {pair["left_column"] for one in record.get("relationships", ()) for pair in one["relationship_columns"]}
    for part in _parts(record):
        if str(part.get("data_type", "")).lower().startswith("bool"):
            continue
        columns = [column for column in _columns(record, part) if column not in joined and is_name(column)]
        is_shown = _has_shape([*map(str, part.get("sample_values", ()))], pii)
        is_named = len(columns) == 1 and looks_personal(part["name"])
        yield from (column for column in columns if is_shown or is_named or looks_personal(column))


def _parts(record: Record) -> Iterator[Record]:
    for section in SECTIONS:
        yield from record.get(section, ())


def _columns(record: Record, part: Record) -> list[str]:
    """The columns of its own table that a part reads."""
    try:
        read = columns_of(str(part.get("expr") or part["name"]), record["name"])
    except InvalidExpression:  # the lints say so
        return []
    return [column for owner, column in read if owner == record["name"]]


def _has_shape(texts: list[str], pii: Pii) -> bool:
    """Do half of the values or more have the shape of something personal?"""
    met = sum(any(re.search(one.regex, text) for one in pii.patterns.values()) for text in texts)
    return bool(met) and met * 2 >= len(texts)
