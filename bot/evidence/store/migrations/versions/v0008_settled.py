"""How requests end: by when, as what, and what they put right; what people have to be told of it."""

from datetime import UTC, datetime, timedelta
from typing import Any

import sqlalchemy as sa
from alembic import op

from bot.evidence.store.migrations.statements import upgrade_by

revision = "0008"
down_revision = "0007"

_REQUESTS = sa.table(
    "requests",
    sa.column("request_id", sa.String),
    sa.column("state", sa.String),
    sa.column("updated_at", sa.String),
    sa.column("due_at", sa.String),
    sa.column("reply", sa.JSON),
)


def upgrade() -> None:
    """Add the columns; what waits to be accepted already gets the time that its reply promised."""
    upgrade_by(__file__)()
    _date_what_waits()


def _date_what_waits() -> None:
    connection = op.get_bind()
    waiting = sa.select(_REQUESTS).where(_REQUESTS.c.state == "ACCEPT", _REQUESTS.c.reply.is_not(None))
    for row in connection.execute(waiting).all():
        minutes = _promised(row.reply)
        if minutes is not None:
            due = datetime.fromisoformat(row.updated_at).astimezone(UTC) + timedelta(minutes=minutes)
            stamp = f"{due.replace(tzinfo=None).isoformat(timespec='microseconds')}Z"
            connection.execute(_REQUESTS.update().where(_REQUESTS.c.request_id == row.request_id).values(due_at=stamp))


def _promised(reply: Any) -> int | None:
    acceptance = reply.get("acceptance") if isinstance(reply, dict) else None
    minutes = acceptance.get("timeout_minutes") if isinstance(acceptance, dict) else None
    return minutes if isinstance(minutes, int) else None
