"""What wants a figure of a past time, and what only looks like it."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from bylaw.language.reports import asks_for_a_rule, is_of_one, is_report
from tests.rows import each


@each(
    "text",
    [
        "how many items did we sell in October",
        "How much money did we pay back to customers last month?",
        "what did we spend on travel last quarter",
        "which newsletters were sent yesterday",
        "number of sign-ups this year",
        "which feature is used the most",
        "by how much did refunds change",
        "how much was refunded in total",
        "what share of orders was returned",
        "how strongly did returns grow",
        "how have discounts developed",
        "did refunds go up or down",
        "are refunds increasing",
        "refund trend",
        "why are refunds up this month",
        "whom did we refund the most",
        "highest refund in October",
        "which store has most returns",
        "were there more refunds than usual in November",
        "is our churn higher than last year",
        "what share of orders used a voucher",
        "what was our best month",
        "worst week for returns",
        "how many visitors came in October",
        "how many members left",
        "top 10 reasons for refunds",
        "do dogs eat more than cats",
    ],
)
def test_a_figure_of_a_past_time_is_a_report(text):
    assert is_report(text)


@each(
    "text",
    [
        "how many days do customers have to return a lamp",  # no time that has begun
        "how much do I get back for a lamp from last month",  # one's own case
        "how many parcels may a driver leave at a door since 2025",  # what is allowed
        "what is the most a member can get back",  # what is allowed
        "we opened a store in October",  # no question for a figure
        "how many of them",
        "how does the refund change after 30 days",  # what a rule says, not what was
        "has the refund policy changed",
        "how much does a customer get back whose order was late",
        "how much notice did the customer have to give",
        "is the fee due",
        "how many items can be returned",
        "how many days are needed",
        "does a VIP get more than a member",
        "who decided in 2024",
        "why is the fee due",
        "",
    ],
)
def test_other_questions_are_none(text):
    assert not is_report(text)


@given(st.text())
def test_any_text_is_read(text):
    assert is_report(text) in (True, False)


@each(
    "text",
    [
        "how many days does a VIP customer have to return a lamp",
        "how long do new members get",
        "How many business days do we have for a reply?",
        "the payment is late, what happens to the plan?",
        "what happens if I lose the card",
        "what if the customer has no id?",
        "and what if nobody is at home?",
        "what should we do when the battery is swollen?",
        "the box is broken, what now?",
        "the cable is hot, what do we do",
        "how long is the guarantee on a dishwasher",
        "voucher worth $20 from Ohio, pay out?",
        "order from a new account: hold it?",
        "how old must a rider be",
    ],
)
def test_what_happens_what_to_do_and_how_long_one_has_asks_for_a_rule(text):
    assert asks_for_a_rule(text) and not is_report(text)


@each(
    "text",
    [
        "how many days do customers take to return",
        "how many days did VIP customers have to wait",
        "how long do members have to wait on average",
        "how many orders do we have to ship",
        "how many customers get a refund",
        "what do we sell most",
        "what happened in March",
        "revenue last month, by region?",
        "how many orders, returns too?",
        "top 5 products, top 3 regions?",
        "how long is an average repair",
    ],
)
def test_what_was_and_what_is_counted_asks_for_none(text):
    assert not asks_for_a_rule(text)


@each(
    "text",
    [
        "is the order held?",
        "does a VIP pay for bulky goods",
        "will the plan be paused if the payment is late",
        "do we lend a device during the repair?",
        "customer has 4 failed logins",
        "payment is 10 days overdue",
        "a customer from France wants out of it",
        "hello, the order was placed on Monday",
        "it isn't sealed",
        "this customer brought back 7 items this quarter",
        "should the oven be unplugged",
        "plan paused, does billing stop?",
        "member left last week, do we keep charging?",
    ],
)
def test_what_is_told_of_one_is_no_figure(text):
    assert is_of_one(text)


@each(
    "text",
    [
        "is the number of tickets growing",
        "is the average order value above 100 dollars",
        "customers with more than 3 returns",
        "orders delivered late",
        "do we have more stores than Northline",
        "do we sell lamps",
        "is an order usually above 100 dollars",
        "the customer complained 3 times this year",
        "which carrier was late",
        "in October, do orders fall?",
        "during the sale, are orders up?",
        "",
    ],
)
def test_what_is_counted_is_not_of_one(text):
    assert not is_of_one(text)


@each(
    ("text", "asks"),
    [
        ("the caller refuses, now what?", True),
        ("what do we owe a customer whose parcel is late?", True),
        ("how do I handle a complaint", True),
        ("how many vouchers may be used on one order?", True),
        ("how many days does a gold customer have?", True),
        ("which orders need a signature?", True),
        ("which payment methods can be used for a refund?", True),
        ("how many days do we have", True),
        ("is a manager needed for 600 dollars", True),
        ("how late is too late for a claim?", True),
        ("how many orders in May were late", False),
        ("how many parcels can Corvid deliver", False),
        ("how many orders must we ship per day", False),
        ("what do we pay suppliers", False),
        ("last month, did refunds grow?", False),
        ("in October, do orders fall?", False),
    ],
)
def test_what_a_rule_would_say_is_asked_in_many_ways(text, asks):
    assert asks_for_a_rule(text) is asks
