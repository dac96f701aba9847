"""The tables of the store as SQLAlchemy knows them: what the migrations build, and what is asked beyond plain SQL."""

from __future__ import annotations

from datetime import datetime
from typing import Any

from sqlalchemy import (
    JSON,
    BigInteger,
    Boolean,
    Column,
    Dialect,
    Float,
    ForeignKey,
    Index,
    Integer,
    MetaData,
    String,
    Table,
    Text,
    UniqueConstraint,
    false,
)
from sqlalchemy.types import TypeDecorator, TypeEngine

from bot.evidence.store.columns import ID_LENGTH, stamp

metadata = MetaData(
    naming_convention={
        "ix": "ix_%(table_name)s_%(column_0_N_name)s",
        "uq": "uq_%(table_name)s_%(column_0_N_name)s",
        "pk": "pk_%(table_name)s",
    }
)


class Json(TypeDecorator[Any]):
    """A JSON value; on PostgreSQL a JSONB. A missing value is NULL in SQL, never the JSON word null."""

    impl = JSON(none_as_null=True)
    cache_ok = True

    def load_dialect_impl(self, dialect: Dialect) -> TypeEngine[Any]:
        """PostgreSQL's own type is loaded only where PostgreSQL is."""
        if dialect.name != "postgresql":
            return dialect.type_descriptor(JSON(none_as_null=True))
        from sqlalchemy.dialects.postgresql import JSONB

        return dialect.type_descriptor(JSONB(none_as_null=True))


class Moment(TypeDecorator[datetime]):
    """A timezone-aware datetime as `2026-11-20T09:30:00.000000Z`. SQLite would lose the zone of its own type."""

    impl = String(27)
    cache_ok = True

    def process_bind_param(self, value: datetime | None, dialect: Dialect) -> str | None:
        """To text; a datetime without a zone is a mistake of the caller."""
        return None if value is None else stamp(value)

    def process_result_value(self, value: Any, dialect: Dialect) -> datetime | None:
        """From text, in UTC."""
        return None if value is None else datetime.fromisoformat(value)


requests = Table(
    "requests",
    metadata,
    Column("request_id", String(ID_LENGTH), primary_key=True),
    Column("fingerprint", String(64), nullable=False),
    Column("session_id", String(ID_LENGTH), nullable=False),
    Column("actor_id", String(ID_LENGTH), nullable=False),
    Column("question", Json, nullable=False),
    Column("state", String(16), nullable=False),
    Column("kind", String(16)),
    Column("attempts", Integer, nullable=False),
    Column("owner", String(ID_LENGTH)),
    Column("leased_until", Moment),
    Column("bundle_etag", String(80)),
    Column("reply", Json),
    Column("artifacts", Json),
    Column("failure", Text),
    Column("created_at", Moment, nullable=False),
    Column("updated_at", Moment, nullable=False),
    Column("revises", String(ID_LENGTH)),  # the request whose answer this one puts right
    Column("clarifies", String(ID_LENGTH)),  # the request that asked back what this one answers
    Column("due_at", Moment),  # when its answer is settled by time; null: never, or settled already
    Column("assigned_to", String(ID_LENGTH)),  # who handles it, where only a person may
    Column("settled_at", Moment),
    Column("outcome", String(16)),
    Column("salt", String(32)),  # of its mark in the chain
    Index(None, "session_id", "actor_id"),
    Index(None, "state", "updated_at"),
    Index(None, "due_at"),
)

request_steps = Table(
    "request_steps",
    metadata,
    Column("request_id", String(ID_LENGTH), ForeignKey("requests.request_id"), primary_key=True),
    Column("n", Integer, primary_key=True),
    Column("state", String(16), nullable=False),
    Column("at", Moment, nullable=False),
    Column("note", Text),
)

sessions = Table(
    "sessions",
    metadata,
    Column("session_id", String(ID_LENGTH), primary_key=True),
    Column("actor_id", String(ID_LENGTH), primary_key=True),
    Column("version", Integer, nullable=False),
    Column("last_kind", String(16)),
    Column("pending", String(16)),
    Column("offered", Json, nullable=False),
    Column("states", Json, nullable=False),
    Column("updated_at", Moment, nullable=False),
    Column("last_request", String(ID_LENGTH)),
    Column("salt", String(32)),  # of its mark in the chain
)

