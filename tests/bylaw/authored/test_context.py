"""Records of context/: what fits, what does not and why, and that the bundle can carry all of it."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
import yaml
from pydantic import ValidationError

from bylaw.authored import context as models
from bylaw.authored.context import Context, Entity
from bylaw.canonical import canonical_json, plain
from ci.loading.load import load
from tests.rows import each

DOCUMENT = yaml.safe_load(Path(__file__).with_name("context.yaml").read_text(encoding="utf-8"))
ROOT = Path(__file__).parents[3]


@each("row", DOCUMENT["fits"], ids=lambda row: f"{row['model']}: {row['title']}")
def test_a_record_fits_and_survives_the_bundle(row):
    model = getattr(models, row["model"])
    record = model.model_validate(row["data"])
    assert model.model_validate_json(canonical_json(record)) == record
    by_alias = json.dumps(plain(record.model_dump(mode="python", by_alias=True)))
    assert model.model_validate_json(by_alias) == record


@each("row", DOCUMENT["misfits"], ids=lambda row: f"{row['model']}: {row['title']}")
def test_a_record_that_does_not_fit_says_why(row):
    with pytest.raises(ValidationError) as caught:
        getattr(models, row["model"]).model_validate(row["data"])
    assert row["says"] in str(caught.value)


def test_our_own_context_survives_the_bundle():
    context = load(ROOT).context
    assert Context.model_validate_json(canonical_json(context)) == context
    assert len(context.entities) >= 6
    assert len(context.metrics) >= 6
    assert len(context.gotchas) >= 4
    assert set(context.paths) == {
        f"{section}/{name}"
        for section in ("entities", "metrics", "gotchas", "glossary", "guides", "verified_queries")
        for name in getattr(context, section)
    }


def test_every_file_of_our_own_context_points_its_editor_at_a_schema():
    for path in sorted((ROOT / "context").rglob("*.yaml")):
        first = path.read_text(encoding="utf-8").splitlines()[0]
        prefix = "# yaml-language-server: $schema="
        assert first.startswith(prefix), path
        assert (path.parent / first.removeprefix(prefix)).resolve().is_file(), path


def _entity(**fields):
    return Entity.model_validate({"name": "a", "base_table": {"schema": "s", "table": "t"}, **fields})


def test_the_only_time_dimension_is_the_default():
    assert _entity(time_dimensions=[{"name": "x"}]).default_time().name == "x"


def test_of_two_time_dimensions_none_is_meant_unless_one_says_so():
    assert _entity(time_dimensions=[{"name": "x"}, {"name": "y"}]).default_time() is None
    assert _entity(time_dimensions=[{"name": "x"}, {"name": "y", "default": True}]).default_time().name == "y"


def test_an_entity_without_dates_has_no_default_time():
    assert _entity().default_time() is None


def test_an_expression_left_out_is_the_name():
    entity = _entity(dimensions=[{"name": "city"}, {"name": "town", "expr": "lower(city)"}])
    assert [dimension.sql for dimension in entity.dimensions] == ["city", "lower(city)"]
    assert entity.dimension("town").expr == "lower(city)"
    assert entity.dimension("village") is None


def test_the_table_is_named_with_its_schema():
    assert _entity().base_table.qualified == "s.t"


def test_importing_the_models_loads_no_engine():
    import subprocess
    import sys

    code = "import sys, bylaw.authored.context; print({'duckdb', 'sqlglot', 'z3'} & set(sys.modules))"
    run = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, cwd=ROOT, check=True)
    assert run.stdout.strip() == "set()"
