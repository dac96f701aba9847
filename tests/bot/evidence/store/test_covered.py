"""What decides is in the chain: whoever edits, deletes or puts in a row of it is told of, on each database."""

from __future__ import annotations

from dataclasses import replace
from datetime import timedelta
from types import SimpleNamespace

import pytest
from sqlalchemy import text

from bot.conversation import Actor
from bot.evidence.store import covered
from bot.evidence.store.tables import audit, served
from bot.evidence.store.tables.papers import Papers
from bot.gate.decision_point import StoreDecisionPoint
from bot.operate.redaction import Scope, redact
from bot.request.acceptance import accept, say, standing_for
from bot.request.orchestrator import handle
from bylaw.authored.machines.access import Roles
from bylaw.gate.decision_point import call_of
from bylaw.gate.engine import Gate
from tests.fakes.frame import NOON, question, services
from tests.fakes.levels import ROLES
from tests.gate.shop import REFUND, SHOP


@pytest.fixture(scope="module")
def gate(tmp_path_factory):
    from bylaw.bundle import read
    from tests.gate.conftest import compiled

    return Gate(read(compiled(tmp_path_factory.mktemp("shop"), SHOP)))


@pytest.fixture
def bot(store_url, store, tmp_path, gate):
    """Two answers, one of them accepted and liked; a verified customer, and their refund."""
    found = services(
        tmp_path, store_url, index=SimpleNamespace(rules=SimpleNamespace(roles=Roles.model_validate(ROLES)))
    )
    found = replace(found, artifacts=Papers(found.store))
    for name in ("r1", "r2"):
        handle(question(name, "revenue by region", session_id=name), found)
    assert accept("r1", Actor(id="ana"), found).is_accepted
    standing = standing_for("r2", Actor(id="ana"), found)
    assert standing is not None and say(standing, Actor(id="ana"), found, "up")
    bundle = SimpleNamespace(etag="sha256:a", source_commit="c1", committed_at="2026-11-01T00:00:00Z")
    with found.store.writing() as connection:
        served.admit(connection, bundle, None, NOON)
    clock = [NOON]
    point = StoreDecisionPoint(found.store, lambda: gate, lambda: clock[0])
    host = {"id": "s", "facts": {"confirmed": True}}
    for tool, arguments in (("verify", {"customer_id": "c1"}), ("issue_refund", REFUND), ("issue_refund", REFUND)):
        clock[0] += timedelta(seconds=1)
        answer = point.decide(call_of(tool=tool, arguments=arguments, session=host, actor="bot"))
        if answer.is_allowed:
            point.ended(answer.decision_id, True)
    left = point.decide(call_of(tool="sign_out", arguments={"customer_id": "c2"}, actor="bot"))
    point.extend(left.decision_id, 600)
    yield found
    found.store.close()


def breaks(bot):
    with bot.store.reading() as connection:
        assert audit.verify(connection).is_intact, "the chain itself holds: what is told is told of rows"
        return [one.kind for one in covered.breaks(connection)]


def run(bot, *statements):
    with bot.store.writing() as connection:
        for one in statements:
            assert connection.execute(text(one)).rowcount, f"nothing was touched by {one}"


def test_what_nobody_touched_holds(bot):
    assert breaks(bot) == []
    with bot.store.reading() as connection:
        assert list(covered.uncovered(connection)) == []


