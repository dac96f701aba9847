"""`bylaw doctor`: a table of walls, whose rows say what they saw."""

from __future__ import annotations

from datetime import UTC, datetime

import pytest

from bot.evidence.anchoring import anchoring
from bot.evidence.store.engine import connect
from bot.evidence.store.migrate import upgrade
from bot.evidence.store.tables import audit
from bot.operate.doctor import CHECKS, Row, examined
from bot.settings import Settings, Tokens
from bylaw.audit.entry import Checkpoint, after


def test_every_check_answers_with_rows_of_its_own(tmp_path):
    for look in CHECKS.values():
        rows = [*look(Settings(root=tmp_path))]
        assert rows
        assert all(isinstance(row, Row) and row.check and row.said for row in rows)
    names = [row.check for row in examined(Settings(root=tmp_path))]
    assert len(names) == len(set(names))


def test_the_command_says_what_it_saw(call, tmp_path):
    done = call("doctor", "--root", tmp_path)
    assert "bundle signature" in done.out
    assert [row["check"] for row in call("doctor", "--root", tmp_path, "--json").json["checks"]]


@pytest.mark.parametrize(("state", "code"), [("stands", 0), ("off", 0), ("unknown", 0), ("open", 1)])
def test_an_open_wall_fails_the_command(call, tmp_path, monkeypatch, state, code):
    monkeypatch.setattr("bot.operate.doctor.CHECKS", {"one": lambda given: [Row("one", state, "said", "do it")]})
    done = call("doctor", "--root", tmp_path)
    assert (done.code, "help: do it" in done.out) == (code, True)


@pytest.mark.parametrize(
    ("given", "state"),
    [
        ({}, "off"),
        ({"host": "0.0.0.0"}, "open"),
        ({"host": "0.0.0.0", "token": "t"}, "stands"),
        ({"tokens": Tokens("i", "a", "keys.json")}, "stands"),
        ({"proxy_header": "X-User"}, "stands"),
    ],
)
def test_it_says_whether_people_have_to_say_who_they_are(tmp_path, given, state):
    rows = {row.check: row.state for row in CHECKS["identity"](Settings(root=tmp_path, **given))}
    assert rows["identity"] == state
    assert rows.get("identity keys") == ("open" if "tokens" in given else None)  # there is no such file


def test_it_says_whether_the_log_is_the_one_that_was_written(tmp_path):
    given = Settings(root=tmp_path)

    def state():
        return [row.state for row in CHECKS["log"](given)]

    assert state() == ["off"]
    store = connect(given.store_url, tmp_path)
    upgrade(store)
    assert state() == ["unknown"]
    with store.writing() as connection:
        entry = audit.append(connection, {"event": "reply"}, datetime(2026, 11, 20, tzinfo=UTC))
    anchoring(given)(after(entry))
    assert state() == ["stands"]
    anchoring(given)(Checkpoint(2, "f" * 64))
    assert state() == ["open"]
    store.close()
