"""Can anything be kept now? Found out by keeping something: a row that says when, and that it is on the disk.

A full disk, a server that is only a copy and a file that may only be read all answer questions and keep nothing.
"""

from __future__ import annotations

from datetime import datetime

from sqlalchemy import Column, Integer, Table

from bot.evidence.store.columns import Moment, insert_new, metadata, run
from bot.evidence.store.engine import Store, StoreError

pulse = Table(
    "pulse",
    metadata,
    Column("place", Integer, primary_key=True, autoincrement=False),
    Column("at", Moment, nullable=False),
)

_PLACE = 1
_BEAT = pulse.update().where(pulse.c.place == _PLACE)


def is_writable(store: Store, now: datetime) -> bool:
    """Can *store* keep what it is given?"""
    try:
        with store.writing() as connection:
            if not run(connection, _BEAT, {"at": now}):
                insert_new(connection, pulse, {"place": _PLACE, "at": now})
    except StoreError:
        return False
    return True
