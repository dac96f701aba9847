"""The newest bundle that was served."""

import sqlalchemy as sa
from alembic import op

revision = "0002"
down_revision = "0001"
branch_labels = None
depends_on = None


def upgrade() -> None:
    """Make the table of one row."""
    op.create_table(
        "served",
        sa.Column("name", sa.String(16), nullable=False),
        sa.Column("etag", sa.String(80), nullable=False),
        sa.Column("source_commit", sa.String(80)),
        sa.Column("committed_at", sa.String(20)),
        sa.Column("served_at", sa.String(27), nullable=False),
        sa.PrimaryKeyConstraint("name", name="pk_served"),
    )
