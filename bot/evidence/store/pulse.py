"""Can anything be kept now? Found out by keeping something: a row that says when, and that it is on the disk.

A full disk, a server that is only a copy and a file that may only be read all answer questions and keep nothing. SQLite
writes a row over and over into space that its log has already, so on a full disk that row says nothing: there, as much
as a reply may need is written beside the file, and taken away again.
"""

from __future__ import annotations

import os
import tempfile
from datetime import datetime
from pathlib import Path

from bot.evidence.store.connection import insert_new, update
from bot.evidence.store.engine import Store, StoreError

_PLACE = 1
_ROOM = 512 * 1024  # bytes: a reply with its papers, and then some


def is_writable(store: Store, now: datetime) -> bool:
    """Can *store* keep what it is given?"""
    try:
        with store.writing() as connection:
            if not update(connection, "pulse", {"place": _PLACE}, {"at": now}):
                insert_new(connection, "pulse", {"place": _PLACE, "at": now})
    except StoreError:
        return False
    return store.file is None or has_room(store.file.place.path.parent)


def has_room(folder: Path) -> bool:
    """Can a file of this folder grow by what a reply may need? No bytes that a file system could store as less."""
    try:
        with tempfile.TemporaryFile(dir=folder) as file:
            file.write(os.urandom(_ROOM))
            file.flush()
            os.fsync(file.fileno())
    except OSError:
        return False
    return True
