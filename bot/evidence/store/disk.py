"""Waiting for the disk: several that wait at once wait for one sync, and nobody else meanwhile.

SQLite with `synchronous=FULL` syncs its log inside each commit, with the lock held that all other writers wait for.
Here commits only write; who promises that something lasts syncs the log afterwards. Later commits stand behind earlier
ones in it, so one sync makes all of them last. (sqlite.org/pragma.html#pragma_synchronous, sqlite.org/wal.html)
"""

from __future__ import annotations

import os
from dataclasses import dataclass, field
from pathlib import Path
from threading import Lock

_sync = getattr(os, "fdatasync", os.fsync)  # Windows and macOS have no other than fsync


@dataclass
class Disk:
    """The syncs of one file by one process."""

    path: Path
    _count: Lock = field(default_factory=Lock, repr=False)
    _turn: Lock = field(default_factory=Lock, repr=False)
    _asked: int = 0
    _done: int = 0
    _failed: tuple[int, OSError | None] = (0, None)

    def wait(self) -> None:
        """Return once everything that was written to the file before is on the disk. Raises OSError.

        A sync that failed fails everybody who waited for it: a second one would say that all is well, and the kernel
        may have dropped what it could not write.
        """
        with self._count:
            self._asked += 1
            mine = self._asked
        with self._turn:
            if self._done < mine:
                self._sync()
            until, error = self._failed
            if error is not None and mine <= until:
                raise error

    def _sync(self) -> None:
        until = self._asked  # whoever asked by now has written before
        try:
            handle = os.open(self.path, os.O_RDWR)
            try:
                _sync(handle)
            finally:
                os.close(handle)
        except FileNotFoundError:
            pass  # SQLite took the log away, having synced what stood in it into the file
        except OSError as error:
            self._failed = (until, error)
        self._done = until
