"""Each format on small sources of our own: what becomes of them, and what is said to be left behind."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import duckdb
import pytest
import yaml

from bylaw.errors import UsageError
from ci.commands.imports import FORMATS
from ci.importers import registry
from ci.importers.draft import ContextDraft
from ci.importers.personal import hide_personal
from ci.importers.registry import IMPORTERS, drafted
from ci.importers.semantic import dbt
from ci.importers.semantic.foreign import Foreign
from ci.loading.commits.revision import Revision
from ci.loading.load import read
from tests.ci.importers.manifest import manifest

PII = read(Path(), [], Revision(), None).rules.pii
ROWS: list[dict[str, Any]] = yaml.safe_load(Path(__file__).with_name("sources.yaml").read_text(encoding="utf-8"))
REGISTRIES = {"pep", "kep", "rfc"}  # of decisions: test_registries.py


def written(folder: Path, files: dict[str, str]) -> Path:
    for name, text in files.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")
    return folder


def record(draft: ContextDraft, key: str) -> dict[str, Any]:
    section, _, name = key.partition("/")
    return draft.records[section][name]


def of_manifest(document: Any, catalog: Any = None) -> ContextDraft:
    draft = ContextDraft()
    files = [Foreign("manifest.json", (document,))]
    files += [Foreign("catalog.json", (catalog,))] if catalog else []
    dbt.import_(files, draft)
    hide_personal(draft, PII)
    draft.checked()
    return draft


def reasons(draft: ContextDraft) -> list[tuple[str, str]]:
    return [(one.where, one.why) for one in draft.dropped]


@pytest.mark.parametrize("row", ROWS, ids=lambda row: row["title"])
def test_a_source_becomes_these_records(row: dict[str, Any], tmp_path: Path) -> None:
    name, draft = drafted(written(tmp_path, row["files"]), "auto", "main", None)
    assert name == row["format"]
    for key, wanted in row["records"].items():
        found = record(draft, key)
        assert {field: found.get(field) for field in wanted} == wanted, key


@pytest.mark.parametrize("row", ROWS, ids=lambda row: row["title"])
def test_what_is_left_behind_is_said(row: dict[str, Any], tmp_path: Path) -> None:
    _, draft = drafted(written(tmp_path, row["files"]), row["format"], "main", None)
    for where, why in row["dropped"]:
        assert any(where in place and why in reason for place, reason in reasons(draft)), (where, why, reasons(draft))


@pytest.mark.parametrize("row", [row for row in ROWS if "guesses" in row], ids=lambda row: row["title"])
def test_what_a_name_alone_says_is_for_people_to_review(row: dict[str, Any], tmp_path: Path) -> None:
    _, draft = drafted(written(tmp_path, row["files"]), row["format"], "main", None)
    assert len(draft.guesses) == len(row["guesses"]), draft.guesses
    for wanted, guess in zip(row["guesses"], draft.guesses, strict=True):
        assert wanted in guess
    again = ContextDraft()
    again.records, again.origin = draft.records, draft.origin
    again.checked()
    assert again.guesses == [], "what is declared is not guessed again"


def test_every_format_has_a_row_and_is_offered() -> None:
    assert set(IMPORTERS) == {row["format"] for row in ROWS} | {"dbt"} | REGISTRIES == set(FORMATS) - {"auto"}


# ---- dbt


@pytest.mark.parametrize("version", [9, 11, 12, 13])
def test_a_manifest_and_its_neighbours(version: int) -> None:
    draft = of_manifest(manifest(version))
    assert set(draft.records["entities"]) == {"order_facts", "customers", "visits", "raw_orders"}


def test_a_manifest_of_another_time_is_read_and_said() -> None:
    assert any("version 20" in why for _, why in reasons(of_manifest(manifest(20))))


def test_a_model_has_its_owner_lineage_keys_and_types() -> None:
    orders = record(of_manifest(manifest()), "entities/order_facts")
    assert orders["description"] == "one orders\nBuilt from orders, stg_orders."
    assert (orders["owner"], orders["domain"], orders["tags"]) == ("Sales", "sales", ["daily"])
    assert orders["primary_key"] == {"columns": ["order_id"]}
    assert orders["facts"] == [{"name": "amount", "data_type": "numeric(9,2)"}]
    times = [{"name": "ordered_at", "data_type": "timestamp", "time_granularity": "day", "default": True}]
    assert orders["time_dimensions"] == times
    status = next(part for part in orders["dimensions"] if part["name"] == "status")
    assert status["sample_values"] == ["placed", "returned", True, 7]
    assert (status["is_enum"], status["synonyms"]) == (True, ["state"])


def test_a_relationship_is_many_to_one_only_where_the_other_side_is_tested() -> None:
    joined = {
        one["right_entity"]: one for one in record(of_manifest(manifest()), "entities/order_facts")["relationships"]
    }
    assert joined["customers"]["relationship_type"] == "many_to_one"
    assert joined["visits"]["relationship_type"] == "many_to_many"


def test_personal_columns_groups_and_odd_names() -> None:
    draft = of_manifest(manifest())
    customers = record(draft, "entities/customers")
    assert (customers["pii"], customers["owner"]) == (["email"], "crm@shop.example")
    assert {"name": "Page_Name", "expr": '"Page Name"'} in record(draft, "entities/visits")["dimensions"]


def test_a_source_has_its_freshness() -> None:
    raw = record(of_manifest(manifest()), "entities/raw_orders")
    assert raw["base_table"] == {"schema": "raw", "table": "ORDERS_V1"}
    assert raw["freshness"] == {"as_of_column": "loaded_at", "max_age": "1 day"}


def test_an_exposure_is_a_guide_with_its_owner() -> None:
    guide = record(of_manifest(manifest()), "guides/Weekly-board")
    assert guide["owner"] == "Ana"
    assert guide["conventions"] == ["A dashboard at https://bi.example/1 reads these tables."]


def test_a_semantic_model_lies_over_its_table_and_its_metric_has_the_filter() -> None:
    draft = of_manifest(manifest())
    assert "orders" not in draft.records["entities"]
    revenue = record(draft, "metrics/revenue")
    assert revenue == {
        "name": "revenue",
        "entity": "order_facts",
        "agg": "sum",
        "expr": "amount",
        "filter": "status = 'placed'",
    }


def test_the_types_of_a_catalog_are_taken() -> None:
    document = manifest()
    columns = {"VISITOR": {"type": "BIGINT"}, "page name": {"type": "text"}}
    draft = of_manifest(document, {"nodes": {"model.shop.visits": {"columns": columns}}})
    assert record(draft, "entities/visits")["facts"] == [{"name": "visitor", "data_type": "bigint"}]


def test_what_a_manifest_loses_is_said() -> None:
    said = reasons(of_manifest(manifest()))
    for where, why in (
        ("stg_orders", "ephemeral"),
        ("raw.silent", "neither its columns nor its freshness"),
        ("test.8", "only some of the rows"),
        ("test.7", "nothing says that `visitor`"),
        ("not_null of `status`", "only keys"),
        ("test.10", "`expression_is_true`"),
        ("meta.sla", "no place"),
        ("columns.status.tags", "not of columns"),
        ("saved_query.shop.q", "no counterpart"),
    ):
        assert any(where in place and why in reason for place, reason in said), (where, said)


def test_the_manifest_of_a_project_is_found_in_target(tmp_path: Path) -> None:
    files = {"target/manifest.json": json.dumps(manifest()), "models/schema.yml": "metrics: []\n"}
    assert drafted(written(tmp_path, files), "auto", "main", None)[0] == "dbt"


# ---- what is personal

PERSONAL = {
    "cortex": {"a.yaml": """
