"""Calls of agents that the gate allowed, their keys, and when each session was last decided about."""

import sqlalchemy as sa
from alembic import op

revision = "0007"
down_revision = "0006"
branch_labels = None
depends_on = None


def upgrade() -> None:
    """Make the tables."""
    op.create_table(
        "gate_calls",
        sa.Column("decision_id", sa.String(128), nullable=False),
        sa.Column("change", sa.BigInteger(), nullable=False),
        sa.Column("session_id", sa.String(128)),
        sa.Column("actor", sa.String(128)),
        sa.Column("action", sa.String(200), nullable=False),
        sa.Column("tool", sa.String(200)),
        sa.Column("keys", sa.Text(), nullable=False),
        sa.Column("facts", sa.Text(), nullable=False),
        sa.Column("at", sa.BigInteger(), nullable=False),
        sa.Column("ok", sa.Boolean()),
        sa.PrimaryKeyConstraint("decision_id", name="pk_gate_calls"),
        sa.UniqueConstraint("change", name="uq_gate_calls_change"),
    )
    op.create_table(
        "gate_keys",
        sa.Column("name", sa.String(200), nullable=False),
        sa.Column("value", sa.String(400), nullable=False),
        sa.Column("decision_id", sa.String(128), nullable=False),
        sa.PrimaryKeyConstraint("name", "value", "decision_id", name="pk_gate_keys"),
    )
    op.create_index("ix_gate_keys_decision_id", "gate_keys", ["decision_id"])
    op.create_table(
        "gate_sessions",
        sa.Column("session_id", sa.String(128), nullable=False),
        sa.Column("last_at", sa.BigInteger(), nullable=False),
        sa.PrimaryKeyConstraint("session_id", name="pk_gate_sessions"),
    )
