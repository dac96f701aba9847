"""What the gate decided: by tool and policy, and what shadow mode let through."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping
from datetime import datetime
from typing import Any

from bot.evidence.store.connection import Connection
from bylaw.audit.entry import read


def decisions(connection: Connection, since: datetime | None = None) -> Iterator[dict[str, Any]]:
    """Every recorded decision of a call, oldest first; redacted ones are left out."""
    query = "SELECT * FROM audit WHERE header LIKE :gate" + ("" if since is None else " AND at >= :since")
    given = {"gate": '%"event":"gate"%', "since": since}
    for row in connection.each(f"{query} ORDER BY position", given):
        entry = read(row["prev_hash"], row["entry_hash"], row["header"], row["payload"], row["position"])
        if not entry.is_redacted and entry.body.get("event") == "gate":
            yield entry.body


def gate(connection: Connection, since: datetime | None) -> dict[str, Any]:
    """How many calls were allowed, denied, asked back and escalated, and by whose rules."""
    by_tool: dict[str, Counter[str]] = defaultdict(Counter)
    by_policy: dict[str, Counter[str]] = defaultdict(Counter)
    would: dict[str, Counter[str]] = defaultdict(Counter)
    count = 0
    for body in decisions(connection, since):
        count += 1
        name = body.get("tool") or body.get("action") or "nothing declared"
        by_tool[name][body["ruling"]] += 1
        for policy in body.get("policies", ()):
            by_policy[policy][body["ruling"]] += 1
        if body["mode"] == "shadow" and body["ruling"] != "allow":
            would[name][body["ruling"]] += 1
    return {
        "decisions": count,
        "tools": _sorted(by_tool),
        "policies": _sorted(by_policy),
        "shadow_would_have_stopped": _sorted(would),
    }


def _sorted(counted: Mapping[str, Counter[str]]) -> dict[str, dict[str, int]]:
    return {name: dict(sorted(counts.items())) for name, counts in sorted(counted.items())}


def lines(found: Mapping[str, Any]) -> Iterator[str]:
    """The same for people."""
    yield f"{found['decisions']} {'call was' if found['decisions'] == 1 else 'calls were'} decided"
    for title, key in (
        ("by tool", "tools"),
        ("by policy", "policies"),
        ("shadow would have stopped", "shadow_would_have_stopped"),
    ):
        if found[key]:
            yield f"{title}:"
            for name, counts in found[key].items():
                yield f"  {name}: {', '.join(f'{count} {ruling}' for ruling, count in counts.items())}"
