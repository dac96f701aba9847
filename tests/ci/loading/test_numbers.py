"""A number of a billion digits, however it is spelled and wherever it stands, is a finding in no time."""

from __future__ import annotations

import shutil
import time
from datetime import date
from pathlib import Path

import pytest

from ci import pipeline

TEMPLATE = Path(__file__).parents[3] / "ci" / "template"
HUGE = ("1e999999999", "-1E+99999999", "1e-999999999", "9" * 40 + "e900")
PLACES = {
    "a condition": ("policies/refund/POL-REFUND-001.yaml", "value: 30", "value: {}"),
    "a bound": ("policies/vocabulary.yaml", "minimum: 0", "minimum: {}"),
    "a case": ("policies/refund/cases.yaml", "days_since_purchase: 12", "days_since_purchase: {}"),
    "a rule": ("rules/ci.yaml", "severities:", "coverage: {{minimum: {}}}\nseverities:"),
}


@pytest.mark.parametrize("place", PLACES)
def test_a_number_that_nobody_can_reckon_with_is_a_finding(tmp_path, place):
    path, before, after = PLACES[place]
    for n, number in enumerate([*HUGE, *(f'"{number}"' for number in HUGE)]):
        root = tmp_path / str(n)
        shutil.copytree(TEMPLATE, root)
        text = (root / path).read_text()
        assert before in text
        (root / path).write_text(text.replace(before, after.format(number), 1))
        begun = time.process_time()
        done = pipeline.run(root, None, date(2026, 11, 20))
        assert time.process_time() - begun < 1, number
        assert any(finding.severity == "error" for finding in done.findings), number
