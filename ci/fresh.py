"""The bundle of a working folder, compiled again only when something that goes into it has changed."""

from __future__ import annotations

import hashlib
from datetime import date
from pathlib import Path

from bylaw.bundle import FILE_NAME
from bylaw.canonical import fingerprint, write_atomically
from ci.files import Content, contents
from ci.pipeline import build
from ci.revision import revision

STAMP = ".compiled-from"
PROGRAM = Path(__file__).resolve().parents[1]


def bundle(root: Path, directory: Path, today: date) -> Path:
    """The bundle of *root* in *directory*. Raises UsageError when the repository does not compile."""
    now = _stamp(root, today)
    path = directory / FILE_NAME
    if path.is_file() and _read(directory / STAMP) == f"{now} {_digest(path)}":
        return path
    _, path = build(root, directory, today)
    write_atomically(directory / STAMP, f"{now} {_digest(path)}")
    return path


def _stamp(root: Path, today: date) -> str:
    """Everything the bundle depends on: the files, the commit, the day, and this program itself."""
    shown = revision(root)
    read = [
        (item.path, hashlib.sha256(item.data).hexdigest()) if isinstance(item, Content) else ("?", item.message)
        for item in contents(root)
    ]
    code = [
        (str(path.relative_to(PROGRAM)), path.stat().st_mtime_ns)
        for package in ("bylaw", "ci")
        for path in sorted((PROGRAM / package).rglob("*"))
        if path.suffix in (".py", ".yaml")
    ]
    return fingerprint([read, shown.commit, str(shown.commit_date or today), code])


def _digest(path: Path) -> str:
    return hashlib.sha256(path.read_bytes()).hexdigest()


def _read(path: Path) -> str | None:
    try:
        return path.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError):
        return None
