"""dbt / MetricFlow semantic models and metrics as YAML: semantic models of their own, or inside `models`."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Any

from ci.importers.draft import ContextDraft
from ci.importers.semantic.foreign import Foreign
from ci.importers.semantic.layer import Layer

_REF = re.compile(r"""^\s*(?:\{\{\s*)?ref\(\s*(?:['"][^'"]*['"]\s*,\s*)?['"]([^'"]+)['"][^)]*\)(?:\s*\}\})?\s*$""")


def claims(file: Foreign) -> bool:
    """Are there semantic models or metrics, in either spelling?"""
    return any(_speaks(document) for document in file.mappings)


def _speaks(document: dict[str, Any]) -> bool:
    singular = any(isinstance(document.get(key), dict) for key in ("semantic_model", "metric"))
    plural = any(isinstance(document.get(key), list) for key in ("semantic_models", "metrics"))
    models = document.get("models")
    inside = isinstance(models, list) and any(
        isinstance(model, dict) and model.get("semantic_model") for model in models
    )
    return singular or inside or (plural and "tables" not in document)


def import_(files: Sequence[Foreign], draft: ContextDraft) -> None:
    """Write the semantic models and metrics of all *files* into *draft*: they speak of each other."""
    layer = Layer(draft)
    for file in files:
        for document in file.mappings:
            _document(layer, document, f"{file.path}: ")
    layer.write()


def _document(layer: Layer, document: dict[str, Any], at: str) -> None:
    draft = layer.draft
    for where, model in _each(draft, document, "semantic_model", at):
        layer.model(where, model, _table_of(model))
    for where, metric in _each(draft, document, "metric", at):
        layer.metric(where, metric)
    for where, model in draft.mappings(document.get("models"), f"{at}models"):
        if model.get("semantic_model"):
            inside(layer, where, model, (None, model.get("name")))
    for where, _ in _each(draft, document, "saved_query", at, "saved_queries"):
        draft.drop(where, "a saved query is no question, and nobody is named who verified it")
    known = ("version", "semantic_model", "semantic_models", "metric", "metrics", "models", "saved_query")
    draft.rest(document, (*known, "saved_queries"), at.rstrip(": "))


def _each(
    draft: ContextDraft, document: dict[str, Any], one: str, at: str, many: str | None = None
) -> list[tuple[str, dict[str, Any]]]:
    """What stands under `semantic_model:` or in the list of `semantic_models:`."""
    found = draft.mappings(document.get(many or f"{one}s"), f"{at}{many or f'{one}s'}")
    single = document.get(one)
    if isinstance(single, dict):
        found.append((f"{at}{one} `{single.get('name')}`", single))
    elif single is not None:
        draft.drop(f"{at}{one}", "it should be a mapping")
    return found


def _table_of(model: dict[str, Any]) -> tuple[Any, Any]:
    """Schema and table: of the built relation, or the name inside `ref('…')`."""
    relation = model.get("node_relation")
    if isinstance(relation, dict):
        schema = relation.get("schema_name")
        return None if isinstance(schema, str) and schema.startswith("$") else schema, relation.get("alias")
    found = _REF.match(str(model.get("model") or ""))
    return None, found[1] if found else None


def inside(layer: Layer, where: str, model: dict[str, Any], table: tuple[Any, Any]) -> None:
    """A semantic model that its dbt model declares: entities and dimensions on its columns, metrics beside them."""
    draft = layer.draft
    said = model["semantic_model"]
    if isinstance(said, dict) and said.get("enabled") is False:
        draft.drop(where, "its semantic model is switched off")
        return
    legacy: dict[str, Any] = {
        "name": (said.get("name") if isinstance(said, dict) else None) or model.get("name"),
        "description": model.get("description"),
        "defaults": {"agg_time_dimension": model.get("agg_time_dimension")},
        "primary_entity": model.get("primary_entity"),
        "entities": [],
        "dimensions": [],
    }
    for place, column in draft.mappings(model.get("columns"), f"{where}.columns"):
        _column(legacy, column, place, draft)
    derived = model.get("derived_semantics")
    if isinstance(derived, dict):
        for kind in ("entities", "dimensions"):
            legacy[kind] += [item for _, item in draft.mappings(derived.get(kind), f"{where}.derived_semantics.{kind}")]
    added = layer.model(where, legacy, table)
    for place, metric in draft.mappings(model.get("metrics"), f"{where}.metrics"):
        layer.metric(place, _as_legacy(metric), added)


def _column(legacy: dict[str, Any], column: dict[str, Any], where: str, draft: ContextDraft) -> None:
    name = column.get("name")
    for kind, plural in (("entity", "entities"), ("dimension", "dimensions")):
        said = column.get(kind)
        if said is None:
            continue
        part = dict(said) if isinstance(said, dict) else {"type": said}
        part.setdefault("name", name)
        part |= {"expr": name, "description": part.get("description") or column.get("description")}
        if kind == "dimension":
            part["type_params"] = {"time_granularity": column.get("granularity") or "day"}
        legacy[plural].append(part)
    if column.get("entity") is None and column.get("dimension") is None:
        draft.drop(where, "it is neither entity nor dimension")


def _as_legacy(metric: dict[str, Any]) -> dict[str, Any]:
    """A metric of the newer spec in the shape of the older: its parameters under `type_params`."""
    if "type_params" in metric:
        return metric
    moved = {key: metric[key] for key in _PARAMETERS if key in metric}
    if "input_metrics" in metric:
        moved["metrics"] = metric["input_metrics"]
    if "input_metric" in metric:
        moved["metric"] = metric["input_metric"]
    rest = {key: value for key, value in metric.items() if key not in (*_PARAMETERS, "input_metrics", "input_metric")}
    return {**rest, "type": metric.get("type") or "simple", "type_params": moved}


_PARAMETERS = (
    *("measure", "agg", "percentile", "agg_time_dimension", "non_additive_dimension", "fill_nulls_with"),
    *("join_to_timespine", "expr", "numerator", "denominator", "window", "grain_to_date", "period_agg"),
)
