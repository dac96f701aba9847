"""LookML: views are entities, measures are metrics, the joins of explores are relationships.

The parser is the extra `lookml`, imported when a file is read. What Liquid would fill in is left behind.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Any

from sqlglot import exp

from bylaw.errors import UsageError
from ci.importers.draft import ContextDraft, Record, identifier, is_name, listed, text, values, word, words
from ci.importers.semantic.foreign import Foreign
from ci.importers.semantic.looker_filters import KINDS, Kind, condition
from ci.importers.semantic.looker_views import as_extended, named_views
from ci.importers.sql import OURS, Unsayable, is_column, parsed, row_sql, said

_AGGREGATIONS = {"sum": "sum", "average": "avg", "min": "min", "max": "max", "median": "median", "count": "count"}
_AGGREGATIONS |= {"count_distinct": "count_distinct"}
_TYPES = ("many_to_one", "one_to_one", "one_to_many", "many_to_many")
_FIELD = re.compile(r"\$\{\s*([\w.]+)\s*\}")
_JOIN = re.compile(r"\$\{\s*(\w+)\.(\w+)\s*\}\s*=\s*\$\{\s*(\w+)\.(\w+)\s*\}")
_FORMATS = {"usd": "currency", "eur": "currency", "gbp": "currency", "percent": "percent", "decimal_0": "integer"}
_SHOWN = frozenset(
    ("drill_fields", "html", "link", "links", "order_by_field", "group_label", "view_label", "can_filter")
)
_WHY = dict.fromkeys((*_SHOWN, "value_format", "value_format_name", "hidden"), "how it is shown has no counterpart")
_WHY |= {"sql_always_where": "a condition of one explore; as a filter `apply: always` it would hold everywhere"}
_WHY |= {"always_filter": "a condition of one explore; as a filter `apply: always` it would hold everywhere"}
_ROWS = "which rows a person may see is declared as `rows` of a role in rules/roles.yaml: until then they see all"
_WHY |= dict.fromkeys(("access_filters", "required_access_grants", "access_grants"), _ROWS)
_WHY |= {"sql_where": _WHY["always_filter"], "required_joins": "each join here stands for itself"}
_BASIC = ("name", "type", "sql", "description", "label", "primary_key", "suggestions", "tags", "synonyms")


def claims(file: Foreign) -> bool:
    """LookML has a suffix of its own."""
    return file.path.endswith(".lkml")


def import_(files: Sequence[Foreign], draft: ContextDraft) -> None:
    """Write the views and explores of all *files* into *draft*. Raises UsageError without the extra."""
    try:
        import lkml
    except ImportError:
        raise UsageError("LookML is read by the extra `lookml`", "install `bylaw-policies[lookml]`") from None
    project = _Project(draft)
    held: list[tuple[str, dict[str, Any]]] = []
    for file in files:
        if not claims(file):
            continue
        try:
            found = lkml.load(file.text)
        except (SyntaxError, RecursionError, ValueError, TypeError, KeyError, IndexError, AttributeError) as problem:
            line = str(problem).splitlines()[0][:200] if str(problem) else "no reason given"
            raise UsageError(f"`{file.path}` is no valid LookML: {line}") from None
        held.append((f"{file.path}: ", found if isinstance(found, dict) else {}))
    known_views = named_views(data for _, data in held)
    for at, data in held:
        project.views(at, data, known_views)
    for at, data in held:
        project.explores(at, data)
        known = ("views", "explores", "includes", "connection", "label", "datagroups", "persist_with")
        draft.rest(data, known, at.rstrip(": "), _WHY)
    project.write()


class _Project:
    """Every view with the SQL of its dimensions; measures are written when all views are known."""

    def __init__(self, draft: ContextDraft) -> None:
        self.draft = draft
        self.entities: dict[str, tuple[str, Record]] = {}
        self.fields: dict[str, dict[str, str]] = {}  # view -> dimension -> SQL as it is written there
        self.kinds: dict[str, dict[str, Kind]] = {}  # view -> dimension -> what a filter on it compares
        self.measures: dict[str, list[tuple[str, dict[str, Any]]]] = {}

    # ---- views

    def views(self, at: str, data: dict[str, Any], known_views: Mapping[str, dict[str, Any]]) -> None:
        draft = self.draft
        for where, own in draft.mappings(data.get("views"), f"{at}views"):
            said_, view = str(own.get("name")), as_extended(own, known_views)
            name = draft.name(said_, where)
            if name is None:
                continue
            if said_.startswith("+") or view.get("derived_table"):
                why = "a refinement" if said_.startswith("+") else "a query"
                draft.drop(where, f"it is {why} and no table of its own")
                continue
            if view.get("extension") == "required":
                draft.drop(where, "it is there to be extended: its fields are in the views that extend it")
                continue
            parts = [part.strip('"`') for part in (word(view.get("sql_table_name")) or name).split(".")]
            if not all(map(is_name, parts)) or len(parts) > 3:
                draft.drop(where, "its `sql_table_name` is no plain table")
                continue
            base = draft.base_table(parts[-2] if len(parts) > 1 else None, parts[-1], where)
            record: Record = {"name": name, "description": text(view.get("description")), "base_table": base}
            record["synonyms"] = words([view["label"]]) if view.get("label") else []
            if name in self.entities:
                draft.drop(where, f"`{name}` is there already")
                continue
            self.entities[name] = where, record
            self._fields(name, view)
            for kind in ("dimensions", "dimension_groups"):
                for place, dimension in draft.mappings(view.get(kind), f"{where}.{kind}"):
                    self._dimension(record, place, dimension, kind == "dimension_groups")
            self.measures[name] = draft.mappings(view.get("measures"), f"{where}.measures")
            known = ("name", "sql_table_name", "description", "label", "dimensions", "dimension_groups", "measures")
            draft.rest(own, (*known, "sets", "extends__all"), where, _WHY)

    def _fields(self, name: str, view: dict[str, Any]) -> None:
        found = self.fields[name] = {}
        self.kinds[name] = {}
        for kind in ("dimensions", "dimension_groups"):
            held = view.get(kind)
            for dimension in held if isinstance(held, list) else []:
                field = dimension.get("name") if isinstance(dimension, dict) else None
                if isinstance(field, str):
                    said_ = str(dimension.get("type")).lower()
                    meant: Kind = "date" if kind == "dimension_groups" else KINDS.get(said_, "string")
                    found[field], self.kinds[name][field] = str(dimension.get("sql") or f"${{TABLE}}.{field}"), meant
                    for frame in listed(dimension.get("timeframes")) if kind == "dimension_groups" else []:
                        found[f"{field}_{frame}"], self.kinds[name][f"{field}_{frame}"] = found[field], meant

    def _dimension(self, record: Record, where: str, dimension: dict[str, Any], is_group: bool) -> None:
        draft, kind = self.draft, (word(dimension.get("type")) or "string").lower()
        name = draft.name(dimension.get("name"), where)
        if name is None:
            return
        if kind in ("tier", "bin", "duration", "location", "distance", "zipcode") or dimension.get("case"):
            draft.drop(
                where, f"a dimension of the type `{'case' if dimension.get('case') else kind}` has no counterpart"
            )
            return
        try:
            expr = self.sql(str(dimension.get("sql") or f"${{TABLE}}.{dimension.get('name')}"), record["name"], 0)
        except Unsayable as why:
            draft.drop(where, str(why))
            return
        part: Record = {"name": name, "expr": None if expr == name else expr}
        part |= {"description": text(dimension.get("description"))}
        part["synonyms"] = words([dimension["label"]]) if dimension.get("label") else []
        section = "dimensions"
        if is_group or kind in ("date", "time", "date_time"):
            section = "time_dimensions"
        else:
            part["data_type"] = {"yesno": "boolean", "number": "number", "string": None}.get(kind)
            part["sample_values"] = values(dimension.get("suggestions"))
        if dimension.get("primary_key") == "yes":
            if is_column(expr):
                record["primary_key"] = {"columns": [expr]}
            else:
                draft.drop(f"{where}.primary_key", "a key is made of plain columns")
        if any(tag.lower() == "pii" for tag in words(dimension.get("tags") or [])) and is_column(expr):
            record.setdefault("pii", []).append(expr)
        record.setdefault(section, []).append({key: value for key, value in part.items() if value not in (None, [])})
        known = (*_BASIC, "timeframes", "convert_tz", "datatype")
        draft.rest(dimension, known, where, _WHY)

    def sql(self, written: str, view: str, depth: int) -> str:
        """*written* with `${TABLE}` and the fields that it names replaced by the SQL behind them."""
        if depth > 8:
            raise Unsayable("its fields refer to each other in a circle")

        def replaced(found: re.Match[str]) -> str:
            if found[1] == "TABLE":
                return view
            owner, _, field = found[1].rpartition(".")
            owner = owner or view
            inner = self.fields.get(owner, {}).get(field)
            if inner is None:
                raise Unsayable(f"it reads `{found[1]}`, which is no dimension that was read")
            text_ = self.sql(inner, owner, depth + 1)
            if owner == view:
                return text_ if is_column(text_) else f"({text_})"
            tree = parsed(text_, OURS)
            for column in tree.find_all(exp.Column):
                if not column.table:
                    column.set("table", exp.to_identifier(owner))
            return said(tree) if is_column(text_) else f"({said(tree)})"

        filled = row_sql(_FIELD.sub(replaced, written), self.draft.dialect)
        tree = parsed(filled, OURS)
        own = [column for column in tree.find_all(exp.Column) if column.table == view]
        for column in own:
            column.set("table", None)
        return said(tree) if own else filled

    # ---- explores

    def explores(self, at: str, data: dict[str, Any]) -> None:
        for where, explore in self.draft.mappings(data.get("explores"), f"{at}explores"):
            base = word(explore.get("from")) or word(explore.get("view_name")) or word(explore.get("name")) or ""
            names = {word(explore.get("name")) or "": base}
            for place, join in self.draft.mappings(explore.get("joins"), f"{where}.joins"):
                names[str(join.get("name"))] = word(join.get("from")) or str(join.get("name"))
                self._join(place, join, base, names)
            known = ("name", "joins", "from", "view_name", "label", "description", "group_label")
            self.draft.rest(explore, known, where, _WHY)

    def _join(self, where: str, join: dict[str, Any], base: str, names: Mapping[str, str]) -> None:
        draft, target = self.draft, str(join.get("name"))
        kind = word(join.get("relationship")) or "many_to_one"
        sides = []
        if join.get("foreign_key"):
            key = self.entities.get(names[target], ("", {}))[1].get("primary_key", {}).get("columns", [])
            sides = [((base, str(join["foreign_key"])), (names[target], key[0]))] if len(key) == 1 else []
        else:
            for piece in re.split(r"(?i)\s+and\s+", (word(join.get("sql_on")) or "").rstrip("; ")):
                found = _JOIN.fullmatch(piece)
                if found is None:
                    sides = []
                    break
                one, two = (found[1], found[2]), (found[3], found[4])
                one, two = (two, one) if one[0] == target else (one, two)
                sides.append(((names.get(one[0], one[0]), one[1]), (names.get(two[0], two[0]), two[1])))
        lefts, rights = {left[0] for left, _ in sides}, {right[0] for _, right in sides}
        if len(lefts) != 1 or rights != {names[target]} or not (lefts | rights) <= set(self.entities):
            draft.drop(where, "it is no join of two views that were read over a plain column each")
            return
        pairs = []
        for left_side, right_side in sides:
            try:
                columns = [
                    self.sql(f"${{{field}}}", view, 0) if field in self.fields[view] else field
                    for view, field in (left_side, right_side)
                ]
            except Unsayable as why:
                draft.drop(where, str(why))
                return
            pairs.append(dict(zip(("left_column", "right_column"), columns, strict=True)))
        if kind not in _TYPES or not all(is_name(column) for pair in pairs for column in pair.values()):
            draft.drop(where, "it is no join over plain columns")
            return
        self._related(where, lefts.pop(), target, names[target], pairs, kind)
        known = ["name", "relationship", "sql_on", "foreign_key", "from", "view_label"]
        if join.get("type") in (None, "left_outer"):
            known.append("type")
        draft.rest(join, known, where, {**_WHY, "type": "rows without a partner are kept, as by a left outer join"})

    def _related(self, where: str, left: str, role: str, right: str, pairs: list[Record], kind: str) -> None:
        joined = self.entities[left][1].setdefault("relationships", [])
        name = identifier(f"{left}_to_{role}") or ""
        made: Record = {"name": name, "right_entity": right, "relationship_columns": pairs, "relationship_type": kind}
        same = [old for old in joined if old["name"] == name]
        if not same:
            joined.append({**made, **({"synonyms": [role.replace("_", " ")]} if role != right else {})})
        elif same[0]["relationship_columns"] != pairs or same[0]["relationship_type"] != kind:
            self.draft.drop(where, f"another explore joins `{left}` and `{role}` in another way")

    # ---- measures

    def write(self) -> None:
        """The metrics, then the entities. A measure's name belongs to its view: where two views share it, both do."""
        seen = [str(m.get("name")) for measures in self.measures.values() for _, m in measures]
        named: dict[tuple[str, str], str] = {}
        for view, measures in self.measures.items():
            for _, measure in measures:
                own = str(measure.get("name"))
                is_shared = seen.count(own) > 1 or own in ("count",)
                named[view, own] = identifier(f"{view}_{own}" if is_shared else own) or own
        for view, measures in self.measures.items():
            for where, measure in measures:
                try:
                    self._measure(view, where, measure, named)
                except Unsayable as why:
                    self.draft.drop(where, str(why))
        for where, record in self.entities.values():
            self.draft.add("entities", record, where)

    def _measure(self, view: str, where: str, measure: dict[str, Any], named: Mapping[tuple[str, str], str]) -> None:
        kind = (word(measure.get("type")) or "string").lower()
        record: Record = {"name": named[view, str(measure.get("name"))]}
        record["description"] = text(measure.get("description"))
        if kind == "number":
            record |= self._derived(str(measure.get("sql") or ""), view, named)
            if measure.get("filters__all") or measure.get("filters"):
                raise Unsayable("a measure made of others takes no filters")
        elif kind in _AGGREGATIONS:
            record |= {"entity": view, "agg": _AGGREGATIONS[kind]}
            if measure.get("sql"):
                record["expr"] = self.sql(str(measure["sql"]), view, 0)
            elif kind != "count":
                raise Unsayable(f"a measure of the type `{kind}` needs `sql`")
            record["filter"] = self._filters(measure, view)
        else:
            raise Unsayable(f"a measure of the type `{kind}` has no counterpart")
        record["synonyms"] = words([measure["label"]]) if measure.get("label") else []
        shown = (word(measure.get("value_format_name")) or "").lower()
        record["format"] = next((kind_ for start, kind_ in _FORMATS.items() if shown.startswith(start)), None)
        known = (*_BASIC, "filters__all", "filters", *(("value_format_name",) if record["format"] else ()))
        self.draft.rest(measure, known, where, _WHY)
        self.draft.add("metrics", record, where)

    def _derived(self, written: str, view: str, named: Mapping[tuple[str, str], str]) -> Record:
        used: list[str] = []

        def replaced(found: re.Match[str]) -> str:
            owner, _, field = found[1].rpartition(".")
            name = named.get((owner or view, field))
            if name is None:
                raise Unsayable(f"it computes with `{found[1]}`, which is no measure that was read")
            used.append(name)
            return name

        expr = row_sql(_FIELD.sub(replaced, written), self.draft.dialect)
        if not used:
            raise Unsayable("it adds nothing up that is a measure of its own")
        return {"type": "derived", "expr": expr, "metrics": list(dict.fromkeys(used))}

    def _filters(self, measure: dict[str, Any], view: str) -> str | None:
        conditions = []
        for held in listed(measure.get("filters__all")):
            for item in held if isinstance(held, list) else [held]:
                if not isinstance(item, dict):
                    raise Unsayable("its filter cannot be read")
                pairs = [(item["field"], item.get("value"))] if "field" in item else list(item.items())
                conditions += [self._condition(str(field), str(value), view) for field, value in pairs]
        if measure.get("filters") and not conditions:
            raise Unsayable("its filter cannot be read")
        return " AND ".join(conditions) if conditions else None

    def _condition(self, field: str, value: str, view: str) -> str:
        owner, _, name = field.rpartition(".")
        kind = self.kinds.get(owner or view, {}).get(name, "string")
        return condition(self.sql(f"${{{field}}}", view, 0), kind, value)
