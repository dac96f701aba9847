"""How a delivery ended or why it waits; up to when conversations were listened to, and pull requests looked at.

What an earlier version gave up after three attempts keeps that meaning (`given up`): a person may have it sent again.
"""

import sqlalchemy as sa
from alembic import op

revision = "0012"
down_revision = "0011"
branch_labels = None
depends_on = None

_DELIVERIES = sa.table(
    "deliveries",
    sa.column("attempts", sa.Integer),
    sa.column("place", sa.JSON),
    sa.column("kind", sa.String),
    sa.column("failure", sa.Text),
    sa.column("closed_at", sa.String),
    sa.column("outcome", sa.String),
    sa.column("is_doubtful", sa.Boolean),
)


def upgrade() -> None:
    """Add the columns and the table; what was tried and not closed may have been posted."""
    op.add_column("deliveries", sa.Column("outcome", sa.String(16)))
    op.add_column("deliveries", sa.Column("closed_by", sa.String(128)))
    op.add_column("deliveries", sa.Column("cause", sa.String(16)))
    op.add_column("deliveries", sa.Column("blocked_at", sa.String(27)))
    op.add_column("deliveries", sa.Column("is_doubtful", sa.Boolean(), nullable=False, server_default=sa.false()))
    op.add_column("candidates", sa.Column("followed_at", sa.String(27)))
    op.create_table(
        "watches",
        sa.Column("name", sa.String(128), nullable=False),
        sa.Column("seen_until", sa.String(27), nullable=False),
        sa.Column("owner", sa.String(128)),
        sa.Column("leased_until", sa.String(27)),
        sa.Column("attempts", sa.Integer(), nullable=False),
        sa.Column("unseen", sa.Text()),
        sa.PrimaryKeyConstraint("name", name="pk_watches"),
    )
    _say_how_they_ended()


def _say_how_they_ended() -> None:
    column = _DELIVERIES.c
    closed = column.closed_at.is_not(None)
    ended = sa.case((column.failure.is_(None), "delivered"), else_="given up")
    op.execute(_DELIVERIES.update().where(closed).values(outcome=ended))
    op.execute(_DELIVERIES.update().where(column.attempts > 0).values(is_doubtful=sa.true()))
