"""A steward is told of a candidate with a button, looks at it, and opens its pull request or says no, and why."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime

import pytest

from bot.conversation import Actor
from bot.delivery.listeners.notify import tell
from bot.evidence.store.tables import candidates, deliveries
from bot.evidence.store.tables.candidates import Candidate
from bylaw.errors import UsageError
from tests.fakes.slack.reading import shown

NAME = "P-0123456789-1"
CHANGE = {"object": "metrics/revenue", "field": "filter", "new": "channel = 'online'"}


@pytest.fixture
def told(start, slack):
    """The bot, and the notice that the steward got."""
    slack.channel("DGRACE", "UGRACE")
    bot = start()
    services = bot.bot.services()
    with services.store.writing() as connection:
        now = datetime.now(UTC)
        candidates.keep(connection, Candidate(NAME, "s" * 64, now, "proposed", CHANGE, "sales", ()))
        deliveries.notify(connection, "UGRACE", NAME, "candidate", "4 colleagues made the same correction.", now)
        deliveries.notify(connection, "UGRACE", "r1", "answered", "Somebody asked.", now)
    tell(bot.slack.threads)
    bot.settle()
    posts = [post for (_, _), post in slack.messages.items() if post["user"] == "UBYLAW"]
    return bot, next(post for post in posts if "same correction" in post["text"])


def stage(bot):
    with bot.bot.services().store.reading() as connection:
        return candidates.load(connection, NAME)


def look(bot, slack, post, user="UGRACE"):
    slack.click(user, post, "Review…")
    bot.settle()


def test_only_the_notice_of_a_candidate_has_the_button(told, slack):
    _, post = told
    others = [one for one in slack.messages.values() if one["user"] == "UBYLAW" and one is not post]
    assert [slack.labels(one) for one in slack.elements(post)] == [["Review…"]]
    assert [slack.elements(one) for one in others] == [[]]


def test_a_steward_says_no_and_why(told, slack):
    bot, post = told
    look(bot, slack, post)
    assert "channel = 'online'" in shown(slack.modal("UGRACE"))
    slack.press("UGRACE", "Reject…")
    bot.settle()
    assert slack.submit("UGRACE", candidate_why="the ledger counts it already") == {}
    assert slack.modals["UGRACE"] == []
    found = stage(bot)
    assert (found.stage, found.reviewed_by, found.reason) == ("rejected", "UGRACE", "the ledger counts it already")


def test_nobody_else_sees_it(told, slack):
    bot, post = told
    look(bot, slack, post, "UANA")
    assert slack.modals.get("UANA") is None
    assert stage(bot).stage == "proposed"


@pytest.mark.parametrize("ends", ["open", "refused", "elsewhere"])
def test_opening_says_where_it_is_or_why_not(told, slack, ends):
    bot, post = told

    def promoting(name, actor, _services):
        assert (name, actor) == (NAME, Actor(id="UGRACE"))
        if ends == "refused":
            raise UsageError("nobody promotes what they corrected themselves", "ask another steward")
        return "https://github.example/pull/1"

    given = None if ends == "elsewhere" else promoting
    bot.bot._services = replace(bot.bot._services, promoting=given)
    look(bot, slack, post)
    slack.press("UGRACE", "Open pull request")
    bot.settle()
    said = {"open": "pull/1", "refused": "ask another steward", "elsewhere": f"bylaw promote open {NAME}"}
    assert said[ends] in shown(slack.modal("UGRACE"))
