"""What holds for any text: our own words are borne, what is changed never is, nothing outside quotes is lost."""

from datetime import date, timedelta

from hypothesis import HealthCheck, assume, given, settings
from hypothesis import strategies as st

from bylaw.hold.bearing import is_empty
from bylaw.hold.hold import hold
from bylaw.hold.item import Item, Proposal
from bylaw.hold.text import see

FAST = settings(max_examples=150, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])

# How a value of each fact is said in its own declared words.
SAID = {
    "days_before_course": lambda n: f"The course is in {n} days",
    "fee_paid": lambda n: f"I paid {n} EUR",
    "age": lambda n: f"I am {n} years old",
}
WORDS = ["please", "hamster", "can", "I", "cancel", "my", "course", "towel", "7", "the", "☂", "wheel", "fired"]
numbers = st.integers(min_value=3, max_value=90)


def status_of(text, item, ground):
    return hold(text, Proposal((item,)), ground("policy")).held[0].status


@FAST
@given(name=st.sampled_from(sorted(SAID)), number=numbers)
def test_a_value_said_in_declared_words_is_borne(ground, name, number):
    text = SAID[name](number)
    assert (
        status_of(f"{text}. Can I cancel?", Item(kind="fact", name=name, value=number, quote=text), ground) == "borne"
    )


@FAST
@given(name=st.sampled_from(sorted(SAID)), number=numbers, other=numbers)
def test_another_number_is_never_borne(ground, name, number, other):
    assume(number != other)
    text = SAID[name](number)
    assert status_of(text, Item(kind="fact", name=name, value=other, quote=text), ground) == "refused"


@FAST
@given(number=numbers, unit=st.sampled_from(["weeks", "hours", "months", "EUR", "kg"]))
def test_another_unit_is_never_borne(ground, number, unit):
    text = SAID["days_before_course"](number)
    item = Item(kind="fact", name="days_before_course", value=number, unit=unit, quote=text)
    assert status_of(text, item, ground) == "refused"


@FAST
@given(name=st.sampled_from(sorted(SAID)), other=st.sampled_from(sorted(SAID)), number=numbers)
def test_another_name_is_never_borne(ground, name, other, number):
    assume(name != other)
    text = SAID[name](number)
    assert status_of(text, Item(kind="fact", name=other, value=number, quote=text), ground) != "borne"


@FAST
@given(number=numbers, operator=st.sampled_from(["<", "<=", ">", ">=", "!="]))
def test_a_side_that_no_word_says_is_never_borne(ground, number, operator):
    text = SAID["fee_paid"](number)
    item = Item(kind="fact", name="fee_paid", value=number, operator=operator, quote=text)
    assert status_of(text, item, ground) == "refused"


@FAST
@given(day=st.dates(date(2025, 1, 1), date(2028, 12, 31)), shift=st.integers(1, 400))
def test_another_day_is_never_borne(ground, day, shift):
    text = f"The course begins on {day.day} {day:%B} {day.year}"
    item = Item(kind="fact", name="starts_on", value=day.isoformat(), quote=text)
    other = item.model_copy(update={"value": (day + timedelta(days=shift)).isoformat()})
    assert (status_of(text, item, ground), status_of(text, other, ground)) == ("borne", "refused")


@FAST
@given(is_so=st.booleans(), phrase=st.sampled_from(["I have {} voucher", "There is {} voucher"]))
def test_another_polarity_is_never_borne(ground, is_so, phrase):
    text = phrase.format("a" if is_so else "no")
    item = Item(kind="fact", name="has_voucher", value=is_so, quote=text)
    other = item.model_copy(update={"value": not is_so})
    assert (status_of(text, item, ground), status_of(text, other, ground)) == ("borne", "refused")


@FAST
@given(text=st.text(min_size=1, max_size=60), quote=st.text(min_size=1, max_size=20))
def test_a_quote_that_does_not_stand_there_is_refused(ground, text, quote):
    assume(quote.strip() and not see(text).find(quote))
    assert status_of(text, Item(kind="asks", name="cancelling", quote=quote), ground) == "refused"


@FAST
@given(words=st.lists(st.sampled_from(WORDS), min_size=1, max_size=12))
def test_nothing_outside_quotes_is_lost(ground, words):
    text = " ".join(words)
    reading = hold(text, Proposal((Item(kind="asks", name="cancelling", quote="cancel"),)), ground("policy"))
    left = {one.start for one in (*reading.residue, *reading.not_used)}
    quoted = see(text).find("cancel")
    at = 0
    for word in words:
        is_quoted = any(start <= at < end for start, end in quoted)
        assert (at in left) is (not is_quoted and not is_empty(word.lower())), (text, word)
        at += len(word) + 1


@FAST
@given(text=st.text(max_size=80))
def test_any_text_is_read_and_every_stretch_lies_in_it(ground, text):
    reading = hold(text, Proposal((), ("nowhere",)), ground("policy"))
    for one in (*reading.residue, *reading.not_used):
        assert 0 <= one.start < one.end <= len(text)
