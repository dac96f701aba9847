"""What is said: an Actor asks a Question, a Reply comes back. Slack, HTTP and the terminal speak only these."""

from __future__ import annotations

from datetime import datetime
from typing import Any, Literal

from pydantic import BaseModel, ConfigDict, Field

ReplyKind = Literal["policy", "data", "decision", "refusal"]
ReplyStatus = Literal["answered", "needs_choice", "needs_fact", "pending", "recommended", "escalated", "refused"]


class Spoken(BaseModel):
    """A value that crosses a border: frozen, and strict about its keys."""

    model_config = ConfigDict(frozen=True, extra="forbid")


class Actor(Spoken):
    """Who asks. Rights come from `rules/roles.yaml` by `id`, never from the message."""

    id: str = "anonymous"
    type: Literal["human", "agent"] = "human"


class Question(Spoken):
    """One utterance. `asked_at` is timezone-aware; `session_id` ties follow-ups together."""

    text: str
    actor: Actor = Actor()
    asked_at: datetime
    session_id: str = "default"
    request_id: str
    options: dict[str, Any] = Field(default_factory=dict)


class Citation(Spoken):
    """Where an answer comes from. `path` is relative to the repository root; `commit` is null outside git."""

    id: str
    path: str | None = None
    line: int | None = None
    commit: str | None = None
    text: str | None = None


class Choice(Spoken):
    """One way to read the question; `value` is what to send back."""

    value: str
    label: str


class Ask(Spoken):
    """A fact that is missing, and the question that fetches it."""

    fact: str
    question: str
    choices: tuple[Choice, ...] = ()


class Binding(Spoken):
    """Which word of a data question was read as what (`kind`: metric, dimension, filter, time, entity)."""

    words: str
    kind: str
    name: str


class Interval(Spoken):
    """A half-open span of time in ISO dates: start included, end excluded."""

    start: str
    end: str
    label: str


class Reply(Spoken):
    """One answer. Fields beyond `text` are filled per kind; what is null or empty was not part of this answer."""

    kind: ReplyKind
    status: ReplyStatus
    text: str
    request_id: str
    session_id: str
    bundle_etag: str
    commit: str | None = None
    citations: tuple[Citation, ...] = ()
    level: int | None = None
    choices: tuple[Choice, ...] = ()
    ask: Ask | None = None
    # data
    sql: str | None = None
    columns: tuple[str, ...] = ()
    rows: tuple[tuple[Any, ...], ...] = ()
    interval: Interval | None = None
    bindings: tuple[Binding, ...] = ()
    caveats: tuple[str, ...] = ()
    # policy
    outcomes: dict[str, Any] = Field(default_factory=dict)
    facts: dict[str, Any] = Field(default_factory=dict)
    path: tuple[str, ...] = ()
    # decision (fields of seed 002)
    intent: str | None = None
    evidence: dict[str, Any] | None = None
    answer: dict[str, Any] | None = None
    completeness_flags: dict[str, Any] | None = None
    meta: dict[str, Any] | None = None
