"""The roads of a request: what the specification draws is allowed, everything else is not."""

from __future__ import annotations

from itertools import pairwise
from typing import get_args

import pytest

from bot.conversation import ReplyStatus
from bot.lifecycle import ENDS, FINAL, TRANSITIONS, ForbiddenStep, Outcome, State, road, step
from tests.fakes.frame import reply
from tests.rows import each

MAIN = [State.INTAKE, State.SCOPE, State.PLAN, State.EXECUTE, State.DELIVER, State.ACCEPT, State.CLOSE]


def test_the_main_road_is_open():
    for before, after in pairwise(MAIN):
        assert step(before, after) == after


def test_every_state_has_its_row():
    assert set(TRANSITIONS) == set(State)


def test_these_states_are_the_end():
    assert {State.CLOSE, State.REFUSED, State.ABANDONED, State.EXPIRED, State.REVISED} == FINAL


def test_every_outcome_ends_what_waits_to_be_accepted():
    assert set(ENDS) == set(Outcome)
    for end in ENDS.values():
        assert step(State.ACCEPT, end) in FINAL


@each(
    ("before", "after"),
    [
        (State.INTAKE, State.EXECUTE),
        (State.INTAKE, State.CLOSE),
        (State.SCOPE, State.EXECUTE),
        (State.EXECUTE, State.CLOSE),
        (State.EXECUTE, State.ACCEPT),
        (State.DELIVER, State.REFUSED),
        (State.CLOSE, State.ACCEPT),
        (State.REFUSED, State.PLAN),
        (State.ABANDONED, State.INTAKE),
        (State.EXPIRED, State.ACCEPT),
        (State.ACCEPT, State.EXECUTE),  # a confirmed plan runs in a request of its own
    ],
)
def test_no_stage_is_skipped_and_no_end_is_left(before, after):
    with pytest.raises(ForbiddenStep, match=f"`{before}` cannot move to `{after}`"):
        step(before, after)


@pytest.mark.parametrize("status", get_args(ReplyStatus))
@pytest.mark.parametrize("level", [None, 1, 2, 3, 4, 5])
def test_every_reply_has_an_allowed_road_from_scope(status, level):
    states = [State.SCOPE, *road(reply(status=status, level=level))]
    for before, after in pairwise(states):
        step(before, after)


@each(
    ("status", "level", "end"),
    [
        ("answered", None, State.CLOSE),  # nothing to accept in a policy or a decision
        ("answered", 3, State.ACCEPT),
        ("answered", 5, State.ACCEPT),
        ("recommended", 2, State.ACCEPT),
        ("pending", 3, State.ACCEPT),
        ("needs_fact", None, State.CLOSE),
        ("needs_choice", None, State.CLOSE),
        ("escalated", 1, State.ESCALATED),
        ("refused", None, State.REFUSED),
    ],
)
def test_where_a_reply_leaves_its_request(status, level, end):
    assert road(reply(status=status, level=level))[-1] == end


def test_what_was_only_recommended_never_ran():
    for status in ("recommended", "pending", "needs_fact", "refused", "escalated"):
        assert State.EXECUTE not in road(reply(status=status))
