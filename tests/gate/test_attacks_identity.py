"""Ways of one token's owner to act as another, and of nobody to act at all: none goes through. A row is one attempt."""

import http.client
import json
from concurrent.futures import ThreadPoolExecutor
from datetime import UTC, datetime, timedelta
from urllib.parse import urlsplit
from uuid import uuid4

import httpx
import pytest

from tests.gate.conftest import serving
from tests.gate.shop import REFUND, SHOP

KNOWN = {"BYLAW_PROXY_HEADER": "X-User", "BYLAW_PROXY_ADDRESSES": "127.0.0.1"}
SIGNED = {
    "type": "boolean",
    "history": {"happened": "approve", "within": "1 day", "same": ["order"], "other": ["actor"]},
}
# the shop, where a sale takes the signatures of two
OFFICE = {
    **SHOP,
    "vocabulary": {
        **SHOP["vocabulary"],
        "facts": {**SHOP["vocabulary"]["facts"], "is_signed": SIGNED},
        "actions": {**SHOP["vocabulary"]["actions"], "approve": {}, "sell": {}},
    },
    "policies": {
        **SHOP["policies"],
        "POL-SALE-001": {"permitted": "approve"},
        "POL-SALE-002": {"permitted": "sell", "when": [{"parameter": "is_signed", "value": True}]},
    },
    "tools": {
        **SHOP["tools"],
        "approve": {"action": "approve", "keys": {"order": "order"}},
        "sell": {"action": "sell", "keys": {"order": "order"}},
    },
}


@pytest.fixture(scope="module")
def office(tmp_path_factory, bundle_file):
    with serving(tmp_path_factory.mktemp("office"), bundle_file(OFFICE), "--workers", "2", **KNOWN) as server:
        yield server


def sent(office, path, body, headers, method="POST"):
    """The status and the text of an answer to a request that is sent as it is, its path and its heads included."""
    connection = http.client.HTTPConnection(urlsplit(office.address).netloc, timeout=30)
    content = body if isinstance(body, bytes) else json.dumps(body).encode()
    connection.putrequest(method, path)
    for name, value in (("Content-Type", "application/json"), *headers, ("Content-Length", str(len(content)))):
        connection.putheader(name, value)
    connection.endheaders(content)
    answered = connection.getresponse()
    found = answered.status, answered.read().decode("utf-8", "replace")
    connection.close()
    return found


def ask(office, user, tool, **body):
    told = office.post("/v2/decide", {"tool": tool, **body}, headers={"X-User": user})
    assert told.status_code == 200, told.text
    return told.json()


def done(office, user, tool, **body):
    """A call that was allowed and made."""
    answer = ask(office, user, tool, **body)
    assert answer["decision"] == "allow", answer
    report = {"decision_id": answer["decision_id"], "ok": True}
    assert office.post("/v2/events", report, headers={"X-User": user}).status_code == 200


APPROVE = {"tool": "approve", "arguments": {"order": "1"}}
NAMELESS = {
    "without a name": ("/v2/decide", []),
    "under an empty name": ("/v2/decide", [("X-User", "")]),
    "under a name of spaces": ("/v2/decide", [("X-User", "   ")]),
    "under two names": ("/v2/decide", [("X-User", "ana"), ("X-User", "bela")]),
    "with a token": ("/v2/decide", [("Authorization", "Bearer ana")]),
    "by a way through an open path": ("/healthz/../v2/decide", []),
    "by an escaped way through an open path": ("/healthz%2f..%2fv2%2fdecide", []),
    "by two slashes": ("//v2/decide", []),
    "by a slash behind it": ("/v2/decide/", []),
    "by an open path with a question": ("/readyz?/v2/decide", []),
    "by a whole address": ("http://localhost/v2/decide", []),
}


@pytest.mark.parametrize(("path", "headers"), NAMELESS.values(), ids=NAMELESS)
def test_nobody_decides_without_a_name(office, path, headers):
    status, text = sent(office, path, APPROVE, headers)
    assert 400 <= status < 500 and "decision_id" not in text, (status, text)


