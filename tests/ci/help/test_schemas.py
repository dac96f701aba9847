"""The schemas that editors use say what the loader says."""

import functools
import json
from pathlib import Path
from typing import Any

import pytest
from jsonschema import Draft202012Validator

from ci.help.schemas import (
    NUMBERS,
    SCHEMAS,
    SCHEMAS_LIVE_IN,
    file_name,
    key_texts,
    schema,
    schema_text,
    stale_schemas,
    write_schemas,
)
from ci.loading.file_kinds import FILE_KINDS, PLANS, FileKind, kind_of_file
from ci.loading.files import Content, contents
from ci.loading.source import read
from tests.rows import each

ROOT = Path(__file__).parent.parent.parent.parent
HERE = Path(__file__).parents[1] / "loading"
SINGULAR = {
    "policies": "policy",
    "drafts": "formal_draft",
    "entities": "entity",
    "metrics": "metric",
    "gotchas": "gotcha",
    "guides": "guide",
    "verified_queries": "verified_query",
    "lookups": "lookup",
}
SHIPPED = [
    (root, content)
    for root in (ROOT, ROOT / "ci" / "template")
    for content in contents(root)
    if isinstance(content, Content)
]
ROWS: list[dict[str, Any]] = read("schema_findings.yaml", (HERE / "schema_findings.yaml").read_bytes()).data
MARKED = (
    "is not known",
    "is missing",
    "not one of",
    "should be a list",
    "should be a mapping",
    "should be text",
    "should be true",
)
# How parts fit together only the models know.
SEEN_BY_EDITORS = [
    row
    for row in ROWS
    if any(marked in row["told"][0].get("says", row["told"][0].get("starts", "")) for marked in MARKED)
]
OVERLAYS = [name for name in SCHEMAS if name.startswith("rules_")]


def schema_of(room: FileKind) -> str:
    if room.section == "rules":
        return f"rules_{room.identity}"
    if room.section in ("decisions", *PLANS):
        return room.model.__name__.lower()
    return SINGULAR.get(room.section, room.section)


@functools.cache
def validator(name: str) -> Draft202012Validator:
    return Draft202012Validator(schema(name))


def complaints(name: str, data: Any) -> list[str]:
    return [f"{error.json_path}: {error.message}" for error in validator(name).iter_errors(data)]


def test_every_room_has_a_schema_and_every_schema_a_room() -> None:
    assert {schema_of(room) for room in FILE_KINDS} == set(SCHEMAS) - {"suite"}  # suites are read by `bylaw eval` alone


@pytest.mark.parametrize("path", sorted((ROOT / "evaluation").glob("*.yaml")), ids=lambda path: path.stem)
def test_a_suite_of_ours_fits_its_schema(path: Path) -> None:
    first = path.read_text(encoding="utf-8").splitlines()[0]
    assert first == "# yaml-language-server: $schema=../bylaw/schemas/suite.schema.json"
    assert complaints("suite", read(path.name, path.read_bytes()).data) == []


@each("name", sorted(SCHEMAS))
def test_a_schema_is_a_schema(name: str) -> None:
    Draft202012Validator.check_schema(schema(name))


def test_the_schemas_beside_the_models_are_fresh() -> None:
    assert stale_schemas(SCHEMAS_LIVE_IN) == [], "write them with `bylaw schema`"
    assert {path.name for path in SCHEMAS_LIVE_IN.iterdir()} == {file_name(name) for name in SCHEMAS}


def test_what_is_written_is_fresh_and_what_is_changed_is_not(tmp_path: Path) -> None:
    written = write_schemas(tmp_path)
    assert [path.name for path in written] == [file_name(name) for name in SCHEMAS]
    assert stale_schemas(tmp_path) == []
    written[0].write_text("{}")
    written[1].unlink()
    assert stale_schemas(tmp_path) == written[:2]


def test_two_writings_are_the_same_bytes() -> None:
    assert schema_text("policy") == schema_text("policy")
    assert json.loads(schema_text("policy"))["$schema"]


