"""Where the chain last stood, in a file beside the store that every entry overwrites.

It costs no sync, and it outlives the process: a store whose last transactions are gone, with its log or with a copy put
in its place, is shorter than the file says.
"""

from __future__ import annotations

import os
from dataclasses import dataclass
from pathlib import Path

from bylaw.audit.entry import Checkpoint

_SIZE = 96
_HOW = os.O_WRONLY | os.O_CREAT


@dataclass(frozen=True)
class Head:
    """The file at *path*. Several processes may write; each says the whole of it at once."""

    path: Path

    def write(self, tail: Checkpoint) -> None:
        """Say that the chain stands at *tail*. Raises OSError."""
        told = f"{tail.count} {tail.head}".ljust(_SIZE - 1).encode() + b"\n"
        try:
            handle = os.open(self.path, _HOW, 0o644)
        except FileNotFoundError:
            self.path.parent.mkdir(parents=True, exist_ok=True)
            handle = os.open(self.path, _HOW, 0o644)
        try:
            os.pwrite(handle, told, 0)
        finally:
            os.close(handle)

    def read(self) -> Checkpoint | None:
        """Where it last stood; None where nothing is said, or only half of it."""
        try:
            count, head = self.path.read_text(encoding="ascii").split()
        except (OSError, ValueError):
            return None
        if not (count.isdigit() and len(count) < 19 and len(head) == 64 and set(head) <= set("0123456789abcdef")):
            return None
        return Checkpoint(int(count), head)
