"""The runs of the bounded loop that answered questions, and what people made of them."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from datetime import datetime
from typing import TYPE_CHECKING, Any

from bot.evidence.store.columns import told
from bot.evidence.store.connection import Connection
from bot.evidence.store.engine import Store

if TYPE_CHECKING:
    from bylaw.refine.ledger import Judged

_RUNS = "query_log AS log JOIN requests ON log.request_id = requests.request_id WHERE log.kind = 'policy'"


def runs(connection: Connection, since: datetime | None = None) -> Iterator[tuple[Mapping[str, Any], bool | None]]:
    """What each run found, in the final format, and whether its recommendation was taken; None where nobody said."""
    later = "" if since is None else " AND log.at >= :since"
    asked = f"SELECT log.user_accepted, requests.reply FROM {_RUNS}{later} ORDER BY log.at, log.log_id"
    for row in connection.all(asked, {"since": since}):
        reply = told(row["reply"]) or {}
        found = (reply.get("meta") or {}).get("refinement")
        if isinstance(found, dict):
            is_judged = reply.get("status") == "recommended" and row["user_accepted"] is not None
            yield found, bool(row["user_accepted"]) if is_judged else None


def judged(store: Store) -> list[Judged]:
    """The recommendations that people took or turned down, as errors mended and made."""
    with store.reading() as connection:
        return [judged_of(found, taken) for found, taken in runs(connection) if taken is not None]


def judged_of(found: Mapping[str, Any], taken: bool) -> Judged:
    """One recommendation: what was open is right now, or wrong."""
    from bylaw.refine.ledger import Judged

    metrics = found["metrics"]
    return Judged(metrics["proposer"], metrics["prompt_version"], int(taken), int(not taken))
