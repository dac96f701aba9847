"""The migrations build exactly the tables the code speaks of, once, whoever starts first."""

from __future__ import annotations

import hashlib
import subprocess
import sys
from datetime import timedelta
from pathlib import Path

import pytest
from alembic import command
from alembic.config import Config
from alembic.script import ScriptDirectory
from sqlalchemy import inspect, text

from bot.evidence.store import covered, migrate
from bot.evidence.store.engine import StoreError, connect
from bot.evidence.store.migrate import HEAD, SCRIPTS, revision, upgrade
from bot.evidence.store.tables import audit, calls, deliveries
from tests.fakes import stored
from tests.fakes.forked import Forked
from tests.fakes.frame import NOON

ROOT = Path(__file__).parents[4]


@pytest.fixture(autouse=True)
def _by_alembic(monkeypatch):
    """Every store here is made by the migrations, none from another."""
    monkeypatch.setattr(migrate, "_run", migrate._run.__wrapped__)


def shape(store):
    """Every table with its columns, whether each may be empty, and its key."""
    with store.reading() as connection:
        known = inspect(connection.full)
        tables = known.get_table_names()
        columns = {name: [(one["name"], one["nullable"]) for one in known.get_columns(name)] for name in tables}
        return {name: (columns[name], known.get_pk_constraint(name)["constrained_columns"]) for name in sorted(tables)}


def test_every_database_gets_the_same_tables(store, tmp_path):
    other = connect("sqlite:///other.db", tmp_path)
    upgrade(other)
    assert shape(store) == shape(other)


def test_the_head_named_in_the_code_is_the_newest_script():
    config = Config()
    config.set_main_option("script_location", str(SCRIPTS))
    assert ScriptDirectory.from_config(config).get_heads() == [HEAD]


def test_an_upgrade_happens_once(store_url, tmp_path):
    store = connect(store_url, tmp_path)
    assert [upgrade(store), upgrade(store)] == [True, False]
    with store.reading() as connection:
        assert revision(connection) == HEAD


def test_a_store_of_a_newer_version_is_refused_and_left_alone(store):
    with store.writing() as connection:
        connection.execute(text("UPDATE alembic_version SET version_num = '9999'"))
    with pytest.raises(StoreError, match="newer"):
        upgrade(store)
    with store.reading() as connection:
        assert revision(connection) == "9999"


def test_a_current_store_never_loads_alembic(tmp_path):
    upgrade(connect("sqlite:///store.db", tmp_path))
    code = (
        "import sys; from pathlib import Path;"
        "from bot.evidence.store.engine import connect; from bot.evidence.store.migrate import upgrade;"
        "upgrade(connect('sqlite:///store.db', Path(sys.argv[1]))); print('alembic' in sys.modules)"
    )
    command = [sys.executable, "-c", code, tmp_path]
    shown = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=True)
    assert shown.stdout.strip() == "False"


def test_processes_that_start_together_build_one_store(store_url, tmp_path):
    code = (
        "import sys; from pathlib import Path;"
        "from bot.evidence.store.engine import connect; from bot.evidence.store.migrate import upgrade;"
        "print(upgrade(connect(sys.argv[1], Path(sys.argv[2]))))"
    )
    starts = [Forked("-c", code, store_url, tmp_path, stdout=subprocess.PIPE) for _ in range(4)]
    said = sorted(start.communicate()[0].strip() for start in starts)
    assert [start.returncode for start in starts] == [0, 0, 0, 0]
    assert said == ["False", "False", "False", "True"]
    with connect(store_url, tmp_path).reading() as connection:
        assert {"audit", "requests", "watches"} < set(inspect(connection.full).get_table_names())


def test_what_an_earlier_version_gave_up_keeps_that_meaning_and_can_be_sent_again(store_url, tmp_path):
    old = connect(store_url, tmp_path)
    config = Config()
    config.set_main_option("script_location", str(SCRIPTS))
    rows = [
        ("sent", 1, '{"ts": "1"}', None, "2026-11-20T12:00:00.000000Z"),
        ("lost", 3, None, "SlackApiError: user_not_found", "2026-11-20T12:00:00.000000Z"),
        ("open", 2, None, "cut", None),
        ("new", 0, None, None, None),
    ]
    letter = '{"to": "ana", "about": "r1", "event": "handled", "text": "It is 41 %."}'
    insert = (
        "INSERT INTO deliveries (delivery_id, letter, attempts, place, failure, closed_at, created_at, kind, recipient)"
        " VALUES (:name, :letter, :attempts, :place, :failure, :closed, '2026-11-20T11:00:00.000000Z', 'notice', 'ana')"
    )
    if store_url.startswith("postgresql"):
        insert = insert.replace(":letter", "CAST(:letter AS JSONB)").replace(":place", "CAST(:place AS JSONB)")
    with old.writing() as connection:
        config.attributes.update(connection=connection.full)
        command.upgrade(config, "0010")
        for name, attempts, place, failure, closed in rows:
            given = {"name": name, "letter": letter, "attempts": attempts, "place": place}
            connection.execute(text(insert), {**given, "failure": failure, "closed": closed})
    assert upgrade(old)
    with old.writing() as connection:
        found = {name: stored.delivery(connection, name) for name, *_ in rows}
        assert {name: (row["outcome"], row["is_doubtful"]) for name, row in found.items()} == {
            "sent": ("delivered", True),
            "lost": ("given up", True),
            "open": (None, True),
            "new": (None, False),
        }
        assert [one.delivery_id for one in deliveries.list_undelivered(connection, NOON, 10)] == ["lost", "new", "open"]
        assert [name for name, _ in deliveries.notices(connection, NOON)] == ["new", "open"]
        assert [deliveries.retry(connection, name, NOON) for name in ("lost", "sent")] == [True, False]
        assert deliveries.claim(connection, "lost", "a", NOON, timedelta(minutes=1)).is_doubtful
    old.close()


