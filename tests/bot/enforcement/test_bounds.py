"""The bounds around a figure: rows of texts. What becomes of them is in the labelled suite."""

from datetime import date
from pathlib import Path

import pytest
import yaml

from bot.enforcement.bounds import bound, is_granted
from bot.enforcement.figures import figures

ROWS = yaml.safe_load(Path(__file__).with_name("bounds.yaml").read_text())
TODAY = date(2026, 11, 20)


@pytest.mark.parametrize("row", ROWS, ids=lambda row: row["text"])
def test_a_bound_says_how_the_case_compares_with_its_figure(row: dict) -> None:
    text = row["text"].replace("%", " percent ")
    ((_, quantity),) = figures(text, TODAY)
    found = bound(text, quantity, TODAY)
    assert (None if found is None else found.__name__) == row["bound"]
    assert is_granted(text, quantity, TODAY) is (row.get("is_granted", False) or row["bound"] == "le")
