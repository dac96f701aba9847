"""Threads that write at the same time do so one after the other, each its own transaction on the same connection."""

from __future__ import annotations

import sqlite3
import threading

import pytest

from bot.evidence.store import sqlite_file
from bot.evidence.store.engine import StoreError, connect

COUNT = 6


@pytest.fixture
def store(tmp_path):
    opened = connect("sqlite:///store.db", tmp_path)
    with opened.writing() as connection:
        connection.exec_driver_sql("CREATE TABLE parent (n INTEGER PRIMARY KEY)")
        connection.exec_driver_sql(
            "CREATE TABLE t (n INTEGER REFERENCES parent DEFERRABLE INITIALLY DEFERRED, word TEXT)"
        )
    yield opened
    opened.close()


def fine(connection):
    pass


def broken(connection):
    raise ZeroDivisionError


def refused(connection):
    connection.exec_driver_sql("INSERT INTO nowhere VALUES (1)")


def breaks_the_commit(connection):
    connection.exec_driver_sql("INSERT INTO t VALUES (7, 'no parent')")


def at_once(store, works):
    """What each of *works* raised, written by a thread of its own while all the others wait."""
    raised = {}

    def write(n, work):
        try:
            with store.writing() as connection:
                connection.exec_driver_sql("INSERT INTO t VALUES (NULL, ?)", (str(n),))
                work(connection)
        except Exception as error:
            raised[n] = error

    threads = [threading.Thread(target=write, args=given) for given in enumerate(works)]
    with store.writing():
        for thread in threads:
            thread.start()
    for thread in threads:
        thread.join()
    return raised


def words(store):
    with store.reading() as connection:
        return sorted(connection.exec_driver_sql("SELECT word FROM t").scalars())


@pytest.mark.parametrize("failing", [broken, refused, breaks_the_commit])
def test_a_transaction_that_fails_is_undone_alone(store, failing):
    raised = at_once(store, [fine, failing, fine, failing])
    assert words(store) == ["0", "2"]
    assert set(raised) == {1, 3}
    assert failing is broken or all(isinstance(error, StoreError) for error in raised.values())


def test_nothing_is_there_for_others_before_the_commit(store):
    seen = []
    assert at_once(store, [lambda connection: seen.append(len(words(store)))] * COUNT) == {}
    assert seen == list(range(COUNT))


def connection_of(store, is_durable=True):
    with store.writing(is_durable) as connection:
        return connection.driver


def test_a_writer_goes_on_with_the_connection_of_the_last(store):
    assert connection_of(store) is connection_of(store, is_durable=False) is connection_of(store)


@pytest.mark.parametrize("failing", [broken, breaks_the_commit])
def test_a_connection_on_which_something_failed_is_not_used_again(store, failing):
    before = connection_of(store)
    at_once(store, [failing])
    assert connection_of(store) is not before


def test_a_store_that_is_closed_keeps_no_connection(store):
    words(store)
    known = connection_of(store)
    store.close()
    with pytest.raises(sqlite3.ProgrammingError, match="closed"):
        known.execute("SELECT 1")
    assert store.file._resting == []


@pytest.mark.parametrize("failing", [broken, refused, breaks_the_commit])
def test_a_transaction_that_failed_holds_nobody_up(store, monkeypatch, failing):
    monkeypatch.setattr(sqlite_file, "BUSY_SECONDS", 0.05)
    half_read = []

    def work(connection):
        half_read.append(connection.exec_driver_sql("INSERT INTO t VALUES (NULL, 'a'), (NULL, 'b') RETURNING word"))
        half_read[0].fetchone()
        failing(connection)

    assert set(at_once(store, [work])) == {0}
    assert at_once(store, [fine]) == {}
    assert words(store) == ["0"]
