"""One chain for all processes: whoever appends, whenever one dies, the chain holds and damage shows."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest
from sqlalchemy import select, text

from bot.store import audit
from bot.store.engine import StoreError
from bylaw.audit import Checkpoint, verify
from tests.fakes.frame import NOON

ROOT = Path(__file__).parents[3]

APPEND = """
import sys
from datetime import UTC, datetime
from pathlib import Path
from bot.store import audit
from bot.store.engine import connect
store = connect(sys.argv[1], Path(sys.argv[2]))
for n in range(int(sys.argv[3])):
    with store.writing() as connection:
        audit.append(connection, {"n": n, "who": sys.argv[4]}, datetime.now(UTC))
    print(n, flush=True)
"""


def appending(url: str, root: Path, times: int, who: str) -> subprocess.Popen[str]:
    command = [sys.executable, "-c", APPEND, url, str(root), str(times), who]
    return subprocess.Popen(command, cwd=ROOT, stdout=subprocess.PIPE, text=True)


def append(store, *bodies):
    for body in bodies:
        with store.writing() as connection:
            audit.append(connection, body, NOON, request_id=body.get("request_id"))


def breaks(store, anchor=None):
    with store.reading() as connection:
        return [(one.kind, one.seq) for one in verify(audit.entries(connection), anchor)]


def test_an_entry_comes_back_as_it_was_written(store):
    append(store, {"request_id": "r1", "said": "ümlaut \N{GRINNING FACE}"}, {"request_id": "r2"}, {"request_id": "r1"})
    with store.reading() as connection:
        found = audit.about(connection, "r1")
    assert [entry.seq for entry in found] == [1, 3]
    assert found[0].body == {
        "at": "2026-11-20T12:00:00.000000Z",
        "request_id": "r1",
        "said": "ümlaut \N{GRINNING FACE}",
    }
    assert breaks(store) == []


def test_four_processes_keep_one_chain(store_url, store, tmp_path):
    started = [appending(store_url, tmp_path, 50, str(n)) for n in range(4)]
    for process in started:
        process.communicate()
    assert [process.returncode for process in started] == [0] * 4
    with store.reading() as connection:
        bodies = [entry.body for entry in audit.entries(connection)]
    assert breaks(store, Checkpoint(200, None)) == [("rewritten", 200)]  # all 200 are there; only the head differs
    assert breaks(store) == []
    assert sorted((body["who"], body["n"]) for body in bodies) == sorted(
        (str(w), n) for w in range(4) for n in range(50)
    )


def test_a_process_killed_while_it_appends_leaves_a_whole_chain(store_url, store, tmp_path):
    victim = appending(store_url, tmp_path, 100_000, "victim")
    told = 0
    while told < 20:
        told = int(victim.stdout.readline()) + 1
    os.kill(victim.pid, signal.SIGKILL)
    told += len(victim.communicate()[0].splitlines())
    append(store, {"who": "survivor"})
    with store.reading() as connection:
        kept = [entry.body for entry in audit.entries(connection)]
    # Each entry whose commit was told is there; the one in flight may be.
    assert told <= len([body for body in kept if body["who"] == "victim"]) <= told + 1
    assert kept[-1]["who"] == "survivor"
    assert breaks(store) == []


def test_a_process_killed_inside_the_transaction_leaves_no_entry_and_no_lock(store_url, store, tmp_path):
    code = APPEND.replace("    print(n, flush=True)", "").replace(
        "datetime.now(UTC))", "datetime.now(UTC)); print('inside', flush=True); __import__('time').sleep(600)"
    )
    victim = subprocess.Popen(
        [sys.executable, "-c", code, store_url, str(tmp_path), "1", "victim"],
        cwd=ROOT,
        stdout=subprocess.PIPE,
        text=True,
    )
    assert victim.stdout.readline() == "inside\n"
    os.kill(victim.pid, signal.SIGKILL)
    victim.communicate()
    append(store, {"who": "survivor"})
    with store.reading() as connection:
        assert [entry.body["who"] for entry in audit.entries(connection)] == ["survivor"]
    assert breaks(store) == []


DAMAGE = [
    ("UPDATE audit SET payload = replace(payload, 'yes', 'no') WHERE position = 2", [("edited", 2)]),
    ("DELETE FROM audit WHERE position = 2", [("deleted", 2)]),
    ("UPDATE audit SET position = -position", [("reordered", 1), ("reordered", 2), ("reordered", 3)]),
    ("DELETE FROM audit WHERE position = 4", [("truncated", 4)]),
    ("DELETE FROM audit", [("truncated", 1)]),
    ("UPDATE audit SET payload = 'gone' WHERE position = 4", [("edited", 4)]),
]


@pytest.mark.parametrize(("statement", "expected"), DAMAGE)
def test_damage_done_in_the_database_is_told_apart(store, statement, expected):
    append(store, *({"said": "yes", "n": n} for n in range(4)))
    with store.reading() as connection:
        anchor = audit.standing(connection)
    with store.writing() as connection:
        connection.execute(text(statement))
    assert breaks(store, anchor) == expected


def test_the_database_itself_refuses_a_fork(store):
    append(store, {"n": 1}, {"n": 2})
    with store.reading() as connection:
        second = dict(connection.execute(select(audit.audit).where(audit.audit.c.position == 2)).mappings().one())
    with pytest.raises(StoreError), store.writing() as connection:
        connection.execute(audit.audit.insert().values({**second, "position": 3, "entry_hash": "f" * 64}))


def test_a_failed_transaction_takes_its_entry_with_it(store):
    with pytest.raises(KeyError), store.writing() as connection:
        audit.append(connection, {"n": 1}, NOON)
        raise KeyError("n")
    append(store, {"n": 2})
    assert breaks(store) == []


def test_a_checkpoint_is_kept_in_a_file_of_its_own(tmp_path):
    audit.anchor(tmp_path / "kept" / "checkpoint.json", Checkpoint(3, "ab"))
    assert (tmp_path / "kept" / "checkpoint.json").read_text() == '{"count":3,"head":"ab"}\n'


@pytest.mark.benchmark
def test_appends_a_second_by_four_processes(store_url, store, tmp_path, capsys):
    started = time.perf_counter()
    for process in [appending(store_url, tmp_path, 500, str(n)) for n in range(4)]:
        process.communicate()
    rate = 2000 / (time.perf_counter() - started)
    with capsys.disabled():
        print(f"\n{store_url.split(':')[0]}: {rate:.0f} appends a second, start included")
    assert breaks(store) == []
