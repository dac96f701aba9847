"""A number and its word agree."""

from __future__ import annotations

import pytest

from bylaw.language.counting import count


@pytest.mark.parametrize(
    ("given", "says"),
    [
        ((0, "finding"), "0 findings"),
        ((1, "finding"), "1 finding"),
        ((2, "finding"), "2 findings"),
        ((1, "policy", "policies"), "1 policy"),
        ((1_200, "policy", "policies"), "1,200 policies"),
    ],
)
def test_a_number_and_its_word_agree(given: tuple[int, str], says: str) -> None:
    assert count(*given) == says
