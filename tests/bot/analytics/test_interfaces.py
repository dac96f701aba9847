"""What an agent gets of a reply: the table of the handbook is what the code does, status by status."""

from __future__ import annotations

import re
from pathlib import Path
from typing import get_args

import pytest

from bot.analytics.plan.interfaces import AnalyticsResponse, GoOn
from bot.conversation import Acceptance, Choice, Form, FormField, Reply, ReplyStatus

ASKING = Path(__file__).parents[3] / "docs" / "asking.md"
ROW = re.compile(r"^\| `(\w+)` \| (`.+?) \| (.+) \|$", re.MULTILINE)
STATUSES = get_args(AnalyticsResponse.model_fields["status"].annotation)
FORM = Form(fields=(FormField(name="limit", label="First"),))


def table():
    """status -> the statuses of a reply it is given for, and what the agent is told of it."""
    text = ASKING.read_text(encoding="utf-8").partition("## Over HTTP")[2].partition("\n## ")[0]
    return {status: (set(re.findall(r"`(\w+)`", replies)), how) for status, replies, how in ROW.findall(text)}


def response(status, required=False, **fields):
    known = {"kind": "data", "text": "so", "request_id": "r-1", "session_id": "s-1", "bundle_etag": "e", **fields}
    return AnalyticsResponse.of(Reply(status=status, acceptance=Acceptance(required=required), **known))


def test_every_status_is_in_the_table_for_the_replies_that_have_it():
    found = {status: set() for status in STATUSES}
    for status in get_args(ReplyStatus):
        for required in (False, True):
            found[response(status, required).status].add(status)
    assert {status: replies for status, (replies, _) in table().items()} == found


@pytest.mark.parametrize("status", get_args(ReplyStatus))
@pytest.mark.parametrize("required", [False, True])
def test_what_the_table_names_comes_with_the_status(status, required):
    """Nothing more is needed where the table says so; else the choices and the form of the reply come along."""
    offered = {"choices": (Choice(value="yes", label="yes"),), "form": FORM}
    said = response(status, required, **offered)
    how = table()[said.status][1]
    assert (said.go_on is None) == ("`go_on` is null" in how)
    named = set(re.findall(r"`go_on\.(\w+)`", how))
    assert named <= set(GoOn.model_fields)
    if said.go_on is not None:
        assert said.go_on.text and said.go_on.session_id == "s-1"
        assert (said.go_on.choices, said.go_on.form) == (offered["choices"], FORM)
