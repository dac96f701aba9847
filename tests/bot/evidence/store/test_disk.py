"""What was promised to last is synced before anybody goes on, once for all who wait; a failed sync fails them all."""

from __future__ import annotations

import os
import sqlite3
import threading
import time

import pytest

from bot.evidence.store import disk, sqlite_file
from bot.evidence.store.disk import Disk
from bot.evidence.store.engine import StoreError, connect

COUNT = 8


class Slow:
    """A disk that takes its time, and says how often it was waited for and what the file held then."""

    def __init__(self, path, monkeypatch):
        self.path, self.held, self.error = path, [], None
        self.began, self.may_end = threading.Event(), threading.Event()
        monkeypatch.setattr(disk, "_sync", self.sync)

    def sync(self, handle):
        self.held.append(self.path.read_text())
        self.began.set()
        assert self.may_end.wait(10)
        if self.error is not None:
            raise self.error


@pytest.fixture
def slow(tmp_path, monkeypatch):
    path = tmp_path / "log"
    path.write_text("")
    return Slow(path, monkeypatch)


def crowd(slow, waiting):
    """The errors of the first, who writes and waits, and of those who do so while the disk is at work for him."""
    told = [None] * (COUNT + 1)

    def write(n):
        with slow.path.open("a") as file:
            file.write(str(n))
        try:
            waiting.wait()
        except OSError as error:
            told[n] = error

    threads = [threading.Thread(target=write, args=(n,)) for n in range(COUNT + 1)]
    threads[0].start()
    assert slow.began.wait(10)
    for thread in threads[1:]:
        thread.start()
    while waiting._asked <= COUNT:
        time.sleep(0.001)
    slow.may_end.set()
    for thread in threads:
        thread.join()
    return told


def test_those_who_wait_at_once_share_a_sync_that_began_after_they_wrote(slow):
    assert crowd(slow, Disk(slow.path)) == [None] * (COUNT + 1)
    assert [sorted(held) for held in slow.held] == [["0"], sorted("012345678")]


def test_a_sync_that_fails_fails_everybody_who_waited_for_it_and_nobody_later(slow):
    waiting, slow.error = Disk(slow.path), OSError(5, "Input/output error")
    assert crowd(slow, waiting) == [slow.error] * (COUNT + 1)
    assert len(slow.held) == 2
    slow.error = None
    waiting.wait()
    assert len(slow.held) == 3


def test_a_log_that_was_taken_away_holds_nothing_that_could_be_lost(tmp_path):
    Disk(tmp_path / "gone").wait()


@pytest.fixture
def synced(monkeypatch):
    """For each sync the words that the log held by then."""
    found = []

    def sync(handle):
        data = os.pread(handle, 1_000_000, 0)
        found.append({word for word in ("first", "second", "third") if word.encode() in data})

    monkeypatch.setattr(disk, "_sync", sync)
    return found


@pytest.fixture
def store(tmp_path):
    opened = connect("sqlite:///store.db", tmp_path)
    with opened.writing(is_durable=False) as connection:
        connection.exec_driver_sql("CREATE TABLE t (word TEXT)")
    yield opened
    opened.close()


def write(store, word, is_durable):
    with store.writing(is_durable) as connection:
        connection.exec_driver_sql("INSERT INTO t VALUES (?)", (word,))


def test_only_what_may_be_lost_does_not_wait_for_the_disk(store, synced):
    write(store, "first", is_durable=False)
    assert synced == []
    write(store, "second", is_durable=True)
    assert synced == [{"first", "second"}]
    write(store, "third", is_durable=False)
    store.last()
    assert synced == [{"first", "second"}, {"first", "second", "third"}]


def test_what_cannot_be_synced_is_told(store, monkeypatch):
    def refuse(handle):
        raise OSError(5, "Input/output error")

    monkeypatch.setattr(disk, "_sync", refuse)
    with pytest.raises(StoreError, match=r"cannot be synced to the disk: .*Input/output error"):
        write(store, "first", is_durable=True)
    write(store, "second", is_durable=False)


def test_nobody_else_waits_while_one_waits_for_the_disk(store, tmp_path, monkeypatch):
    slow = Slow(tmp_path / "words", monkeypatch)
    slow.path.write_text("")
    waiting = threading.Thread(target=write, args=(store, "first", True))
    waiting.start()
    assert slow.began.wait(10)
    write(store, "second", is_durable=False)
    other = connect("sqlite:///store.db", tmp_path)
    write(other, "third", is_durable=False)
    with other.reading() as connection:
        assert connection.exec_driver_sql("SELECT count(*) FROM t").scalar() == 3
    slow.may_end.set()
    waiting.join()
    other.close()


def test_where_a_file_system_allows_no_log_sqlite_itself_waits_for_the_disk(tmp_path, monkeypatch, synced):
    monkeypatch.setattr(sqlite_file, "PRAGMAS", tuple(one for one in sqlite_file.PRAGMAS if "journal_mode" not in one))
    store = connect("sqlite:///store.db", tmp_path)
    with store.writing() as connection:
        assert connection.exec_driver_sql("PRAGMA synchronous").scalar() == 2
        connection.exec_driver_sql("CREATE TABLE t (word TEXT)")
    assert synced == []
    store.close()
    with sqlite3.connect(tmp_path / "store.db") as read:
        assert read.execute("PRAGMA journal_mode").fetchone() == ("delete",)
