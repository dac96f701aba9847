"""Figures and time phrases of a stretch are those that a look at every one of them finds, at the cost of one walk."""

from __future__ import annotations

import time
from itertools import combinations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bylaw.hold.hold import hold
from bylaw.hold.item import Item, Proposal
from bylaw.hold.text import see
from bylaw.hold.values import Clock, Values, _measures
from bylaw.language import dates
from tests.bylaw.hold.conftest import TODAY

WORDS = ["2026", "in", "3", "days", "$", "5", "m", "March", "4", "(4)", "last", "week", "1", "hour", "30", "minutes",
         "-", "2026-01-31", "B7", "ten", "and", "since", "half", "a", "year", "."]  # fmt: skip
SECONDS = 1.0  # of one text of 36,000 characters, as the reader was asked for it


@given(st.lists(st.sampled_from(WORDS), max_size=14).map(" ".join))
def test_a_stretch_has_the_figures_and_times_that_lie_in_it(text):
    values = Values(see(text), Clock(TODAY))
    found = dates.find(values.seen.text.seen, TODAY)
    assert values.spans == tuple(s for s in found if not any(_measures(one, s) for one in values.figures))
    places = sorted({0, len(text), *(t.start for t in values.seen.text.tokens)})
    for start, end in combinations(places, 2):
        assert values.spans_at(start, end) == tuple(s for s in values.spans if s.begins < end and start < s.ends)
        shared = [one for one in values.figures if one.start < end and start < one.end]
        inside = tuple(one for one in shared if start <= one.first and one.core <= end)
        assert values.figures_at(start, end, beside_time=True) == inside
        timed = [one for one in inside if any(s.begins <= one.first and one.core <= s.ends for s in values.spans)]
        assert values.figures_at(start, end) == tuple(one for one in inside if one not in timed)


@pytest.mark.parametrize("kind", ["policy", "data"])
@pytest.mark.parametrize(
    "text",
    ["cancel 9 days ", "I paid 9 EUR. ", "2026-01-01 ", "A B7 ", "$5 to ", "not ", "within 3 days after 2026-01-01 "],
)
def test_a_hostile_text_costs_one_walk(ground, kind, text):
    whole = text * (36_000 // len(text))
    item = Item(kind="fact", name="age", value=9, quote="9") if kind == "policy" else Item(kind="time", quote="2026")
    begun = time.process_time()
    hold(whole, Proposal((item,)), ground(kind))
    assert time.process_time() - begun < SECONDS


@pytest.mark.parametrize("each", ["bookings by city {}. ", "revenue in 2026 and {}. "])
def test_three_hundred_items_cost_no_more(ground, each):
    whole = "".join(each.format(k) for k in range(36_000 // len(each)))
    quotes = ("bookings", "revenue", "2026", "city")
    items = tuple(Item(kind="asks", name=f"count(bookings{' ' * (k % 200)})", quote=quotes[k % 4]) for k in range(300))
    begun = time.process_time()
    hold(whole, Proposal(items), ground("data"))
    assert time.process_time() - begun < 2 * SECONDS
