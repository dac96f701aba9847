"""The bundle of a working folder, compiled again only when something that goes into it has changed."""

from __future__ import annotations

import hmac
from datetime import date
from pathlib import Path

import click

from bylaw.canonical import write_atomically
from ci.loading.kept import sealed, stamp

FILE_NAME = "compiled_policy_bundle.json"  # as `bylaw.bundle` says; not imported, for most of what it needs is slow
STAMP = ".compiled-from"


def bundle(root: Path, directory: Path, today: date) -> Path:
    """The bundle of *root* in *directory*. Raises UsageError when the repository does not compile."""
    now = stamp(root, today)
    path = directory / FILE_NAME
    if _is_kept(path, now):
        return path
    from ci.pipeline import build

    done, path = build(root, directory, today)
    for one in done.unread:
        click.echo(one.notice, err=True)
    if (seal := sealed(FILE_NAME, now, path.read_bytes())) is not None:
        write_atomically(directory / STAMP, seal, durable=False)
    return path


def _is_kept(path: Path, now: str) -> bool:
    try:
        data, seal = path.read_bytes(), path.with_name(STAMP).read_bytes()
    except OSError:
        return False
    expected = sealed(FILE_NAME, now, data)
    return expected is not None and hmac.compare_digest(seal, expected.encode())
