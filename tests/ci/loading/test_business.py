"""`context/business/` is always checked, and reaches the bundle only where `rules/features.yaml` turns it on."""

from __future__ import annotations

import json
from datetime import date

import pytest

from ci import pipeline

FILES = {
    "context/entities/orders.yaml": "name: orders\nbase_table: {schema: shop, table: orders}\n",
    "context/metrics/sales.yaml": "name: sales\nentity: orders\nagg: count\n",
    "context/business/objectives/grow.yaml": "id: grow\ntitle: Grow\nmetrics: [sales]\n",
    "context/business/strategies/2026.yaml": "id: near\ntitle: Near by first\nobjectives: [grow]\n",
    "context/business/projects/lisbon.yaml": "id: lisbon\ntitle: Lisbon\nobjectives: [grow]\n",
}
ON = {"rules/features.yaml": "business_knowledge: true\n"}


def _run(tmp_path, files):
    for path, text in files.items():
        (tmp_path / path).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / path).write_text(text, encoding="utf-8")
    return pipeline.run(tmp_path, None, date(2026, 11, 20))


@pytest.mark.parametrize("more", [{}, ON], ids=["off", "on"])
def test_the_bundle_has_it_where_it_is_on(tmp_path, more):
    run = _run(tmp_path, {**FILES, **more})
    bundle = json.loads(pipeline.bundle_text(run))
    assert ("business" in bundle) is bool(more)
    if more:
        assert set(bundle["business"]["objectives"]) == {"grow"}
        assert bundle["business"]["paths"]["projects/lisbon"] == "context/business/projects/lisbon.yaml"


def test_off_or_on_it_is_checked(tmp_path):
    wrong = {
        "context/business/objectives/grow.yaml": "id: grow\ntitle: Grow\nmetrics: [sails]\n",
        "context/business/projects/lisbon.yaml": "id: lisbon\ntitle: Lisbon\nobjectives: [grwo]\n",
        "context/business/strategies/2026.yaml": "id: near\ntitle: Near\nstarts_on: 2026-02-01\nends_on: 2026-01-01\n",
    }
    found = {finding.message: finding.at.path for finding in _run(tmp_path, {**FILES, **wrong}).findings}
    assert found["the objective `grow` is seen by `sails`, which no file declares"].endswith("objectives/grow.yaml")
    assert found["the project `lisbon` is for `grwo`, which no file declares"].endswith("projects/lisbon.yaml")
    assert any("ends before it starts" in message for message in found)
