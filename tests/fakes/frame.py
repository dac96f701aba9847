"""Real parts of the frame with plain functions as answerers: a shop that knows refunds, revenue and one decision."""

from __future__ import annotations

from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta
from itertools import count
from pathlib import Path
from typing import Any

from bot.conversation import Actor, Ask, Choice, Citation, Question, Reply, Turn
from bot.evidence.artifacts import shelf
from bot.evidence.store.engine import connect
from bot.evidence.store.migrate import upgrade
from bot.router import Answerer, Thresholds
from bot.services import Services
from bylaw.errors import BylawError, GateDenied, UsageError

NOON = datetime(2026, 11, 20, 12, 0, tzinfo=UTC)
LEASE = timedelta(seconds=60)
EDGES = Thresholds(answer=0.25, interrupt=0.6, short_words=6)
ETAG = "sha256:" + "e" * 64


LIMIT_DAYS = 30


@dataclass(frozen=True)
class Shop:
    """The fake index. The frame never looks inside one, and neither do these answerers."""


def question(request_id: str = "r1", said: str = "may I return it?", **others: Any) -> Question:
    given = {"actor": Actor(id="ana"), "asked_at": NOON, "session_id": "s1", **others}
    return Question(text=said, request_id=request_id, **given)


def reply(request_id: str = "r1", **others: Any) -> Reply:
    given = {"kind": "policy", "status": "answered", "text": "yes", "session_id": "s1", "bundle_etag": ETAG}
    return Reply(request_id=request_id, **{**given, **others})


def said(asked: Question, kind: str, status: str, text: str, **others: Any) -> Reply:
    return Reply(
        kind=kind, status=status, text=text, request_id=asked.request_id, session_id="?", bundle_etag="?", **others
    )


def policy_score(text: str, _index: Shop) -> float:
    return 0.9 if "return" in text or "refund" in text else 0.0


def answer_policy(asked: Question, state: dict[str, Any], _index: Shop) -> Turn:
    """Needs the days, then the receipt; remembers what it was told."""
    facts = dict(state.get("facts", {}))
    words = asked.text.lower().split()
    numbers = [int(word) for word in words if word.isdigit()]
    if numbers:
        facts["days"] = numbers[0]
    if {"true", "false"} & set(words):
        facts["receipt"] = "true" in words
    if "days" not in facts:
        ask = Ask(fact="days", question="How many days ago was it bought?")
        return Turn(said(asked, "policy", "needs_fact", ask.question, ask=ask, facts=facts), {"facts": facts})
    if "receipt" not in facts:
        choices = (Choice(value="true", label="Yes"), Choice(value="false", label="No"))
        ask = Ask(fact="receipt", question="Do you have the receipt?", choices=choices)
        return Turn(said(asked, "policy", "needs_fact", ask.question, ask=ask, facts=facts), {"facts": facts})
    outcome = "full_refund" if facts["days"] <= LIMIT_DAYS and facts["receipt"] else "reject"
    cited = Citation(id="POL-REFUND-001", path="policies/refund/POL-REFUND-001.yaml", line=7, commit="abc1234")
    done = said(asked, "policy", "answered", outcome, outcomes={"refund": outcome}, facts=facts, citations=(cited,))
    return Turn(done, {"facts": facts}, artifacts={"case": facts}, log={"domain": "refund", "compliance_score": 1.0})


def data_score(text: str, _index: Shop) -> float:
    return 0.8 if "revenue" in text else 0.3 if "region" in text else 0.0


def answer_data(asked: Question, state: dict[str, Any], _index: Shop) -> Turn:
    """Revenue, by what was named in this turn or an earlier one."""
    if "drop" in asked.text:
        raise GateDenied("not-a-select", "only SELECT statements run here")
    if "margin" in asked.text:
        raise UsageError("the metric `margin` is not declared", "did you mean `revenue`?")
    if "offline" in asked.text:
        raise BylawError("the warehouse does not answer")
    if "crash" in asked.text:
        raise ZeroDivisionError("division by zero")
    by = "region" if "region" in asked.text else state.get("by", "month")
    rows = (("EU", 12.5), ("US", 7))
    done = said(
        asked, "data", "answered", f"revenue by {by}", level=4, sql="SELECT 1", columns=(by, "revenue"), rows=rows
    )
    return Turn(
        done, {"by": by}, artifacts={"plan": {"metric": "revenue", "by": by}}, log={"matched_entities": ["orders"]}
    )


def decision_score(text: str, _index: Shop) -> float:
    return float(text.startswith("why did we"))


def answer_decision(asked: Question, _state: dict[str, Any], _index: Shop) -> Turn:
    return Turn(said(asked, "decision", "answered", "It lost money.", intent="why_decision"), {})


ANSWERERS = (
    Answerer("decision", decision_score, answer_decision, lambda _index: ["Leave plasma"], only_computes=True),
    Answerer("data", data_score, answer_data, lambda _index: ["revenue"]),
    Answerer("policy", policy_score, answer_policy, lambda _index: ["refund"], only_computes=True),
)


def services(root: Path, url: str = "sqlite:///store.db", prefix: str = "n", **others: Any) -> Services:
    """Everything an orchestrator needs, on a store that really is one. The clock stands still."""
    store = connect(url, root)
    upgrade(store)
    numbers = count(1)
    made = Services(
        index=Shop(),
        bundle_etag=ETAG,
        commit="abc1234",
        store=store,
        artifacts=shelf("artifacts", root),
        answerers=ANSWERERS,
        clock=lambda: NOON,
        new_id=lambda: f"{prefix}{next(numbers)}",
        thresholds=EDGES,
        lease=LEASE,
        pause=lambda _seconds: None,
    )
    return replace(made, **others)
