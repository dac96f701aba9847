"""A chain to damage."""

from __future__ import annotations

import pytest

from bylaw.audit.entry import START, AuditEntry, after, draft, link


def grown(size: int, start: list[AuditEntry] | None = None, word: str = "entry") -> list[AuditEntry]:
    """*start* and *size* entries more, a minute apart; *word* makes another chain of the same shape."""
    entries = list(start or [])
    for _ in range(size):
        n = len(entries) + 1
        at = f"2026-11-20T12:{n % 60:02}:00.000000Z"
        body = {"at": at, "event": "reply", "request_id": f"r{n}", "said": f"{word} {n}"}
        entries.append(link(after(entries[-1]) if entries else START, draft(body, f"{n:032}")))
    return entries


@pytest.fixture
def chain():
    """The chain's maker."""
    return grown
