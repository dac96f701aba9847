"""The shop: a small policy repository, compiled once by the real pipeline."""

from datetime import date
from pathlib import Path

import pytest

from bot.index import BundleIndex
from bylaw.bundle import parse
from ci import pipeline

SHOP = Path(__file__).with_name("shop")
TODAY = date(2026, 11, 20)


@pytest.fixture(scope="session")
def shop() -> BundleIndex:
    return BundleIndex(parse(pipeline.bundle_text(pipeline.run(SHOP, None, TODAY))))


@pytest.fixture(scope="session")
def own() -> BundleIndex:
    """The repository's own policies."""
    return BundleIndex(parse(pipeline.bundle_text(pipeline.run(Path(__file__).parents[3], None, TODAY))))


@pytest.fixture(scope="session")
def companies(own: BundleIndex, shop: BundleIndex) -> dict[str, BundleIndex]:
    """Those of which the labelled suite tells cases; `init` is what a new repository starts with."""
    started = Path(__file__).parents[3] / "ci" / "template"
    rental = Path(__file__).parents[2] / "company"
    return {
        "own": own,
        "shop": shop,
        "rental": BundleIndex(parse(pipeline.bundle_text(pipeline.run(rental, None, TODAY)))),
        "init": BundleIndex(parse(pipeline.bundle_text(pipeline.run(started, None, TODAY)))),
    }
