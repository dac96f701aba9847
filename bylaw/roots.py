"""Which policy repository somebody stands in: the nearest folder, from theirs upward, that holds one."""

from __future__ import annotations

from pathlib import Path

_WORDS = Path("policies") / "vocabulary.yaml"
_FOLDERS = ("policies", "context", "rules")
_END = ".git"  # a repository of git is never left on the way up


def root_around(folder: Path) -> Path:
    """The root of the repository that *folder* lies in; *folder* itself where there is none around it.

    A root holds policies/vocabulary.yaml, or at least two of policies/, context/ and rules/. Of roots inside each other
    the innermost counts. The answer is *folder* or one of its parents, relative where *folder* is.
    """
    here, up = folder, folder.resolve()
    while True:
        if is_root(up):
            return here
        if (up / _END).exists() or up.parent == up:
            return folder
        here, up = here / "..", up.parent


def is_root(folder: Path) -> bool:
    """Is *folder* the root of a policy repository?"""
    return (folder / _WORDS).is_file() or sum((folder / name).is_dir() for name in _FOLDERS) > 1
