"""Metrics of MetricFlow: what their measures, filters and inputs come to.

A metric whose filter, window or offset cannot be said is left behind whole: without it, it would be another number.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

from sqlglot import exp

from ci.importers.draft import ContextDraft, Record, identifier, listed, text, word, words
from ci.importers.semantic.model import GRAINS, Model
from ci.importers.sql import OURS, Unsayable, parsed, row_sql, said

_AGGREGATIONS = {"sum": "sum", "count": "count", "count_distinct": "count_distinct", "average": "avg", "avg": "avg"}
_AGGREGATIONS |= {"min": "min", "max": "max", "median": "median", "sum_boolean": "sum"}
_CALL = re.compile(r"\{\{\s*(Dimension|TimeDimension|Entity|Metric)\(\s*(.*?)\s*\)(?:\.grain\(\s*(.*?)\s*\))?\s*\}\}")
_SPAN = re.compile(r"(\d+)\s+(day|week|month|quarter|year)s?", re.IGNORECASE)
_WHY = {
    "label": "names that are only shown have no counterpart",
    "config": "settings of the source have no counterpart",
    "meta": "settings of the source have no counterpart",
    "join_to_timespine": "every period is shown where `fill_nulls_with` says what an empty one has",
    "period_agg": "a coarser period takes the value at its end",
}


class Metrics:
    """The metrics of one layer, written in the order in which they need each other."""

    def __init__(self, draft: ContextDraft, models: Mapping[str, Model]) -> None:
        self.draft, self.models = draft, models
        self._asked: dict[str, tuple[str, dict[str, Any], Model | None]] = {}

    def take(self, where: str, metric: dict[str, Any], model: Model | None) -> None:
        """Remember a metric. Of two with one name the first counts."""
        name = self.draft.name(metric.get("name"), where)
        if name is None:
            return
        if name in self._asked:
            self.draft.drop(where, f"`{name}` is there already")
            return
        self._asked[name] = where, metric, model

    def write(self) -> None:
        """All of them, and the measures that are metrics by themselves."""
        for model in self.models.values():
            for name, measure in model.measures.items():
                if measure.get("create_metric") is True and identifier(name) not in self._asked:
                    self.take(
                        measure["where"], {"name": name, "type": "simple", "type_params": {"measure": name}}, None
                    )
        for name, (where, metric, declared) in self._asked.items():
            try:
                record = self._record(name, metric, declared)
            except Unsayable as why:
                self.draft.drop(where, str(why))
                continue
            known = ("name", "description", "type", "type_params", "filter", "time_granularity", "agg_time_dimension")
            self.draft.rest(metric, (*known, *_OF_A_MANIFEST), where, _WHY)
            grain = word(metric.get("time_granularity"))
            if grain in GRAINS:
                record["time_granularity"] = grain
            elif grain:
                self.draft.drop(f"{where}.time_granularity", f"`{grain}`: the finest grain is the day")
            described = text(metric.get("description"))
            record["description"] = None if described == metric.get("name") else described
            record["synonyms"] = _label(metric, name)
            self.draft.add("metrics", record, where)
        used = {str(_measure(metric).get("name")) for _, metric, _ in self._asked.values()}
        for model in self.models.values():
            for name, measure in model.measures.items():
                if name not in used:
                    self.draft.drop(measure["where"], "no metric uses this measure")

    def _record(self, name: str, metric: dict[str, Any], model: Model | None) -> Record:
        params = metric.get("type_params")
        params = params if isinstance(params, dict) else {}
        match (word(metric.get("type")) or "simple").lower():
            case "simple":
                return self._simple(name, metric, params, model)
            case "ratio":
                return self._ratio(name, metric, params)
            case "derived":
                return self._derived(name, metric, params)
            case "cumulative":
                return self._cumulative(name, metric, params, model)
            case kind:
                raise Unsayable(f"a {kind} metric has no counterpart")

    # ---- simple

    def _simple(self, name: str, metric: dict[str, Any], params: dict[str, Any], model: Model | None) -> Record:
        used = _measure(metric)
        owner, measure = self._found(used, params, model)
        filters = [*_filters(metric.get("filter")), *_filters(used.get("filter"))]
        agg, expr = self._aggregated(measure, params)
        record: Record = {"name": name, "entity": owner.name, "agg": agg, "expr": expr}
        record["filter"] = self._conditions(filters, owner, qualified=False)
        time = identifier(measure.get("agg_time_dimension")) or owner.default_time
        if time is not None and time != owner.default_time:
            record["time_dimension"] = time
        fill = used.get("fill_nulls_with", params.get("fill_nulls_with"))
        if fill is not None:
            record["fill_nulls_with"] = fill
        elif used.get("join_to_timespine", params.get("join_to_timespine")):
            self.draft.drop(f"metric `{name}`.join_to_timespine", _WHY["join_to_timespine"])
        balance = measure.get("non_additive_dimension")
        if isinstance(balance, dict):
            record["non_additive_dimension"] = self._balance(balance, owner)
        return record

    def _found(self, used: dict[str, Any], params: dict[str, Any], model: Model | None) -> tuple[Model, dict[str, Any]]:
        """The measure and its model: by name, or written into the metric itself."""
        if params.get("agg") is not None and model is not None:
            return model, params
        named = word(used.get("name"))
        owners = [other for other in self.models.values() if named in other.measures]
        if len(owners) != 1:
            raise Unsayable(f"no semantic model has the measure `{named or ''}`")
        return owners[0], owners[0].measures[str(named)]

    def _aggregated(self, measure: dict[str, Any], params: dict[str, Any]) -> tuple[str, str]:
        asked = (word(measure.get("agg")) or "").lower()
        held = measure.get("agg_params")
        share = held.get("percentile") if isinstance(held, dict) else measure.get("percentile")
        agg = "median" if asked == "percentile" and share == 0.5 else _AGGREGATIONS.get(asked)
        if agg is None:
            raise Unsayable(
                f"the aggregation `{asked}`{f' of {share}' if share is not None else ''} has no counterpart"
            )
        written = measure.get("expr")
        expr = row_sql(str(written if written is not None else measure.get("name")), self.draft.dialect)
        return agg, f"CASE WHEN {expr} THEN 1 ELSE 0 END" if asked == "sum_boolean" else expr

    def _balance(self, balance: dict[str, Any], owner: Model) -> Record:
        name = identifier(balance.get("name"))
        if name not in owner.times:
            raise Unsayable("it does not say over which time it is no sum")
        groups = []
        for entity in words(balance.get("window_groupings") or []):
            key = owner.keys.get(entity)
            if key is None and entity in owner.dims:
                groups.append(entity)
                continue
            if key is None:
                raise Unsayable(f"`{entity}` is no entity of `{owner.name}`")
            column = next((dim for dim, expr in owner.dims.items() if expr == key[1]), None)
            if column is None:
                column = identifier(key[1]) or entity
                owner.dims[column] = key[1]
                owner.record.setdefault("dimensions", []).append(
                    {"name": column} if column == key[1] else {"name": column, "expr": key[1]}
                )
            groups.append(column)
        choice = (word(balance.get("window_choice")) or "min").lower()
        record: Record = {"name": name, "window_choice": choice}
        return {**record, "window_groupings": groups} if groups else record

    # ---- made of others

    def _ratio(self, name: str, metric: dict[str, Any], params: dict[str, Any]) -> Record:
        shared = _filters(metric.get("filter"))
        halves = {}
        for half in ("numerator", "denominator"):
            given = _input(params.get(half))
            if given.get("offset_window") or given.get("offset_to_grain"):
                raise Unsayable("a half of a ratio cannot be shifted in time")
            halves[half] = self._narrowed(given, shared, f"{name}_{half}")
        return {"name": name, "type": "ratio", **halves}

    def _narrowed(self, given: dict[str, Any], shared: list[str], helper: str) -> str:
        """The metric of an input; with a filter of its own, a new metric that has it."""
        known, filters = self._input_name(given), [*_filters(given.get("filter")), *shared]
        if not filters:
            return known
        _, metric, model = self._asked[known]
        merged = {**metric, "name": helper, "filter": [*_filters(metric.get("filter")), *filters]}
        if (word(metric.get("type")) or "simple").lower() not in ("simple", "ratio", "derived"):
            raise Unsayable(f"`{known}` cannot be narrowed by a filter")
        free = identifier(given.get("alias")) or helper
        name = free if free not in self._asked and free not in self.draft.records["metrics"] else helper
        if name not in self.draft.records["metrics"]:
            self.draft.add("metrics", self._record(name, merged, model), f"metric `{helper}`")
        return name

    def _derived(self, name: str, metric: dict[str, Any], params: dict[str, Any]) -> Record:
        shared = _filters(metric.get("filter"))
        inputs: list[Any] = []
        held = params.get("metrics")
        for i, raw in enumerate(held if isinstance(held, list) else []):
            given = _input(raw)
            if given.get("offset_to_grain"):
                raise Unsayable("`offset_to_grain` has no counterpart")
            known = self._narrowed(given, shared, f"{name}_input_{i + 1}")
            alias = identifier(given.get("alias"))
            part: Record = {"name": known}
            if alias is not None and alias != known:
                part["alias"] = alias
            elif alias is None and known != self._input_name(given):
                part["alias"] = self._input_name(given)
            if given.get("offset_window"):
                part["offset_window"] = _span(given["offset_window"])
            inputs.append(part if len(part) > 1 else known)
        expr = row_sql(str(params.get("expr") or ""), OURS)
        names = {part if isinstance(part, str) else part.get("alias", part["name"]) for part in inputs}
        for column in parsed(expr, OURS).find_all(exp.Column):
            if column.name not in names:
                raise Unsayable(f"its `expr` speaks of `{column.name}`, which is none of its metrics")
        return {"name": name, "type": "derived", "expr": expr, "metrics": inputs}

    def _input_name(self, given: dict[str, Any]) -> str:
        name = identifier(given.get("name"))
        if name is None or name not in self._asked:
            raise Unsayable(f"it is made of `{word(given.get('name')) or ''}`, which is no metric")
        return name

    def _cumulative(self, name: str, metric: dict[str, Any], params: dict[str, Any], model: Model | None) -> Record:
        more = params.get("cumulative_type_params")
        more = {**params, **{k: v for k, v in more.items() if v is not None}} if isinstance(more, dict) else params
        record: Record = {"name": name, "type": "cumulative"}
        if more.get("metric"):
            record["metric"] = self._narrowed(_input(more["metric"]), _filters(metric.get("filter")), f"{name}_of")
        else:
            record["metric"] = self._of_measure(name, metric, model)
        if more.get("window"):
            record["window"] = _span(more["window"])
        if more.get("grain_to_date"):
            grain = (word(more["grain_to_date"]) or "").lower()
            if grain not in GRAINS:
                raise Unsayable(f"`grain_to_date: {grain}` is finer than a day")
            record["grain_to_date"] = grain
        if more.get("period_agg") not in (None, "last"):
            self.draft.drop(f"metric `{name}`.period_agg", _WHY["period_agg"])
        return record

    def _of_measure(self, name: str, metric: dict[str, Any], model: Model | None) -> str:
        """A simple metric of the measure that is added up: one that is there, or a new one."""
        used = _measure(metric)
        if not _filters(metric.get("filter")) and not _filters(used.get("filter")):
            for other, (_, known, _) in self._asked.items():
                plain = _measure(known)
                is_simple = (word(known.get("type")) or "simple").lower() == "simple"
                if is_simple and plain == {"name": used.get("name")} and not known.get("filter"):
                    return other
        helper = f"{name}_of"
        made = {**metric, "name": helper, "type": "simple"}
        self.draft.add("metrics", self._record(helper, made, model), f"metric `{name}`")
        return helper

    # ---- filters

    def _conditions(self, filters: list[str], owner: Model, qualified: bool) -> str | None:
        found = [self._condition(written, owner, qualified) for written in filters]
        if len(found) < 2:
            return found[0] if found else None
        return said(exp.and_(*(parsed(text_, OURS) for text_ in found)))

    def _condition(self, written: str, owner: Model, qualified: bool) -> str:
        def replaced(call: re.Match[str]) -> str:
            arguments = re.findall(r"'([^']*)'|\"([^\"]*)\"", call[2])
            names = [one or other for one, other in arguments]
            if not names or call[1] == "Metric":
                raise Unsayable("its filter looks at another metric")
            grain = re.sub(r"\W", "", call[3] or "") or (names[1] if len(names) > 1 else None)
            inner = self._reference(names[0], owner, qualified)
            if call[1] == "TimeDimension" and grain and grain not in ("day",):
                return f"date_trunc('{re.sub(r'[^a-z]', '', grain)}', {inner})"
            return inner

        return row_sql(_CALL.sub(replaced, written), self.draft.dialect)

    def _reference(self, path: str, owner: Model, qualified: bool) -> str:
        """The SQL of `listing__country`, seen from the model *owner*."""
        *links, last = path.split("__")
        if path == "metric_time":
            if owner.default_time is None:
                raise Unsayable(f"`{owner.name}` has no time of its own")
            return owner.dims.get(owner.default_time, owner.default_time)
        if not links and last in owner.keys:
            return owner.keys[last][1]
        if (not links or links[-1] == owner.primary) and last in owner.dims:
            return f"({owner.dims[last]})" if " " in owner.dims[last] else owner.dims[last]
        reached = [
            model
            for model in self.models.values()
            if links and model.keys.get(links[-1], ("", ""))[0] in ("primary", "unique") and last in model.dims
        ]
        if len(reached) != 1:
            raise Unsayable(f"its filter reads `{path}`, which is {'no' if not reached else 'more than one'} dimension")
        tree = parsed(reached[0].dims[last], OURS)
        for column in list(tree.find_all(exp.Column)):
            column.set("table", exp.to_identifier(reached[0].name))
        return f"({said(tree)})" if isinstance(tree, exp.Binary) else said(tree)


def _measure(metric: dict[str, Any]) -> dict[str, Any]:
    """The measure that a metric names, whichever way it is written, without what says nothing."""
    params = metric.get("type_params")
    used = params.get("measure") if isinstance(params, dict) else None
    if isinstance(used, dict):
        return {key: value for key, value in used.items() if value is not None and value is not False}
    return {"name": used} if used is not None else {}


def _input(given: Any) -> dict[str, Any]:
    return given if isinstance(given, dict) else {"name": given}


def _filters(given: Any) -> list[str]:
    """The conditions of a filter: text, a list of texts, or the way a manifest writes them."""
    if isinstance(given, dict):
        given = [
            item.get("where_sql_template") for item in listed(given.get("where_filters")) if isinstance(item, dict)
        ]
    if isinstance(given, str):
        return [given] if given.strip() else []
    found = given if isinstance(given, list) else []
    if not all(isinstance(item, str) for item in found):
        raise Unsayable("its filter is no text")
    return found


def _span(given: Any) -> str:
    """`14 days` or `{count: 14, granularity: day}` as `14 days`."""
    if isinstance(given, dict):
        given = f"{given.get('count')} {given.get('granularity')}"
    found = _SPAN.fullmatch(word(given) or "")
    if found is None:
        raise Unsayable(f"`{word(given) or ''}` is no span of whole days, weeks, months, quarters or years")
    return f"{int(found[1])} {found[2].lower()}{'s' if int(found[1]) != 1 else ''}"


def _label(metric: dict[str, Any], name: str) -> list[str]:
    found = words([metric["label"]]) if metric.get("label") else []
    return [one for one in found if one.casefold() != name.replace("_", " ").casefold()]


_OF_A_MANIFEST = frozenset(
    ("resource_type", "package_name", "path", "original_file_path", "unique_id", "fqn", "label", "refs")
) | frozenset(("unrendered_config", "sources", "depends_on", "metrics", "created_at", "tags", "config", "metadata"))