audit = Table(
    "audit",
    metadata,
    Column("position", BigInteger().with_variant(Integer, "sqlite"), primary_key=True, autoincrement=False),
    Column("prev_hash", String(64)),
    Column("entry_hash", String(64), nullable=False),
    Column("request_id", String(ID_LENGTH), index=True),
    Column("at", Moment, nullable=False),
    Column("header", Text, nullable=False),
    Column("payload", Text),
    # Two entries after one predecessor would be a fork: the database itself refuses it.
    UniqueConstraint("prev_hash"),
    UniqueConstraint("entry_hash"),
)

query_log = Table(
    "query_log",
    metadata,
    Column("log_id", String(ID_LENGTH), primary_key=True),
    Column("at", Moment, nullable=False),
    # request
    Column("request_id", String(ID_LENGTH), nullable=False),
    Column("actor_id", String(ID_LENGTH), nullable=False),
    Column("session_id", String(ID_LENGTH), nullable=False),
    Column("natural_language", Text, nullable=False),
    Column("stated_criticality", String(16)),
    # context
    Column("kind", String(16), nullable=False),
    Column("matched_entities", Json),
    Column("domain", String(ID_LENGTH)),
    Column("routing_confidence", Float),
    # risk
    Column("error_likelihood", Float),
    Column("expected_cost", Float),
    Column("factors", Json),
    # execution
    Column("autonomy_level", Integer),
    Column("generated_sql", Text),
    Column("execution_time_ms", Integer),
    # outcome
    Column("status", String(16), nullable=False),
    Column("user_accepted", Boolean),
    Column("feedback", String(16)),
    Column("correction_made", Boolean, nullable=False),
    Column("correction_type", String(32)),
    Column("outcome", String(16)),
    Column("settled_at", Moment),
    Column("revises", String(ID_LENGTH)),
    Column("clarifies", String(ID_LENGTH)),
    Column("choice", Integer),  # which of the offered readings was picked; 0 is the one offered first
    Column("answer_ms", Integer),  # from the question to its reply
    Column("salt", String(32)),  # of its mark in the chain
    Index(None, "at"),
    Index(None, "actor_id", "at"),
)

remarks = Table(
    "remarks",
    metadata,
    Column("remark_id", String(64), primary_key=True),
    Column("request_id", String(ID_LENGTH), nullable=False),
    Column("actor_id", String(ID_LENGTH), nullable=False),
    Column("at", Moment, nullable=False),
    Column("kind", String(16), nullable=False),
    Column("verdict", String(16)),
    Column("text", Text),
    Column("correction", Json),
    Index(None, "request_id", "at"),
)

served = Table(
    "served",
    metadata,
    Column("name", String(16), primary_key=True),
    Column("etag", String(80), nullable=False),
    Column("source_commit", String(80)),
    Column("committed_at", String(20)),
    Column("served_at", Moment, nullable=False),
    Column("salt", String(32)),  # of its mark in the chain
)

deliveries = Table(
    "deliveries",
    metadata,
    Column("delivery_id", String(ID_LENGTH), primary_key=True),
    Column("letter", Json, nullable=False),
    Column("attempts", Integer, nullable=False),
    Column("owner", String(ID_LENGTH)),
    Column("leased_until", Moment),
    Column("place", Json),
    Column("failure", Text),
    Column("created_at", Moment, nullable=False),
    Column("closed_at", Moment),
    Column("kind", String(16), nullable=False, server_default="message"),
    Column("recipient", String(ID_LENGTH)),  # whom a notice is for
    Column("about", String(ID_LENGTH)),  # the request it tells of
    Column("outcome", String(16)),  # how it ended; null: it waits
    Column("closed_by", String(ID_LENGTH)),  # the person who ended it
    Column("cause", String(16)),  # the kind of its last failure
    Column("blocked_at", Moment),  # since when it waits for a person
    Column("is_doubtful", Boolean, nullable=False, server_default=false()),  # may it be there already?
    Index(None, "closed_at", "created_at"),
    Index(None, "about"),
)

