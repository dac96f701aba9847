"""How long ago a day is: rows, and what holds for every day, form and clock."""

from datetime import date, timedelta
from fractions import Fraction
from pathlib import Path

import pytest
import yaml
from hypothesis import given, settings
from hypothesis import strategies as st

from bylaw.hold.days import elapsed, past_days, words_of_day
from bylaw.hold.hold import Ground, hold
from bylaw.hold.item import Item, Proposal
from bylaw.hold.text import see
from bylaw.hold.values import Clock, Values
from bylaw.hold.words import Index, Name
from tests.rows import each

TODAY = date(2026, 11, 20)
SAID = yaml.safe_load(Path(__file__).with_name("days_said.yaml").read_text())
NAMES = [
    Name(name, "fact", forms=tuple(one["forms"]), type=one["type"], unit=one["unit"])
    for name, one in SAID["names"].items()
]
INDEX = Index(NAMES)
FORMS = {"days_since_sale": "bought it", "weeks_since_fitting": "fitted it", "hours_since_booking": "booked it"}
UNITS = {"days_since_sale": 1, "weeks_since_fitting": Fraction(1, 7), "hours_since_booking": 24}
DAYS = {
    "iso": lambda day: f"on {day.isoformat()}",
    "named": lambda day: f"on {day.day} {day:%B} {day.year}",
    "month first": lambda day: f"on {day:%B} {day.day}, {day.year}",
}


def told(text, today=TODAY):
    """The facts that days of *text* say, and the quote of each."""
    seen = see(text)
    values = Values(seen, Clock(today))
    found = []
    for day in past_days(values):
        passage = seen.passage_of(day.begins, day.ends)
        tokens = seen.words(passage.start, passage.end)
        said = words_of_day(day, INDEX, tokens)
        for name in NAMES:
            if (words := said.get(name.name)) is not None:
                quote = text[min(day.begins, words[0].start) : max(day.ends, words[-1].end)]
                found.append(elapsed(day, name, today).item(name, quote))
    return found


def held(text, item, today=TODAY):
    return hold(text, Proposal((item,)), Ground("policy", INDEX, Clock(today))).held[0]


@each("row", SAID["rows"], ids=lambda row: row.get("title", row["text"]))
def test_days_say_how_long_it_has_been(row):
    found = told(row["text"])
    assert [[one.name, one.operator or "==", list(one.values)] for one in found] == row["facts"]
    assert {held(row["text"], one).status for one in found} <= {"borne", "weak"}, [held(row["text"], x) for x in found]


@settings(max_examples=300, deadline=None)
@given(
    today=st.dates(date(2000, 2, 1), date(2040, 12, 31)),
    ago=st.integers(0, 800),
    name=st.sampled_from(sorted(FORMS)),
    spelled=st.sampled_from(sorted(DAYS)),
    is_first=st.booleans(),
)
def test_every_day_before_the_clock_says_how_long_it_has_been(today, ago, name, spelled, is_first):
    day, verb = DAYS[spelled](today - timedelta(days=ago)), FORMS[name]
    text = f"{day} I {verb}" if is_first else f"I {verb} {day}"
    (item,) = told(text, today)
    amount = ago * UNITS[name]
    assert item.name == name and item.values[0] <= amount <= item.values[-1]
    assert (item.operator is None) is (amount == int(amount) and UNITS[name] <= 1)
    assert held(text, item, today).status in ("borne", "weak")


@settings(max_examples=200, deadline=None)
@given(
    ahead=st.integers(1, 800),
    name=st.sampled_from(sorted(FORMS)),
    spelled=st.sampled_from(sorted(DAYS)),
    value=st.integers(0, 900),
)
def test_no_day_after_the_clock_says_it(ahead, name, spelled, value):
    text = f"I {FORMS[name]} {DAYS[spelled](TODAY + timedelta(days=ahead))}"
    assert told(text) == []
    assert held(text, Item(kind="fact", name=name, value=value, quote=text)).status == "refused"


@settings(max_examples=200, deadline=None)
@given(ago=st.integers(0, 800), value=st.integers(0, 900), spelled=st.sampled_from(sorted(DAYS)))
@pytest.mark.parametrize(
    "text", ["bought on Monday 1 June 2026, booked {day}", "bought a bike and called {day}", "called {day}", "{day}"]
)
def test_a_day_of_other_words_never_says_it(text, ago, value, spelled):
    said = text.format(day=DAYS[spelled](TODAY - timedelta(days=ago)))
    place = said.rfind(DAYS[spelled](TODAY - timedelta(days=ago)))
    for quote in (said, said[place:]):
        item = Item(kind="fact", name="days_since_sale", value=value, quote=quote)
        assert held(said, item).status == "refused"


@settings(max_examples=200, deadline=None)
@given(ago=st.integers(0, 800), other=st.integers(0, 800), spelled=st.sampled_from(sorted(DAYS)))
def test_another_duration_is_never_borne(ago, other, spelled):
    text = f"I bought it {DAYS[spelled](TODAY - timedelta(days=ago))}"
    item = Item(kind="fact", name="days_since_sale", value=other, quote=text)
    assert (held(text, item).status != "refused") is (ago == other)


@pytest.mark.parametrize(
    ("text", "item"),
    [
        ("I bought it three weeks ago on Monday", {"value": 21, "unit": "days", "quote": "bought it three weeks ago"}),
        ("I did not buy it yesterday", {"value": 1, "quote": "buy it yesterday"}),
        ("I booked it yesterday", {"name": "hours_since_booking", "value": 24, "quote": "booked it yesterday"}),
        ("I bought it in October", {"value": 20, "quote": "bought it in October"}),
        ("I bought it in October", {"operator": "between", "value": [21, 30], "quote": "bought it in October"}),
    ],
)
def test_what_a_careless_proposer_makes_of_a_day_is_refused(text, item):
    assert held(text, Item.model_validate({"kind": "fact", "name": "days_since_sale", **item})).status == "refused"
