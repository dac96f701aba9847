"""The runs of the bounded loop that answered questions, and what people made of them."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from datetime import datetime
from typing import TYPE_CHECKING, Any

from bot.evidence.store.connection import Connection
from bot.evidence.store.engine import Store

if TYPE_CHECKING:
    from bylaw.refine.ledger import Judged


def runs(connection: Connection, since: datetime | None = None) -> Iterator[tuple[Mapping[str, Any], bool | None]]:
    """What each run found, in the final format, and whether its recommendation was taken; None where nobody said."""
    from sqlalchemy import select

    from bot.evidence.store.schema import query_log, requests

    asked = select(query_log.c.user_accepted, requests.c.reply).join_from(
        query_log, requests, query_log.c.request_id == requests.c.request_id
    )
    asked = asked.where(query_log.c.kind == "policy").order_by(query_log.c.at, query_log.c.log_id)
    for accepted, reply in connection.execute(asked if since is None else asked.where(query_log.c.at >= since)):
        found = ((reply or {}).get("meta") or {}).get("refinement")
        if isinstance(found, dict):
            is_judged = (reply or {}).get("status") == "recommended"
            yield found, accepted if is_judged else None


def judged(store: Store) -> list[Judged]:
    """The recommendations that people took or turned down, as errors mended and made."""
    with store.reading() as connection:
        return [judged_of(found, taken) for found, taken in runs(connection) if taken is not None]


def judged_of(found: Mapping[str, Any], taken: bool) -> Judged:
    """One recommendation: what was open is right now, or wrong."""
    from bylaw.refine.ledger import Judged

    metrics = found["metrics"]
    return Judged(metrics["proposer"], metrics["prompt_version"], int(taken), int(not taken))
