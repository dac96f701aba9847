"""A Slack with three rooms, and the bot at work in it."""

from tests.fakes.slack.rooms import bot, slack, start

__all__ = ["bot", "slack", "start"]
