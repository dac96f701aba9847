"""Who takes the next connection: whoever has the fewest open, and whoever sees it when that one does not come."""

from __future__ import annotations

import socket
import time
from contextlib import ExitStack

import pytest

from bot.delivery.http.serving import turn
from bot.delivery.http.serving.turn import Board, Listening


@pytest.fixture
def office():
    """Opens connections, and has those who listen look in the order of their places; closes everything."""
    with ExitStack() as stack:
        yield Office(stack)


class Office:
    """Some who listen at one address, as if each were a process of its own. `open` are the connections each has."""

    def __init__(self, stack, count=3):
        bound = stack.enter_context(socket.create_server(("127.0.0.1", 0)))
        self.stack, self.board, self.address = stack, Board(count), bound.getsockname()
        seats = [self.board.seat(place) for place in range(count)]
        self.listening = [stack.enter_context(Listening.taking(bound.dup(), seat)) for seat in seats]
        self.open = [[] for _ in seats]
        for seat, one in zip(seats, self.listening, strict=True):
            one.setblocking(False)
            seat.take()

    def connect(self):
        self.stack.enter_context(socket.create_connection(self.address))

    def look(self, *places):
        """Each of *places* looks once, the first ones first; who took one?"""
        for place in places:
            try:
                taken, _ = self.listening[place].accept()
            except BlockingIOError:
                continue
            self.open[place].append(self.stack.enter_context(taken))
            return place
        return None

    @property
    def counts(self):
        return [len(connections) for connections in self.open]


def test_connections_are_spread_evenly_though_one_is_always_first(office):
    for _ in range(9):
        office.connect()
        office.look(0, 1, 2)
    assert office.counts == [3, 3, 3]


def test_they_are_spread_though_everybody_looks_slowly(office, monkeypatch):
    monkeypatch.setattr(turn, "_PAUSE_SECONDS", turn.PATIENCE_SECONDS / 3)
    for _ in range(9):
        office.connect()
        office.look(0, 1, 2)
    assert office.counts == [3, 3, 3]


def test_who_has_closed_one_takes_the_next(office):
    for _ in range(6):
        office.connect()
        office.look(0, 1, 2)
    office.open[2].pop().close()
    office.connect()
    assert office.look(0, 1, 2) == 2


def test_a_connection_that_is_closed_twice_is_counted_once(office):
    office.connect()
    office.look(0)
    taken = office.open[0].pop()
    taken.close()
    taken.close()
    for _ in range(3):
        office.connect()
        office.look(0, 1, 2)
    assert office.counts == [1, 1, 1]


def test_nobody_waits_for_one_who_does_not_come(office):
    office.connect()
    office.look(0)
    office.connect()
    until = time.monotonic() + 10
    while office.look(0) is None:
        assert time.monotonic() < until
    assert office.counts == [2, 0, 0]


def test_it_is_not_the_turn_of_who_has_ended_or_not_begun(office):
    for place in (1, 2):
        office.board.clear(place)
    for _ in range(3):
        office.connect()
        assert office.look(0) == 0
    office.board.seat(1).take()
    office.connect()
    assert office.look(0, 1) == 1


def test_a_long_time_without_connections_makes_nobody_late(office):
    office.connect()
    office.look(0)
    office.connect()
    assert office.look(0) is None
    assert office.look(1) == 1
    time.sleep(0.05)
    office.connect()
    assert office.look(0, 2) == 2


def test_who_looks_in_vain_has_taken_nothing(office):
    assert office.look(0, 1, 2) is None
    office.connect()
    assert office.look(1) == 1
