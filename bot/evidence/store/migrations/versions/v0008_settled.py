"""How requests end: by when, as what, and what they put right; what people have to be told of it."""

from datetime import UTC, datetime, timedelta
from typing import Any

import sqlalchemy as sa
from alembic import op
from sqlalchemy.dialects import postgresql

revision = "0008"
down_revision = "0007"
branch_labels = None
depends_on = None

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
    op.add_column("requests", sa.Column("revises", sa.String(128)))
    op.add_column("requests", sa.Column("clarifies", sa.String(128)))
    op.add_column("requests", sa.Column("due_at", sa.String(27)))
    op.add_column("requests", sa.Column("assigned_to", sa.String(128)))
    op.add_column("requests", sa.Column("settled_at", sa.String(27)))
    op.add_column("requests", sa.Column("outcome", sa.String(16)))
    op.create_index("ix_requests_due_at", "requests", ["due_at"])
    op.add_column("query_log", sa.Column("outcome", sa.String(16)))
    op.add_column("query_log", sa.Column("settled_at", sa.String(27)))
    op.add_column("query_log", sa.Column("revises", sa.String(128)))
    op.add_column("query_log", sa.Column("clarifies", sa.String(128)))
    op.add_column("query_log", sa.Column("choice", sa.Integer()))
    op.add_column("query_log", sa.Column("answer_ms", sa.Integer()))
    op.add_column("deliveries", sa.Column("kind", sa.String(16), nullable=False, server_default="message"))
    op.add_column("deliveries", sa.Column("recipient", sa.String(128)))
    op.add_column("deliveries", sa.Column("about", sa.String(128)))
    op.create_index("ix_deliveries_about", "deliveries", ["about"])
    op.add_column("sessions", sa.Column("last_request", sa.String(128)))
    op.create_table(
        "remarks",
        sa.Column("remark_id", sa.String(64), nullable=False),
        sa.Column("request_id", sa.String(128), nullable=False),
        sa.Column("actor_id", sa.String(128), nullable=False),
        sa.Column("at", sa.String(27), nullable=False),
        sa.Column("kind", sa.String(16), nullable=False),
        sa.Column("verdict", sa.String(16)),
        sa.Column("text", sa.Text()),
        sa.Column("correction", sa.JSON().with_variant(postgresql.JSONB(), "postgresql")),
        sa.PrimaryKeyConstraint("remark_id", name="pk_remarks"),
    )
    op.create_index("ix_remarks_request_id_at", "remarks", ["request_id", "at"])
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
