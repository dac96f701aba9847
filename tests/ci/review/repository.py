"""A policy repository under git with commits of a fixed author and day, so that every id is the same on every run."""

from __future__ import annotations

import os
import subprocess
from pathlib import Path

_WHO = {f"GIT_{role}_{key}": value for role in ("AUTHOR", "COMMITTER") for key, value in
        (("NAME", "ana"), ("EMAIL", "ana@example.com"), ("DATE", "2026-06-01T12:00:00Z"))}  # fmt: skip


class Repository:
    """A folder with a git repository in it."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        folder.mkdir(parents=True, exist_ok=True)
        self.git("init", "-q", "-b", "main")

    def git(self, *words: str) -> str:
        """What git says; its settings are nobody's."""
        quiet = {"GIT_CONFIG_GLOBAL": os.devnull, "GIT_CONFIG_SYSTEM": os.devnull}
        done = subprocess.run(
            ["git", *words],
            cwd=self.folder,
            env={**os.environ, **_WHO, **quiet},
            capture_output=True,
            text=True,
            check=True,
        )
        return done.stdout.strip()

    def write(self, path: str, text: str) -> None:
        """A file."""
        file = self.folder / path
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text, encoding="utf-8")

    def replace(self, path: str, old: str, new: str) -> None:
        """Change what stands in a file exactly once."""
        text = (self.folder / path).read_text(encoding="utf-8")
        assert text.count(old) == 1, path
        self.write(path, text.replace(old, new))

    def commit(self, message: str = "Change") -> str:
        """Commit everything; the commit's id."""
        self.git("add", "-A")
        self.git("commit", "-q", "--allow-empty", "-m", message)
        return self.git("rev-parse", "HEAD")

    def branch(self, name: str = "change") -> None:
        """Go on on a branch of its own."""
        self.git("checkout", "-q", "-b", name)
