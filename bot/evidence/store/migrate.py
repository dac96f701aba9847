"""Brings the store's tables to this version, through Alembic, without an ini file.

One process at a time: the whole upgrade is one locked transaction, so that processes which start together find the work
done. A store that is already current costs one SELECT and never loads Alembic.
"""

from __future__ import annotations

from pathlib import Path

from sqlalchemy import Column, Connection, MetaData, String, Table, inspect, select, text

from bot.evidence.store import pulse
from bot.evidence.store.columns import metadata
from bot.evidence.store.engine import Store, StoreError
from bot.evidence.store.tables import (
    audit,
    calls,
    candidates,
    corrections,
    deliveries,
    memories,
    papers,
    querylog,
    remarks,
    requests,
    served,
    sessions,
)

HEAD = "0010"
SCRIPTS = Path(__file__).parent / "migrations"
TABLES = (
    requests.requests,
    requests.request_steps,
    sessions.sessions,
    audit.audit,
    querylog.query_log,
    remarks.remarks,
    served.served,
    deliveries.deliveries,
    papers.papers,
    pulse.pulse,
    calls.calls,
    calls.call_keys,
    calls.sessions,
    corrections.corrections,
    candidates.candidates,
    memories.memories,
)

_VERSION = Table("alembic_version", MetaData(), Column("version_num", String(32)))  # Alembic's own table
_LOCK = 0x6279_6C61_7702  # the advisory lock of upgrades on PostgreSQL


def upgrade(store: Store) -> bool:
    """Bring *store* to HEAD; was there anything to do? Raises StoreError for a store of a newer version."""
    with store.reading() as connection:
        if revision(connection) == HEAD:
            return False
    with store.writing() as connection:
        if connection.dialect.name == "postgresql":
            connection.execute(text("SELECT pg_advisory_xact_lock(:key)"), {"key": _LOCK})
        if revision(connection) == HEAD:
            return False
        _run(connection)
    return True


def revision(connection: Connection) -> str | None:
    """Which revision the store is at, None for an empty one."""
    if not inspect(connection).has_table("alembic_version"):
        return None
    return connection.execute(select(_VERSION.c.version_num)).scalar_one_or_none()


def _run(connection: Connection) -> None:
    from alembic import command  # slow to import, and only needed once in the life of a store
    from alembic.config import Config
    from alembic.util.exc import CommandError

    config = Config()
    # `%` would be read as an interpolation
    config.set_main_option("script_location", str(SCRIPTS).replace("%", "%%"))
    config.attributes.update(connection=connection, metadata=metadata)
    try:
        command.upgrade(config, HEAD)
    except CommandError as error:
        raise StoreError(f"the store was made by a newer version of bylaw: {error}", "update bylaw") from error
