"""What is remembered of people: their corrections and preferences; and what many of them propose for everybody."""

import sqlalchemy as sa
from alembic import op
from sqlalchemy.dialects import postgresql

revision = "0009"
down_revision = "0008"
branch_labels = None
depends_on = None

_ID = sa.String(128)
_MOMENT = sa.String(27)
_JSON = sa.JSON().with_variant(postgresql.JSONB(), "postgresql")


def upgrade() -> None:
    """Make the tables."""
    op.create_table(
        "corrections",
        sa.Column("correction_id", _ID, nullable=False),
        sa.Column("at", _MOMENT, nullable=False),
        sa.Column("actor_id", _ID, nullable=False),
        sa.Column("actor_roles", _JSON, nullable=False),
        sa.Column("request_id", _ID, nullable=False),
        sa.Column("correction_type", sa.String(16), nullable=False),
        sa.Column("domain", _ID),
        sa.Column("object", sa.String(200)),
        sa.Column("field", sa.String(200)),
        sa.Column("old", _JSON),
        sa.Column("new", _JSON),
        sa.Column("reason", sa.Text(), nullable=False),
        sa.Column("structure", sa.String(64)),
        sa.Column("stage", sa.String(16), nullable=False),
        sa.Column("is_applied", sa.Boolean(), nullable=False),
        sa.Column("changed_at", _MOMENT, nullable=False),
        sa.PrimaryKeyConstraint("correction_id", name="pk_corrections"),
    )
    op.create_index("ix_corrections_actor_id_is_applied", "corrections", ["actor_id", "is_applied"])
    op.create_index("ix_corrections_object_field", "corrections", ["object", "field"])
    op.create_table(
        "candidates",
        sa.Column("candidate_id", _ID, nullable=False),
        sa.Column("structure", sa.String(64), nullable=False),
        sa.Column("proposed_at", _MOMENT, nullable=False),
        sa.Column("stage", sa.String(16), nullable=False),
        sa.Column("change", _JSON, nullable=False),
        sa.Column("domain", _ID),
        sa.Column("members", _JSON, nullable=False),
        sa.Column("similar", _JSON, nullable=False),
        sa.Column("reviewed_by", _ID),
        sa.Column("reviewed_at", _MOMENT),
        sa.Column("reason", sa.Text()),
        sa.Column("pull_request", sa.Text()),
        sa.Column("merged_at", _MOMENT),
        sa.PrimaryKeyConstraint("candidate_id", name="pk_candidates"),
    )
    op.create_index("ix_candidates_structure_stage", "candidates", ["structure", "stage"])
    op.create_table(
        "memories",
        sa.Column("actor_id", _ID, nullable=False),
        sa.Column("memory_type", sa.String(16), nullable=False),
        sa.Column("name", _ID, nullable=False),
        sa.Column("content", _JSON, nullable=False),
        sa.Column("request_id", _ID),
        sa.Column("at", _MOMENT, nullable=False),
        sa.PrimaryKeyConstraint("actor_id", "memory_type", "name", name="pk_memories"),
    )
