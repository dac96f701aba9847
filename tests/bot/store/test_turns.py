"""Threads that write at the same time share a transaction: one commit for all, and nobody goes on before it."""

from __future__ import annotations

import threading
import time
from contextlib import suppress

import pytest
from sqlalchemy import event

from bot.store.engine import StoreError, connect

COUNT = 6


class Crowd:
    """A store whose writers all wait while one holds the turn, and what became of each."""

    def __init__(self, tmp_path):
        self.store = connect("sqlite:///store.db", tmp_path)
        with self.store.writing() as connection:
            connection.exec_driver_sql("CREATE TABLE parent (n INTEGER PRIMARY KEY)")
            connection.exec_driver_sql(
                "CREATE TABLE t (n INTEGER REFERENCES parent DEFERRABLE INITIALLY DEFERRED, word TEXT)"
            )
        self.commits, self.raised = [], {}
        event.listen(self.store.engine, "commit", lambda connection: self.commits.append(connection))

    def write(self, n, work, is_durable=True):
        try:
            with self.store.writing(is_durable) as connection:
                connection.exec_driver_sql("INSERT INTO t VALUES (NULL, ?)", (str(n),))
                work(connection)
        except Exception as error:
            self.raised[n] = error

    def at_once(self, works, are_durable=True):
        """Every one of *works* by a thread of its own, all waiting before the first is done."""
        threads = [threading.Thread(target=self.write, args=(n, work, are_durable)) for n, work in enumerate(works)]
        with suppress(StoreError), self.store.writing(are_durable):  # the commit of all may fail
            for thread in threads:
                thread.start()
            while self.store._turns._waiting < len(threads):
                time.sleep(0.001)
        for thread in threads:
            thread.join()

    def words(self):
        with self.store.reading() as connection:
            return sorted(connection.exec_driver_sql("SELECT word FROM t").scalars())


@pytest.fixture
def crowd(tmp_path):
    made = Crowd(tmp_path)
    yield made
    made.store.close()


def fine(connection):
    pass


def broken(connection):
    raise ZeroDivisionError


def refused(connection):
    connection.exec_driver_sql("INSERT INTO nowhere VALUES (1)")


def breaks_the_commit(connection):
    connection.exec_driver_sql("INSERT INTO t VALUES (7, 'no parent')")


def test_those_who_write_at_once_share_one_commit(crowd):
    crowd.at_once([fine] * COUNT)
    assert (len(crowd.commits), crowd.raised) == (1, {})
    assert crowd.words() == [str(n) for n in range(COUNT)]


@pytest.mark.parametrize("failing", [broken, refused])
def test_a_part_that_fails_is_undone_alone(crowd, failing):
    crowd.at_once([fine, failing, fine, failing])
    assert crowd.words() == ["0", "2"]
    assert set(crowd.raised) == {1, 3}


def test_nobody_goes_on_when_the_commit_fails(crowd):
    crowd.at_once([fine, breaks_the_commit, fine])
    assert crowd.words() == []
    assert set(crowd.raised) == {0, 1, 2}
    assert all(isinstance(error, StoreError) for error in crowd.raised.values())


def test_a_broken_first_part_leaves_the_turn_to_the_next(crowd):
    with pytest.raises(ZeroDivisionError), crowd.store.writing():
        raise ZeroDivisionError
    crowd.at_once([fine])
    assert crowd.words() == ["0"]


def test_nothing_is_there_for_others_before_the_commit(crowd):
    seen = []
    crowd.at_once([lambda connection: seen.append(crowd.words())] * 3)
    assert seen == [[], [], []]


def test_what_must_last_does_not_ride_with_what_may_be_lost(crowd):
    synchronous = []

    def note(connection):
        synchronous.append(connection.exec_driver_sql("PRAGMA synchronous").scalar())

    durable = threading.Thread(target=crowd.write, args=(1, note, True))
    with crowd.store.writing(is_durable=False) as connection:
        note(connection)
        durable.start()
        while not crowd.store._turns._waiting:
            time.sleep(0.001)
    durable.join()
    assert synchronous == [1, 2]
    assert len(crowd.commits) == 2


def test_who_waits_commits_when_nobody_else_is_left_to(crowd):
    """Somebody was waiting, so the transaction was left open; then he gave up."""
    crowd.store._turns._waiting += 1
    threading.Timer(0.1, lambda: setattr(crowd.store._turns, "_waiting", 0)).start()
    with crowd.store.writing() as connection:
        connection.exec_driver_sql("INSERT INTO t VALUES (NULL, 'kept')")
    assert crowd.words() == ["kept"]


def connection_of(store, is_durable=True):
    with store.writing(is_durable) as connection:
        return connection.connection.dbapi_connection


def test_a_writer_goes_on_with_the_connection_of_the_last_of_its_kind(crowd):
    durable, hasty = connection_of(crowd.store), connection_of(crowd.store, False)
    assert durable is not hasty
    assert [connection_of(crowd.store), connection_of(crowd.store, False)] == [durable, hasty]


def test_a_connection_whose_commit_failed_is_not_used_again(crowd):
    before = connection_of(crowd.store)
    crowd.at_once([breaks_the_commit])
    assert connection_of(crowd.store) is not before
    crowd.at_once([fine])
    assert crowd.words() == ["0"]


def test_a_store_that_is_closed_keeps_no_connection(crowd):
    for is_durable in (True, False):
        connection_of(crowd.store, is_durable)
    crowd.store.close()
    assert crowd.store.engine.pool.checkedout() == 0
