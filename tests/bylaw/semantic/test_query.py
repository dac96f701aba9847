"""The shapes of a query: what is refused as no query, and that JSON carries one unchanged."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
import yaml
from pydantic import ValidationError

from bylaw.semantic.query import SemanticQuery
from tests.rows import each

ROWS = yaml.safe_load(Path(__file__).with_name("query.yaml").read_text(encoding="utf-8"))


@each("row", ROWS["queries"], ids=lambda row: row["title"])
def test_json_carries_a_query_unchanged(row):
    query = SemanticQuery.model_validate(row["query"])
    assert SemanticQuery.model_validate(json.loads(query.model_dump_json())) == query


@each("row", ROWS["refused"], ids=lambda row: row["title"])
def test_what_is_no_query_is_refused(row):
    with pytest.raises(ValidationError, match=row["says"]):
        SemanticQuery.model_validate(row["query"])
