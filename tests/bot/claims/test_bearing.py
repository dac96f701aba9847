"""What a text says and its claims do not bear: by rows, in whatever order claims come, and on hostile texts in time."""

from __future__ import annotations

import time
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest
import yaml
from hypothesis import given, settings
from hypothesis import strategies as st

from bot.claims.bearing import Bearing, Told, bear
from bot.claims.models import read_claims
from bot.index import BundleIndex
from tests.rows import each

ROWS = yaml.safe_load(Path(__file__).with_name("borne.yaml").read_text(encoding="utf-8"))
TOLD = Told({"fare_class": "flex", "hours_until_departure": 50}, "Flex ticket, it leaves in 50 hours.")
GIVES = {"kind": "gives", "quote": "you get your fare back", "action": "refund_fare"}
ASIDES = (
    "and a voucher", "– the captain waves", "unless it rains", "but half of it", "see www.fares.example/x", "@purser",
    "<b>now</b>", "for 20 EUR", "as a voucher", "with breakfast", "if you sing", "Спасибо", "and we walk your dog",
    "except on Sundays", "minus the harbour toll", "twice", "within 3 days",
)  # fmt: skip


def hold(index: BundleIndex, text: str, claims: list[Any], told: Told = TOLD) -> Bearing:
    return bear(text, read_claims(claims), index, told)


@each("row", ROWS, ids=lambda row: row["why"])
def test_a_text_is_borne_by_its_claims_or_not(row: dict[str, Any], repositories: dict[str, BundleIndex]) -> None:
    root = row.get("root", "ferry")
    told = TOLD if root == "ferry" else Told({}, row.get("query", ""))
    bearing = hold(repositories[root], row["text"], row.get("claims", []), told)
    assert (not bearing.gaps) is row.get("is_borne", True), bearing.gaps


@pytest.mark.parametrize("aside", ASIDES)
@pytest.mark.parametrize("is_quoted", [True, False])
def test_what_is_put_behind_a_claim_is_left_over(
    aside: str, is_quoted: bool, repositories: dict[str, BundleIndex]
) -> None:
    quote = f"{GIVES['quote']} {aside}" if is_quoted else GIVES["quote"]
    text = f"Yes, {GIVES['quote']} {aside}."
    assert hold(repositories["ferry"], f"Yes, {GIVES['quote']}.", [GIVES]).gaps == ()
    assert hold(repositories["ferry"], text, [{**GIVES, "quote": quote}]).gaps
    courtesy = {"kind": "courtesy", "quote": aside}
    assert hold(repositories["ferry"], text, [GIVES, courtesy]).gaps


@given(st.permutations(range(4)))
@settings(max_examples=24, deadline=None)
def test_the_order_of_the_claims_is_no_matter(repositories: dict[str, BundleIndex], order: list[int]) -> None:
    claims: list[dict[str, Any]] = [
        {"kind": "courtesy", "quote": "Sorry to hear that!"},
        {"kind": "fact", "quote": "With 50 hours to go", "fact": "hours_until_departure", "value": 50, "unit": "hours"},
        GIVES,
        {"kind": "source", "quote": "(POL-TICKETS-001)", "policy_id": "POL-TICKETS-001"},
    ]
    text = "Sorry to hear that! With 50 hours to go you get your fare back (POL-TICKETS-001)."
    assert hold(repositories["ferry"], text, [claims[i] for i in order]).gaps == ()


def test_left_over_words_are_told_as_they_stand_in_the_text(repositories: dict[str, BundleIndex]) -> None:
    text = "Sorry\u200b! You **get your fare back** and a free ride. Bring cash."
    bearing = hold(repositories["ferry"], text, [{**GIVES, "quote": "You get your fare back"}])
    assert [gap.quote for gap in bearing.gaps if gap.claim is None] == ["free ride", "Bring cash"]
    places = [(one.start, one.end) for one in bearing.reading.residue]
    assert all(text[start:end] == one.text for one, (start, end) in zip(bearing.reading.residue, places, strict=True))
    assert all(one[1] <= other[0] for one, other in pairwise(places))


def test_two_readings_do_not_make_a_tail_pass(repositories: dict[str, BundleIndex]) -> None:
    tail = {"kind": "fact", "quote": "Your 50 hours and a cruise", "fact": "hours_until_departure", "value": 50}
    assert any(not gap.is_weak for gap in hold(repositories["ferry"], "Your 50 hours and a cruise.", [tail]).gaps)


@pytest.mark.parametrize(
    "piece",
    ["not ", "only ", "until ", "X ", "50 hours ", "you get your fare back ", "www.a.b/c ", "[a", "<a ", "and a ",
     ". A ", "| a |\n", "if ", "at least 5 hours ", "POL-A-1 "],
)  # fmt: skip
def test_a_hostile_text_is_held_in_time(piece: str, repositories: dict[str, BundleIndex]) -> None:
    text = (piece * (36_000 // len(piece) + 1))[:36_000] + ". " + GIVES["quote"]
    hold(repositories["ferry"], GIVES["quote"], [GIVES])  # what is built once for a bundle
    begun = time.process_time()
    sums = [{"kind": "fact", "quote": "50 hours", "fact": "hours_until_departure", "value": n} for n in range(100)]
    hold(repositories["ferry"], text, [GIVES, *sums])
    assert time.process_time() - begun < 4  # a slow machine; it takes less than one second on a quiet one
