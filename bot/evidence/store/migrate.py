"""Brings the store's tables to this version, through Alembic, without an ini file.

One process at a time: the whole upgrade is one locked transaction, so that processes which start together find the work
done. A store that is already current costs one SELECT and never loads Alembic.
"""

from __future__ import annotations

from pathlib import Path

from bot.evidence.store.connection import Connection
from bot.evidence.store.engine import Store, StoreError

HEAD = "0012"
SCRIPTS = Path(__file__).parent / "migrations"
_LOCK = 0x6279_6C61_7702  # the advisory lock of upgrades on PostgreSQL


def upgrade(store: Store) -> bool:
    """Bring *store* to HEAD; was there anything to do? Raises StoreError for a store of a newer version."""
    with store.reading() as connection:
        if revision(connection) == HEAD:
            return False
    with store.writing() as connection:
        if connection.dialect == "postgresql":
            connection.first("SELECT pg_advisory_xact_lock(:key)", {"key": _LOCK})
        if revision(connection) == HEAD:
            return False
        _run(connection)
    return True


def revision(connection: Connection) -> str | None:
    """Which revision the store is at, None for an empty one."""
    if not _has_version(connection):
        return None
    found = connection.first("SELECT version_num FROM alembic_version")
    return None if found is None else str(found[0])


def _has_version(connection: Connection) -> bool:
    """Is there Alembic's own table? On a server a statement that fails would end the transaction, and `to_regclass`
    would repeat what it knew before it waited for a lock.
    """
    if connection.dialect == "sqlite":
        return connection.first("SELECT 1 FROM sqlite_master WHERE name = 'alembic_version'") is not None
    found = (
        "SELECT 1 FROM pg_catalog.pg_class WHERE relname = 'alembic_version' AND pg_catalog.pg_table_is_visible(oid)"
    )
    return connection.first(found) is not None


def _run(connection: Connection) -> None:
    from alembic import command  # slow to import, and only needed once in the life of a store
    from alembic.config import Config
    from alembic.util.exc import CommandError

    config = Config()
    # `%` would be read as an interpolation
    config.set_main_option("script_location", str(SCRIPTS).replace("%", "%%"))
    config.attributes.update(connection=connection.full)
    try:
        command.upgrade(config, HEAD)
    except CommandError as error:
        raise StoreError(f"the store was made by a newer version of bylaw: {error}", "update bylaw") from error
