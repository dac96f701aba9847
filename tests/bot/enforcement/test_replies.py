"""Replies to a question for one fact: rows."""

from datetime import date
from pathlib import Path

import yaml
from hypothesis import given, settings
from hypothesis import strategies as st

from bot.ask.ground import ground_for
from bot.ask.matcher.match import match
from bot.enforcement.assemble import tell_facts
from bot.enforcement.question.asking import asks_why
from bot.enforcement.question.replies import declines, read_reply
from bot.index import BundleIndex
from tests.rows import each

TODAY = date(2026, 11, 20)
ROWS = yaml.safe_load(Path(__file__).with_name("replies.yaml").read_text())


def told(text: str, fact: str, index: BundleIndex) -> object:
    """The value that a reply gives the fact that was asked for; None for none."""
    ground = ground_for(index, "policy", TODAY)
    reading = read_reply(text, fact, match(text, ground).items, ground)
    if reading is None:
        return None
    found = {read.fact: read.value for read in tell_facts(reading, index).reads}
    return index.ruleset.variables[fact].show(found[fact]) if fact in found else None


@each("row", ROWS, ids=lambda row: f"{row['fact']}: {row['text']}")
def test_an_answer_says_this(row: dict, shop: BundleIndex) -> None:
    assert told(row["text"], row["fact"], shop) == row["value"]


@each(
    "text",
    ["I don't know", "idk", "skip", "Skip!", "skip this one", "no idea", "I would rather not say", "not sure",
     "I'd prefer not to tell", "I won't say", "I'm not sure", "dunno", "n/a", "pass", "I do not remember",
     "I can't say", "unknown", "sorry, I have no idea"],
)  # fmt: skip
def test_these_decline(text: str) -> None:
    assert declines(text)


@each("text", ["yes", "no", "15", "electronics", "", "the shop knows", "Can I skip the queue at the shop?"])
def test_these_do_not_decline(text: str) -> None:
    assert not declines(text)


@each("text", ["why?", "Why do you need that?", "???", "what for", "sorry, why", "does it matter?"])
def test_these_ask_back(text: str) -> None:
    assert asks_why(text) and not declines(text)


@each("text", ["yes", "15?", "no idea", "I know why", "what?", ""])
def test_these_do_not_ask_back(text: str) -> None:
    assert not asks_why(text)


FACTS = st.sampled_from(["has_receipt", "days_since_purchase", "purchase_amount", "product_category", "delivered_on"])


@given(text=st.text(max_size=100), fact=FACTS)
@settings(max_examples=200, deadline=None)
def test_an_answer_stays_in_the_domain(text: str, fact: str, shop: BundleIndex) -> None:
    value, variable = told(text, fact, shop), shop.ruleset.variables[fact]
    assert value is None or variable.show(variable.recall(value)) == value
