"""A new policy repository as `bylaw init` writes it, compiled once."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

import pytest

from bylaw.cli import bundle_for_root
from ci.scaffold import init


@dataclass(frozen=True)
class Repository:
    """Where it is, and its bundle. Tests read it; who writes copies it first."""

    root: Path
    bundle: Path


@pytest.fixture(scope="session")
def repository(tmp_path_factory: pytest.TempPathFactory) -> Repository:
    """The scaffold's repository."""
    root = tmp_path_factory.mktemp("scaffold") / "repository"
    init(root)
    return Repository(root, bundle_for_root(root))
