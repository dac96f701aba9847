"""What a message event says, as a value: the words that were typed, the thread it belongs to, a name for good."""

from __future__ import annotations

from datetime import UTC, datetime
from pathlib import Path

import yaml
from hypothesis import given
from hypothesis import strategies as st

from bot.delivery.listeners import click_payload
from bot.delivery.listeners.heard import Heard, hear, plain_words
from tests.fakes.slack.payloads import BOT, TEAM, mention, message
from tests.rows import each

ROWS = yaml.safe_load(Path(__file__).with_name("heard.yaml").read_text(encoding="utf-8"))


@each("row", ROWS, ids=lambda row: row["sent"])
def test_the_words_a_person_typed(row):
    assert plain_words(row["sent"], BOT) == row["typed"]


def test_a_mention_and_its_message_share_one_name():
    both = [make("why?", "UANA", "C1", "1795000001.000001")["event"] for make in (mention, message)]
    heard = [hear(event, TEAM, BOT) for event in both]
    assert heard[0] == heard[1]
    assert heard[0] == Heard(
        key=f"slack:{TEAM}:C1:1795000001.000001",
        text="why?",
        user="UANA",
        team=TEAM,
        channel="C1",
        thread="1795000001.000001",
        session_id=f"slack:{TEAM}:C1:1795000001.000001",
        said_at=datetime.fromtimestamp(1_795_000_001, UTC),
        is_direct=False,
    )


def test_what_is_said_in_a_thread_belongs_to_its_conversation():
    event = message("yes", "UANA", "D1", "1795000002.000001", thread_ts="1795000001.000001")["event"]
    heard = hear(event, TEAM, BOT)
    assert (heard.thread, heard.session_id) == ("1795000001.000001", f"slack:{TEAM}:D1:1795000001.000001")
    assert heard.is_direct


json_values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=20),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=8), inner, max_size=3),
    max_leaves=8,
)
NAMES = ("user", "channel", "ts", "thread_ts", "text", "subtype", "bot_id", "team", "user_team")


@given(st.fixed_dictionaries({}, optional=dict.fromkeys(NAMES, json_values)))
def test_no_event_breaks_the_reading(event):
    heard = hear(event, TEAM, BOT)
    assert heard is None or isinstance(heard, Heard)


@given(
    st.fixed_dictionaries({}, optional=dict.fromkeys(("container", "user", "message", "actions", "team"), json_values))
)
def test_no_interaction_breaks_the_reading(body):
    found = click_payload.read(body)
    assert found is None or found.user
