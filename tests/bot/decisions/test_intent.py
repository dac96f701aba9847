"""What is asked about a decision: rows in intent.yaml."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from hypothesis import given, settings
from hypothesis import strategies as st

from bot.decisions.intent import read as read_intent
from bylaw.authored.machines.intents import Intents
from ci.loading.source import read
from tests.rows import each

ROWS = read("intent.yaml", Path(__file__).with_name("intent.yaml").read_bytes()).data


@each("row", ROWS, ids=lambda row: row["text"])
def test_words_name_the_intent(row: dict[str, Any], intents: Intents) -> None:
    asked = read_intent(row["text"], intents)
    assert (asked.intent, asked.rest) == (row["intent"], row["rest"])


def test_a_new_intent_is_an_entry_and_no_code(intents: Intents) -> None:
    own = intents.intents["who_decided"].model_copy(update={"words": ["which team"]})
    more = intents.model_copy(update={"intents": {**intents.intents, "which_team": own}})
    assert read_intent("Which team closed the depot?", more).intent == "which_team"


@settings(max_examples=100, deadline=None)
@given(text=st.text(max_size=120))
def test_no_text_breaks_the_reading(text: str, intents: Intents) -> None:
    asked = read_intent(text, intents)
    assert asked.intent is None or asked.intent in intents.intents
