"""Who asked for an allowed call, since only they may tell how it ended."""

import sqlalchemy as sa
from alembic import op

revision = "0010"
down_revision = "0009"
branch_labels = None
depends_on = None

_CALLS = sa.table("gate_calls", sa.column("actor"), sa.column("ok"), sa.column("asked_by"))


def upgrade() -> None:
    """Add the column; what is under way was asked for by its actor, as far as anybody was asked who they are."""
    op.add_column("gate_calls", sa.Column("asked_by", sa.String(128)))
    op.execute(_CALLS.update().where(_CALLS.c.ok.is_(None)).values(asked_by=_CALLS.c.actor))
