"""`bylaw check --context`: what a context can answer is found by asking it."""

from __future__ import annotations

import json

import pytest
from click.testing import CliRunner

from bylaw.cli import load_verb

ENTITY = """
name: parcels
base_table: {schema: post, table: parcels}
primary_key: {columns: [parcel_id]}
dimensions:
  - {name: carrier, data_type: varchar, is_enum: true, sample_values: [Heron, Swift]}
time_dimensions:
  - {name: sent_at, data_type: timestamp, default: true}
facts:
  - {name: weight, data_type: decimal}
"""
METRICS = {
    "total_weight": "{name: total_weight, entity: parcels, agg: sum, expr: weight, synonyms: [load]}",
    "heaviest_parcel": "{name: heaviest_parcel, entity: parcels, agg: max, expr: weight, synonyms: [load]}",
}
VERIFIED = """
name: by-carrier
question: QUESTION
query: {metrics: [total_weight], dimensions: [parcels.carrier]}
verified_by: ana
verified_at: 2026-01-05
"""


def asked(root, question, *options):
    files = {"context/entities/parcels.yaml": ENTITY, "context/verified_queries/by-carrier.yaml": VERIFIED}
    files |= {f"context/metrics/{name}.yaml": text for name, text in METRICS.items()}
    for name, text in files.items():
        path = root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text.replace("QUESTION", question), encoding="utf-8")
    return CliRunner().invoke(load_verb("check"), ["--context", "--root", str(root), *options])


def test_every_question_is_read_back_and_a_shared_name_is_told(tmp_path):
    done = asked(tmp_path, "total weight by carrier", "--format", "json")
    assert done.exit_code == 0, done.output
    told = json.loads(done.stdout)
    assert told["questions"] > 60 and told["something_else"] == 0
    assert told["right"] + told["asked_back"] == told["questions"]
    assert {row["question"].count("load") for row in told["not_right"]} == {1}
    assert told["clashes"] == [{"phrase": "load", "kind": "metric", "meant": ["heaviest_parcel", "total_weight"]}]


def test_a_verified_query_that_is_read_as_something_else_fails(tmp_path):
    done = asked(tmp_path, "total weight by month")
    assert done.exit_code == 1
    assert "total weight by month\n    verified_queries/by-carrier: total_weight by month" in done.stdout


@pytest.mark.parametrize("option", ["--base=main", "--warehouse=duckdb:///x", "--fix", "--format=github"])
def test_nothing_else_is_checked_beside_it(tmp_path, option):
    assert "`--context` is asked alone" in asked(tmp_path, "total weight", option).output
