"""Apache Ossie (before: OSI) semantic models, versions 0.1 and 0.2."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Any

from ci.importers.draft import ContextDraft, Record, identifier, is_name, listed, slug, text, word, words
from ci.importers.semantic.foreign import Foreign
from ci.importers.semantic.formulas import metric_of
from ci.importers.sql import Unsayable, row_sql

# The dialects whose text is SQL, the nearest first.
DIALECTS: Mapping[str, str | None] = {
    "ANSI_SQL": None,
    "SNOWFLAKE": "snowflake",
    "DATABRICKS": "databricks",
    "BIGQUERY": "bigquery",
}
_TEMPORAL = frozenset(("date", "datetime", "datetimetz"))
_NUMERIC = frozenset(("integer", "decimal", "float"))
_DAY = re.compile(r"(^|_)(date|day|at|on|ts|time|timestamp)$", re.IGNORECASE)
_WHY = {
    "custom_extensions": "it is for a program of another vendor",
    "label": "categories of fields have no counterpart",
    "ai_context": "only synonyms and instructions have a counterpart",
}


def claims(file: Foreign) -> bool:
    """Is there a list of semantic models with datasets?"""
    return file.lists("semantic_model", having="datasets")


def import_(files: Sequence[Foreign], draft: ContextDraft) -> None:
    """Write every semantic model of *files* into *draft*."""
    for file in files:
        for document in file.mappings:
            for where, model in draft.mappings(document.get("semantic_model"), f"{file.path}: semantic_model"):
                _model(model, where, draft)
            draft.rest(document, ("version", "semantic_model"), f"{file.path}: ".rstrip())


def _model(model: dict[str, Any], where: str, draft: ContextDraft) -> None:
    entities: dict[str, Record] = {}
    tables: dict[str, dict[str, str]] = {}
    for place, dataset in draft.mappings(model.get("datasets"), f"{where}.datasets"):
        _dataset(dataset, place, draft, entities, tables)
    for place, said in draft.mappings(model.get("relationships"), f"{where}.relationships"):
        _relationship(said, place, draft, entities)
    for place, record in entities.items():
        draft.add("entities", record, place)
    for place, metric in draft.mappings(model.get("metrics"), f"{where}.metrics"):
        name, formula = draft.name(metric.get("name"), place), _expression(metric, place, draft)
        if name is not None and formula is not None:
            extras = {"description": text(metric.get("description")), "synonyms": _synonyms(metric)}
            metric_of(draft, name, formula[0], formula[1], tables, None, extras, place)
        draft.rest(metric, ("name", "expression", "description", "datatype", *_context(metric)), place, _WHY)
    _guide(model, where, draft, entities)
    known = ("name", "description", "datasets", "relationships", "metrics", "ai_context")
    draft.rest(model, known, where, _WHY)


def _dataset(
    dataset: dict[str, Any],
    where: str,
    draft: ContextDraft,
    entities: dict[str, Record],
    tables: dict[str, dict[str, str]],
) -> None:
    name = draft.name(dataset.get("name"), where)
    source = word(dataset.get("source")) or ""
    parts = [part.strip('"`') for part in source.split(".")]
    if name is None or not 1 <= len(parts) <= 3 or not all(map(is_name, parts)):
        draft.drop(where, "its `source` is a query or no plain table")
        return
    if len(parts) == 3:
        draft.drop(f"{where}.source", f"the database `{parts[0]}`: the warehouse's address names it")
    table = draft.base_table(parts[-2] if len(parts) > 1 else None, parts[-1], where)
    record: Record = {"name": name, "description": text(dataset.get("description")), "base_table": table}
    record |= {"primary_key": _key(dataset.get("primary_key")), "synonyms": _synonyms(dataset)}
    tables[name] = {}
    unique = [keys for keys in listed(dataset.get("unique_keys")) if _key(keys) is not None]
    lone = {keys[0] for keys in unique if len(keys) == 1}
    for place, field in draft.mappings(dataset.get("fields"), f"{where}.fields"):
        _field(field, place, draft, record, tables[name], lone)
    known = ("name", "source", "primary_key", "unique_keys", "description", "fields", *_context(dataset))
    draft.rest(dataset, known, where, _WHY)
    if any(len(keys) > 1 and keys != dataset.get("primary_key") for keys in unique):
        draft.drop(f"{where}.unique_keys", "only the primary key may have several columns")
    entities[where] = record


def _field(
    field: dict[str, Any], where: str, draft: ContextDraft, record: Record, exprs: dict[str, str], lone: set[Any]
) -> None:
    name, said = draft.name(field.get("name"), where), _expression(field, where, draft)
    if name is None or said is None:
        return
    try:
        expr = row_sql(*said)
    except Unsayable as why:
        draft.drop(where, str(why))
        return
    exprs[name] = expr
    datatype = (word(field.get("datatype")) or "").lower()
    part: Record = {"name": name, "expr": None if expr == name else expr, "description": text(field.get("description"))}
    part |= {"data_type": datatype or None, "synonyms": _synonyms(field)}
    section = _section(field, datatype, where, draft)
    if section == "dimensions":
        part["unique"] = field.get("name") in lone
    record.setdefault(section, []).append({k: v for k, v in part.items() if v not in (None, [], False)})
    draft.rest(field, ("name", "expression", "description", "datatype", "dimension", *_context(field)), where, _WHY)


def _section(field: dict[str, Any], datatype: str, where: str, draft: ContextDraft) -> str:
    """Dimension, time dimension or fact. A role in time alone does not make a year of four digits a date."""
    role = field.get("dimension")
    is_time = role.get("is_time") if isinstance(role, dict) else None
    if datatype in _TEMPORAL:
        return "dimensions" if is_time is False else "time_dimensions"
    if is_time is True and not datatype and _DAY.search(str(field.get("name"))):
        return "time_dimensions"
    if is_time is True:
        draft.drop(f"{where}.dimension.is_time", "it is no date or moment, so it is grouped by as it stands")
    if role is None and (not datatype or datatype in _NUMERIC):
        return "facts"
    return "dimensions"


def _relationship(said: dict[str, Any], where: str, draft: ContextDraft, entities: dict[str, Record]) -> None:
    by_name = {record["name"]: record for record in entities.values()}
    left, right = (identifier(said.get(side)) or "" for side in ("from", "to"))
    columns: list[list[str]] = [
        (_key(said.get(key)) or {}).get("columns", []) for key in ("from_columns", "to_columns")
    ]
    name = draft.name(said.get("name"), where)
    if name is None or left not in by_name or right not in by_name:
        draft.drop(where, "it joins a dataset that was not carried over")
    elif not columns[0] or len(columns[0]) != len(columns[1]):
        draft.drop(where, "it is no join of plain columns")
    else:
        pairs = [{"left_column": a, "right_column": b} for a, b in zip(*columns, strict=True)]
        joined: Record = {"name": name, "right_entity": right, "relationship_columns": pairs}
        joined |= {"relationship_type": "many_to_one"}
        if _synonyms(said):
            joined["synonyms"] = _synonyms(said)
        by_name[left].setdefault("relationships", []).append(joined)
        draft.rest(said, ("name", "from", "to", "from_columns", "to_columns", *_context(said)), where, _WHY)


def _guide(model: dict[str, Any], where: str, draft: ContextDraft, entities: dict[str, Record]) -> None:
    domain, context = slug(model.get("name")), model.get("ai_context")
    said = context.get("instructions") if isinstance(context, dict) else context
    if domain is None:
        draft.drop(where, "it has no name that could be written here")
        return
    record: Record = {"domain": domain, "description": text(model.get("description"))}
    record |= {"conventions": [found for found in [text(said)] if found]}
    draft.add("guides", {**record, "entities": [entity["name"] for entity in entities.values()]}, where)
    if isinstance(context, dict):
        draft.rest(context, ("instructions",), f"{where}.ai_context")


def _expression(source: dict[str, Any], where: str, draft: ContextDraft) -> tuple[str, str | None] | None:
    """The SQL of an expression and its dialect: the first of DIALECTS that it is written in."""
    held = source.get("expression")
    written = held.get("dialects") if isinstance(held, dict) else None
    found = {
        str(item.get("dialect")): item["expression"]
        for item in (written if isinstance(written, list) else [])
        if isinstance(item, dict) and isinstance(item.get("expression"), str)
    }
    for name, dialect in DIALECTS.items():
        if name in found:
            return found[name], dialect
    draft.drop(where, "it is written in no dialect of SQL")
    return None


def _key(said: Any) -> Record | None:
    return {"columns": said} if isinstance(said, list) and said and all(map(is_name, said)) else None


def _synonyms(source: dict[str, Any]) -> list[str]:
    context = source.get("ai_context")
    return words(context.get("synonyms")) if isinstance(context, dict) else []


def _context(source: dict[str, Any]) -> tuple[str, ...]:
    """`ai_context` is carried over whole where it holds nothing but synonyms."""
    context = source.get("ai_context")
    return ("ai_context",) if isinstance(context, dict) and set(context) <= {"synonyms"} else ()
