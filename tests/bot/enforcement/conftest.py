"""The shop: a small policy repository, compiled once by the real pipeline."""

from pathlib import Path

import pytest

from bot.index import BundleIndex
from tests.compiled import index_of

SHOP = Path(__file__).with_name("shop")


@pytest.fixture(scope="session")
def shop() -> BundleIndex:
    return index_of(SHOP)


@pytest.fixture(scope="session")
def own() -> BundleIndex:
    """The repository's own policies."""
    return index_of(Path(__file__).parents[3])


@pytest.fixture(scope="session")
def companies(own: BundleIndex, shop: BundleIndex) -> dict[str, BundleIndex]:
    """Those of which the labelled suite tells cases; `init` is what a new repository starts with."""
    started = Path(__file__).parents[3] / "ci" / "template"
    rental = Path(__file__).parents[2] / "company"
    return {
        "own": own,
        "shop": shop,
        "rental": index_of(rental),
        "init": index_of(started),
    }
