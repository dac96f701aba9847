"""Requests with their steps, sessions, the audit chain, the query log."""

import sqlalchemy as sa
from alembic import op
from sqlalchemy.dialects import postgresql

revision = "0001"
down_revision = None
branch_labels = None
depends_on = None

_ID = sa.String(128)
_MOMENT = sa.String(27)
_JSON = sa.JSON().with_variant(postgresql.JSONB(), "postgresql")


def upgrade() -> None:
    """Make the first tables."""
    _requests()
    _sessions()
    _audit()
    _query_log()


def _requests() -> None:
    op.create_table(
        "requests",
        sa.Column("request_id", _ID, nullable=False),
        sa.Column("fingerprint", sa.String(64), nullable=False),
        sa.Column("session_id", _ID, nullable=False),
        sa.Column("actor_id", _ID, nullable=False),
        sa.Column("question", _JSON, nullable=False),
        sa.Column("state", sa.String(16), nullable=False),
        sa.Column("kind", sa.String(16)),
        sa.Column("attempts", sa.Integer(), nullable=False),
        sa.Column("owner", _ID),
        sa.Column("leased_until", _MOMENT),
        sa.Column("bundle_etag", sa.String(80)),
        sa.Column("reply", _JSON),
        sa.Column("artifacts", _JSON),
        sa.Column("failure", sa.Text()),
        sa.Column("created_at", _MOMENT, nullable=False),
        sa.Column("updated_at", _MOMENT, nullable=False),
        sa.PrimaryKeyConstraint("request_id", name="pk_requests"),
    )
    op.create_index("ix_requests_session_id_actor_id", "requests", ["session_id", "actor_id"])
    op.create_index("ix_requests_state_updated_at", "requests", ["state", "updated_at"])
    op.create_table(
        "request_steps",
        sa.Column("request_id", _ID, sa.ForeignKey("requests.request_id"), nullable=False),
        sa.Column("n", sa.Integer(), nullable=False),
        sa.Column("state", sa.String(16), nullable=False),
        sa.Column("at", _MOMENT, nullable=False),
        sa.Column("note", sa.Text()),
        sa.PrimaryKeyConstraint("request_id", "n", name="pk_request_steps"),
    )


def _sessions() -> None:
    op.create_table(
        "sessions",
        sa.Column("session_id", _ID, nullable=False),
        sa.Column("actor_id", _ID, nullable=False),
        sa.Column("version", sa.Integer(), nullable=False),
        sa.Column("last_kind", sa.String(16)),
        sa.Column("pending", sa.String(16)),
        sa.Column("offered", _JSON, nullable=False),
        sa.Column("states", _JSON, nullable=False),
        sa.Column("updated_at", _MOMENT, nullable=False),
        sa.PrimaryKeyConstraint("session_id", "actor_id", name="pk_sessions"),
    )


def _audit() -> None:
    op.create_table(
        "audit",
        sa.Column(
            "position", sa.BigInteger().with_variant(sa.Integer(), "sqlite"), autoincrement=False, nullable=False
        ),
        sa.Column("prev_hash", sa.String(64)),
        sa.Column("entry_hash", sa.String(64), nullable=False),
        sa.Column("request_id", _ID),
        sa.Column("at", _MOMENT, nullable=False),
        sa.Column("payload", sa.Text(), nullable=False),
        sa.PrimaryKeyConstraint("position", name="pk_audit"),
        sa.UniqueConstraint("prev_hash", name="uq_audit_prev_hash"),
        sa.UniqueConstraint("entry_hash", name="uq_audit_entry_hash"),
    )
    op.create_index("ix_audit_request_id", "audit", ["request_id"])


def _query_log() -> None:
    op.create_table(
        "query_log",
        sa.Column("log_id", _ID, nullable=False),
        sa.Column("at", _MOMENT, nullable=False),
        sa.Column("request_id", _ID, nullable=False),
        sa.Column("actor_id", _ID, nullable=False),
        sa.Column("session_id", _ID, nullable=False),
        sa.Column("natural_language", sa.Text(), nullable=False),
        sa.Column("stated_criticality", sa.String(16)),
        sa.Column("kind", sa.String(16), nullable=False),
        sa.Column("matched_entities", _JSON),
        sa.Column("domain", _ID),
        sa.Column("routing_confidence", sa.Float()),
        sa.Column("error_likelihood", sa.Float()),
        sa.Column("expected_cost", sa.Float()),
        sa.Column("factors", _JSON),
        sa.Column("autonomy_level", sa.Integer()),
        sa.Column("generated_sql", sa.Text()),
        sa.Column("execution_time_ms", sa.Integer()),
        sa.Column("status", sa.String(16), nullable=False),
        sa.Column("user_accepted", sa.Boolean()),
        sa.Column("feedback", sa.String(16)),
        sa.Column("correction_made", sa.Boolean(), nullable=False),
        sa.Column("correction_type", sa.String(32)),
        sa.PrimaryKeyConstraint("log_id", name="pk_query_log"),
    )
    op.create_index("ix_query_log_at", "query_log", ["at"])
    op.create_index("ix_query_log_actor_id_at", "query_log", ["actor_id", "at"])
