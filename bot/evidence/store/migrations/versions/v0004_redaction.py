"""What is hashed of an audit entry stands apart from its payload, so that a payload can be taken away."""

import sqlalchemy as sa
from alembic import op

revision = "0004"
down_revision = "0003"
branch_labels = None
depends_on = None


def upgrade() -> None:
    """What was hashed until now is the header; such entries have no payload beside it."""
    op.execute("ALTER TABLE audit RENAME COLUMN payload TO header")
    op.add_column("audit", sa.Column("payload", sa.Text()))
