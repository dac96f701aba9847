"""Sums of money in text: rows."""

from pathlib import Path

import pytest
import yaml

from bylaw.language.money import Money, currency_of, read_money
from tests.rows import each

ROWS = yaml.safe_load(Path(__file__).with_name("money.yaml").read_text())


@each("row", ROWS, ids=lambda row: str(row.get("title", row["text"]))[:60])
def test_these_sums_are_read(row: dict) -> None:
    spans = read_money(row["text"])
    said = [
        f"{'' if s.exact else '~'}{s.value.amount} {s.value.currency}{'$' if s.value.is_any_dollar else ''}"
        for s in spans
    ]
    assert said == row["money"]
    assert all(row["text"][span.start : span.end] == span.words for span in spans)


def test_a_dollar_sign_fits_every_dollar_and_a_code_only_its_own() -> None:
    assert Money(5, "USD", is_any_dollar=True).fits("CAD")
    assert Money(5, "USD").fits("USD")
    assert not Money(5, "USD").fits("CAD")
    assert not Money(5, "USD", is_any_dollar=True).fits("EUR")


@pytest.mark.parametrize(
    ("unit", "code"),
    [("USD", "USD"), ("usd", "USD"), ("$", "USD"), ("dollars", "USD"), ("EUR", "EUR"), ("days", None), ("", None)],
)
def test_a_unit_may_be_a_currency(unit: str, code: str | None) -> None:
    assert currency_of(unit) == code
