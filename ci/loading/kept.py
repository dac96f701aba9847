"""What was worked out about a repository, kept beside it and believed only where this very user has sealed it.

A folder `.bylaw/` may come with a clone, so what lies in it proves nothing: a seal is made with a key that lies in the
home of whoever runs the command and is no other's. Without such a home, or with another user's rights, nothing is
believed and nothing is lost but time. Files are replaced in one step, so that two commands at once do no harm.
"""

from __future__ import annotations

import hashlib
import hmac
import json
import os
import secrets
import stat
from collections.abc import Callable, Iterator
from contextlib import suppress
from datetime import date
from functools import lru_cache
from pathlib import Path

from bylaw.canonical import write_atomically
from ci.loading.commits.revision import revision
from ci.loading.files import Content, contents

PROGRAM = Path(__file__).resolve().parents[2]
FOLDER = ".bylaw"
KEY = Path(".cache/bylaw/seal.key")  # under the home of the user
_BYTES = 32


def stamp(root: Path, today: date) -> str:
    """Everything that an answer about *root* depends on: its files, its commit, the day, and this program itself."""
    digest = hashlib.sha256()
    shown = revision(root)
    for part in (*_files(root), str(shown.commit), str(shown.commit_date or today), _program()):
        digest.update(f"{len(part)}:{part}\n".encode())
    return digest.hexdigest()


def _files(root: Path) -> Iterator[str]:
    for item in contents(root):
        if isinstance(item, Content):
            yield f"{item.path} {hashlib.sha256(item.data).hexdigest()}"
        else:
            yield f"? {item.message}"


@lru_cache(1)
def _program() -> str:
    """The sources as they lie here, by the time each was written."""
    found = [(path, at) for package in ("bylaw", "ci") for path, at in _sources(str(PROGRAM / package))]
    return hashlib.sha256(repr(sorted(found)).encode()).hexdigest()


def _sources(folder: str) -> Iterator[tuple[str, int]]:
    with os.scandir(folder) as entries:
        for entry in entries:
            if entry.is_dir(follow_symlinks=False):
                if entry.name != "__pycache__":
                    yield from _sources(entry.path)
            elif entry.name.endswith((".py", ".yaml")):
                yield entry.path, entry.stat().st_mtime_ns


def sealed(name: str, stamped: str, data: bytes) -> str | None:
    """The seal of this user over *data*, kept as *name* for a repository *stamped* so; None where there is no key."""
    key = _key()
    if key is None:
        return None
    told = f"{name}\n{stamped}\n{hashlib.sha256(data).hexdigest()}"
    return hmac.new(key, told.encode(), hashlib.sha256).hexdigest()


def recalled(path: Path, stamped: str) -> bytes | None:
    """What was kept in *path* for a repository *stamped* so; None where nothing is, or not by this user."""
    try:
        seal, _, data = path.read_bytes().partition(b"\n")
    except OSError:
        return None
    expected = sealed(path.name, stamped, data)
    return data if expected is not None and hmac.compare_digest(seal, expected.encode()) else None


def keep(path: Path, stamped: str, data: str) -> None:
    """Keep *data* in *path* for a repository *stamped* so, if this user can seal it and write there."""
    seal = sealed(path.name, stamped, data.encode())
    if seal is not None:
        with suppress(OSError):
            write_atomically(path, f"{seal}\n{data}", durable=False)


def again(root: Path, name: str, what: str, today: date, tell: Callable[[], str]) -> str:
    """What *tell* said of *what* when *root* was as it is now; it is asked where nobody has asked since."""
    path, now = root / FOLDER / name, stamp(root, today)
    known = recalled(path, now)
    told: dict[str, str] = json.loads(known) if known else {}
    if what not in told:
        told[what] = tell()
        keep(path, now, json.dumps(told, sort_keys=True))
    return told[what]


def _key() -> bytes | None:
    """The user's own key, made when it is first needed; None where no file of theirs alone can be had."""
    try:
        path = Path.home() / KEY
        if not path.exists():
            _make(path)
        with path.open("rb") as file:
            about = os.fstat(file.fileno())
            is_own = about.st_uid == os.geteuid() and not stat.S_IMODE(about.st_mode) & 0o077
            key = file.read(_BYTES + 1)
    except (OSError, RuntimeError):
        return None
    return key if is_own and stat.S_ISREG(about.st_mode) and len(key) == _BYTES else None


def _make(path: Path) -> None:
    """A new key in *path*; of two makers at once the first wins."""
    path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
    draft = path.with_name(f".{path.name}.{secrets.token_hex(8)}")
    with os.fdopen(os.open(draft, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "wb") as file:
        file.write(secrets.token_bytes(_BYTES))
    try:
        with suppress(FileExistsError):
            os.link(draft, path)
    finally:
        draft.unlink()
