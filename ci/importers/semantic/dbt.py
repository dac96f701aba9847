"""dbt's `manifest.json` (version 12 and its neighbours): models, seeds, snapshots and sources as entities.

Tests say what columns cannot: `unique` and `not_null` a key, `accepted_values` an enum, `relationships` a join, which
is many-to-one only where the other side is tested to be unique. Semantic models lie over the entity of their table.
A `catalog.json` in the same folder supplies the types of columns.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Mapping, Sequence
from pathlib import PurePosixPath
from typing import Any

from ci.importers.draft import ContextDraft, Record, identifier, is_name, listed, slug, text, values, word, words
from ci.importers.semantic.foreign import Foreign
from ci.importers.semantic.layer import Layer

TABLES = ("model", "seed", "snapshot")
_TEMPORAL = ("date", "datetime", "timestamp")
_NUMERIC = (
    "int",
    "bigint",
    "smallint",
    "tinyint",
    "hugeint",
    "number",
    "numeric",
    "decimal",
    "float",
    "double",
    "real",
)
_OWN_META = frozenset(("owner", "domain", "synonyms", "pii", "contains_pii"))
_NAMED = re.compile(r"""(?:ref|source)\(\s*['"]([^'"]+)['"](?:\s*,\s*['"]([^'"]+)['"])?""")
_VERSION = re.compile(r"/manifest/v(\d+)\.json$")


def claims(file: Foreign) -> bool:
    """Does it call itself a manifest of dbt?"""
    return any(_version(document) is not None for document in file.mappings)


def _version(document: dict[str, Any]) -> int | None:
    metadata = document.get("metadata")
    found = _VERSION.search(str(metadata.get("dbt_schema_version"))) if isinstance(metadata, dict) else None
    return int(found[1]) if found else None


def import_(files: Sequence[Foreign], draft: ContextDraft) -> None:
    """Write the first manifest of *files* into *draft*: the one highest up, which is the whole project's."""
    manifests = sorted((file for file in files if claims(file)), key=lambda file: (file.path.count("/"), file.path))
    for other in manifests[1:]:
        draft.drop(other.path, f"`{manifests[0].path}` is the manifest that counts")
    folder = PurePosixPath(manifests[0].path).parent
    catalog = next((file for file in files if PurePosixPath(file.path) == folder / "catalog.json"), None)
    _Manifest(manifests[0], catalog, draft).write()


class _Manifest:
    """One manifest. `entities`: the record of each node by its unique id."""

    def __init__(self, file: Foreign, catalog: Foreign | None, draft: ContextDraft) -> None:
        self.data = file.mappings[0]
        self.at = f"{file.path}: "
        self.draft = draft
        if draft.dialect is None:
            adapter = word(self._mapping(self.data, "metadata").get("adapter_type"))
            draft.dialect = adapter if adapter in ("bigquery", "databricks", "duckdb", "postgres", "redshift") else None
            draft.dialect = adapter if adapter in ("snowflake", "spark", "trino", "tsql") else draft.dialect
        self.catalog = catalog.mappings[0] if catalog and catalog.mappings else {}
        self.entities: dict[str, Record] = {}
        self.unique: dict[str, set[str]] = defaultdict(set)
        self.filled: dict[str, set[str]] = defaultdict(set)

    def write(self) -> None:
        version = _version(self.data)
        if version is not None and not 9 <= version <= 13:
            self.draft.drop(f"{self.at}metadata", f"version {version} of the manifest is read as if it were 12")
        nodes = {id: node for id, node in self._nodes("nodes") if node.get("resource_type") in TABLES}
        for id, node in [*nodes.items(), *self._nodes("sources")]:
            self._table(id, node)
        for id, node in self._nodes("nodes"):
            if node.get("resource_type") == "test":
                self._test(id, node)
        for id, record in self.entities.items():
            self._key(id, record, self._mapping(self.data, "nodes").get(id) or {})
            self._lineage(id, record, nodes.get(id) or {})
        for id, node in self._nodes("nodes"):
            if node.get("resource_type") == "test" and _test_name(node) == "relationships":
                self._relationship(id, node)
        self._semantics()
        for id, exposure in self._nodes("exposures"):
            self._exposure(id, exposure)
        for section in ("saved_queries", "unit_tests"):
            for id, _ in self._nodes(section):
                self.draft.drop(f"{self.at}{id}", "it has no counterpart in context/")

    def _nodes(self, section: str) -> list[tuple[str, dict[str, Any]]]:
        found = []
        for id, node in sorted(self._mapping(self.data, section).items()):
            if isinstance(node, dict):
                found.append((id, node))
            else:
                self.draft.drop(f"{self.at}{section}.{id}", "it should be a mapping")
        return found

    def _mapping(self, source: Any, key: str) -> dict[str, Any]:
        found = source.get(key) if isinstance(source, dict) else None
        return found if isinstance(found, dict) else {}

    # ---- tables

    def _table(self, id: str, node: dict[str, Any]) -> None:
        where = f"{self.at}{id}"
        is_source = node.get("resource_type") == "source"
        config = self._mapping(node, "config")
        columns = self._mapping(node, "columns")
        if config.get("materialized") == "ephemeral":
            self.draft.drop(where, "it is ephemeral: no table is behind it")
            return
        loaded = self._freshness(node, where)
        if is_source and not columns and loaded is None:
            self.draft.drop(where, "neither its columns nor its freshness are described")
            return
        said = f"{node.get('source_name')}_{node.get('name')}" if is_source else node.get("name")
        if node.get("version") is not None and not is_source:
            said = f"{said}_v{node['version']}"
        name = self.draft.name(said, where)
        table = node.get("identifier") if is_source else node.get("alias")
        base = self.draft.base_table(node.get("schema"), table or node.get("name"), where)
        if name is None or base is None:
            return
        meta = {**self._mapping(config, "meta"), **self._mapping(node, "meta")}
        record: Record = {"name": name, "description": text(node.get("description")), "base_table": base}
        record |= {"domain": word(meta.get("domain")), "owner": word(meta.get("owner")) or self._group_owner(node)}
        record |= {"tags": words(node.get("tags") or []), "synonyms": words(meta.get("synonyms") or [])}
        record["freshness"] = loaded
        self.draft.rest(meta, _OWN_META, f"{where}.meta")
        for column in columns.values():
            if isinstance(column, dict):
                self._column(id, record, column, where)
        self.entities[id] = record

    def _group_owner(self, node: dict[str, Any]) -> str | None:
        groups = self._mapping(self.data, "groups").values()
        group = next((g for g in groups if isinstance(g, dict) and g.get("name") == node.get("group")), None)
        owner = self._mapping(group, "owner")
        return word(owner.get("name")) or word(owner.get("email")) if node.get("group") else None

    def _column(self, id: str, record: Record, column: dict[str, Any], where: str) -> None:
        place = f"{where}.columns.{column.get('name')}"
        name = self.draft.name(column.get("name"), place)
        if name is None:
            return
        meta = {**self._mapping(self._mapping(column, "config"), "meta"), **self._mapping(column, "meta")}
        tags = words(column.get("tags") or [])
        typed = (word(column.get("data_type")) or self._typed(id, name) or "").lower()
        expr = name if name == column.get("name") else f'"{str(column.get("name")).replace(chr(34), chr(34) * 2)}"'
        part: Record = {"name": name, "expr": None if expr == name else expr}
        part |= {"description": text(column.get("description")), "data_type": typed or None}
        part["synonyms"] = words(meta.get("synonyms") or [])
        is_number = typed.startswith(_NUMERIC) and name.casefold() != "id" and not name.casefold().endswith("_id")
        section = "time_dimensions" if typed.startswith(_TEMPORAL) else "facts" if is_number else "dimensions"
        record.setdefault(section, []).append({key: value for key, value in part.items() if value not in (None, [])})
        if meta.get("pii") is True or meta.get("contains_pii") is True or any(tag.lower() == "pii" for tag in tags):
            record.setdefault("pii", []).append(name)
        for constraint in listed(column.get("constraints")):
            kind = constraint.get("type") if isinstance(constraint, dict) else None
            if kind in ("unique", "primary_key"):
                self.unique[id].add(name)
            if kind in ("not_null", "primary_key"):
                self.filled[id].add(name)
        self.draft.rest(meta, _OWN_META, f"{place}.meta")
        if other := [tag for tag in tags if tag.lower() != "pii"]:
            self.draft.drop(f"{place}.tags", f"tags are of entities, not of columns: {', '.join(other)}")

    def _typed(self, id: str, name: str) -> str | None:
        """The type of a column in `catalog.json`."""
        for section in ("nodes", "sources"):
            columns = self._mapping(self._mapping(self._mapping(self.catalog, section), id), "columns")
            for column, held in columns.items():
                if column.casefold() == name.casefold() and isinstance(held, dict):
                    return word(held.get("type"))
        return None

    def _freshness(self, node: dict[str, Any], where: str) -> Record | None:
        column, freshness = node.get("loaded_at_field"), self._mapping(node, "freshness")
        for level in ("error_after", "warn_after"):
            after = self._mapping(freshness, level)
            count, period = after.get("count"), word(after.get("period"))
            if isinstance(count, int) and period in ("minute", "hour", "day"):
                if not is_name(column):
                    self.draft.drop(f"{where}.freshness", "no plain column says when a row was loaded")
                    return None
                if freshness.get("filter"):
                    self.draft.drop(f"{where}.freshness.filter", "freshness is measured over all rows")
                return {"as_of_column": column, "max_age": f"{count} {period}{'s' if count != 1 else ''}"}
        return None

    # ---- tests

    def _test(self, id: str, node: dict[str, Any]) -> None:
        where, name, kwargs = f"{self.at}{id}", _test_name(node), self._kwargs(node)
        owner, column = self._tested(node), identifier(kwargs.get("column_name") or node.get("column_name"))
        if owner is None or name == "relationships":
            if owner is None:
                self.draft.drop(where, "the table that it tests was not carried over")
            return
        if self._mapping(node, "config").get("where"):
            self.draft.drop(where, "it tests only some of the rows (`where`)")
            return
        record = self.entities[owner]
        if name == "unique" and column:
            self.unique[owner].add(column)
        elif name == "not_null" and column:
            self.filled[owner].add(column)
        elif name == "accepted_values" and column:
            self._enum(record, column, kwargs, where)
        elif name == "unique_combination_of_columns" and _names(kwargs.get("combination_of_columns")):
            record.setdefault("primary_key", {"columns": kwargs["combination_of_columns"]})
        else:
            self.draft.drop(where, f"the test `{name or 'of its own SQL'}` has no counterpart in context/")

    def _enum(self, record: Record, column: str, kwargs: dict[str, Any], where: str) -> None:
        for dimension in record.get("dimensions", []):
            if dimension["name"] == column and (found := values(kwargs.get("values"))):
                dimension |= {"is_enum": True, "sample_values": found}
                return
        if not any(
            part["name"] == column for section in ("facts", "time_dimensions") for part in record.get(section, [])
        ):
            record.setdefault("dimensions", []).append(
                {"name": column, "is_enum": True, "sample_values": values(kwargs.get("values"))}
            )
            return
        self.draft.drop(where, f"`{column}` is no dimension")

    def _kwargs(self, node: dict[str, Any]) -> dict[str, Any]:
        found = self._mapping(self._mapping(node, "test_metadata"), "kwargs")
        return {**found, **self._mapping(found, "arguments")}

    def _tested(self, node: dict[str, Any]) -> str | None:
        """The node that a test is about: named in newer manifests, before that the one that it depends on."""
        attached = node.get("attached_node")
        depends = self._mapping(node, "depends_on").get("nodes")
        last = depends[-1] if isinstance(depends, list) and depends else None
        return next((id for id in (attached, last) if isinstance(id, str) and id in self.entities), None)

    def _key(self, id: str, record: Record, node: dict[str, Any]) -> None:
        said = node.get("primary_key")
        constraints = [item for item in listed(node.get("constraints")) if isinstance(item, dict)]
        declared = next((item.get("columns") for item in constraints if item.get("type") == "primary_key"), None)
        both = [name for name in sorted(self.unique[id]) if name in self.filled[id]]
        first = sorted(both, key=lambda name: (not name.casefold().endswith("id"), name))[:1]
        for columns in (declared, first, said):
            if _names(columns) and "primary_key" not in record:
                record["primary_key"] = {"columns": columns}
        for dimension in record.get("dimensions", []):
            if dimension["name"] in self.unique[id]:
                dimension["unique"] = True
        key = record.get("primary_key", {}).get("columns", [])
        known = {part["name"] for section in _SECTIONS for part in record.get(section, [])}
        for name in sorted((self.unique[id] | set(key)) - known):
            record.setdefault("dimensions", []).append({"name": name, **({"unique": True} if [name] == key else {})})
        for name in sorted(self.filled[id] - set(key)):
            self.draft.drop(f"{self.at}{id}: not_null of `{name}`", "only keys are held to be filled")

    def _relationship(self, id: str, node: dict[str, Any]) -> None:
        where, kwargs = f"{self.at}{id}", self._kwargs(node)
        owner, right = self._tested(node), self._pointed(kwargs.get("to"))
        column, field = kwargs.get("column_name") or node.get("column_name"), kwargs.get("field")
        if owner is None or right is None or not is_name(column) or not is_name(field):
            self.draft.drop(where, "it joins a table that was not carried over, or more than plain columns")
            return
        target, record = self.entities[right], self.entities[owner]
        is_key = target.get("primary_key", {}).get("columns") == [field]
        kind = "many_to_one" if is_key or field in self.unique[right] else "many_to_many"
        if kind == "many_to_many":
            self.draft.drop(
                where, f"nothing says that `{field}` of `{target['name']}` is unique: no total is joined over it"
            )
        elif column in self.unique[owner]:
            kind = "one_to_one"
        joined = record.setdefault("relationships", [])
        name = f"{record['name']}_to_{target['name']}"
        name = name if all(old["name"] != name for old in joined) else f"{name}_by_{column}"
        made: Record = {"name": name[:100], "right_entity": target["name"]}
        made["relationship_columns"] = [{"left_column": column, "right_column": field}]
        joined.append({**made, "relationship_type": kind})

    def _pointed(self, said: Any) -> str | None:
        """The node of `ref('orders')` or `source('shop', 'orders')`."""
        found = _NAMED.search(str(said or ""))
        if found is None:
            return None
        last = found[2] or found[1]
        ends = (f".{found[1]}.{last}",) if "source(" in str(said) else (f".{last}",)
        return next((id for id in self.entities if id.endswith(ends)), None)

    # ---- lineage, semantic models, exposures

    def _lineage(self, id: str, record: Record, node: dict[str, Any]) -> None:
        parents = self._mapping(node, "depends_on").get("nodes")
        names = sorted({str(parent).rsplit(".", 1)[-1] for parent in parents}) if isinstance(parents, list) else []
        if names:
            built = f"Built from {', '.join(names)}."
            record["description"] = f"{record['description']}\n{built}" if record.get("description") else built

    def _semantics(self) -> None:
        """Semantic models take over the entity of their table; the rest are entities as they are."""
        layer, covered = Layer(self.draft), set()
        for id, model in self._nodes("semantic_models"):
            relation = self._mapping(model, "node_relation")
            table = relation.get("schema_name"), relation.get("alias")
            under = next((key for key, record in self.entities.items() if _is_over(record, table)), None)
            found = layer.model(f"{self.at}{id}", model, table, self.entities.get(under or ""))
            if found is not None and under is not None:
                covered.add(under)
                self._rename(self.entities[under]["name"], found.name)
                self.entities[under]["name"] = found.name
        for id, metric in self._nodes("metrics"):
            layer.metric(f"{self.at}{id}", metric)
        layer.write()
        for id, record in self.entities.items():
            if id not in covered:
                self.draft.add("entities", record, f"{self.at}{id}")

    def _rename(self, old: str, new: str) -> None:
        for record in self.entities.values():
            for joined in record.get("relationships", []):
                joined["right_entity"] = new if joined["right_entity"] == old else joined["right_entity"]

    def _exposure(self, id: str, exposure: dict[str, Any]) -> None:
        """A dashboard or an application that reads the tables: a guide to what it stands on, with its owner."""
        where, domain = f"{self.at}{id}", slug(exposure.get("name"))
        if domain is None:
            self.draft.drop(where, "it has no name that could be written here")
            return
        parents = self._mapping(exposure, "depends_on").get("nodes")
        parents = parents if isinstance(parents, list) else []
        names = [self.entities[key]["name"] for key in parents if key in self.entities]
        owner = self._mapping(exposure, "owner")
        kind, url = word(exposure.get("type")), word(exposure.get("url"))
        record: Record = {"domain": domain, "description": text(exposure.get("description"))}
        record["conventions"] = [f"A {kind}{f' at {url}' if url else ''} reads these tables."] if kind else []
        record |= {"entities": names, "owner": word(owner.get("name")) or word(owner.get("email"))}
        self.draft.add("guides", record, where)


_SECTIONS = ("dimensions", "time_dimensions", "facts")


def _test_name(node: Mapping[str, Any]) -> str | None:
    metadata = node.get("test_metadata")
    return word(metadata.get("name")) if isinstance(metadata, dict) else None


def _names(said: Any) -> bool:
    return isinstance(said, list) and bool(said) and all(map(is_name, said))


def _is_over(record: Record, table: tuple[Any, Any]) -> bool:
    return (record["base_table"]["schema"], record["base_table"]["table"]) == table