@each(("root", "content"), SHIPPED, ids=[f"{root.name}/{item.path}" for root, item in SHIPPED])
def test_what_we_ship_is_accepted_and_points_at_its_schema(root: Path, content: Content) -> None:
    room = kind_of_file(content.path)
    assert room is not None
    name = schema_of(room)
    assert complaints(name, read(content.path, content.data).data) == []
    if content.path.endswith(".json"):
        return
    first = content.data.decode().splitlines()[0]
    assert first.startswith("# yaml-language-server: $schema="), content.path
    assert first.endswith(file_name(name)), first


POLICY = {
    "policy_id": "POL-A-001",
    "actions": [{"type": "required", "action": "x"}],
    "metadata": {"source": "s", "owner": "o", "domain": "a"},
}


@each(
    "more",
    [
        {"conditions": [{"type": "fact", "parameter": "x", "value": 1, "operator": "="}]},
        {"conditions": [{"not": {"type": "time_window", "value": 1}}, {"not": [{"type": "time_window", "value": 1}]}]},
        {
            "conditions": [
                {
                    "any_of": [
                        [{"type": "fact", "parameter": "x", "value": "a"}],
                        {"all_of": [{"not": {"type": "fact", "parameter": "x", "value": True}}]},
                    ]
                }
            ]
        },
        {"metadata": {**POLICY["metadata"], "effective_date": "2026-01-31", "priority": 3}},  # type: ignore[dict-item]
        {"exceptions": [{"exceptions": [{"description": "d"}]}], "layer_scores": {"stability": 0.5}},
        {"schema_version": "1.0"},
    ],
)
def test_a_policy_that_the_loader_takes_is_accepted(more: dict[str, Any]) -> None:
    assert complaints("policy", {**POLICY, **more}) == []


@each("row", SEEN_BY_EDITORS, ids=lambda row: row["title"])
def test_an_unknown_key_a_wrong_type_and_an_unknown_word_are_refused(row: dict[str, Any]) -> None:
    data = row["data"] if "data" in row else {**POLICY, **row["policy"]}
    assert complaints(row.get("model", "policy"), data)


@each("name", OVERLAYS)
def test_a_file_of_rules_may_say_nothing_and_nothing_unknown(name: str) -> None:
    assert complaints(name, {}) == []
    assert complaints(name, {"no_such_key": 1})


@each(
    "data",
    [
        {"id": "leave-plasma", "title": "t", "why": "w", "date": "2012-04-30", "x-extra": {"a": [1]}},
        {"id": "leave-plasma", "option": "t", "reasoning": "w", "decided_at": "2012-04-30", "based_on": []},
    ],
)
def test_a_decision_may_use_its_other_names(data: dict[str, Any]) -> None:
    assert complaints("decision", data) == []


def test_a_name_that_cannot_be_declared_is_refused() -> None:
    assert complaints("vocabulary", {"facts": {"a b": {"type": "boolean"}}})
    assert complaints("vocabulary", {"facts": {"a_b": {"type": "boolean"}}}) == []


def keys_of(name: str) -> list[tuple[str, str, dict[str, Any]]]:
    """Every key of a schema, under the name of its record, with what is said of it."""
    made = schema(name)
    records = [made, *made.get("$defs", {}).values()]
    return [(record["title"], key, value) for record in records for key, value in record.get("properties", {}).items()]


@pytest.mark.parametrize("name", sorted(set(SCHEMAS) - NUMBERS))
def test_an_editor_has_a_word_for_every_key_that_people_write(name: str) -> None:
    assert [(record, key) for record, key, value in keys_of(name) if not value.get("description")] == []


def test_no_word_is_for_a_key_that_there_is_not() -> None:
    """Each is said somewhere, of its record or of the key alone."""
    found = [one for name in set(SCHEMAS) - NUMBERS for one in keys_of(name)]
    said = {(f"{record}.{key}", value["description"]) for record, key, value in found}
    said |= {(key, value["description"]) for _, key, value in found}
    assert [key for key, text in key_texts().items() if (key, text) not in said] == []
