"""`bylaw explain` knows every declared name: what it is, how it is defined, whose it is, where it stands."""

from __future__ import annotations

from datetime import date
from pathlib import Path

import pytest

from bylaw.errors import UsageError
from ci.help.explain import explanations
from ci.help.records import explain_records, record_names
from ci.loading.load import load

ROOT = Path(__file__).parents[3]
TODAY = date(2026, 11, 28)


@pytest.fixture(scope="module")
def workspace():
    return load(ROOT, today=TODAY)


def test_every_declared_record_is_explained_with_its_place(workspace):
    names = sorted(set(record_names(workspace)))
    assert {"order_count", "orders", "channel", "orders.channel"} <= set(names)
    for name in names:
        lines = list(explain_records(workspace, name))
        heads = [line for line in lines if not line.startswith("  ")]
        assert heads and all(".yaml" in line for line in heads), name


@pytest.mark.parametrize(
    ("id", "says"),
    [
        ("order_count", ["metric, context/metrics/order_count.yaml", "defined as count_distinct", "owner: Sales Op"]),
        ("orders", ["entity, context/entities/orders.yaml", "the rows of shop.orders", "owner: Sales Operations"]),
        ("channel", ["fact, policies/vocabulary.yaml", "dimension, context/entities/orders.yaml:", "one of: online"]),
        ("refund", ["outcome, policies/vocabulary.yaml", "used by POL-REFUND-001", "owner: Customer Service Dept."]),
        ("has_receipt", ["fact, policies/vocabulary.yaml", "owner: "]),
        ("POL-REFUND-001", ["policies/refund/POL-REFUND-001.yaml", "owner: Customer Service Dept."]),
    ],
)
def test_it_says_what_it_is_its_definition_its_owner_and_its_place(id, says):
    said = explanations(ROOT, id, None, TODAY)[id]
    assert [text for text in says if text not in said] == []


@pytest.mark.parametrize("id", ["order_cuont", "", "orders.", "x" * 5_000, "../../etc/passwd", "orders\u202e"])
def test_what_is_not_declared_is_nothing(id):
    with pytest.raises(UsageError, match="nothing here is called"):
        explanations(ROOT, id, None, TODAY)
