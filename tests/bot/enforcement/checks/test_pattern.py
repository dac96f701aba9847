"""Rows of texts that may or may not be said, whatever the case."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
import yaml

from bot.enforcement.judged.checks import pattern

ROWS = yaml.safe_load(Path(__file__).with_name("pattern.yaml").read_text())
QUERY = "I bought a TV for $600 20 days ago and lost the receipt. Can I get a refund?"


@pytest.mark.parametrize("row", ROWS, ids=lambda row: row["title"])
def test_what_may_be_said(row: dict[str, Any], drafted: Any) -> None:
    found = pattern.check(drafted(QUERY, row["answer"]))
    assert [violation.kind for violation in found.violations] == row["kinds"]
    assert found.score == (0.0 if row["kinds"] else 1.0)


def test_personal_data_is_not_repeated_in_the_finding(drafted: Any) -> None:
    found = pattern.check(drafted(QUERY, "Her number is 123-45-6789."))
    assert "123-45-6789" not in repr(found)
