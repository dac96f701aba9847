"""Connections to the fake GitHub, and a pull request to speak about."""

from __future__ import annotations

import pytest

from tests.bylaw.github.conftest import hub, key_pair, waiting
from tests.ci.review.shop import POLICY, changed

__all__ = ["hub", "key_pair", "waiting"]


@pytest.fixture
def shop(github):
    """A pull request that changes line 20 of `policies/a.yaml`; `policies/b.yaml` is not in it."""
    github.commit("main", {"policies/a.yaml": POLICY, "policies/b.yaml": "b: 1\n"})
    github.commit("feature", {"policies/a.yaml": changed(20)})
    github.open_pull("feature")
    return github
