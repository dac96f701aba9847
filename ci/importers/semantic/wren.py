"""Wren projects: a folder of YAML files, or the one `mdl.json` that is built from it."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from pathlib import PurePosixPath
from typing import Any

import yaml

from ci.importers.draft import ContextDraft, Record, identifier, is_name, listed, slug, text, word
from ci.importers.semantic.foreign import Foreign
from ci.importers.semantic.formulas import metric_of
from ci.importers.sql import Unsayable, row_sql

_TEMPORAL = ("DATE", "TIMESTAMP")
_NUMERIC = ("INT", "BIGINT", "SMALLINT", "DOUBLE", "REAL", "FLOAT", "DECIMAL", "NUMERIC", "NUMBER")
_CONDITION = re.compile(r'"?(\w+)"?\."?(\w+)"?\s*=\s*"?(\w+)"?\."?(\w+)"?')
_JOINS = {"MANY_TO_ONE": "many_to_one", "ONE_TO_ONE": "one_to_one", "ONE_TO_MANY": "one_to_many"}
_JOINS |= {"MANY_TO_MANY": "many_to_many"}


def claims(file: Foreign) -> bool:
    """A project's own file, or what is built from a project."""
    is_built = any(_is_built(document) for document in file.mappings)
    return is_built or PurePosixPath(file.path).name == "wren_project.yml"


def _is_built(document: Mapping[str, Any]) -> bool:
    """Is it what is built from a project? Its models say which table they are of; `dataSource` may be left out."""
    models = [one for one in listed(document.get("models")) if isinstance(one, dict)]
    return any("dataSource" in document or {"tableReference", "refSql"} & set(model) for model in models)


def import_(files: Sequence[Foreign], draft: ContextDraft) -> None:
    """Write the project into *draft*. Of a folder, the files that `mdl.json` is built from count."""
    project = [file for file in files if PurePosixPath(file.path).name == "wren_project.yml"]
    if project:
        held = _of_folder(files, PurePosixPath(project[0].path).parent)
    else:
        held = next(document for file in files for document in file.mappings if claims(Foreign(file.path, (document,))))
    _write(held, draft)


def _of_folder(files: Sequence[Foreign], root: PurePosixPath) -> dict[str, Any]:
    """The project in the shape of `mdl.json`: every key in camel case."""
    held: dict[str, Any] = {"models": [], "views": [], "cubes": [], "relationships": [], "knowledge": []}
    for file in files:
        path = PurePosixPath(file.path)
        if not path.is_relative_to(root):
            continue
        first = path.relative_to(root).parts[0]
        if first in ("models", "views", "cubes") and path.name == "metadata.yml":
            held[first] += [_camel(document) for document in file.mappings]
        elif path.name == "relationships.yml":
            held["relationships"] += [
                item for doc in file.mappings for item in listed(_camel(doc).get("relationships"))
            ]
        elif path.name == "wren_project.yml":
            held |= {key: value for doc in file.mappings for key, value in _camel(doc).items() if key not in held}
        elif first == "knowledge" and path.suffix == ".md":
            held["knowledge"].append((path.relative_to(root).as_posix(), file.text))
    for model in held["models"]:
        name = f"{root / 'models' / str(model.get('name')) / 'ref_sql.sql'}"
        if "tableReference" not in model:
            model["refSql"] = name
    return held


def _camel(value: Any) -> Any:
    if isinstance(value, dict):
        return {re.sub(r"_([a-z])", lambda found: found[1].upper(), key): _camel(item) for key, item in value.items()}
    return [_camel(item) for item in value] if isinstance(value, list) else value


def _write(held: dict[str, Any], draft: ContextDraft) -> None:
    files = [file for file in listed(held.get("knowledge")) if isinstance(file, tuple)]  # of a folder only
    dialect = draft.dialect or (word(held.get("dataSource")) or "").lower() or None
    entities: dict[str, Record] = {}
    tables: dict[str, dict[str, str]] = {}
    for where, model in draft.mappings(held.get("models"), "models"):
        _model(model, where, draft, entities, tables, dialect)
    for where, said in draft.mappings(held.get("relationships"), "relationships"):
        _relationship(said, where, draft, entities)
    for where, record in entities.items():
        draft.add("entities", record, where)
    for where, cube in draft.mappings(held.get("cubes"), "cubes"):
        own = identifier(cube.get("baseObject"))
        for place, measure in draft.mappings(cube.get("measures"), f"{where}.measures"):
            name = draft.name(measure.get("name"), place)
            if own in tables and name is not None:
                extras = {"description": text(measure.get("description"))}
                metric_of(draft, name, str(measure.get("expression")), dialect, tables, own, extras, place)
            else:
                draft.drop(place, "its model was not carried over")
    for where, _ in draft.mappings(held.get("views"), "views"):
        draft.drop(where, "a view is a query and no table")
    _knowledge(files, draft, sorted(record["name"] for record in entities.values()))


