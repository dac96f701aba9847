"""Opening the store: what is refused, and what the two kinds of transaction promise."""

from __future__ import annotations

import sqlite3
import subprocess
import sys
import threading
from pathlib import Path

import pytest
from sqlalchemy import text

from bot.evidence.store import sqlite_file
from bot.evidence.store.engine import StoreError, connect
from bot.evidence.store.migrate import upgrade
from bot.evidence.store.tables import audit
from bylaw.errors import UsageError

ROOT = Path(__file__).parents[4]


@pytest.mark.parametrize(
    ("url", "words"),
    [
        ("sqlite://", "memory"),
        ("sqlite:///:memory:", "memory"),
        ("sqlite:///file:x?mode=memory&uri=true", "memory"),
        ("mysql://localhost/x", "not supported"),
        ("nonsense", "cannot be used"),
        ("sqlite+nodriver:///x.db", "not supported"),
    ],
)
def test_an_address_that_cannot_hold_the_store_is_wrong_usage(url, words, tmp_path):
    with pytest.raises(UsageError, match=words):
        connect(url, tmp_path)


def test_a_relative_file_lies_under_the_root_and_its_folder_is_made(tmp_path):
    store = connect("sqlite:///.bylaw/deep/store.db", tmp_path)
    assert store.is_reachable()
    assert (tmp_path / ".bylaw/deep/store.db").exists()


def test_an_absolute_file_is_taken_as_it_is(tmp_path):
    assert connect(f"sqlite:///{tmp_path}/elsewhere.db", tmp_path / "root").is_reachable()
    assert (tmp_path / "elsewhere.db").exists()


def test_a_folder_that_cannot_be_made_is_an_error_with_words(tmp_path):
    (tmp_path / "file").write_text("")
    with pytest.raises(StoreError, match="folder of the store"):
        connect("sqlite:///file/store.db", tmp_path)


def test_a_file_that_is_no_database_does_not_answer(tmp_path):
    (tmp_path / "store.db").write_bytes(b"this is not a database, only some bytes" * 50)
    store = connect("sqlite:///store.db", tmp_path)
    assert not store.is_reachable()
    with pytest.raises(StoreError, match="does not answer"), store.writing():
        pass


def test_a_store_whose_tables_are_gone_says_what_to_do(store):
    with store.writing() as connection:
        connection.execute(text("DROP TABLE audit"))
    with pytest.raises(StoreError, match="audit") as refused, store.reading() as connection:
        audit.tail(connection)
    assert "tables are not those of a store" in refused.value.help


def test_another_programs_database_is_told_from_a_store(tmp_path):
    with sqlite3.connect(tmp_path / "store.db") as other:
        other.execute("CREATE TABLE audit (x)")
    store = connect("sqlite:///store.db", tmp_path)
    with pytest.raises(StoreError) as refused:
        upgrade(store)
    assert "tables are not those of a store" in refused.value.help
    store.close()


SETTLE = """
import resource, signal, sys
from pathlib import Path
from bot.evidence.store.engine import StoreError, connect
store = connect("sqlite:///store.db", Path(sys.argv[1]))
with store.writing() as connection:
    connection.exec_driver_sql("CREATE TABLE words (word TEXT)")
    connection.exec_driver_sql("INSERT INTO words VALUES (?)", ("x" * 100_000,))
signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
resource.setrlimit(resource.RLIMIT_FSIZE, (20_000, 20_000))  # what a full disk looks like to a process
try:
    store.settle()
except StoreError as error:
    print(error.message)
import os
os._exit(0)
"""


def test_on_a_full_disk_what_cannot_be_settled_is_told(tmp_path):
    done = subprocess.run([sys.executable, "-c", SETTLE, str(tmp_path)], cwd=ROOT, capture_output=True, text=True)
    assert done.stdout.startswith("the store does not answer:"), done.stderr


def test_what_somebody_still_reads_is_not_settled(tmp_path, monkeypatch):
    monkeypatch.setattr(sqlite_file, "PRAGMAS", ("busy_timeout=50", *sqlite_file.PRAGMAS[1:]))
    store = connect("sqlite:///store.db", tmp_path)
    with store.writing() as connection:
        connection.exec_driver_sql("CREATE TABLE words (word TEXT)")
    with store.reading() as connection:
        connection.exec_driver_sql("SELECT * FROM words").all()
        with store.writing() as other:
            other.exec_driver_sql("INSERT INTO words VALUES ('x')")
        assert store.settle() is False
    assert store.settle() is True
    store.close()


