"""Two replicas at one store, SQLite and PostgreSQL: one limit, one chain, one history."""

from concurrent.futures import ThreadPoolExecutor
from datetime import UTC, datetime, timedelta
from uuid import uuid4

import pytest

from bot.evidence.store.tables import audit
from bot.gate.decision_point import open_decision_point
from bylaw.audit.head import Head
from bylaw.gate.decision_point import NothingOpen, call_of
from bylaw.gate.engine import Gate
from tests.fakes import postgresql
from tests.gate.shop import REFUND, SHOP

HOST = {"id": "s", "facts": {"confirmed": True}}


@pytest.fixture(scope="module")
def server():
    assert postgresql.missing() is None, postgresql.missing()
    with postgresql.cluster() as address:
        yield address


@pytest.fixture(params=["sqlite", "postgresql"])
def url(request, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)  # beside a server's store lies nothing: where its chain stands is said here
    if request.param == "sqlite":
        return f"sqlite:///{tmp_path / 'store.db'}"
    server = request.getfixturevalue("server")
    postgresql.emptied(server, "gate")
    return f"{server}gate"


def replicas(url, bundle, clock=lambda: datetime.now(UTC)):
    gates = [Gate(bundle(SHOP)) for _ in range(2)]
    return [open_decision_point(url, lambda gate=gate: gate, clock) for gate in gates]


def test_replicas_share_history_limits_and_the_chain(url, bundle):
    one, two = replicas(url, bundle)
    customer = uuid4().hex
    call = call_of(tool="issue_refund", arguments={**REFUND, "customer_id": customer}, session=HOST)
    assert one.decide(call).ruling == "deny"
    checked = one.decide(call_of(tool="verify", arguments={"customer_id": customer}, session=HOST))
    two.ended(checked.decision_id, True)
    with pytest.raises(NothingOpen):
        one.ended(checked.decision_id, True)
    with ThreadPoolExecutor(8) as many:
        told = list(many.map(lambda n: (one, two)[n % 2].decide(call), range(40)))
    allowed = [answer for answer in told if answer.is_allowed]
    assert len(allowed) == 1 and all(answer.ruling == "deny" for answer in told if answer not in allowed)
    (two if told.index(allowed[0]) % 2 == 0 else one).ended(allowed[0].decision_id, True, {"paid": 20})
    assert {one.decide(call).ruling, two.decide(call).ruling} == {"deny"}
    assert not one.decide(call).is_pending
    with two.store.reading() as connection:
        verdict = audit.verify(connection)
    assert not verdict.breaks and verdict.entry_count == 1 + 1 + 1 + 40 + 1 + 3
    for point in (one, two):
        point.store.close()


def test_a_replica_that_starts_later_knows_all(url, bundle):
    (one, _) = replicas(url, bundle)
    verified = one.decide(call_of(tool="verify", arguments={"customer_id": "c"}, session=HOST))
    one.ended(verified.decision_id, True)
    later, _ = replicas(url, bundle, lambda: datetime.now(UTC) - timedelta(seconds=5))  # and its clock is slow
    answer = later.decide(call_of(tool="issue_refund", arguments={**REFUND, "customer_id": "c"}, session=HOST))
    assert answer.is_allowed
    assert one.decide(
        call_of(
            tool="issue_refund",
            arguments={**REFUND, "customer_id": "c"},
            session={"id": "t", "facts": {"confirmed": True}},
        )
    ).is_pending


def test_where_the_chain_stands_is_said_beside_the_store(bundle, tmp_path, caplog):
    gate = Gate(bundle(SHOP))
    url, head = f"sqlite:///{tmp_path / 'store.db'}", Head(tmp_path / "store.db.head")
    point = open_decision_point(url, lambda: gate, lambda: datetime.now(UTC))
    for n in range(3):
        point.decide(call_of(tool="verify", arguments={"customer_id": f"c{n}"}))
    assert head.read().count == 3
    with point.store.writing() as connection:
        connection.run("DELETE FROM audit WHERE position = 3")
    point.store.close()
    assert not caplog.records
    open_decision_point(url, lambda: gate, lambda: datetime.now(UTC)).store.close()
    assert "not the one that was written here" in caplog.text
