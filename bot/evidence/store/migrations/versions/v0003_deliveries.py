"""What was said where people talk, and where it was answered."""

import sqlalchemy as sa
from alembic import op
from sqlalchemy.dialects import postgresql

revision = "0003"
down_revision = "0002"
branch_labels = None
depends_on = None

_JSON = sa.JSON().with_variant(postgresql.JSONB(), "postgresql")


def upgrade() -> None:
    """Make the table."""
    op.create_table(
        "deliveries",
        sa.Column("delivery_id", sa.String(128), nullable=False),
        sa.Column("letter", _JSON, nullable=False),
        sa.Column("attempts", sa.Integer(), nullable=False),
        sa.Column("owner", sa.String(128)),
        sa.Column("leased_until", sa.String(27)),
        sa.Column("place", _JSON),
        sa.Column("failure", sa.Text()),
        sa.Column("created_at", sa.String(27), nullable=False),
        sa.Column("closed_at", sa.String(27)),
        sa.PrimaryKeyConstraint("delivery_id", name="pk_deliveries"),
    )
    op.create_index("ix_deliveries_closed_at_created_at", "deliveries", ["closed_at", "created_at"])