def test_a_chain_of_the_first_version_still_holds_and_goes_on(store_url, tmp_path):
    old = connect(store_url, tmp_path)
    config = Config()
    config.set_main_option("script_location", str(SCRIPTS))
    payload = '{"body":{"at":"2026-11-20T12:00:00.000000Z","event":"reply","said":"yes"},"seq":1}'
    with old.writing() as connection:
        config.attributes.update(connection=connection.full)
        command.upgrade(config, "0003")
        row = {"hash": hashlib.sha256(payload.encode()).hexdigest(), "payload": payload}
        connection.execute(
            text(
                "INSERT INTO audit (position, entry_hash, at, payload) "
                "VALUES (1, :hash, '2026-11-20T12:00:00.000000Z', :payload)"
            ),
            row,
        )
    assert upgrade(old)
    with old.writing() as connection:
        audit.append(connection, {"event": "reply", "said": "no"}, NOON)
    with old.reading() as connection:
        found = audit.verify(connection)
        assert (found.is_intact, found.redacted_count) == (True, 0)
        assert [entry.body["said"] for entry in audit.entries(connection)] == ["yes", "no"]
    old.close()


OLD = [
    "INSERT INTO gate_calls VALUES ('d1', 1, 's', 'bot', 'pay', 'pay', '{\"customer\":\"c1\"}', '{}', 5, TRUE, NULL)",
    "INSERT INTO gate_calls VALUES ('d2', 2, NULL, 'bot', 'pay', 'pay', '{\"customer\":\"c1\"}', '{}', 6, NULL, NULL)",
    "INSERT INTO gate_keys VALUES ('', 's', 'd1')",
    "INSERT INTO gate_keys VALUES ('customer', 'c1', 'd1')",
    "INSERT INTO gate_keys VALUES ('customer', 'c1', 'd2')",
    "INSERT INTO gate_sessions VALUES ('s', 6)",
    "INSERT INTO served (name, etag, served_at) VALUES ('policies', 'sha256:a', '2026-11-20T12:00:00.000000Z')",
    "INSERT INTO query_log (log_id, at, request_id, actor_id, session_id, natural_language, kind, status,"
    " correction_made) VALUES ('r1', '2026-11-20T12:00:00.000000Z', 'r1', 'ana', 's', 'why', 'policy', 'answered',"
    " FALSE)",
    "INSERT INTO requests (request_id, fingerprint, session_id, actor_id, question, state, attempts, created_at,"
    " updated_at) VALUES ('r9', 'f', 's', 'ana', '{}', 'INTAKE', 1, '2026-11-20T12:00:00.000000Z',"
    " '2026-11-20T12:00:00.000000Z')",
]


@pytest.fixture
def upgraded(store_url, tmp_path):
    """A store of the version before, with calls of agents in it, brought to this one."""
    old = connect(store_url, tmp_path)
    config = Config()
    config.set_main_option("script_location", str(SCRIPTS))
    with old.writing() as connection:
        config.attributes.update(connection=connection.full)
        command.upgrade(config, "0010")
        for row in OLD:
            connection.exec_driver_sql(row)
    assert upgrade(old)
    yield old
    old.close()


def told(store):
    with store.reading() as connection:
        assert audit.verify(connection).is_intact
        return [one.kind for one in covered.breaks(connection)]


def test_the_rows_of_a_store_of_before_are_anchored_and_said_to_be(upgraded):
    assert told(upgraded) == []
    with upgraded.reading() as connection:
        (said,) = covered.uncovered(connection)
        (entry,) = audit.entries(connection)
    assert said.startswith("5 rows beside the chain, of an earlier version: not covered before 20")
    assert (entry.body["event"], entry.body["rows_before"]) == ("upgrade", 5)
    with upgraded.writing() as connection:
        rows = calls.change(connection, calls.stored(connection, "d2"), {"ok": True, "change": 3})
        audit.append(connection, {"event": "gate-event", "request_id": "d2"}, NOON, "d2", rows)
    assert told(upgraded) == [], "a row of before goes on like any other"


@pytest.mark.parametrize(
    ("statement", "kind"),
    [
        ("UPDATE gate_calls SET ok = FALSE WHERE decision_id = 'd1'", "altered"),
        ("DELETE FROM gate_calls WHERE decision_id = 'd2'", "missing"),
        ("UPDATE gate_sessions SET last_at = 1", "altered"),
        ("DELETE FROM query_log", "missing"),
        ("UPDATE served SET etag = 'sha256:b'", "altered"),
        ("UPDATE row_anchors SET mark = 'x'", "altered"),
        ("DELETE FROM row_anchors", "altered"),
    ],
)
def test_from_then_on_they_are_covered(upgraded, statement, kind):
    with upgraded.writing() as connection:
        connection.exec_driver_sql(statement)
    assert kind in told(upgraded)


def test_an_empty_store_has_nothing_to_anchor(store):
    with store.reading() as connection:
        assert list(audit.entries(connection)) == []
