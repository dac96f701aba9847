"""Nothing that is sent is the server's fault: whatever stands in a body, it is answered or refused, never a 500."""

from __future__ import annotations

import json
from collections.abc import Iterator
from datetime import date
from typing import Any

import httpx
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from bot.evidence.store.engine import connect
from bot.evidence.store.tables import audit
from bylaw.demos.warehouse import build
from tests.fakes.voltmark import compiled
from tests.gate.conftest import Server, serving
from tests.hostile import VALUES, leaves, replaced

_CLAIM = {"kind": "fact", "quote": "full", "fact": "has_receipt", "value": True, "operator": "==", "unit": "days"}
_WHEN = {"fact": "has_receipt", "value": True, "operator": "==", "unit": "days", "quote": "full"}
_AT = "2026-11-20T10:00:00Z"
_ENTITY = {"type": "order", "id": "1", "properties": {"a": 1}}
BODIES: dict[str, dict[str, Any]] = {
    "/v2/query": {
        "text": "May I return a TV?",
        "session_id": "s",
        "user": "amara",
        "request_id": "r",
        "at": _AT,
        "form": {"metrics": ["net_revenue"], "by": ["customers.region"], "period": "last quarter", "limit": "3"},
    },
    "/v2/enforce": {
        "text": "May I return a TV?",
        "response": "A full refund.",
        "facts": {"has_receipt": True},
        "claims": [{**_CLAIM, "policy_id": "POL-REFUND-001", "action": "full_refund", "when": [_WHEN]}],
        "user": "amara",
        "at": _AT,
    },
    "/v2/guidance": {
        "text": "May I return a TV?",
        "facts": {"days_since_purchase": 3, "purchase_amount": 4, "product_category": "electronics"},
        "user": "amara",
        "at": _AT,
    },
    "/v2/analytics": {
        "actor": {"id": "amara", "type": "agent"},
        "query": {"natural_language": "net revenue by region"},
        "preferences": {},
    },
    "/v2/corrections": {
        "request_id": "seed",
        "object": "metrics/net_revenue",
        "field": "filter",
        "new": "x = 'y'",
        "reason": "because",
        "user": "amara",
    },
    "/v2/requests/seed/revise": {"user": "amara", "text": "net revenue"},
    "/v2/requests/seed/feedback": {"user": "amara", "verdict": "positive", "text": "good"},
    "/v2/decide": {
        "actor": "amara",
        "action": "full_refund",
        "facts": {"has_receipt": True, "days_since_purchase": 3},
        "keys": {"order": "1"},
        "session": {"id": "s", "facts": {"has_receipt": True}},
        "at": _AT,
    },
    "/v2/events": {"decision_id": "x", "ok": True, "output": {"a": 1}},
    "/v2/tools": {"actor": "amara", "session": "s"},
    "/access/v1/evaluation": {
        "subject": {"type": "user", "id": "amara", "properties": {"a": 1}},
        "action": {"name": "full_refund", "properties": {"a": 1}},
        "resource": _ENTITY,
        "context": {"has_receipt": True, "session": "s", "at": _AT},
    },
    "/access/v1/evaluations": {
        "subject": {"type": "user", "id": "amara"},
        "action": {"name": "full_refund"},
        "evaluations": [{"resource": _ENTITY}],
        "options": {"evaluations_semantic": "execute_all"},
    },
}
PLACES = [(path, at) for path, body in BODIES.items() for at in leaves(body)]
RAW = (b"", b"{", b"[" * 100_000, b'{"a":' * 5_000, b"\xff", b'{"a":1,"a":2}', b"9" * 5_000, b'"\\ud800"', b"\0", b"[]")


@pytest.fixture(scope="module")
def company(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    """The example company with its data, and one answer to speak of."""
    folder = tmp_path_factory.mktemp("hostile")
    build(folder / "data.duckdb", date(2026, 11, 20))
    bundle = compiled(folder / "root")
    with serving(folder / "run", bundle, "--warehouse", f"duckdb:///{folder / 'data.duckdb'}") as server:
        asked = {"text": "net revenue by region last month", "user": "amara", "request_id": "seed"}
        assert server.post("/v2/query", asked).status_code == 200
        yield server


def post(server: Server, path: str, body: bytes) -> httpx.Response:
    headers = {"Content-Type": "application/json"}
    return httpx.post(f"{server.address}{path}", content=body, headers=headers, timeout=60)


@settings(max_examples=900)
@given(place=st.sampled_from(PLACES), value=st.sampled_from(VALUES))
def test_whatever_stands_in_a_body_is_answered_or_refused(company: Server, place: tuple[str, Any], value: Any) -> None:
    path, at = place
    body = json.dumps(replaced(BODIES[path], at, value)).encode()
    assert post(company, path, body).status_code < 500


@pytest.mark.parametrize("path", BODIES)
def test_what_is_no_document_is_refused(company: Server, path: str) -> None:
    for raw in RAW:
        assert 400 <= post(company, path, raw).status_code < 500, raw[:20]


def test_a_long_sentence_that_says_something_is_judged_and_recorded(company: Server) -> None:
    """A quote is as long as what it is quoted from."""
    response = f"You get a full refund{' and a full refund' * 300}."
    answered = company.post("/v2/enforce", {"text": "May I return it?", "response": response, "request_id": "long"})
    assert answered.status_code == 200, answered.text
    store = connect("sqlite:///.bylaw/store.db", company.root)
    with store.reading() as connection:
        events = [one.body["event"] for one in audit.entries(connection) if one.body.get("request_id") == "long"]
    store.close()
    assert events == ["enforce"]


@pytest.mark.parametrize("text", ["\ud800", "\0"])
def test_one_call_that_cannot_be_kept_takes_no_other_along(company: Server, text: str) -> None:
    body = {"action": "full_refund", "facts": {"has_receipt": True}}
    refused = post(company, "/v2/decide", json.dumps({**body, "keys": {text: "1"}}).encode())
    assert refused.status_code == 422
    assert "not text" in refused.json()["error"]["message"]
    assert company.decide(**body)["decision_id"]
