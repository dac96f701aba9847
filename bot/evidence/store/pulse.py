"""Can anything be kept now? Found out by keeping something: a row that says when, and that it is on the disk.

A full disk, a server that is only a copy and a file that may only be read all answer questions and keep nothing.
"""

from __future__ import annotations

from datetime import datetime

from bot.evidence.store.connection import insert_new, update
from bot.evidence.store.engine import Store, StoreError

_PLACE = 1


def is_writable(store: Store, now: datetime) -> bool:
    """Can *store* keep what it is given?"""
    try:
        with store.writing() as connection:
            if not update(connection, "pulse", {"place": _PLACE}, {"at": now}):
                insert_new(connection, "pulse", {"place": _PLACE, "at": now})
    except StoreError:
        return False
    return True
