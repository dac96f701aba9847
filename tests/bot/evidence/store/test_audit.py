"""One chain for all processes: whoever appends, whenever one dies, the chain holds and damage shows."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import threading
import time
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest
import yaml
from sqlalchemy import text

from bot.evidence.store.connection import insert
from bot.evidence.store.engine import StoreError, connect
from bot.evidence.store.migrate import upgrade
from bot.evidence.store.tables import audit
from bylaw.audit.entry import Checkpoint, after, draft, link
from tests.fakes.forked import Forked
from tests.fakes.frame import NOON
from tests.fakes.postgresql import emptied, ended

ROOT = Path(__file__).parents[4]
ROWS = yaml.safe_load(Path(__file__).with_name("audit.yaml").read_text())

APPEND = """
import sys
import threading
import time
from datetime import UTC, datetime
from pathlib import Path
from bot.evidence.store.tables import audit
from bot.evidence.store.engine import connect
store = connect(sys.argv[1], Path(sys.argv[2]))
for n in range(int(sys.argv[3])):
    with store.writing() as connection:
        audit.append(connection, {"n": n, "who": sys.argv[4]}, datetime.now(UTC))
    print(n, flush=True)
"""


def appending(url: str, root: Path, times: int, who: str) -> Forked:
    return Forked("-c", APPEND, url, root, times, who, stdout=subprocess.PIPE)


def append(store, *bodies):
    for body in bodies:
        with store.writing() as connection:
            audit.append(connection, body, NOON, request_id=body.get("request_id"))


def verdict(store, *anchors):
    with store.reading() as connection:
        return audit.verify(connection, anchors)


def breaks(store, *anchors):
    return [[one.kind, one.seq] for one in verdict(store, *anchors).breaks]


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
    assert breaks(store, Checkpoint(200, "f" * 64)) == [["rewritten", 200]]  # all 200 are there; only the head differs
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
    victim = Forked("-c", code, store_url, tmp_path, 1, "victim", stdout=subprocess.PIPE)
    assert victim.stdout.readline() == "inside\n"
    os.kill(victim.pid, signal.SIGKILL)
    victim.communicate()
    append(store, {"who": "survivor"})
    with store.reading() as connection:
        assert [entry.body["who"] for entry in audit.entries(connection)] == ["survivor"]
    assert breaks(store) == []


@pytest.mark.parametrize("row", ROWS, ids=[row["title"] for row in ROWS])
def test_damage_done_in_the_database_is_told_apart(store, row):
    if row.get("on", store.dialect) != store.dialect:
        pytest.skip("this database holds text alone in its columns of text")
    append(store, *({"event": "reply", "request_id": f"r{n}", "said": "yes"} for n in range(4)))
    with store.reading() as connection:
        anchor = audit.tail(connection)
    with store.writing() as connection:
        connection.execute(text(row["do"]))
    found = verdict(store, anchor)
    assert [[one.kind, one.seq] for one in found.breaks] == row["breaks"]
    assert row.get("says", "") in found.breaks[0].detail


def test_where_the_guards_of_the_table_are_gone_a_fork_is_still_seen(store):
    append(store, *({"n": n} for n in range(3)))
    with store.reading() as connection:
        second = list(audit.entries(connection))[1]
    branch = link(after(second), draft({"at": "2026-11-20T12:00:00.000000Z"}, "salt"))
    with store.writing() as connection:
        connection.execute(text("CREATE TABLE bare AS SELECT * FROM audit"))
        connection.execute(text("DROP TABLE audit"))
        connection.execute(text("ALTER TABLE bare RENAME TO audit"))
        row = {"position": 4, "prev_hash": branch.prev_hash, "entry_hash": branch.entry_hash, "at": NOON}
        insert(connection, "audit", {**row, "header": branch.header, "payload": branch.payload})
    assert breaks(store) == [["forked", 3]]


def test_whoever_listens_hears_how_far_the_chain_was_read(store):
    append(store, *({"n": n} for n in range(3)))
    told = []
    with store.reading() as connection:
        audit.verify(connection, hear=lambda *one: told.append(one))
        list(audit.entries(connection, hear=lambda *one: told.append(one)))
    assert told == [(what, done, 3) for what in ("verifying", "reading the chain") for done in (0, 3)]


def test_the_database_itself_refuses_a_fork(store):
    append(store, {"n": 1}, {"n": 2})
    with store.reading() as connection:
        second = connection.one("SELECT * FROM audit WHERE position = 2")
    with pytest.raises(StoreError), store.writing() as connection:
        insert(connection, "audit", {**second, "position": 3, "entry_hash": "f" * 64})


def test_what_was_prepared_first_and_kept_last_is_dated_when_it_takes_its_place(store):
    slow, quick = (audit.prepare({"event": "reply", "who": who}) for who in ("slow", "quick"))
    for drafted, second in ((quick, 1), (slow, 2)):
        with store.writing() as connection:
            audit.append(connection, drafted, datetime(2026, 11, 20, 12, 0, second, tzinfo=UTC))
    with store.reading() as connection:
        assert [entry.body["who"] for entry in audit.entries(connection)] == ["quick", "slow"]
        found = audit.verify(connection)
    assert (found.is_intact, found.backward_count) == (True, 0)


def test_who_waits_for_a_place_in_the_chain_is_dated_when_it_is_certain(store):
    inside, times = threading.Event(), iter(NOON + timedelta(seconds=n) for n in range(9))

    def quick():
        with store.writing() as connection:
            audit.append(connection, {"who": "quick"}, lambda: next(times))
            inside.set()
            time.sleep(0.3)  # the other one asks for its place now

    first = threading.Thread(target=quick)
    first.start()
    inside.wait(10)
    with store.writing() as connection:
        audit.append(connection, {"who": "slow"}, lambda: next(times))
    first.join()
    with store.reading() as connection:
        assert [entry.body["who"] for entry in audit.entries(connection)] == ["quick", "slow"]
        assert audit.verify(connection).backward_count == 0


def test_a_clock_that_goes_backwards_is_told_and_breaks_nothing(store):
    for hour in (12, 13, 9, 14):
        with store.writing() as connection:
            audit.append(connection, {"event": "reply", "hour": hour}, datetime(2026, 11, 20, hour, tzinfo=UTC))
    with store.reading() as connection:
        assert [entry.body["hour"] for entry in audit.entries(connection)] == [12, 13, 9, 14]
        found = audit.verify(connection, [audit.tail(connection)])
        since = audit.start_of(connection, 3)
        assert [entry.body["hour"] for entry in audit.entries(connection, since)] == [9, 14]
    assert (found.is_intact, found.backward_count) == (True, 1)


def test_a_failed_transaction_takes_its_entry_with_it(store):
    with pytest.raises(KeyError), store.writing() as connection:
        audit.append(connection, {"n": 1}, NOON)
        raise KeyError("n")
    append(store, {"n": 2})
    assert breaks(store) == []


def test_a_redaction_takes_the_words_away_and_the_chain_still_holds(store):
    append(store, *({"event": "reply", "request_id": f"r{n}", "said": "I am Ana"} for n in (1, 2, 3, 2)))
    with store.reading() as connection:
        anchor = audit.tail(connection)
        chosen = [one.seq for one in audit.unredacted(connection, request_id="r2")]
    assert chosen == [2, 4]
    with store.writing() as connection:
        audit.redact(connection, chosen, "dpo", "asked to be forgotten", NOON)
    found = verdict(store, anchor)
    assert (found.is_intact, found.redacted_count, found.entry_count) == (True, 2, 5)
    with store.reading() as connection:
        bodies = [entry.body for entry in audit.entries(connection)]
        assert [one.seq for one in audit.unredacted(connection)] == [1, 3]
        assert [audit.redaction_of(connection, seq) is not None for seq in (1, 2, 3, 4, 5)] == [0, 1, 0, 1, 0]
    assert ["said" in body for body in bodies] == [True, False, True, False, False]
    assert (bodies[4]["redacts"], bodies[4]["by"]) == ([[2, 2], [4, 4]], "dpo")
    assert bodies[1]["at"] == bodies[0]["at"]


def test_what_was_redacted_is_in_no_file_of_the_store(tmp_path):
    store = connect("sqlite:///store.db", tmp_path)
    upgrade(store)
    append(store, *({"event": "reply", "request_id": f"r{n}", "said": f"secret-{n} " * 300} for n in range(6)))
    with store.writing() as connection:
        audit.redact(connection, [2, 3], "dpo", "retention", NOON)
    store.settle()
    kept = b"".join(path.read_bytes() for path in tmp_path.iterdir())
    assert [f"secret-{n}".encode() in kept for n in range(6)] == [True, False, False, True, True, True]
    store.close()


def test_by_time_and_by_number_the_chain_is_read_from_an_entry_on(store):
    for minutes in (0, 10, 5, 20):  # the clock went back once
        with store.writing() as connection:
            audit.append(connection, {"n": minutes}, NOON + timedelta(minutes=minutes))
    with store.reading() as connection:
        whole = list(audit.entries(connection))
        assert audit.start_of(connection, NOON + timedelta(minutes=4)) == after(whole[0])
        assert audit.start_of(connection, NOON + timedelta(minutes=15)) == after(whole[2])
        assert audit.start_of(connection, NOON + timedelta(days=1)) == after(whole[3])
        assert audit.start_of(connection, 3) == after(whole[1])
        assert [entry.seq for entry in audit.entries(connection, after(whole[1]))] == [3, 4]
    assert (verdict(store).is_intact, verdict(store).backward_count) == (True, 1)


def test_where_the_server_ends_every_connection_nothing_told_is_lost(request, tmp_path):
    """As when it is restarted: what was told is kept, what was not is refused in words, and the next attempt works."""
    server = request.getfixturevalue("postgresql")
    emptied(server, "bylaw")
    store = connect(f"{server}bylaw", tmp_path)
    upgrade(store)
    told, refused, over = [], [], threading.Event()

    def work(who):
        for n in range(10_000):
            if over.is_set():
                return
            try:
                append(store, {"who": who, "n": n})
                told.append((who, n))
            except StoreError as error:
                refused.append(error)

    threads = [threading.Thread(target=work, args=(who,)) for who in range(2)]
    for thread in threads:
        thread.start()
    for _ in range(3):
        before = len(told)
        while len(told) < before + 10:
            time.sleep(0.01)
        ended(server, "bylaw")
    over.set()
    for thread in threads:
        thread.join()
    append(store, {"who": "after"})
    with store.reading() as connection:
        kept = {(entry.body["who"], entry.body.get("n")) for entry in audit.entries(connection)}
    assert (set(told) <= kept, breaks(store)) == (True, [])
    assert refused
    assert {error.help for error in refused} == {
        "is its server running, and does BYLAW_STORE_URL lead there? then ask again"
    }
    store.close()


FULL = """
import resource, sys
from datetime import UTC, datetime
from pathlib import Path
from bot.evidence.store.tables import audit
from bot.evidence.store.engine import StoreError, connect
store = connect(sys.argv[1], Path(sys.argv[2]))
resource.setrlimit(resource.RLIMIT_FSIZE, (400_000, 400_000))  # what a full disk looks like to a process
import signal; signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
for n in range(10_000):
    try:
        with store.writing() as connection:
            audit.append(connection, {"n": n, "said": "x" * 2_000}, datetime.now(UTC))
    except StoreError as error:
        print("refused", error.message, flush=True)
        break
    print(n, flush=True)
"""


def test_a_full_disk_refuses_the_entry_and_leaves_a_whole_chain(tmp_path):
    store = connect("sqlite:///store.db", tmp_path)
    upgrade(store)
    command = [sys.executable, "-c", FULL, "sqlite:///store.db", str(tmp_path)]
    *told, last = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=True).stdout.splitlines()
    assert last.startswith("refused the store does not answer:")
    append(store, {"who": "survivor"})
    with store.reading() as connection:
        kept = [entry.body for entry in audit.entries(connection)]
    assert [body.get("n") for body in kept] == [*map(int, told), None]
    assert breaks(store) == []
    store.close()
