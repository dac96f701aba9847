"""What the matcher reads of a case: everything that its rows say or less, and never anything else."""

from collections import Counter
from datetime import date
from pathlib import Path

import pytest
import yaml

from bot.enforcement.assemble import matched, tell_facts
from bot.index import BundleIndex
from tests.compiled import index_of
from tests.rows import each

TODAY = date(2026, 11, 20)
ROWS = yaml.safe_load(Path(__file__).with_name("facts.yaml").read_text())
SHOP = Path(__file__).parents[1] / "enforcement" / "shop"


@pytest.fixture(scope="module")
def shop() -> BundleIndex:
    return index_of(SHOP)


def shown(text: str, shop: BundleIndex) -> dict[str, object]:
    variables = shop.ruleset.variables
    return {
        read.fact: variables[read.fact].show(read.value) for read in tell_facts(matched(text, TODAY, shop), shop).reads
    }


@each("row", ROWS, ids=lambda row: str(row.get("title", row["text"]))[:60])
def test_nothing_is_read_that_a_sentence_does_not_state(row: dict, shop: BundleIndex) -> None:
    stated = row.get("facts", {})
    assert {name: value for name, value in shown(row["text"], shop).items() if stated.get(name) != value} == {}


def test_most_of_what_is_stated_is_read(shop: BundleIndex) -> None:
    found = Counter(
        shown(row["text"], shop).get(name) == value for row in ROWS for name, value in row.get("facts", {}).items()
    )
    assert found[True] >= 0.7 * sum(found.values())
