"""Hostile files: huge, deep, unfolding without end, not what they claim to be. Each is wrong usage, none a crash."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bylaw.errors import UsageError
from ci.importers.draft import ContextDraft, identifier, is_name, slug, text, values, word, words
from ci.importers.registry import IMPORTERS
from ci.importers.semantic import foreign
from ci.importers.semantic.foreign import Foreign, parse, read
from ci.importers.sql import Unsayable, row_sql, statement
from tests.rows import each

BOMB = "a0: &a0 [x, x, x, x, x, x, x, x, x, x]\n" + "".join(
    f"a{i}: &a{i} [{', '.join([f'*a{i - 1}'] * 10)}]\n" for i in range(1, 9)
)
REFUSED = [
    ("a bomb of aliases", "a.yaml", BOMB, "values, aliases unfolded"),
    ("a list in itself", "a.yaml", "a: &a [*a]\n", "nested more than"),
    ("deep YAML", "a.yaml", "[" * 5_000, "nested more than"),
    ("deep blocks", "a.yaml", "".join(f"{' ' * i}a:\n" for i in range(200)), "nested more than"),
    ("deep JSON", "a.json", "[" * 200_000, "no valid JSON"),
    ("JSON that is deep and closed", "a.json", "[" * 500 + "]" * 500, "nested more than"),
    ("a tag that builds objects", "a.yaml", "a: !!python/object/apply:os.system [echo]\n", "no valid YAML"),
    ("broken YAML", "a.yaml", "a: [1\nb: 2", "no valid YAML (line"),
    ("broken JSON", "a.json", '{"a": 1,}', "no valid JSON (line 1)"),
    ("a date that is none", "a.yaml", "a: 2026-99-99\n", "no valid YAML"),
    ("control characters", "a.yaml", "a: \x00\n", "no valid YAML"),
]


@pytest.mark.parametrize(("title", "path", "content", "says"), REFUSED, ids=[row[0] for row in REFUSED])
def test_what_cannot_be_read_is_said(title: str, path: str, content: str, says: str) -> None:
    with pytest.raises(UsageError) as raised:
        parse(path, content)
    assert says in raised.value.message
    assert f"`{path}`" in raised.value.message


def test_anchors_and_several_documents_are_read() -> None:
    found = parse("a.yml", "a: &x {b: 1}\nc: {<<: *x, d: 2026-01-31}\n---\n---\ne: [1.5, yes]\n")
    assert found.documents == ({"a": {"b": 1}, "c": {"b": 1, "d": "2026-01-31"}}, {"e": [1.5, True]})
    assert found.mappings == found.documents


def test_too_large_is_said(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(foreign, "MAX_TEXT", 10)
    (tmp_path / "a.yaml").write_text("a: 12345678901\n")
    with pytest.raises(UsageError, match="larger than 10 bytes"):
        read(tmp_path)


def test_too_many_files_are_said(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(foreign, "MAX_FILES", 3)
    for i in range(5):
        (tmp_path / f"{i}.yaml").write_text("a: 1\n")
    with pytest.raises(UsageError, match="more than 3 files"):
        read(tmp_path)


def test_a_walk_passes_links_hidden_files_and_packages(tmp_path: Path) -> None:
    for name in ("a.yaml", ".hidden.yaml", "dbt_packages/b.yaml", ".git/c.yaml", "models/d.yml", "notes.txt"):
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_text("a: 1\n")
    (tmp_path / "link.yaml").symlink_to("/etc/hosts")
    assert [file.path for file in read(tmp_path)] == ["a.yaml", "models/d.yml"]


@pytest.mark.parametrize("name", ["a.yaml", "a.json"])
def test_bytes_that_are_no_text_are_said(name: str, tmp_path: Path) -> None:
    (tmp_path / name).write_bytes(b"\xff\xfe\x00a")
    with pytest.raises(UsageError, match="not UTF-8"):
        read(tmp_path / name)


def test_a_pipe_is_not_waited_for(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "a.yaml")
    with pytest.raises(UsageError):
        read(tmp_path)


# ---- words of others

NAMES = [
    ("Daily Revenue!", "Daily_Revenue", "Daily-Revenue"),
    ("../../etc/passwd", "etc_passwd", "etc-passwd"),
    ("ümläut", "umlaut", "umlaut"),
    ("7 days", "_7_days", "7-days"),
    ("a" * 300, "a" * 99, "a" * 100),
    ("💥", None, None),
    ("", None, None),
    (None, None, None),
    (["a"], None, None),
    ("con.aux", "con_aux", "con.aux"),
]


@each(("said", "name", "short"), NAMES)
def test_names_become_names_of_ours(said: Any, name: str | None, short: str | None) -> None:
    assert identifier(said) == name
    assert slug(said) == short


@given(st.text())
def test_a_name_is_never_a_path(said: str) -> None:
    name, short = identifier(said), slug(said)
    assert name is None or is_name(name)
    assert short is None or ("/" not in short and "\\" not in short and not short.startswith("."))


def test_words_are_clean_and_come_once() -> None:
    assert words(["Sales", "sales", " in\ncome ", 7, None, {"a": 1}, True]) == ["Sales", "in come", "7"]
    assert words("one") == ["one"]
    assert values(["a", "a", 1, True, 1.5, None, []]) == ["a", 1, True, "1.5"]
    assert text("a\x00\tb\r\n  c \n") == "a  b\n  c"
    assert (word("x" * 500), text(7), word(True)) == ("x" * 200, None, None)


@each(
    "sql",
    ["SUM(a)", "(SELECT 1)", "a; DROP TABLE b", "{{ jinja }}", "(" * 500, "a" * 5_000, "", "*", "a OVER ()", "?"],
)
def test_an_expression_that_does_more_is_unsayable(sql: str) -> None:
    with pytest.raises(Unsayable):
        row_sql(sql, None)


@each("sql", ["DROP TABLE a", "SELECT 1; SELECT 2", "{{ x }}", "not sql at all (", "x" * 30_000, ""])
def test_a_statement_that_is_no_select_is_unsayable(sql: str) -> None:
    with pytest.raises(Unsayable):
        statement(sql, "snowflake")


@each(
    ("sql", "dialect", "ours"),
    [
        ("status = 'x'", None, "status = 'x'"),
        ("  a  +  b ", None, "a  +  b"),
        ("IFF(a, 1, 0)", "snowflake", "CASE WHEN a THEN 1 ELSE 0 END"),
        ("`a b` > 1", "bigquery", '"a b" > 1'),
        ("a::date", "postgres", "a::date"),
    ],
)
def test_an_expression_is_spelled_as_it_was_where_it_can_be(sql: str, dialect: str | None, ours: str) -> None:
    assert row_sql(sql, dialect) == ours


# ---- any shape at all

anything = (
    st.recursive(
        st.none()
        | st.booleans()
        | st.integers(-9, 9)
        | st.text(max_size=8)
        | st.sampled_from(["SUM(a)", "{{ x }}", "a.b"]),
        lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.sampled_from(KEYS), inner, max_size=4),
        max_leaves=25,
    )
    if (
        KEYS := [
            *(
                "name",
                "tables",
                "base_table",
                "schema",
                "table",
                "dimensions",
                "expr",
                "metrics",
                "relationships",
                "measures",
            ),
            *(
                "semantic_model",
                "semantic_models",
                "datasets",
                "fields",
                "expression",
                "dialects",
                "source",
                "entities",
                "type",
            ),
            *(
                "type_params",
                "measure",
                "filter",
                "models",
                "columns",
                "nodes",
                "metadata",
                "dbt_schema_version",
                "sources",
            ),
            *(
                "resource_type",
                "test_metadata",
                "kwargs",
                "depends_on",
                "exposures",
                "primary_key",
                "synonyms",
                "ai_context",
            ),
        ]
    )
    else st.none()
)


@given(st.dictionaries(st.sampled_from(KEYS), anything, max_size=6))
def test_wrong_types_are_never_a_crash(document: dict[str, Any]) -> None:
    """Whatever stands where a model, a list or a name should be: it becomes a record, or is said to be left behind."""
    document = json.loads(json.dumps(document))
    for name, importer in IMPORTERS.items():
        if name == "lookml":
            continue
        files = [Foreign("a.yaml", (document,))]
        if not importer.claims(files[0]):
            continue
        draft = ContextDraft()
        importer.import_(files, draft)
        draft.checked()


@given(anything, anything, anything)
def test_wrong_types_inside_a_model_are_never_a_crash(one: Any, two: Any, three: Any) -> None:
    table = {
        "name": "orders",
        "base_table": {"schema": "s", "table": "t"},
        "dimensions": one,
        "facts": two,
        "metrics": three,
    }
    cortex = {"tables": [table, one], "relationships": two, "verified_queries": three, "custom_instructions": one}
    dataset = {"name": "orders", "source": "s.t", "fields": one, "primary_key": two, "unique_keys": three}
    ossie = {
        "semantic_model": [
            {"name": "m", "datasets": [dataset], "relationships": two, "metrics": three, "ai_context": one}
        ]
    }
    model = {
        "name": "orders",
        "model": "ref('t')",
        "entities": one,
        "dimensions": two,
        "measures": three,
        "defaults": one,
    }
    flow = {"semantic_models": [model], "metrics": [{"name": "m", "type_params": one, "filter": two, "type": "simple"}]}
    node = {"resource_type": "model", "name": "orders", "schema": "s", "columns": one, "config": two, "meta": three}
    test = {"resource_type": "test", "test_metadata": one, "attached_node": "model.a", "depends_on": two}
    schema = {"dbt_schema_version": "https://x/manifest/v12.json"}
    dbt = {
        "metadata": schema,
        "nodes": {"model.a": node, "test.b": test},
        "sources": one,
        "exposures": two,
        "metrics": three,
    }
    dbt["semantic_models"] = {"a": model}
    wren = {
        "dataSource": "duckdb",
        "models": [{"name": "a", "tableReference": {"table": "t"}, "columns": one}],
        "cubes": two,
    }
    for name, document in (("cortex", cortex), ("ossie", ossie), ("metricflow", flow), ("dbt", dbt), ("wren", wren)):
        draft = ContextDraft()
        IMPORTERS[name].import_([Foreign("a.yaml", (json.loads(json.dumps(document)),))], draft)
        draft.checked()
