"""Semantic layers that nobody here wrote: each is imported, checks without an error, and says what it left behind.

Where their data is at hand, a question is answered, and the warehouse tells what the layer declares wrongly.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from contextlib import chdir
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import duckdb
import pytest
import yaml

from tests.beside import beside

DATA = beside("realworld", "analytics")
FIXTURES = beside("realworld", "analytics", "import_fixtures")


@dataclass(frozen=True)
class Source:
    """One source, how much of it there is, and what must be said of what it loses."""

    path: str
    format: str
    entities: int
    metrics: int
    verified: int = 0
    lost: tuple[str, ...] = ()


SOURCES = [
    Source(
        "cortex/revenue_timeseries.yaml",
        "cortex",
        4,
        4,
        2,
        ("the warehouse's address names it", "it is a fact and no metric: no aggregation is said"),
    ),
    Source("osi/tpcds_semantic_model_v0.1.yaml", "ossie", 5, 7, 0, ("it is for a program of another vendor",)),
    Source("osi/tpcds_semantic_model_v0.2.yaml", "ossie", 5, 7, 0, ("it is for a program of another vendor",)),
    Source(
        "metricflow_simple",
        "metricflow",
        12,
        99,
        0,
        (
            "a conversion metric has no counterpart",
            "`offset_to_grain` has no counterpart",
            "the aggregation `percentile` of 0.99 has no counterpart",
            "`1 alien_day` is no span of whole days, weeks, months, quarters or years",
            "its filter looks at another metric",
        ),
    ),
    Source("dbt_manifest_nba", "dbt", 45, 0, 0, ("the test `empty_table` has no counterpart in context/",)),
    Source("wren_v5_jaffle", "wren", 1, 0, 0, ("it is a query and no table",)),
    Source("wren_v5_jaffle/apps/sales-report/mdl.json", "wren", 1, 0, 0, ("a view is a query and no table",)),
]
ASKED = yaml.safe_load(Path(__file__).with_name("asked.yaml").read_text(encoding="utf-8"))
BY_PATH = pytest.mark.parametrize("source", SOURCES, ids=lambda source: source.path)


@pytest.fixture
def imported(tmp_path: Path, call: Callable[..., Any]) -> Callable[[str], tuple[Path, Any]]:
    def run(path: str) -> tuple[Path, Any]:
        done = call("import", FIXTURES / path, "--output", tmp_path / "repo", "--json")
        assert (done.code, done.err) == (0, "")
        return tmp_path / "repo", done.json

    return run


@BY_PATH
def test_it_is_imported_and_checks_without_an_error(
    source: Source, imported: Callable[..., Any], call: Callable[..., Any]
) -> None:
    root, said = imported(source.path)
    assert said["format"] == source.format
    counted = [
        len(list((root / "context" / kind).glob("*.yaml"))) for kind in ("entities", "metrics", "verified_queries")
    ]
    assert counted == [source.entities, source.metrics, source.verified]
    done = call("check", "--root", root, "--format", "json")
    assert done.json["summary"]["errors"] == 0, done.out


@BY_PATH
def test_what_it_loses_is_said(source: Source, imported: Callable[..., Any]) -> None:
    _, said = imported(source.path)
    reasons = {lost["why"] for lost in said["not_carried_over"]}
    assert set(source.lost) <= reasons
    assert all(lost["where"] and lost["why"] for lost in said["not_carried_over"])


@BY_PATH
def test_imported_again_nothing_changes(source: Source, imported: Callable[..., Any]) -> None:
    root, _ = imported(source.path)
    before = {path: path.read_bytes() for path in root.rglob("*") if path.is_file()}
    _, said = imported(source.path)
    assert {file["state"] for file in said["files"]} == {"unchanged"}
    assert {path: path.read_bytes() for path in root.rglob("*") if path.is_file()} == before


def test_every_metric_of_the_source_is_carried_over_or_said(imported: Callable[..., Any]) -> None:
    """Of 108 metrics and more, none is lost without a word."""
    import yaml

    documents = list(yaml.safe_load_all((FIXTURES / "metricflow_simple" / "metrics.yaml").read_text(encoding="utf-8")))
    names = {document["metric"]["name"] for document in documents if document}
    root, said = imported("metricflow_simple")
    written = {path.stem for path in (root / "context" / "metrics").glob("*.yaml")}
    told = " ".join(lost["where"] for lost in said["not_carried_over"])
    assert [name for name in sorted(names - written) if f"`{name}`" not in told] == []


@pytest.fixture(scope="module")
def revenue(tmp_path_factory: pytest.TempPathFactory) -> str:
    """The vendor's own rows as a DuckDB file."""
    path = tmp_path_factory.mktemp("cortex") / "rows.duckdb"
    folder = DATA / "cortex_revenue"
    connection = duckdb.connect(str(path))
    with chdir(folder):
        for script in ("ddl.sql", "load.sql"):
            connection.execute(Path(script).read_text(encoding="utf-8"))
    connection.close()
    return f"duckdb://{path}"


def test_the_join_that_the_data_breaks_five_fold_is_found_with_its_factor(
    imported: Callable[..., Any], call: Callable[..., Any], revenue: str
) -> None:
    root, _ = imported("cortex/revenue_timeseries.yaml")
    done = call("check", "--root", root, "--warehouse", revenue, "--at", "2024-11-08", "--format", "json")
    assert done.code == 1
    found = {finding["id"]: finding for finding in done.json["findings"]}
    join = found["relationship-cardinality"]
    assert join["message"].startswith("declared many_to_one; 5 rows per `region_id`: `daily_cogs` would be ×5.0")
    line = (root / join["path"]).read_text(encoding="utf-8").splitlines()[join["line"] - 1]
    assert line.strip() == "relationship_type: many_to_one"
    assert "5 rows per `region_id`" in found["key-violated"]["message"]
    assert len(found) == 2


def test_a_question_is_answered_from_what_was_imported(
    imported: Callable[..., Any], call: Callable[..., Any], revenue: str
) -> None:
    root, _ = imported("cortex/revenue_timeseries.yaml")
    (root / "rules").mkdir()
    roles = {"roles": {"analyst": {"schemas": ["revenue_timeseries"]}}, "users": {"analyst": ["analyst"]}}
    (root / "rules" / "roles.yaml").write_text(json.dumps(roles), encoding="utf-8")
    words = ("--root", root, "--warehouse", revenue, "--at", "2024-11-08T12:00:00", "--as", "analyst", "--json")
    done = call("ask", "What is the daily revenue by product line?", *words)
    assert done.json["kind"] == "data", done.out
    assert len(done.json["rows"]) == 5
    total = sum(float(row[-1]) for row in done.json["rows"])
    with duckdb.connect(revenue.removeprefix("duckdb://"), read_only=True) as connection:
        once = connection.execute("SELECT sum(revenue) FROM revenue_timeseries.daily_revenue").fetchall()[0][0]
    assert round(total, 2) == round(float(once), 2)


@pytest.mark.parametrize(("path", "questions"), sorted(ASKED.items()))
def test_what_is_imported_is_asked_in_the_words_of_its_source(
    path: str, questions: dict[str, list[str]], imported: Callable[..., Any], call: Callable[..., Any]
) -> None:
    root, _ = imported(path)
    for kind, status in (("at once", "recommended"), ("form", "needs_choice")):
        for question in questions.get(kind, ()):
            done = call("ask", "--root", root, "--as", "ana", "--json", question)
            assert done.json["status"] == status, (question, done.json["text"])
