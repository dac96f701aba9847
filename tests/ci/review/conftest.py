"""Connections to the fake GitHub, and a pull request to speak about."""

from __future__ import annotations

import pytest

from tests.bylaw.github.conftest import hub, key_pair, waiting
from tests.ci.review.shop import open_pull_request

__all__ = ["hub", "key_pair", "waiting"]


@pytest.fixture
def shop(github):
    open_pull_request(github)
    return github
