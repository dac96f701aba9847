"""What a terminal shows: rows of replies and texts, and nothing of other people's text that could steer it."""

from __future__ import annotations

import re
from pathlib import Path

import click
import yaml
from hypothesis import given
from hypothesis import strategies as st

from bot.conversation import Ask
from bot.delivery.render import MAX_ROWS, hint, render, safe, table
from tests.fakes.frame import reply
from tests.rows import each

ROWS = yaml.safe_load(Path(__file__).with_name("render.yaml").read_text())


@each("row", ROWS, ids=[row["title"] for row in ROWS])
def test_a_reply_is_shown(row):
    assert click.unstyle(render(reply(**row["reply"]), row.get("explain", False))) + "\n" == row["shows"]


def test_colour_is_only_decoration():
    said = render(reply(status="refused", text="no"))
    assert said == "\x1b[31m\x1b[1mnot answered\x1b[0m: no"


def test_more_rows_than_a_screen_are_counted_not_shown():
    shown = click.unstyle(table(["n"], [[n] for n in range(MAX_ROWS + 3)])).splitlines()
    assert shown[-1] == "… and 3 more rows; --json shows them all"
    assert len(shown) == 1 + MAX_ROWS + 1


ANSWER = 'answer with: bylaw ask --session s1 "…"'
GOES_ON = [("needs_fact", ANSWER), ("needs_choice", ANSWER), ("answered", "wrong? bylaw correct r1"), ("refused", None)]


@each(("status", "told"), GOES_ON)
def test_how_to_go_on_is_said_of_what_waits_or_may_be_wrong(status, told):
    assert hint(reply(status=status)) == told


def test_an_answer_that_still_asks_says_how_to_go_on():
    asked = Ask(fact="customer_tier", question="Which tier?")
    assert hint(reply(ask=asked)) == ANSWER


@given(st.text())
def test_no_text_keeps_a_control_character(text):
    assert not re.search("[\x00-\x08\x0b-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069]", safe(text))


CELLS = st.one_of(st.none(), st.booleans(), st.integers(), st.floats(allow_nan=False, allow_infinity=False), st.text())


@given(st.integers(1, 4).flatmap(lambda width: st.lists(st.lists(CELLS, min_size=width, max_size=width), min_size=1)))
def test_any_rows_make_a_table(rows):
    columns = [f"c{n}" for n in range(len(rows[0]))]
    assert len(table(columns, rows).split("\n")) == 1 + min(len(rows), MAX_ROWS) + (len(rows) > MAX_ROWS)
