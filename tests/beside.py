"""The folder `../shared`: collections that nobody here wrote. It may lie beside this repository, or not.

No other module names it, and none gets a path into it without saying what happens where it is missing.
"""

from __future__ import annotations

from pathlib import Path

import pytest

_SHARED = Path(__file__).resolve().parents[2] / "shared"


def find_beside(*parts: str) -> Path | None:
    """The path of these *parts* below the folder, or None where nothing lies there."""
    path = _SHARED.joinpath(*parts)
    return path if path.exists() else None


def beside(*parts: str) -> Path:
    """The path of these *parts* below the folder; where nothing lies there, the test or module that asks is skipped."""
    path = find_beside(*parts)
    if path is None:
        pytest.skip(f"../shared/{'/'.join(parts)} is not beside this repository", allow_module_level=True)
    return path