name: shop
tables:
  - name: people
    base_table: {schema: shop, table: people}
    dimensions:
      - {name: email, expr: EMAIL, data_type: TEXT, sample_values: [ana@shop.example]}
      - {name: first, expr: first_name, data_type: TEXT, sample_values: [Ana]}
      - {name: contact, expr: reach_me, data_type: TEXT, sample_values: [ana@shop.example, bo@shop.example]}
      - {name: email_confirmed, expr: email_confirmed, data_type: BOOLEAN}
      - {name: region, expr: region, data_type: TEXT, sample_values: [EU]}
"""},
    "ossie": {"a.yaml": """
version: "0.2.0.dev0"
semantic_model:
  - name: shop
    datasets:
      - name: people
        source: shop.people
        fields:
          - {name: email, expression: {dialects: [{dialect: ANSI_SQL, expression: email}]}, datatype: String}
"""},
    "metricflow": {"a.yml": """
semantic_models:
  - {name: people, model: ref('people'), dimensions: [{name: email, type: categorical}]}
"""},
    "lookml": {"a.lkml": """
view: people {
  sql_table_name: shop.people ;;
  dimension: email { suggestions: ["ana@shop.example"] sql: ${TABLE}.email ;; }
  dimension: region { sql: ${TABLE}.region ;; }
}
"""},
    "wren": {"mdl.json": json.dumps({
        "catalog": "c", "schema": "s",
        "models": [{"name": "people", "tableReference": {"schema": "shop", "table": "people"},
                    "columns": [{"name": "email", "type": "VARCHAR"}]}],
    })},
}  # fmt: skip


@pytest.mark.parametrize("format_", sorted(set(IMPORTERS) - {"dbt"} - REGISTRIES))
def test_an_address_arrives_as_personal_from_every_format(format_: str, tmp_path: Path) -> None:
    name, draft = drafted(written(tmp_path, PERSONAL[format_]), "auto", "main", None)
    assert name == format_
    assert record(draft, "entities/people")["pii"][0] == "email" or format_ == "cortex"
    assert "ana@shop" not in json.dumps(draft.records)


def test_of_a_manifest_of_dbt_too() -> None:
    document = manifest()
    columns = document["nodes"]["model.shop.visits"]["columns"]
    columns["phone"] = {"name": "phone", "description": "", "data_type": "text", "meta": {}, "tags": []}
    assert "phone" in record(of_manifest(document), "entities/visits")["pii"]


def test_no_value_of_a_personal_column_is_written(tmp_path: Path) -> None:
    _, draft = drafted(written(tmp_path, PERSONAL["cortex"]), "auto", "main", None)
    people = record(draft, "entities/people")
    assert people["pii"] == ["email", "first_name", "reach_me"]
    assert [part.get("sample_values") for part in people["dimensions"]] == [None, None, None, None, ["EU"]]
    assert [where for where, why in reasons(draft) if "no value of a personal column" in why] == [
        f"a.yaml: tables[0]: sample_values of `{name}`" for name in ("email", "first", "contact")
    ]


# ---- what is no source


@pytest.mark.parametrize(
    ("files", "format_", "says"),
    [
        ({"a.yaml": "just: words\n"}, "auto", "is in no format that is known"),
        ({"a.yaml": "just: words\n"}, "cortex", "holds nothing of the format `cortex`"),
        ({}, "auto", "is in no format that is known"),
        (ROWS[0]["files"] | ROWS[1]["files"], "auto", "holds several formats: cortex, ossie"),
        ({"a.lkml": "view: a { dimension: "}, "auto", "no valid LookML"),
        ({"dbt_project.yml": "name: shop\n", "models/a.yml": "models: []\n"}, "auto", "without its manifest"),
    ],
    ids=["no format", "another format", "nothing", "several", "broken LookML", "no manifest"],
)
def test_what_is_no_source_is_wrong_usage(files: dict[str, str], format_: str, says: str, tmp_path: Path) -> None:
    with pytest.raises(UsageError, match=says):
        drafted(written(tmp_path / "source", files) if files else tmp_path, format_, "main", None)


def test_a_database_is_named_by_its_address(tmp_path: Path) -> None:
    file = tmp_path / "dev.duckdb"
    duckdb.connect(str(file)).close()
    with pytest.raises(UsageError, match="is a database of DuckDB") as told:
        drafted(file, "auto", "main", None)
    assert told.value.help == f"read it with `bylaw import duckdb:///{file}`"


def test_lookml_without_its_reader_names_the_extra(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(__import__("sys").modules, "lkml", None)
    with pytest.raises(UsageError, match="the extra `lookml`"):
        drafted(written(tmp_path, ROWS[4]["files"]), "lookml", "main", None)


def test_a_schema_and_a_dialect_may_be_named(tmp_path: Path) -> None:
    text = "semantic_models:\n  - {name: a, model: ref('a'), dimensions: [{name: `b`, type: categorical}]}\n"
    source = written(tmp_path, {"a.yml": text.replace("{name: `b`", '{name: b, expr: "`b`"')})
    _, draft = drafted(source, "metricflow", "analytics", "bigquery")
    entity = record(draft, "entities/a")
    assert entity["base_table"]["schema"] == "analytics"
    assert entity["dimensions"] == [{"name": "b", "expr": '"b"'}]
    assert registry.IMPORTERS["metricflow"].files == (".yaml", ".yml")


def test_an_entity_that_is_called_as_a_metric_gives_way(tmp_path: Path) -> None:
    """Who says "revenue" asks for the number. Joins, filters and guides follow; the formula keeps its words."""
    text = """
semantic_models:
  - {name: revenue, model: ref('r'), entities: [{name: day, type: primary, expr: id}],
     dimensions: [{name: kind, type: categorical}], measures: [{name: amount, agg: sum}]}
  - {name: visits, model: ref('v'), entities: [{name: day, type: foreign, expr: day_id}],
     measures: [{name: n, agg: sum}]}
metrics:
  - {name: revenue, type: simple, type_params: {measure: amount}}
  - {name: busy, type: simple, type_params: {measure: n}, filter: "{{ Dimension('day__kind') }} = 'revenue.x'"}
"""
    _, draft = drafted(written(tmp_path, {"a.yml": text}), "auto", "main", None)
    assert set(draft.records["entities"]) == {"revenue_rows", "visits"}
    assert record(draft, "entities/revenue_rows")["name"] == "revenue_rows"
    assert record(draft, "metrics/revenue")["entity"] == "revenue_rows"
    assert record(draft, "metrics/busy")["filter"] == "revenue_rows.kind = 'revenue.x'"
    assert record(draft, "entities/visits")["relationships"][0]["right_entity"] == "revenue_rows"
    assert any("the entity is `revenue_rows` here" in why for _, why in reasons(draft))
