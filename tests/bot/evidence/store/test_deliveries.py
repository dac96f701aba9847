"""A message is kept once, answered by one at a time, and waits until it is closed."""

from __future__ import annotations

from datetime import timedelta

import pytest

from bot.evidence.store.tables import deliveries
from tests.fakes import stored
from tests.fakes.frame import LEASE, NOON

LETTER = {"text": "why?", "channel": "C1"}


@pytest.fixture
def kept(store):
    """A store in which one message waits."""
    with store.writing() as connection:
        assert deliveries.keep(connection, "m1", LETTER, NOON)
    return store


def claim(store, owner="a", now=NOON):
    with store.writing() as connection:
        return deliveries.claim(connection, "m1", owner, now, LEASE)


def waiting(store, now):
    with store.reading() as connection:
        return [letter for _, letter in deliveries.waiting(connection, now, LEASE)]


def test_the_second_time_is_no_first_time(kept):
    with kept.writing() as connection:
        assert not deliveries.keep(connection, "m1", {"text": "other"}, NOON)
    with kept.reading() as connection:
        assert stored.delivery(connection, "m1")["letter"] == LETTER
        assert stored.delivery(connection, "m2") is None


def test_one_has_it_until_the_lease_runs_out(kept):
    first = claim(kept)
    assert (first.attempts, claim(kept, "b")) == (1, None)
    second = claim(kept, "b", NOON + LEASE)
    assert second.attempts == 2
    with kept.writing() as connection:
        assert not deliveries.close(connection, first, NOON, {"ts": "1"})  # it came back too late
        assert deliveries.close(connection, second, NOON, {"ts": "2"})
    with kept.reading() as connection:
        assert stored.delivery(connection, "m1")["place"] == {"ts": "2"}


@pytest.mark.parametrize("ends", ["delivered", "closed", "blocked"])
def test_what_is_closed_or_waits_for_a_person_is_never_taken_by_itself(kept, ends):
    held = claim(kept)
    with kept.writing() as connection:
        match ends:
            case "delivered":
                assert deliveries.close(connection, held, NOON, {"ts": "1"})
            case "closed":
                assert not deliveries.end(connection, "m1", "grace", NOON)  # it is being answered
                assert deliveries.end(connection, "m1", "grace", NOON + LEASE)
            case "blocked":
                assert deliveries.block(connection, held, NOON, "is_archived")
    assert claim(kept, "b", NOON + 100 * LEASE) is None
    assert waiting(kept, NOON + 100 * LEASE) == []


def test_what_nobody_took_waits_until_it_is_old_enough(kept):
    assert waiting(kept, NOON) == []
    assert waiting(kept, NOON + LEASE) == [LETTER]


def test_what_is_being_answered_waits_only_after_its_lease(kept):
    claim(kept)
    assert waiting(kept, NOON + LEASE / 2) == []
    assert waiting(kept, NOON + LEASE) == [LETTER]


def test_what_is_put_off_waits_for_its_time(kept):
    held = claim(kept)
    later = NOON + timedelta(seconds=30)
    with kept.writing() as connection:
        assert deliveries.postpone(connection, held, later, "cut", "outage")
        assert not deliveries.postpone(connection, held, later, "cut", "outage")
    assert claim(kept, "b", later - timedelta(seconds=1)) is None
    assert waiting(kept, later) == [LETTER]
    assert claim(kept, "b", later).attempts == 2


def test_nobody_claims_what_never_came(store):
    assert claim(store) is None


def test_doubt_is_kept_until_it_is_certain_that_nothing_was_sent(kept):
    first = claim(kept)
    assert not first.is_doubtful
    with kept.writing() as connection:
        assert deliveries.renew(connection, first, NOON, LEASE)
    second = claim(kept, "b", NOON + LEASE)  # the first one died
    assert second.is_doubtful
    with kept.writing() as connection:
        assert not deliveries.renew(connection, first, NOON + LEASE, LEASE)
        deliveries.postpone(connection, second, NOON + LEASE, "ratelimited", "limit", is_doubtful=False)
    assert not claim(kept, "c", NOON + LEASE).is_doubtful


@pytest.mark.parametrize(("cause", "count"), [("outage", 1), ("installation", 1), ("limit", 0), ("busy", 0)])
def test_what_ended_for_one_has_ended_for_what_waits_for_the_same(kept, cause, count):
    later = NOON + timedelta(hours=4)
    with kept.writing() as connection:
        deliveries.postpone(connection, deliveries.claim(connection, "m1", "a", NOON, LEASE), later, "word", cause)
        assert deliveries.hasten(connection, NOON) == count
        assert len(deliveries.waiting(connection, NOON, LEASE)) == count


def test_a_round_takes_the_oldest(store):
    with store.writing() as connection:
        for n in range(9):
            deliveries.keep(connection, f"m{n}", {"n": n}, NOON - timedelta(minutes=n))
        found = deliveries.waiting(connection, NOON + LEASE, LEASE, 3)
    assert [letter["n"] for _, letter in found] == [8, 7, 6]