def test_a_sqlite_store_has_a_log_that_is_synced_after_commits_and_not_within(tmp_path):
    store = connect("sqlite:///store.db", tmp_path)
    with store.reading() as connection:
        found = [connection.exec_driver_sql(f"PRAGMA {name}").scalar() for name in ("journal_mode", "synchronous")]
    assert found == ["wal", 1]


@pytest.mark.parametrize("is_replaced", [True, False])
def test_nothing_is_written_to_a_file_that_was_moved_away(tmp_path, is_replaced):
    store, path = connect("sqlite:///store.db", tmp_path), tmp_path / "store.db"
    with store.writing() as connection:
        connection.execute(text("CREATE TABLE t (n INTEGER)"))
    aside = path.rename(tmp_path / "aside.db")
    if is_replaced:
        with connect("sqlite:///store.db", tmp_path).writing() as connection:
            connection.execute(text("CREATE TABLE t (n INTEGER)"))
    for _ in range(2):
        with pytest.raises(StoreError, match="moved, replaced or deleted"), store.writing() as connection:
            connection.execute(text("INSERT INTO t VALUES (1)"))
    assert not store.is_reachable()
    if not is_replaced:
        aside.rename(path)
        with store.writing() as connection:
            connection.execute(text("INSERT INTO t VALUES (2)"))
            assert connection.execute(text("SELECT n FROM t")).scalars().all() == [2]
        assert store.is_reachable()
    store.close()


def test_a_failed_transaction_leaves_nothing(store):
    with store.writing() as connection:
        connection.execute(text("CREATE TABLE t (n INTEGER)"))
    with pytest.raises(ZeroDivisionError), store.writing() as connection:
        connection.execute(text("INSERT INTO t VALUES (1)"))
        1 / 0  # noqa: B018
    with store.reading() as connection:
        assert connection.execute(text("SELECT count(*) FROM t")).scalar() == 0


def test_writers_on_sqlite_take_turns_from_their_first_read(tmp_path):
    store = connect("sqlite:///store.db", tmp_path)
    with store.writing() as connection:
        connection.execute(text("CREATE TABLE t (n INTEGER)"))
        connection.execute(text("INSERT INTO t VALUES (0)"))

    def add_one(times: int) -> None:
        for _ in range(times):
            with store.writing() as connection:
                n = connection.execute(text("SELECT n FROM t")).scalar()
                connection.execute(text("UPDATE t SET n = :n"), {"n": n + 1})

    threads = [threading.Thread(target=add_one, args=(25,)) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    with store.reading() as connection:
        assert connection.execute(text("SELECT n FROM t")).scalar() == 100


def test_the_threads_of_a_process_write_in_turn_and_say_so_when_it_takes_too_long(tmp_path, monkeypatch):
    monkeypatch.setattr(sqlite_file, "BUSY_SECONDS", 0.05)
    store = connect("sqlite:///store.db", tmp_path)
    waited = []

    def write():
        with pytest.raises(StoreError, match="too many write at once"), store.writing():
            pytest.fail("two wrote at once")
        waited.append(True)

    with store.writing():
        other = threading.Thread(target=write)
        other.start()
        other.join()
    with store.writing():
        assert waited == [True]
    store.close()


def test_writers_of_two_processes_follow_each_other_at_once_or_say_who_writes(tmp_path, monkeypatch):
    one, other = connect("sqlite:///store.db", tmp_path), connect("sqlite:///store.db", tmp_path)  # each its own turns
    looks = []
    monkeypatch.setattr(sqlite_file.time, "sleep", looks.append)
    with one.writing():
        monkeypatch.setattr(sqlite_file, "BUSY_SECONDS", 0.01)
        with pytest.raises(StoreError, match="locked") as raised, other.writing():
            pytest.fail("two wrote at once")
    assert raised.value.help == "another process has been writing for long: ask again"
    assert set(looks) == {sqlite_file._LOOK_SECONDS}
    with other.writing() as connection:
        assert connection.exec_driver_sql("PRAGMA busy_timeout").scalar() == 30_000  # for whatever else may be locked


def test_what_does_not_wait_is_there_for_the_next(store):
    with store.writing(is_durable=False) as connection:
        connection.execute(text("CREATE TABLE kept (word TEXT)"))
        connection.execute(text("INSERT INTO kept VALUES ('here')"))
    with store.reading() as connection:
        assert connection.execute(text("SELECT word FROM kept")).scalar() == "here"