def _model(
    model: dict[str, Any],
    where: str,
    draft: ContextDraft,
    entities: dict[str, Record],
    tables: dict[str, dict[str, str]],
    dialect: str | None,
) -> None:
    name, table = draft.name(model.get("name"), where), model.get("tableReference")
    if name is None or not isinstance(table, dict):
        draft.drop(where, "it is a query and no table" if name else "it has no name")
        return
    base = draft.base_table(table.get("schema"), table.get("table"), where)
    if base is None:
        return
    properties = model.get("properties")
    described = text(properties.get("description")) if isinstance(properties, dict) else None
    record: Record = {"name": name, "description": described, "base_table": base}
    if is_name(model.get("primaryKey")):
        record["primary_key"] = {"columns": [model["primaryKey"]]}
    tables[name] = {}
    for place, column in draft.mappings(model.get("columns"), f"{where}.columns"):
        _column(column, place, draft, record, tables[name], dialect)
    draft.rest(model, ("name", "tableReference", "properties", "primaryKey", "columns"), where)
    entities[where] = record


def _column(
    column: dict[str, Any], where: str, draft: ContextDraft, record: Record, exprs: dict[str, str], dialect: str | None
) -> None:
    name = draft.name(column.get("name"), where)
    if name is None:
        return
    if column.get("relationship"):
        draft.drop(where, "a column that stands for a relationship is declared as the relationship")
        return
    try:
        expr = row_sql(str(column.get("expression") or column.get("name")), dialect)
    except Unsayable as why:
        draft.drop(where, str(why))
        return
    exprs[name] = expr
    kind = (word(column.get("type")) or "").upper()
    is_key = column.get("isPrimaryKey") is True or name.endswith("_id")
    is_number = kind.startswith(_NUMERIC) and not is_key
    section = "time_dimensions" if kind.startswith(_TEMPORAL) else "facts" if is_number else "dimensions"
    properties = column.get("properties")
    described = text(properties.get("description")) if isinstance(properties, dict) else None
    part = {"name": name, "expr": None if expr == name else expr, "description": described, "data_type": kind.lower()}
    record.setdefault(section, []).append({key: value for key, value in part.items() if value})
    known = ("name", "expression", "type", "properties", "isPrimaryKey", "isCalculated", "notNull", "relationship")
    draft.rest(column, known, where)


def _relationship(said: dict[str, Any], where: str, draft: ContextDraft, entities: dict[str, Record]) -> None:
    by_name = {record["name"]: record for record in entities.values()}
    found = _CONDITION.fullmatch(word(said.get("condition")) or "")
    kind = _JOINS.get(str(said.get("joinType")).upper())
    name = draft.name(said.get("name"), where)
    models = said.get("models")
    if name is None or kind is None or found is None or not isinstance(models, list) or len(models) != 2:
        draft.drop(where, "it is no join of two models over a plain column each")
        return
    left, left_column, right, right_column = found.groups()
    if [left, right] != models:
        left, left_column, right, right_column = right, right_column, left, left_column
    if [left, right] != models or left not in by_name or right not in by_name:
        draft.drop(where, "it joins a model that was not carried over")
        return
    pairs = [{"left_column": left_column, "right_column": right_column}]
    joined = {"name": name, "right_entity": right, "relationship_columns": pairs, "relationship_type": kind}
    by_name[left].setdefault("relationships", []).append(joined)


def _knowledge(files: list[tuple[str, str]], draft: ContextDraft, entities: list[str]) -> None:
    """Rules become a guide; a question with its SQL says nobody who verified it."""
    rules = []
    for path, written in files:
        head = re.match(r"---\n(.*?)\n---", written, re.DOTALL)
        if head is not None:
            known = _front(head[1])
            draft.drop(path, f"nobody is named who verified `{word(known.get('nl')) or 'it'}`")
        else:
            rules += [found for line in written.splitlines() if line.startswith("- ") and (found := text(line[2:]))]
    if rules:
        draft.add("guides", {"domain": slug("business-rules"), "conventions": rules, "entities": entities}, "knowledge")


def _front(written: str) -> dict[str, Any]:
    try:
        found = yaml.load(written, Loader=yaml.CSafeLoader)
    except yaml.YAMLError:
        return {}
    return found if isinstance(found, dict) else {}
