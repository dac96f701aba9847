"""Files beside the policy folders that decide whether and by whom a change is checked: workflows, actions, owners."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from ci.loading.commits.git import git
from ci.loading.commits.revision import folder

GUARDS = (".github", "CODEOWNERS", "docs/CODEOWNERS")
_STATES = {"A": ("", "new"), "D": ("as it was", ""), "M": ("as it was", "changed"), "T": ("as it was", "changed")}


def changed_guards(root: Path, base: str) -> tuple[Mapping[str, str], Mapping[str, str]]:
    """Of both versions the guards that differ since the commit *base*, by their path from the top of the repository."""
    top = root.resolve()
    for _ in folder(root).split("/")[:-1]:
        top = top.parent
    told = git(top, "diff", "--name-status", "-z", "--no-renames", "--no-ext-diff", base, "--", *GUARDS)
    before: dict[str, str] = {}
    after: dict[str, str] = {}
    parts = (told or b"").split(b"\0")
    for state, name in zip(parts[::2], parts[1::2], strict=False):
        old, new = _STATES.get(state.decode("ascii", "replace")[:1], ("as it was", "changed"))
        path = name.decode("utf-8", "backslashreplace")
        before |= {path: old} if old else {}
        after |= {path: new} if new else {}
    return before, after
