"""How a call ended is told by whoever asked for its decision: by nobody else who has a token here."""

from uuid import uuid4

import pytest

from bot.gate.decision_point import open_decision_point
from bylaw.gate.decision_point import NothingOpen, NotTheirs, call_of
from bylaw.gate.engine import Gate
from tests.gate.conftest import NOON, serving
from tests.gate.shop import REFUND, SHOP


@pytest.fixture(scope="module")
def office(tmp_path_factory, bundle_file):
    """A server that knows who asks: the proxy before it says so."""
    known = {"BYLAW_PROXY_HEADER": "X-User", "BYLAW_PROXY_ADDRESSES": "127.0.0.1"}
    with serving(tmp_path_factory.mktemp("office"), bundle_file(SHOP), "--workers", "2", **known) as server:
        yield server


def asked(office, path, body, user):
    return office.post(path, body, headers={"X-User": user})


def by_tool(office, user, customer):
    return asked(office, "/v2/decide", {"tool": "verify", "arguments": {"customer_id": customer}}, user).json()


def by_authzen(office, user, customer):
    evaluation = {
        "subject": {"type": "user", "id": "somebody"},
        "action": {"name": "verify"},
        "resource": {"type": "account", "id": "a", "properties": {"customer_id": customer}},
    }
    return asked(office, "/access/v1/evaluation", evaluation, user).json()["context"]


@pytest.mark.parametrize("door", [by_tool, by_authzen])
def test_only_who_asked_may_tell_how_it_ended(office, door):
    decision = door(office, "ana", uuid4().hex)["decision_id"]
    report = {"decision_id": decision, "ok": True}
    for stranger in ("bela", "Ana", "somebody"):
        told = asked(office, "/v2/events", report, stranger)
        assert (told.status_code, told.json()["error"]["code"]) == (403, "FORBIDDEN")
        assert "somebody else" in told.json()["error"]["message"]
    assert asked(office, "/v2/events", report, "ana").status_code == 200
    assert [asked(office, "/v2/events", report, user).status_code for user in ("ana", "bela")] == [409, 403]


def test_what_a_stranger_told_changed_nothing(office):
    customer, session = uuid4().hex, uuid4().hex
    decision = by_tool(office, "ana", customer)["decision_id"]
    assert asked(office, "/v2/events", {"decision_id": decision, "ok": False}, "bela").status_code == 403
    asked(office, "/v2/events", {"decision_id": decision, "ok": True}, "ana")
    host = {"id": session, "facts": {"confirmed": True}}
    call = {"tool": "issue_refund", "arguments": {**REFUND, "customer_id": customer}, "session": host}
    assert asked(office, "/v2/decide", call, "ana").json()["decision"] == "allow"


def test_the_host_itself_tells_of_every_call(tmp_path, bundle):
    gate = Gate(bundle(SHOP))
    point = open_decision_point(f"sqlite:///{tmp_path / 'store.db'}", lambda: gate, lambda: NOON)
    verify = call_of(tool="verify", arguments={"customer_id": "c1"})
    theirs, ours = point.deciding(verify, "ana").result(), point.decide(verify)
    with pytest.raises(NotTheirs):
        point.ending(ours.decision_id, True, by="ana").result()
    point.ended(theirs.decision_id, True)
    point.ended(ours.decision_id, True)
    with pytest.raises(NothingOpen):
        point.ending("0" * 32, True, by="ana").result()