watches = Table(
    "watches",
    metadata,
    Column("name", String(ID_LENGTH), primary_key=True),
    Column("seen_until", Moment, nullable=False),
    Column("owner", String(ID_LENGTH)),
    Column("leased_until", Moment),
    Column("attempts", Integer, nullable=False),
    Column("unseen", Text),
)

papers = Table(
    "papers",
    metadata,
    Column("name", String(64), primary_key=True),
    Column("text", Text, nullable=False),
)

calls = Table(
    "gate_calls",
    metadata,
    Column("decision_id", String(ID_LENGTH), primary_key=True),
    Column("change", BigInteger, nullable=False, unique=True),
    Column("session_id", String(ID_LENGTH)),
    Column("actor", String(ID_LENGTH)),
    Column("action", String(200), nullable=False),
    Column("tool", String(200)),
    Column("keys", Text, nullable=False),
    Column("facts", Text, nullable=False),
    Column("at", BigInteger, nullable=False),
    Column("ok", Boolean),
    Column("asked_by", String(ID_LENGTH)),  # whose token asked; NULL: the host itself
    Column("salt", String(32)),  # of its mark in the chain
    Column("reserved_until", BigInteger),  # where that is later than a minute after `at`
)

call_keys = Table(
    "gate_keys",
    metadata,
    Column("name", String(200), primary_key=True),
    Column("value", String(400), primary_key=True),
    Column("decision_id", String(ID_LENGTH), primary_key=True),
)

call_sessions = Table(
    "gate_sessions",
    metadata,
    Column("session_id", String(ID_LENGTH), primary_key=True),
    Column("last_at", BigInteger, nullable=False),
    Column("salt", String(32)),  # of its mark in the chain
)

Index("ix_gate_keys_decision_id", call_keys.c.decision_id)

row_anchors = Table(
    "row_anchors",
    metadata,
    Column("name", String(200), primary_key=True),
    Column("mark", String(64), nullable=False),
)

corrections = Table(
    "corrections",
    metadata,
    Column("correction_id", String(ID_LENGTH), primary_key=True),
    Column("at", Moment, nullable=False),
    Column("actor_id", String(ID_LENGTH), nullable=False),
    Column("actor_roles", Json, nullable=False),
    Column("request_id", String(ID_LENGTH), nullable=False),
    Column("correction_type", String(16), nullable=False),
    Column("domain", String(ID_LENGTH)),
    Column("object", String(200)),
    Column("field", String(200)),
    Column("old", Json),
    Column("new", Json),
    Column("reason", Text, nullable=False),
    Column("structure", String(64)),
    Column("stage", String(16), nullable=False),
    Column("is_applied", Boolean, nullable=False),
    Column("changed_at", Moment, nullable=False),
    Index(None, "actor_id", "is_applied"),
    Index(None, "object", "field"),
)

candidates = Table(
    "candidates",
    metadata,
    Column("candidate_id", String(ID_LENGTH), primary_key=True),
    Column("structure", String(64), nullable=False),
    Column("proposed_at", Moment, nullable=False),
    Column("stage", String(16), nullable=False),
    Column("change", Json, nullable=False),
    Column("domain", String(ID_LENGTH)),
    Column("members", Json, nullable=False),
    Column("similar", Json, nullable=False),
    Column("reviewed_by", String(ID_LENGTH)),
    Column("reviewed_at", Moment),
    Column("reason", Text),
    Column("pull_request", Text),
    Column("merged_at", Moment),
    Column("followed_at", Moment),  # when its pull request was last looked at
    Index(None, "structure", "stage"),
)

memories = Table(
    "memories",
    metadata,
    Column("actor_id", String(ID_LENGTH), primary_key=True),
    Column("memory_type", String(16), primary_key=True),
    Column("name", String(ID_LENGTH), primary_key=True),
    Column("content", Json, nullable=False),
    Column("request_id", String(ID_LENGTH)),
    Column("at", Moment, nullable=False),
)

pulse = Table(
    "pulse",
    metadata,
    Column("place", Integer, primary_key=True, autoincrement=False),
    Column("at", Moment, nullable=False),
)