ONE = "(SELECT min(decision_id) FROM gate_calls)"
COPY = (
    "SELECT 'forged', 99, session_id, actor, action, tool, keys, facts, at, ok, asked_by, salt, reserved_until"
    f" FROM gate_calls WHERE decision_id = {ONE}"
)
COLUMNS = "decision_id, change, session_id, actor, action, tool, keys, facts, at, ok, asked_by, salt, reserved_until"
EDITS = {
    "a recorded call is deleted": f"DELETE FROM gate_calls WHERE decision_id = {ONE}",
    "all recorded calls are": "DELETE FROM gate_calls",
    "one is said to have failed": "UPDATE gate_calls SET ok = NOT ok WHERE ok IS NOT NULL",
    "one is said to have ended": "UPDATE gate_calls SET ok = NULL",
    "its facts": """UPDATE gate_calls SET facts = '{"purchase_amount"\\:1}'""",
    "its keys": """UPDATE gate_calls SET keys = '{"customer_id"\\:"c9"}'""",
    "its time": "UPDATE gate_calls SET at = at - 86400000000",
    "its session": "UPDATE gate_calls SET session_id = 'other' WHERE session_id IS NOT NULL",
    "its actor": "UPDATE gate_calls SET actor = 'somebody'",
    "its action": "UPDATE gate_calls SET action = 'logout' WHERE action = 'full_refund'",
    "its order": "UPDATE gate_calls SET change = change + 100",
    "who asked": "UPDATE gate_calls SET asked_by = 'somebody'",
    "how long it is reserved": "UPDATE gate_calls SET reserved_until = 0",
    "its salt": "UPDATE gate_calls SET salt = 'x'",
    "one is put in": f"INSERT INTO gate_calls ({COLUMNS}) {COPY}",
    "a key is deleted": "DELETE FROM gate_keys WHERE value = 'c1'",
    "a key is changed": "UPDATE gate_keys SET value = 'c9' WHERE value = 'c1'",
    "a key is put in": f"INSERT INTO gate_keys VALUES ('customer_id', 'c9', {ONE})",
    "a key of no call is put in": "INSERT INTO gate_keys VALUES ('customer_id', 'c9', 'nothing')",
    "the time of a session": "UPDATE gate_sessions SET last_at = 1",
    "a session of the gate is deleted": "DELETE FROM gate_sessions",
    "one is renamed": "UPDATE gate_sessions SET session_id = 'other'",
    "another is put in": "INSERT INTO gate_sessions (session_id, last_at) VALUES ('other', 1)",
    "who asked a question": "UPDATE requests SET actor_id = 'eve' WHERE request_id = 'r1'",
    "how a request stands": "UPDATE requests SET state = 'ACCEPT' WHERE request_id = 'r1'",
    "what became of it": "UPDATE requests SET outcome = 'rejected' WHERE request_id = 'r1'",
    "when it is due": "UPDATE requests SET due_at = '2026-01-01T00:00:00.000000Z' WHERE request_id = 'r2'",
    "a conversation is deleted": "DELETE FROM sessions",
    "whose it is": "UPDATE sessions SET actor_id = 'eve'",
    "what it waits for": "UPDATE sessions SET pending = 'needs_fact'",
    "its last request": "UPDATE sessions SET last_request = 'r9'",
    "a row of the query log is deleted": "DELETE FROM query_log WHERE log_id = 'r1'",
    "its actor in the log": "UPDATE query_log SET actor_id = 'eve'",
    "was it taken": "UPDATE query_log SET user_accepted = FALSE WHERE user_accepted",
    "what was thought of it": "UPDATE query_log SET feedback = 'down'",
    "a row of the log moves in time": "UPDATE query_log SET at = '2020-01-01T00:00:00.000000Z' WHERE log_id = 'r1'",
    "which bundle was served": "UPDATE served SET etag = 'sha256:old'",
    "when it was made": "UPDATE served SET committed_at = '2020-01-01T00:00:00Z'",
    "the mark of what was served is deleted": "DELETE FROM served",
}


@pytest.mark.parametrize("name", EDITS)
def test_what_is_done_to_a_row_is_told(bot, name):
    run(bot, EDITS[name])
    assert breaks(bot)


def test_two_calls_that_change_places_are_told(bot):
    one, other = "(SELECT min(change) FROM gate_calls)", "(SELECT max(change) FROM gate_calls)"
    run(
        bot,
        f"UPDATE gate_calls SET change = -1 WHERE change = {one}",
        f"UPDATE gate_calls SET change = -change WHERE change = {other}",
    )
    assert "altered" in breaks(bot)


def test_an_older_state_put_back_is_told(bot, gate):
    point = StoreDecisionPoint(bot.store, lambda: gate, lambda: NOON + timedelta(minutes=1))
    with bot.store.reading() as connection:
        before = connection.all("SELECT decision_id, ok, change FROM gate_calls WHERE ok IS NULL")[0]
    point.ended(before["decision_id"], True)
    assert breaks(bot) == []
    run(
        bot,
        f"UPDATE gate_calls SET ok = NULL, change = {before['change']} WHERE decision_id = '{before['decision_id']}'",
    )
    assert breaks(bot) == ["altered"]


@pytest.mark.parametrize("scope", [Scope(request_id="r1"), Scope(before=NOON + timedelta(days=1))], ids=["one", "all"])
def test_a_redaction_leaves_it_verified(bot, scope):
    later = NOON + timedelta(days=2)
    with bot.store.reading() as connection:
        decided = next(one.body["request_id"] for one in audit.entries(connection) if one.body.get("tool") == "verify")
    redact(scope, bot.store, [bot.artifacts], "dpo", "asked to", lambda: later)
    assert breaks(bot) == []
    if scope.before is None:
        redact(Scope(request_id=decided), bot.store, [bot.artifacts], "dpo", "asked to", lambda: later)
        assert breaks(bot) == []
    run(bot, "UPDATE gate_calls SET keys = '{}'")
    assert "altered" in breaks(bot), "what was said is gone, and what was done is still covered"


def test_what_is_redacted_may_go_and_nothing_else(bot):
    redact(Scope(request_id="r1"), bot.store, [bot.artifacts], "dpo", "asked to", lambda: NOON)
    run(bot, "DELETE FROM query_log WHERE log_id = 'r2'", f"DELETE FROM gate_calls WHERE decision_id = {ONE}")
    assert sorted(set(breaks(bot))) == ["missing", "unrecorded"]
