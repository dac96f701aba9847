"""The newest bundle that was served, so that an older one is not taken for it: a roll-back must be told.

One row for all processes on one store. Which bundle is older is said by the moment its commit was made; one that does
not say is taken only while none before it did.
"""

from __future__ import annotations

from datetime import datetime
from typing import TYPE_CHECKING

from bot.evidence.store import marks
from bot.evidence.store.connection import Connection, insert_new, update
from bot.evidence.store.tables import audit
from bylaw.audit.entry import AuditEntry
from bylaw.errors import BundleError

if TYPE_CHECKING:
    from bylaw.bundle import BundleMetadata

_NAME = "policies"
_SERVED = "SELECT * FROM served WHERE name = :name"


def admit(connection: Connection, bundle: BundleMetadata, told: str | None, now: datetime) -> AuditEntry | None:
    """Remember *bundle* as the one that is served; the entry that records it, None where it was before.

    *told* is the etag or commit of one that may be older. Raises BundleError for an older one that nobody was told of.
    """
    values = {
        "etag": bundle.etag,
        "source_commit": bundle.source_commit,
        "committed_at": bundle.committed_at,
        "served_at": now,
    }
    if insert_new(connection, "served", {"name": _NAME, "salt": marks.new_salt(), **values}):
        return _recorded(connection, bundle, now)
    newest = connection.one(connection.locked(_SERVED), {"name": _NAME})
    if newest is None or bundle.etag == newest["etag"]:
        return None
    if told not in (bundle.etag, bundle.source_commit) or told is None:
        _refuse_older(bundle, newest["committed_at"], newest["source_commit"])
    update(connection, "served", {"name": _NAME}, values)
    return _recorded(connection, bundle, now)


def origin(connection: Connection) -> dict[str, str | None]:
    """The etag and the commit of the bundle that is served, null where none was yet."""
    newest = connection.one(_SERVED, {"name": _NAME})
    if newest is None:
        return {"bundle_etag": None, "commit": None}
    return {"bundle_etag": newest["etag"], "commit": newest["source_commit"]}


def _recorded(connection: Connection, bundle: BundleMetadata, now: datetime) -> AuditEntry:
    body = {
        "event": "served",
        "bundle_etag": bundle.etag,
        "commit": bundle.source_commit,
        "committed_at": bundle.committed_at,
    }
    return audit.append(connection, body, now, rows=marks.of_row(connection, "served", {"name": _NAME}))


def _refuse_older(bundle: BundleMetadata, newest: str | None, commit: str | None) -> None:
    if newest is None or (bundle.committed_at is not None and bundle.committed_at >= newest):
        return
    since = "does not say when it was committed" if bundle.committed_at is None else f"is of {bundle.committed_at}"
    raise BundleError(
        f"the bundle of commit `{bundle.source_commit}` {since}, and one of {newest} (`{commit}`) was served before",
        f"to go back on purpose, set BYLAW_ROLLBACK_TO={bundle.etag}",
    )
