"""A semantic layer of MetricFlow, from wherever it was read, as entities and metrics.

Semantic models are entities. Two that share an entity are joined by it: where it is foreign in one and primary or
unique in the other, many rows find one. A measure is what its metrics say of it; one that no metric uses is no number
that anybody agreed on.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

from ci.importers.draft import ContextDraft, Record, identifier, is_name, text, word, words
from ci.importers.semantic.measures import Metrics
from ci.importers.semantic.model import GRAINS, Model
from ci.importers.sql import Unsayable, is_column, row_sql

_WHY = {
    "type_params": "of its parameters only the grain has a counterpart",
    "measures": "a measure is carried over by the metrics that use it",
    "label": "names that are only shown have no counterpart",
    "is_partition": "partitions have no counterpart",
    "validity_params": "slowly changing rows have no counterpart",
}


class Layer:
    """Everything that was read. Metrics may speak of models that come later, so they are written last."""

    def __init__(self, draft: ContextDraft) -> None:
        self.draft = draft
        self.models: dict[str, Model] = {}
        self._metrics: list[tuple[str, dict[str, Any], Model | None]] = []

    def model(
        self, where: str, said: Mapping[str, Any], table: tuple[Any, Any], record: Record | None = None
    ) -> Model | None:
        """Take one semantic model over *table*; *record* is what is known of that table already."""
        draft = self.draft
        record = record or {}
        name = draft.name(said.get("name"), where)
        base = record.get("base_table") or draft.base_table(*table, where)
        if name is None or base is None or name in self.models:
            if name in self.models:
                draft.drop(where, f"`{name}` is there already")
            return None
        defaults = said.get("defaults")
        time = defaults.get("agg_time_dimension") if isinstance(defaults, dict) else None
        described = text(said.get("description"))
        described = None if described == said.get("name") else described
        own: Record = {**record, "name": name, "base_table": base}
        own["description"] = described or record.get("description")
        found = Model(name, where, own, identifier(time))
        self.models[name] = found
        for place, entity in draft.mappings(said.get("entities"), f"{where}.entities"):
            self._entity(found, place, entity)
        if said.get("primary_entity"):
            found.primary = str(said["primary_entity"])
        for place, dimension in draft.mappings(said.get("dimensions"), f"{where}.dimensions"):
            self._dimension(found, place, dimension)
        for place, measure in draft.mappings(said.get("measures"), f"{where}.measures"):
            self._measure(found, place, measure)
        return found

    def metric(self, where: str, said: dict[str, Any], model: Model | None = None) -> None:
        """Take one metric; *model* is where it was declared, in the newer spec."""
        self._metrics.append((where, said, model))

    def write(self) -> None:
        """Everything into the draft: joins, entities, metrics."""
        for model in self.models.values():
            self._join(model)
        metrics = Metrics(self.draft, self.models)
        for where, said, found in self._metrics:
            metrics.take(where, said, found)
        metrics.write()
        for model in self.models.values():
            self.draft.add("entities", model.record, model.where)

    # ---- one model

    def _entity(self, model: Model, where: str, said: dict[str, Any]) -> None:
        name, kind = word(said.get("name")), (word(said.get("type")) or "").lower()
        expr = word(said.get("expr")) or name
        if name is None or expr is None or kind not in ("primary", "unique", "foreign", "natural"):
            self.draft.drop(where, "it has no name, or no type that is known")
            return
        try:
            model.keys[name] = kind, row_sql(expr, self.draft.dialect)
        except Unsayable as why:
            self.draft.drop(where, str(why))
            return
        if kind == "natural":
            self.draft.drop(where, "a natural key is unique only at one time")
        if kind == "primary":
            model.primary = name
            if is_column(expr):
                model.record["primary_key"] = {"columns": [expr]}
        if kind == "unique" and is_column(expr):
            self._dimension(model, where, {"name": expr, "type": "categorical", "unique": True})
        self.draft.rest(said, ("name", "type", "expr", "description", "unique"), where, _WHY)

    def _dimension(self, model: Model, where: str, said: dict[str, Any]) -> None:
        draft = self.draft
        name = draft.name(said.get("name"), where)
        if name is None:
            return
        if name in model.dims:
            draft.drop(where, f"`{name}` is declared twice")
            return
        try:
            expr = row_sql(str(said.get("expr") or said.get("name")), draft.dialect)
        except Unsayable as why:
            draft.drop(where, str(why))
            return
        model.dims[name] = expr
        known = self._known(model.record, expr)
        part: Record = {"name": name, "expr": None if expr == name else expr, **known}
        part["description"] = text(said.get("description")) or known.get("description")
        part["synonyms"] = words([*known.get("synonyms", []), *([said["label"]] if said.get("label") else [])])
        if (word(said.get("type")) or "").lower() == "time":
            model.times.add(name)
            part |= {"time_granularity": self._grain(said, where), "default": name == model.default_time}
            section = "time_dimensions"
        else:
            part["unique"] = said.get("unique") is True or known.get("unique", False)
            section = "dimensions"
        for kind in ("dimensions", "time_dimensions", "facts"):
            held = [
                old for old in model.record.get(kind, []) if old.get("expr", old["name"]) != expr or kind == "facts"
            ]
            model.record[kind] = [old for old in held if old["name"] != name]
        order = {key: value for key, value in part.items() if value not in (None, [], False)}
        if section == "time_dimensions":
            order = {key: value for key, value in order.items() if key not in _OF_DIMENSIONS}
        model.record[section].append(order)
        draft.rest(said, ("name", "type", "expr", "description", "label", "type_params", "unique"), where, _WHY)

    def _known(self, record: Record, expr: str) -> Record:
        """What the table's own description says of that column."""
        for part in (*record.get("dimensions", []), *record.get("time_dimensions", [])):
            if part.get("expr", part["name"]) == expr:
                return {key: value for key, value in part.items() if key not in ("name", "expr")}
        return {}

    def _grain(self, said: dict[str, Any], where: str) -> str:
        params = said.get("type_params")
        grain = (word(params.get("time_granularity")) or "day").lower() if isinstance(params, dict) else "day"
        if grain not in GRAINS:
            self.draft.drop(f"{where}.time_granularity", f"`{grain}`: the finest grain is the day")
            return "day"
        return grain

    def _measure(self, model: Model, where: str, said: dict[str, Any]) -> None:
        name = word(said.get("name"))
        if name is None or name in model.measures:
            self.draft.drop(where, "it has no name, or one that is there already")
            return
        model.measures[name] = {**said, "where": where}

    # ---- joins

    def _join(self, model: Model) -> None:
        for entity, (kind, expr) in model.keys.items():
            if kind == "natural":
                continue
            targets = [
                (other, other.keys[entity][1])
                for other in self.models.values()
                if other is not model and other.keys.get(entity, ("", ""))[0] in ("primary", "unique")
            ]
            for other, theirs in targets:
                if not (is_column(expr) and is_column(theirs)):
                    self.draft.drop(f"{model.where}: entity `{entity}`", "it is joined by more than a plain column")
                    continue
                many = "many_to_one" if kind == "foreign" else "one_to_one"
                name = f"{model.name}_to_{other.name}"
                joined = model.record.setdefault("relationships", [])
                if any(old["name"] == name for old in joined):
                    name += f"_by_{re.sub(r'[^A-Za-z0-9_]', '_', entity)}"
                pairs = [{"left_column": expr, "right_column": theirs}]
                made = {"name": name[:100], "right_entity": other.name, "relationship_columns": pairs}
                said = [word(entity.replace("_", " "))] if kind == "foreign" else []
                joined.append({**made, "relationship_type": many, **({"synonyms": said} if said else {})})
            if kind == "foreign" and not targets:
                why = "no other model has it as its primary or unique key: no join was drafted"
                self.draft.drop(f"{model.where}: entity `{entity}`", why)
            if kind == "foreign" and not targets and is_name(expr) and expr not in model.dims:
                model.dims[expr] = expr
                model.record.setdefault("dimensions", []).append({"name": expr})


_OF_DIMENSIONS = frozenset(("unique", "is_enum", "sample_values"))
