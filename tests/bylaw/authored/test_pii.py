"""The packaged expressions for personal data and forbidden promises, on texts as people write them."""

import re
from pathlib import Path
from typing import Any

import pytest
import yaml

from bylaw.authored.machines.enforcement import Enforcement, Pii
from ci.loading.rules import load_defaults
from tests.rows import each

ROWS = yaml.safe_load((Path(__file__).parent / "pii.yaml").read_text(encoding="utf-8"))


def luhn(text: str) -> bool:
    digits = [int(char) for char in reversed(text) if char.isdigit()]
    return sum(sum(divmod(digit * (1 + i % 2), 10)) for i, digit in enumerate(digits)) % 10 == 0


def found_in(text: str) -> list[str]:
    pii = Pii.model_validate(load_defaults()["pii"])
    forbidden = Enforcement.model_validate(load_defaults()["enforcement"]).forbidden
    kinds = [
        name
        for name, pattern in pii.patterns.items()
        if any(not pattern.luhn or luhn(match[0]) for match in re.finditer(pattern.regex, text))
    ]
    return sorted([*kinds, *(name for name, regex in forbidden.items() if re.search(regex, text))])


@each("row", ROWS, ids=[row["text"][:40] for row in ROWS])
def test_personal_data_is_seen_and_nothing_else(row: dict[str, Any]) -> None:
    assert found_in(row["text"]) == sorted(row["finds"])


HOSTILE = ["a" * 50_000, "1 " * 25_000, "1-" * 25_000, "a@" * 20_000, "a." * 25_000 + "@", "AB12 " + "abcd " * 10_000]


@pytest.mark.parametrize("text", HOSTILE, ids=[text[:6] for text in HOSTILE])
def test_no_expression_runs_away_on_a_long_text(text: str) -> None:
    """An expression that backtracks without end would not come back; these hold nothing personal."""
    assert found_in(text) == []
