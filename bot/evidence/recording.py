"""A verdict is kept before anybody reads it: its papers on the shelf, its entry in the chain (seed 001's fields)."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any, Protocol

from bot.conversation import Question, sayable
from bot.enforcement.judged.verdict import ComplianceDecision
from bot.evidence.artifacts import Shelf, paper
from bot.evidence.store.engine import Store
from bot.evidence.store.tables import audit
from bylaw.audit.entry import Checkpoint, after
from bylaw.canonical import fingerprint


class Book(Protocol):
    """Where verdicts are kept; `bot.services.Services` is one."""

    @property
    def store(self) -> Store: ...
    @property
    def artifacts(self) -> Shelf: ...
    @property
    def clock(self) -> Callable[[], datetime]: ...
    @property
    def anchor(self) -> Callable[[Checkpoint], None]: ...


@dataclass(frozen=True)
class Notebook:
    """A book without a service around it."""

    store: Store
    artifacts: Shelf
    clock: Callable[[], datetime]
    anchor: Callable[[Checkpoint], None] = field(default=lambda tail: None)


def record(
    found: ComplianceDecision,
    question: Question,
    book: Book,
    started: datetime,
    beside: Mapping[str, Any] | None = None,
) -> Any:
    """Keep *found*, with the papers *beside* it. Its JSON."""
    papers = {name: paper(value) for name, value in sorted((beside or {}).items())}
    told = sayable(found)
    papers["verdict"] = paper(told)
    book.artifacts.before(papers.values())
    drafted = audit.prepare(
        {
            "event": "enforce",
            "request_id": question.request_id,
            "session_id": question.session_id,
            "actor": question.actor.model_dump(),
            "query": question.text,
            "domain": found.domain,
            "compliance_score": sayable(found.score),
            "final_action": found.action,
            "violations": sorted({broken.kind for broken in found.violations}),
            "owners": list(found.escalation.owners) if found.escalation else [],
            "duration_ms": int((book.clock() - started).total_seconds() * 1000),
            "bundle_etag": found.bundle_etag,
            "commit": found.commit,
            "reply": fingerprint(found.llm_response),
            "artifacts": {name: one.name for name, one in papers.items()},
        }
    )
    with book.store.writing() as connection:
        book.artifacts.within(connection, papers.values())
        entry = audit.append(connection, drafted, book.clock, question.request_id)
    book.anchor(after(entry))
    return told