def own(order, **more):
    return {"arguments": {"order": order}, **more}


SIGNATURES = {
    "under another name in the body": lambda order: own(order, actor="bela"),
    "under another name among the arguments": lambda order: {"arguments": {"order": order, "actor": "bela"}},
    "under another name in the session": lambda order: own(order, session={"id": "s", "facts": {"actor": "bela"}}),
    "with the signature as a fact": lambda order: own(order, facts={"is_signed": True}),
    "with the signature vouched for": lambda order: own(order, session={"id": "s", "facts": {"is_signed": True}}),
    "under a key of its own": lambda order: own(order, keys={"order": "another"}),
}


@pytest.mark.parametrize("said", SIGNATURES.values(), ids=SIGNATURES)
def test_nobody_signs_for_another(office, said):
    order = uuid4().hex
    done(office, "ana", "approve", **said(order))
    for body in (own(order), said(order), own(order, actor="bela")):
        assert ask(office, "ana", "sell", **body)["decision"] != "allow"
    assert ask(office, "bela", "sell", **own(order))["decision"] == "allow"


@pytest.mark.parametrize("ahead", [timedelta(seconds=90), timedelta(hours=25), timedelta(days=30_000)])
def test_nobody_ends_the_day_of_another(office, ahead):
    verify = {"tool": "verify", "arguments": {"customer_id": uuid4().hex}}
    dated = {**verify, "at": (datetime.now(UTC) + ahead).isoformat()}
    assert office.post("/v2/decide", dated, headers={"X-User": "bela"}).status_code == 422
    subject, name = {"type": "user", "id": "ana"}, {"name": "verify"}
    told = {"subject": subject, "action": name, "resource": {"type": "r", "id": "1"}, "context": {"at": dated["at"]}}
    assert office.post("/access/v1/evaluation", told, headers={"X-User": "bela"}).status_code == 400
    now = {**verify, "at": datetime.now(UTC).isoformat()}
    assert office.post("/v2/decide", now, headers={"X-User": "bela"}).status_code == 200


REPORTS = {
    "plainly": lambda name: name,
    "in capitals": str.upper,
    "with a space": lambda name: f" {name}",
    "with a letter that is not seen": lambda name: f"{name}\u200b",
    "with a null": lambda name: f"{name}\0",
    "in a list": lambda name: [name],
    "for what any name is like": lambda name: "%",
}


@pytest.mark.parametrize("spelled", REPORTS.values(), ids=REPORTS)
def test_no_stranger_ends_a_call(office, spelled):
    customer = uuid4().hex
    call = {"arguments": {**REFUND, "customer_id": customer}, "session": {"id": "s", "facts": {"confirmed": True}}}
    done(office, "ana", "verify", arguments={"customer_id": customer})
    held = ask(office, "ana", "issue_refund", **call)
    assert held["decision"] == "allow"
    report = {"decision_id": spelled(held["decision_id"]), "ok": False}
    for user in ("bela", "ANA", "anonymous"):
        assert office.post("/v2/events", report, headers={"X-User": user}).status_code in (403, 409, 422)
    assert ask(office, "bela", "issue_refund", **call)["decision"] == "deny", "it is still open, and still counts"
    assert office.post(
        "/v2/events", {**report, "decision_id": held["decision_id"]}, headers={"X-User": "ana"}
    ).is_success


def test_of_many_reports_at_once_one_counts(office):
    held = ask(office, "ana", "verify", arguments={"customer_id": uuid4().hex})["decision_id"]

    def report(n):
        user = ("ana", "bela")[n % 2]
        return office.post("/v2/events", {"decision_id": held, "ok": n % 3 > 0}, headers={"X-User": user}).status_code

    with ThreadPoolExecutor(12) as many:
        told = sorted(many.map(report, range(24)))
    assert told == [200] + [403] * 12 + [409] * 11


