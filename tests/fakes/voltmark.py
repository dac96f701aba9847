"""The repository's own policies, context and rules as a bundle: what the demo shows, for tests that need all of it."""

from __future__ import annotations

import shutil
from pathlib import Path

from bylaw.cli import bundle_for_root

ROOT = Path(__file__).parents[2]


def compiled(folder: Path, **users: list[str]) -> Path:
    """The bundle of a copy under *folder*, in which these people have these roles besides those that are listed."""
    for name in ("policies", "context", "rules"):
        shutil.copytree(ROOT / name, folder / name)
    roles = folder / "rules" / "roles.yaml"
    listed = "".join(f"  {user}: [{', '.join(names)}]\n" for user, names in sorted(users.items()))
    roles.write_text(roles.read_text(encoding="utf-8").replace("users:\n", f"users:\n{listed}", 1), encoding="utf-8")
    return bundle_for_root(folder)
