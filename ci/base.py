"""What a repository looked like at another commit: its files, taken from git without touching the working tree."""

from __future__ import annotations

import io
import subprocess
import tarfile
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import date
from pathlib import Path

from bylaw.errors import BylawError, UsageError
from ci.files import FOLDERS


@contextmanager
def checkout(root: Path, ref: str) -> Iterator[Path]:
    """A temporary folder with the policy files of *root* at *ref*, an empty one where there were none yet.

    Raises UsageError when git does not know *ref*.
    """
    if ref.startswith("-"):
        raise UsageError(f"`{ref}` is not a git ref")
    commit = _git(root, "rev-parse", "--verify", "--quiet", f"{ref}^{{commit}}")
    if commit is None:
        raise UsageError(f"git does not know `{ref}` in `{root}`", "name a branch, a tag or a commit")
    with tempfile.TemporaryDirectory(prefix="bylaw-base-") as name:
        folder = Path(name)
        (folder / FOLDERS[0]).mkdir()
        _extract(root, commit.decode().strip(), folder)
        yield folder


def _extract(root: Path, commit: str, folder: Path) -> None:
    listed = _git(root, "ls-tree", "--name-only", commit, "--", *FOLDERS)
    present = (listed or b"").decode().split()
    if not present:
        return
    archive = _git(root, "archive", "--format=tar", commit, "--", *present)
    if archive is None:
        raise BylawError(f"git does not give out the files of `{root}` at `{commit}`")
    with tarfile.open(fileobj=io.BytesIO(archive)) as tar:
        wanted = [m for m in tar.getmembers() if m.isfile() and m.name.split("/")[0] in FOLDERS]
        tar.extractall(folder, members=wanted, filter="data")


def committed_on(root: Path, ref: str) -> date | None:
    """The day of the commit that *ref* names."""
    shown = _git(root, "log", "-1", "--no-show-signature", "--format=%cs", f"{ref}^{{commit}}", "--")
    return date.fromisoformat(shown.decode().strip()) if shown else None


def _git(root: Path, *arguments: str) -> bytes | None:
    try:
        answer = subprocess.run(["git", "-C", str(root), *arguments], capture_output=True, timeout=120, check=False)
    except (OSError, subprocess.TimeoutExpired):
        return None
    return answer.stdout if answer.returncode == 0 else None