REFUNDED = json.dumps({"tool": "issue_refund", "arguments": REFUND})
BODIES = {
    "a name told twice in two spellings": b'{"tool": "verify", "t\\u006fol": "tell"}',
    "a number that is none": REFUNDED.replace("20", "NaN").encode(),
    "a number without an end": REFUNDED.replace("20", "-Infinity").encode(),
    "a number of many digits": REFUNDED.replace("20", "1" * 6_000).encode(),
    "a depth": REFUNDED.replace("20", "[" * 9_000 + "]" * 9_000).encode(),
    "another encoding": REFUNDED.replace("issue_refund", "tell").encode("utf-16"),
    "a mark before it": b"\xef\xbb\xbf" + REFUNDED.replace("issue_refund", "tell").encode(),
    "two documents": b'{"tool": "tell"}{"tool": "verify"}',
}


@pytest.mark.parametrize("body", BODIES.values(), ids=BODIES)
def test_no_body_opens_a_door(office, body):
    status, text = sent(office, "/v2/decide", body, [("X-User", "ana")])
    assert status < 500 and (status != 200 or json.loads(text)["decision"] != "allow"), (status, text)


@pytest.mark.parametrize("kind", ["text/plain", "application/x-www-form-urlencoded", "multipart/form-data", ""])
def test_no_form_of_a_web_page_is_a_call(office, kind):
    headers = {"X-User": "ana", "Content-Type": kind}
    told = httpx.post(f"{office.address}/v2/decide", content=json.dumps(APPROVE), headers=headers, timeout=30)
    assert told.status_code == 422


@pytest.fixture(scope="module")
def bound(tmp_path_factory, bundle_file):
    """The office, where `gateway` alone asks for others."""
    with serving(
        tmp_path_factory.mktemp("bound"), bundle_file(OFFICE), "--workers", "1", **KNOWN,
        BYLAW_ENFORCEMENT_POINTS="gateway, mesh",
    ) as server:  # fmt: skip
        yield server


def evaluated(server, user, subject, action="approve", order=None, **more):
    resource = {"type": "order", "id": order or uuid4().hex}
    body = {"subject": {"type": "user", "id": subject}, "action": {"name": action}, "resource": resource, **more}
    body["context"] = {"order": resource["id"], **more.get("context", {})}
    return server.post("/access/v1/evaluation", body, headers={"X-User": user})


@pytest.mark.parametrize(
    ("user", "subject", "status"),
    [
        ("gateway", "ana", 200),
        ("mesh", "ana", 200),
        ("ana", "ana", 200),
        ("ana", "bela", 403),
        ("ana", "ANA", 403),
        ("ana", "gateway", 403),
        ("Gateway", "ana", 403),
        ("gateway,", "ana", 403),
        ("ana", "ana ", 400),
    ],
)
def test_who_is_no_enforcement_point_asks_for_nobody_else(bound, user, subject, status):
    told = evaluated(bound, user, subject)
    assert told.status_code == status, told.text
    assert status == 200 or "decision_id" not in told.text


def test_nobody_signs_for_another_by_authzen(bound):
    order = uuid4().hex
    for user in ("ana", "bela"):
        signed = evaluated(bound, user, "bela", order=order)
        assert signed.status_code == (403 if user == "ana" else 200)
    report = {"decision_id": signed.json()["context"]["decision_id"], "ok": True}
    assert bound.post("/v2/events", report, headers={"X-User": "bela"}).is_success
    assert evaluated(bound, "bela", "bela", "sell", order).json()["decision"] is False
    assert evaluated(bound, "bela", "ana", "sell", order).status_code == 403
    assert evaluated(bound, "ana", "ana", "sell", order).json()["decision"] is True


def test_of_several_at_once_only_the_own_are_decided(bound):
    own, other = ({"subject": {"type": "user", "id": name}} for name in ("ana", "bela"))
    body = {"action": {"name": "approve"}, "resource": {"type": "order", "id": "1"}, "evaluations": [own, other, own]}
    told = bound.post("/access/v1/evaluations", body, headers={"X-User": "ana"}).json()["evaluations"]
    assert [one["decision"] for one in told] == [True, False, True]
    assert told[1]["context"]["error"]["status"] == 403


def test_unless_they_are_named_whoever_has_a_token_is_one(office):
    assert evaluated(office, "ana", "bela").status_code == 200
