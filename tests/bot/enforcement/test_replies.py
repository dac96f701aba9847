"""Replies to a question for one fact: rows."""

from datetime import date
from pathlib import Path

import yaml
from hypothesis import given, settings
from hypothesis import strategies as st

from bot.enforcement.question.case.facts import Read, Unclear
from bot.enforcement.question.case.replies import asks_why, declines, read_answer
from bot.index import BundleIndex
from tests.rows import each

TODAY = date(2026, 11, 20)
ROWS = yaml.safe_load(Path(__file__).with_name("replies.yaml").read_text())


@each("row", ROWS, ids=lambda row: f"{row['fact']}: {row['text']}")
def test_an_answer_says_this(row: dict, shop: BundleIndex) -> None:
    found = read_answer(row["text"], row["fact"], shop.vocabulary, shop.ruleset.variables, TODAY)
    if row.get("unclear"):
        assert isinstance(found, Unclear)
        assert found.reason
    elif row["value"] is None:
        assert found is None
    else:
        assert isinstance(found, Read)
        assert shop.ruleset.variables[row["fact"]].show(found.value) == row["value"]
        assert found.words in row["text"]


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
    found = read_answer(text, fact, shop.vocabulary, shop.ruleset.variables, TODAY)
    if isinstance(found, Read):
        variable = shop.ruleset.variables[fact]
        assert variable.read(variable.show(found.value)) == found.value
