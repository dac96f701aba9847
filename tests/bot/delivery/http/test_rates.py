"""A caller has so many requests a second, in whichever process; others have theirs."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from bot.delivery.http.rates import _BURST_SECONDS, Rates


class Clock:
    at = 1000.0

    def __call__(self):
        return self.at


def test_a_burst_then_the_rate_then_a_rest_restores_it():
    clock = Clock()
    rates = Rates(clock)
    allowed = 0
    while not rates.wait("ana", 10):
        allowed += 1
    assert allowed == 10 * _BURST_SECONDS
    assert rates.wait("ben", 10) == 0
    clock.at += rates.wait("ana", 10)
    assert rates.wait("ana", 10) == 0
    clock.at += 60
    assert [rates.wait("ana", 10) for _ in range(20)] == [0] * 20


@given(
    st.lists(st.tuples(st.sampled_from("ab"), st.floats(0, 0.5)), max_size=200),
    st.sampled_from([1, 2, 10, 50]),
)
def test_nobody_gets_more_than_the_rate_and_one_burst(asked, rate):
    clock = Clock()
    rates, got = Rates(clock), {"a": 0, "b": 0}
    for who, later in asked:
        clock.at += later
        got[who] += rates.wait(who, rate) == 0
    most = rate * (clock.at - 1000 + max(_BURST_SECONDS, 1 / rate)) + 1
    assert max(got.values()) <= most


def test_who_waits_as_long_as_told_may_ask():
    clock = Clock()
    rates = Rates(clock)
    for _ in range(500):
        waited = rates.wait("ana", 0.2)
        clock.at += waited
        assert waited == 0 or rates.wait("ana", 0.2) == 0


def test_memory_does_not_grow_with_the_callers():
    rates = Rates(Clock())
    size = rates._paid.nbytes
    for n in range(20_000):
        rates.wait(f"10.{n >> 8}.{n & 255}.1", 5)
    assert rates._paid.nbytes == size
    assert sum(rates.wait(f"new {n}", 5) == 0 for n in range(200)) >= 190
