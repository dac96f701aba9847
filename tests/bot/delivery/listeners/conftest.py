"""A Slack with three rooms, and the bot at work in it."""

import pytest

from bot.delivery.listeners.heard import said_at
from bylaw.demos.warehouse import build
from tests.fakes.slack.rooms import bot, slack, start
from tests.fakes.slack.server import FakeSlack
from tests.fakes.voltmark import compiled

__all__ = ["bot", "slack", "start"]


@pytest.fixture(scope="module")
def voltmark(tmp_path_factory):
    folder = tmp_path_factory.mktemp("voltmark")
    build(folder / "data.duckdb", said_at(FakeSlack().next_ts()).date())
    bundle = compiled(folder, UANA=["senior_analyst"], UBEN=["analyst"], UGRACE=["steward"])
    return {"bundle": bundle, "warehouse": f"duckdb:///{folder / 'data.duckdb'}", "answerers": None}
